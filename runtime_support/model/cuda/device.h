// One GPU as the run time holds it: its primary context, the stream of a session, memory. Counted
// references, since results outlive sessions and models.
#pragma once
#include "driver.h"

namespace aotc::model::cuda {

struct Device {
  int32_t references;
  const Driver* driver;
  CUdevice ordinal;
  CUcontext context;
  bool has_pools;     // stream-ordered allocation
  CUmemoryPool pool;  // keeps what is freed for the next call; NULL: the driver's default pool
  int32_t major, minor;
  char name[64];
};

// Device `index`, with its primary context retained.
AotcStatus open_device(int32_t index, Device** out);
void retain_device(Device* device);
void release_device(Device* device);

// The device's context is the calling thread's for the lifetime of this object; then the caller's
// is back. `status`: whether that worked.
class Current {
 public:
  explicit Current(const Device* device);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  AotcStatus status;

 private:
  const Device* device_;
};

// Where a session's work is ordered. Memory of a session or result is freed in this order too, at
// a time when a stream of the caller may be gone: hence the own one.
struct Stream {
  int32_t references;
  Device* device;
  CUstream own;
  CUstream run;      // of session_run: own, or the caller's
  bool is_callers;   // run is the caller's
  CUevent last_run;  // is_callers: the end of the last call
};

// `callers`: the handle is the caller's stream. The device's context is current, also below.
AotcStatus open_stream(Device* device, bool callers, CUstream handle, Stream** out);
void retain_stream(Stream* stream);
void release_stream(Stream* stream);

// `bytes` > 0, in the order of `on`. Aligned to 256 bytes.
CUresult allocate(const Device* device, CUdeviceptr* out, int64_t bytes, CUstream on);
void free_memory(const Device* device, CUdeviceptr memory, CUstream on);
// After everything that sessions of this stream have submitted so far. 0 is allowed.
void free_after_runs(const Stream* stream, CUdeviceptr memory);

}  // namespace aotc::model::cuda
