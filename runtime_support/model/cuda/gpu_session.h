// A session's part on the GPU: stream, memory, and what the call in progress has submitted.
#pragma once
#include "../gpu.h"
#include "gpu_model.h"

namespace aotc::model {

namespace cuda {

// Device memory that only grows; its content does not survive growing.
struct DeviceScratch {
  CUdeviceptr data;
  int64_t bytes;
};

// Memory of the host that the device copies from and to by itself. Filled from the start; a wait
// empties it.
struct Pinned {
  char* data;
  int64_t bytes, used, wanted;
};

// A copy out of pinned memory that a wait completes.
struct Arrival {
  char* to;
  const char* from;
  int64_t bytes;
};

struct Graphs;    // graph.h
struct GpuTimes;  // times.h

}  // namespace cuda

struct GpuSession {
  const cuda::Driver* driver;
  GpuModel* model;
  cuda::Stream* stream;
  cuda::CUstream now;  // where work goes: stream->run during session_run, else stream->own
  bool asynchronous;   // session_run does not wait for the device
  bool has_run;        // asynchronous: a call may be under way, see stream->last_run

  bool lost;          // the device's context does not work any more
  bool failed;        // states are unknown since a check or launch failed
  char trouble[512];  // of `lost` and `failed`

  cuda::CUdeviceptr states;  // one block; 0 without any
  cuda::DeviceScratch arena, staging;
  cuda::DeviceScratch* slots;
  cuda::CUdeviceptr failure;   // an AotcDeviceFailure
  AotcDeviceFailure* arrived;  // its copy in pinned memory
  cuda::Pinned pinned;
  cuda::Arrival* arrivals;
  int32_t n_arrivals, arrivals_capacity;

  // Of the call in progress.
  cuda::CUdeviceptr* temporaries;  // per output: what the program writes for a host_io session
  int32_t submitted;               // launches and copies
  int32_t last_kernel;             // -1: none yet
  bool wrote_back;                 // something was submitted after the wait
  bool is_broken;                  // a callback has failed after others had submitted work

  cuda::Graphs* graphs;   // NULL unless asked for
  cuda::GpuTimes* times;  // NULL unless the call is profiled
};

namespace cuda {

// A driver call that failed: records it, and whether the context is lost with it.
AotcStatus device_error(GpuSession* g, CUresult code, const char* function, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// The session's device is current and its work goes to `on` (the session's own stream, after what
// the last call has submitted) while this object lives.
class Work {
 public:
  enum Kind { kOwn, kRun };
  Work(Session* s, Kind kind);
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  Current current_;

 public:
  AotcStatus status;
};

// False, with a message, when there is no memory; then the scratch is empty.
AotcStatus reserve(GpuSession* g, DeviceScratch* scratch, int64_t bytes, const char* what);

// ---- copies (transfer.cpp), all on g->now
AotcStatus to_device(GpuSession* g, CUdeviceptr to, const char* from, int64_t bytes);
AotcStatus to_host(GpuSession* g, char* to, CUdeviceptr from,
                   int64_t bytes);  // after wait_for_device
AotcStatus on_device(GpuSession* g, CUdeviceptr to, CUdeviceptr from, int64_t bytes);
AotcStatus strided_copy(GpuSession* g, const View& to, const View& from);
// Until everything that was submitted has been done; completes copies to the host.
AotcStatus wait_for_device(GpuSession* g);
void drop_arrivals(GpuSession* g);
AotcStatus add_arrival(GpuSession* g, const Arrival& arrival);
// Any layout and place; `to` and `from` must not share memory. Waits where host memory is written.
AotcStatus copy_views(GpuSession* g, const View& to, bool to_gpu, const View& from, bool from_gpu);

// ---- steps of a call (gpu_staging.cpp, gpu_outputs.cpp)
AotcStatus stage_on_device(Session* s);
bool must_write_back(const Session* s);
// Mutated inputs that were staged: copied on the device; or, with host_io, fetched (waits for
// nothing) and then written, which cannot fail.
AotcStatus write_back_on_device(Session* s);
AotcStatus fetch_written_inputs(Session* s);
void write_fetched_inputs(Session* s);
AotcStatus deliver_outputs(Session* s);
void free_temporaries(Session* s);

// ---- checks on the device (checks.cpp)
AotcStatus fetch_failure(Session* s);  // submits a copy of it
// After that copy has arrived: AOTC_FAILED_CHECK when a check has failed.
AotcStatus report_failure(Session* s);
// The state of the session's memory is not known any more.
void set_failed(GpuSession* g);
AotcStatus clear_failure(Session* s);

inline CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }
inline char* pointer(CUdeviceptr address) { return reinterpret_cast<char*>(address); }

}  // namespace cuda
}  // namespace aotc::model
