// One call of a program with a GPU part, and what the frame offers to the program.
#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "gpu_runtime.h"
#include "gpu_session.h"
#include "graph.h"
#include "times.h"

namespace aotc::model::cuda {
namespace {

// A callback's result: nonzero ends the program. Work that was submitted before may have written.
int32_t answer(Session* s, AotcStatus status) {
  if (!status) return 0;
  s->obtain_status = status;
  s->gpu->is_broken = s->gpu->submitted > 0;
  return 1;
}

AotcStatus submit_program(Session* s) {
  GpuSession* g = s->gpu;
  g->submitted = 0;
  g->last_kernel = -1;
  g->is_broken = false;
  return g->graphs && !s->record ? run_with_graph(s) : run_program(s);
}

// What the program has written, where the caller wants it: inputs last, after everything that can
// fail by itself.
AotcStatus hand_back(Session* s, bool waits) {
  GpuSession* g = s->gpu;
  g->wrote_back = false;
  if (AotcStatus status = deliver_outputs(s)) return status;
  if (AotcStatus status = s->host_io ? fetch_written_inputs(s) : write_back_on_device(s))
    return status;
  if (waits && g->wrote_back)
    if (AotcStatus status = wait_for_device(g)) return status;
  if (s->host_io) write_fetched_inputs(s);
  write_back_inputs(s);
  return AOTC_OK;
}

// The end of a call whose program has submitted everything.
AotcStatus complete(Session* s) {
  GpuSession* g = s->gpu;
  if (AotcStatus status = fetch_failure(s)) return status;
  // Host memory that the call fills, and the caller's tensors that it may write only after its
  // checks, are there when it returns.
  const bool waits =
      !g->asynchronous || g->n_arrivals || s->host_io || s->record || must_write_back(s);
  if (waits) {
    if (AotcStatus status = wait_for_device(g)) return status;
    if (AotcStatus status = report_failure(s)) return status;
  }
  return hand_back(s, waits);
}

AotcStatus execute(Session* s) {
  GpuSession* g = s->gpu;
  AotcStatus status = obtain_outputs(s);
  if (!status) status = stage_on_device(s);
  if (status) return status;
  status = submit_program(s);
  if (status && g->is_broken && s->model->writes_memory) set_failed(g);
  if (status) return status;
  status = complete(s);
  if (status && s->model->writes_memory) set_failed(g);
  return status;
}

// Nothing of a call that has failed is under way when it returns. Keeps the message.
void settle(Session* s) {
  GpuSession* g = s->gpu;
  if (g->driver->cuStreamSynchronize(g->now) && !g->lost &&
      g->driver->cuStreamQuery(g->stream->own) != kSuccess) {
    g->lost = true;
    snprintf(g->trouble, sizeof g->trouble, "%s", last_error());
  }
  drop_arrivals(g);
  g->pinned.used = 0;
}

// What follows in other streams can wait for the end of this call.
void mark_end(Session* s) {
  GpuSession* g = s->gpu;
  if (!g->asynchronous) return;
  if (g->driver->cuEventRecord(g->stream->last_run, g->now))
    g->driver->cuStreamSynchronize(g->now);
  else
    g->has_run = true;
}

}  // namespace

AotcStatus run_call(Session* s, const DLTensor* inputs, int32_t n_inputs, DLManagedTensor** outputs,
                    int32_t n_outputs) {
  if (AotcStatus status = check_usable(s, GpuUse::kAny)) return status;
  const Work work(s, Work::kRun);
  if (work.status) return work.status;
  if (AotcStatus status = get_ready(s, inputs, n_inputs, outputs, n_outputs)) return status;
  AotcStatus status = execute(s);
  if (status) settle(s);
  free_temporaries(s);
  if (!status) status = finish_outputs(s, outputs);
  if (status) release_outputs(s);
  mark_end(s);
  return status;
}

AotcStatus prepare_memory(Session* s) {
  GpuSession* g = s->gpu;
  const int64_t bytes = evaluate(s, s->program->gpu->arena_bytes);
  if (bytes)
    if (AotcStatus status = reserve(g, &g->arena, bytes, "scratch memory")) return status;
  s->frame.device_arena = pointer(g->arena.data);
  return AOTC_OK;
}

int32_t launch(AotcFrame* frame, const AotcLaunch* what) {
  Session* s = static_cast<Session*>(frame->runtime);
  GpuSession* g = s->gpu;
  if (!what->grid[0] || !what->grid[1] || !what->grid[2]) return 0;  // nothing to compute
  if (g->times) step_submits(g, StepKind::kKernel);
  if (is_recording(g)) return answer(s, record_launch(s, *what));
  return answer(s, submit_launch(s, *what));
}

AotcStatus submit_launch(Session* s, const AotcLaunch& what) {
  GpuSession* g = s->gpu;
  const CUfunction function = g->model->functions[what.kernel];
  CUresult code = kSuccess;
  const char* name = "cuFuncSetAttribute";
  constexpr uint32_t kUsualShared = 48 << 10;
  if (what.shared_bytes > kUsualShared)
    code = g->driver->cuFuncSetAttribute(function, kMostDynamicShared,
                                         static_cast<int>(what.shared_bytes));
  if (!code) {
    name = "cuLaunchKernel";
    code = g->driver->cuLaunchKernel(function, what.grid[0], what.grid[1], what.grid[2],
                                     what.block[0], what.block[1], what.block[2], what.shared_bytes,
                                     g->now, what.arguments, nullptr);
  }
  if (code)
    return device_error(g, code, name,
                        "launching kernel '%s' with %u x %u x %u blocks of %u x %u x %u threads",
                        g->model->kernel_names[what.kernel], what.grid[0], what.grid[1],
                        what.grid[2], what.block[0], what.block[1], what.block[2]);
  g->last_kernel = what.kernel;
  ++g->submitted;
  return AOTC_OK;
}

int32_t transfer(AotcFrame* frame, void* to, AotcDevice to_gpu, const void* from,
                 AotcDevice from_gpu, int64_t bytes) {
  Session* s = static_cast<Session*>(frame->runtime);
  GpuSession* g = s->gpu;
  if (bytes == 0) return 0;
  if (to_gpu == AOTC_HOST && from_gpu == AOTC_HOST) {
    memmove(to, from, static_cast<size_t>(bytes));
    return 0;
  }
  if (g->times) step_submits(g, StepKind::kTransfer);
  if (is_recording(g)) return answer(s, record_transfer(s, to, to_gpu, from, from_gpu, bytes));
  if (to_gpu == AOTC_HOST)
    return answer(s, to_host(g, static_cast<char*>(to), address(from), bytes));
  if (from_gpu == AOTC_HOST)
    return answer(s, to_device(g, address(to), static_cast<const char*>(from), bytes));
  return answer(s, on_device(g, address(to), address(from), bytes));
}

int32_t wait(AotcFrame* frame) {
  Session* s = static_cast<Session*>(frame->runtime);
  AotcStatus status =
      is_recording(s->gpu) ? stop_recording(s, "the program waits for the device") : AOTC_OK;
  if (!status) status = fetch_failure(s);
  if (!status) status = wait_for_device(s->gpu);
  if (!status) status = report_failure(s);
  return answer(s, status);
}

void* obtain_device_scratch(AotcFrame* frame, int32_t slot, int64_t bytes) {
  Session* s = static_cast<Session*>(frame->runtime);
  GpuSession* g = s->gpu;
  if (bytes == 0) return no_elements();
  s->obtain_status = reserve(g, &g->slots[slot], bytes, "scratch memory");
  return s->obtain_status ? nullptr : pointer(g->slots[slot].data);
}

}  // namespace aotc::model::cuda
