// The run time's GPU part behind one table: generated programs point at it, so packages without a
// GPU part do not link it. Everything else of the run time reaches it through here; `session->gpu`
// is NULL where a program has none.
#pragma once
#include "session.h"

namespace aotc::model {

// Of session_create.
struct GpuOptions {
  bool has_stream;  // the caller's, in `stream`
  int64_t stream;
  bool cuda_graph, host_io;
};

// Which calls a session allows after a device check or a launch has failed.
enum class GpuUse { kAny, kReadsStates, kRepairsStates };

}  // namespace aotc::model

// What reports a failure as AotcStatus records a message. Sessions are in use by the caller
// (session.h's Use).
struct AotcGpuRuntime {
  AotcStatus (*validate)(const AotcProgram* program);  // as validate_program
  // The session's part: device, stream, memory; states are not yet initialised.
  AotcStatus (*make_session)(aotc::model::Session* s, const aotc::model::GpuOptions& options);
  AotcStatus (*fork_session)(aotc::model::Session* s, const aotc::model::Session* from);
  void (*destroy_session)(aotc::model::Session* s);
  void (*release_model)(aotc::model::Model* model);  // with its last session gone
  // Whether the session works: not after a device error, nor after a failed check unless `use`
  // repairs that.
  AotcStatus (*check_usable)(aotc::model::Session* s, aotc::model::GpuUse use);
  // The states on the device are as they should be: ends `failed`.
  AotcStatus (*states_repaired)(aotc::model::Session* s);

  // Steps of a call, see session.h.
  AotcStatus (*run)(aotc::model::Session* s, const DLTensor* inputs, int32_t n_inputs,
                    DLManagedTensor** outputs, int32_t n_outputs);
  AotcStatus (*synchronize)(aotc::model::Session* s);
  AotcStatus (*prepare)(aotc::model::Session* s);
  AotcStatus (*check_layouts)(aotc::model::Session* s);
  // Memory that the program writes for a fresh output of a host_io session.
  AotcStatus (*obtain_temporary)(aotc::model::Session* s, int32_t output, int64_t span);
  // As make_tensor of session.h, in device memory; `bytes` > 0.
  AotcStatus (*make_tensor)(aotc::model::Session* s, int32_t output, int64_t bytes,
                            DLManagedTensor** out);

  // Whether a tensor of this device may stand where the program has one of `wanted`; `what` names
  // it, as "input 'x'".
  AotcStatus (*check_device)(const aotc::model::Session* s, const char* what, AotcDevice wanted,
                             DLDevice device);
  // Whether the session can read and write a tensor of this device, for `function` and the name.
  AotcStatus (*check_reach)(const aotc::model::Session* s, const char* function, const char* name,
                            DLDevice device);
  // Whether it may stand for a storage that the program has on `wanted`.
  AotcStatus (*check_bound)(const aotc::model::Session* s, const char* name, AotcDevice wanted,
                            DLDevice device);
  // Copies any layout, also where the views share memory; waits.
  AotcStatus (*copy)(aotc::model::Session* s, const aotc::model::View& to, bool to_gpu,
                     const aotc::model::View& from, bool from_gpu);
  // Storage `i`'s content from its initial value.
  AotcStatus (*reset_storage)(aotc::model::Session* s, int32_t i);

  AotcStatus (*device_alloc)(aotc::model::Model* model, uint64_t bytes, void** out);
  AotcStatus (*device_free)(aotc::model::Model* model, void* data);
  AotcStatus (*device_copy)(aotc::model::Model* model, void* to, DLDevice to_device,
                            const void* from, DLDevice from_device, uint64_t bytes);
  int64_t (*scratch_bytes)(const aotc::model::Session* s);
  // Why a session with `cuda_graph` does not use graphs; "" where it does.
  const char* (*graph_trouble)(const aotc::model::Session* s);
  // Around the program of a call that is profiled: the times of its steps are the device's.
  void (*begin_record)(aotc::model::Session* s);
  void (*step_done)(aotc::model::Session* s, int32_t step);
  void (*end_record)(aotc::model::Session* s);
};

namespace aotc::model {

inline const AotcGpuRuntime* gpu_runtime(const AotcProgram* program) {
  return program->gpu ? program->gpu->runtime : nullptr;
}
inline const AotcGpuRuntime& gpu_of(const Session* s) { return *s->program->gpu->runtime; }

// What the program has on the device in this session.
inline bool is_on_gpu(const Session* s, AotcDevice device) { return s->gpu && device == AOTC_GPU; }

inline DLDevice dl_device(const AotcProgram* program, AotcDevice device) {
  if (device == AOTC_HOST || !program->gpu) return {kDLCPU, 0};
  return {kDLCUDA, program->gpu->device_index};
}

}  // namespace aotc::model
