// When the steps of a profiled call ran on the device: an event before and after what each
// submits.
#pragma once
#include "gpu_session.h"

namespace aotc::model::cuda {

struct StepEvents {
  CUevent begin, end;
  StepKind kind;  // of the call in progress
};

struct GpuTimes {
  bool is_active;    // the call in progress is recorded
  bool is_in_step;   // the current step has submitted something
  StepKind kind;     // of the current step
  CUevent start;     // of the call
  int64_t start_ns;  // the same by the host's clock
  int32_t next;      // the step after the last one that was done
  int32_t count;     // of `steps`
  StepEvents* steps;
};

// Before the current step submits something.
void step_submits(GpuSession* g, StepKind kind);
void begin_record(Session* s);
void record_step_done(Session* s, int32_t step);
void end_record(Session* s);
void destroy_times(GpuSession* g);

}  // namespace aotc::model::cuda
