// The functions behind AotcGpuRuntime, see gpu.h.
#pragma once
#include "../gpu.h"

namespace aotc::model::cuda {

AotcStatus validate_tables(const AotcProgram* program);
AotcStatus make_session_part(Session* s, const GpuOptions& options);
AotcStatus fork_session_part(Session* s, const Session* from);
void destroy_session_part(Session* s);
void release_model_part(Model* model);
AotcStatus check_usable(Session* s, GpuUse use);
AotcStatus states_repaired(Session* s);
AotcStatus run_call(Session* s, const DLTensor* inputs, int32_t n_inputs, DLManagedTensor** outputs,
                    int32_t n_outputs);
AotcStatus synchronize(Session* s);
AotcStatus prepare_memory(Session* s);
AotcStatus check_device_layouts(Session* s);
AotcStatus obtain_temporary(Session* s, int32_t output, int64_t span);
AotcStatus make_device_tensor(Session* s, int32_t output, int64_t bytes, DLManagedTensor** out);
AotcStatus check_tensor_device(const Session* s, const char* what, AotcDevice wanted,
                               DLDevice device);
AotcStatus check_reach(const Session* s, const char* function, const char* name, DLDevice device);
AotcStatus check_bound(const Session* s, const char* name, AotcDevice wanted, DLDevice device);
AotcStatus copy_any(Session* s, const View& to, bool to_gpu, const View& from, bool from_gpu);
AotcStatus reset_storage(Session* s, int32_t i);
AotcStatus allocate_for_caller(Model* model, uint64_t bytes, void** out);
AotcStatus free_for_caller(Model* model, void* data);
AotcStatus copy_for_caller(Model* model, void* to, DLDevice to_device, const void* from,
                           DLDevice from_device, uint64_t bytes);
int64_t scratch_bytes(const Session* s);
const char* graph_trouble(const Session* s);

// Callbacks of the frame.
int32_t launch(AotcFrame* frame, const AotcLaunch* launch);
int32_t transfer(AotcFrame* frame, void* to, AotcDevice to_device, const void* from,
                 AotcDevice from_device, int64_t bytes);
int32_t wait(AotcFrame* frame);
void* obtain_device_scratch(AotcFrame* frame, int32_t slot, int64_t bytes);

}  // namespace aotc::model::cuda
