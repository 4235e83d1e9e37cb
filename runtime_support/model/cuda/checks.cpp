// Checks that kernels make: their record is copied to the host at the end of a call and read when
// that copy has arrived. A session whose check has failed does nothing until its states are put in
// order. The record is cleared then and not before, so that calls submitted meanwhile do nothing
// either.
#include <stdio.h>

#include "../error.h"
#include "gpu_runtime.h"
#include "gpu_session.h"

namespace aotc::model::cuda {
namespace {

bool has_checks(const Session* s) { return s->program->gpu->n_checks > 0; }

// A call of an asynchronous session that has ended meanwhile.
AotcStatus look_at_last_run(Session* s) {
  GpuSession* g = s->gpu;
  if (!g->has_run || g->failed) return AOTC_OK;
  const Current current(g->model->device);
  if (current.status) return current.status;
  const CUresult code = g->driver->cuEventQuery(g->stream->last_run);
  if (code == kNotReady) return AOTC_OK;
  if (code) return device_error(g, code, "cuEventQuery", "an earlier call of this session");
  return report_failure(s);
}

}  // namespace

AotcStatus fetch_failure(Session* s) {
  GpuSession* g = s->gpu;
  if (!has_checks(s)) return AOTC_OK;
  if (const CUresult code = g->driver->cuMemcpyDtoHAsync_v2(g->arrived, g->failure,
                                                            sizeof(AotcDeviceFailure), g->now))
    return device_error(g, code, "cuMemcpyDtoHAsync", "reading the checks of a call");
  return AOTC_OK;
}

AotcStatus report_failure(Session* s) {
  GpuSession* g = s->gpu;
  const AotcGpu& gpu = *s->program->gpu;
  const AotcDeviceFailure found = *g->arrived;
  if (found.check == 0) return AOTC_OK;
  AotcFailure failure = {};
  if (found.check > 0 && found.check <= gpu.n_checks) {
    failure.message = gpu.checks[found.check - 1].message;
    failure.value = found.value;
    failure.has_value = gpu.checks[found.check - 1].has_value;
  }
  const AotcStatus status = failure_status(AOTC_FAILED_CHECK, failure);
  set_failed(g);
  return status;
}

void set_failed(GpuSession* g) {
  if (g->failed) return;
  g->failed = true;
  snprintf(g->trouble, sizeof g->trouble, "%s", last_error());
}

AotcStatus clear_failure(Session* s) {
  GpuSession* g = s->gpu;
  if (!g->failed && !g->asynchronous) return AOTC_OK;
  const Work work(s, Work::kOwn);
  if (work.status) return work.status;
  if (const CUresult code =
          g->driver->cuMemsetD8Async(g->failure, 0, sizeof(AotcDeviceFailure), g->now))
    return device_error(g, code, "cuMemsetD8Async", "putting the session in order");
  if (AotcStatus status = wait_for_device(g)) return status;
  *g->arrived = {};
  g->failed = false;
  return AOTC_OK;
}

AotcStatus check_usable(Session* s, GpuUse use) {
  GpuSession* g = s->gpu;
  if (!g->lost && use != GpuUse::kRepairsStates)
    if (AotcStatus status = look_at_last_run(s)) return status;
  if (g->lost)
    return fail(AOTC_DEVICE,
                "the session has ended, since the GPU has failed (%.300s): make a new one; where "
                "that fails too, in a new process",
                g->trouble);
  if (g->failed && use == GpuUse::kAny)
    return fail(AOTC_FAILED_CHECK,
                "a call of this session has failed on the GPU (%.300s), and its states are not "
                "what they should be: reset, set or load them first",
                g->trouble);
  return AOTC_OK;
}

AotcStatus states_repaired(Session* s) { return clear_failure(s); }

AotcStatus synchronize(Session* s) {
  {
    const Work work(s, Work::kOwn);  // waits for the last call
    if (work.status) return work.status;
  }
  if (!s->gpu->failed)
    if (AotcStatus status = report_failure(s)) return status;
  return check_usable(s, GpuUse::kAny);
}

}  // namespace aotc::model::cuda
