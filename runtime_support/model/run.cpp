// One call. Everything that can fail by itself comes before the program runs, and the program's own
// checks come before it writes: a call that fails leaves inputs, states and the array of outputs as
// they were.
#include "error.h"
#include "gpu.h"

namespace aotc::model {

AotcStatus get_ready(Session* s, const DLTensor* inputs, int32_t n_inputs,
                     DLManagedTensor** outputs, int32_t n_outputs) {
  if (AotcStatus status = check_inputs(s, inputs, n_inputs)) return status;
  if (!s->prepared)
    if (AotcStatus status = prepare(s)) return status;
  if (AotcStatus status = check_expressions(s)) return status;
  if (AotcStatus status = check_layouts(s)) return status;
  if (AotcStatus status = check_outputs(s, outputs, n_outputs)) return status;
  return check_overlaps(s);
}

AotcStatus run_program(Session* s) {
  s->frame.failure = {};
  s->obtain_status = AOTC_OK;
  const int32_t failed = s->record ? run_recorded(s) : s->program->run(&s->frame);
  if (s->obtain_status) return s->obtain_status;  // its message is recorded
  return failed ? failure_status(AOTC_FAILED_CHECK, s->frame.failure) : AOTC_OK;
}

namespace {

AotcStatus call(Session* s, const DLTensor* inputs, int32_t n_inputs, DLManagedTensor** outputs,
                int32_t n_outputs) {
  if (s->gpu) return gpu_of(s).run(s, inputs, n_inputs, outputs, n_outputs);
  if (AotcStatus status = get_ready(s, inputs, n_inputs, outputs, n_outputs)) return status;
  AotcStatus status = obtain_outputs(s);
  if (!status) {
    stage_inputs(s);
    status = run_program(s);
  }
  if (!status) {
    write_back_inputs(s);
    status = finish_outputs(s, outputs);
  }
  if (status) release_outputs(s);
  return status;
}

}  // namespace

AotcStatus session_run(AotcSession* handle, const DLTensor* inputs, int32_t n_inputs,
                       DLManagedTensor** outputs, int32_t n_outputs) {
  Use use("session_run", handle);
  if (use.status) return use.status;
  Session* s = use.session;
  if (!s->profile) return call(s, inputs, n_inputs, outputs, n_outputs);
  profile_call_begins(s);
  const AotcStatus status = call(s, inputs, n_inputs, outputs, n_outputs);
  profile_call_ends(s, status);
  return status;
}

}  // namespace aotc::model
