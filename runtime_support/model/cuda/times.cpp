// Recording events around steps, and reading them after the call.
#include "times.h"

#include <time.h>

#include "../profile.h"
#include "gpu_runtime.h"

namespace aotc::model::cuda {
namespace {

int64_t host_time() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Events for all steps; false without memory.
bool make_events(const Session* s) {
  GpuSession* g = s->gpu;
  const int32_t steps = s->program->n_steps;
  g->times = static_cast<GpuTimes*>(calloc(1, sizeof(GpuTimes)));
  if (!g->times) return false;
  GpuTimes* t = g->times;
  t->steps = static_cast<StepEvents*>(calloc(static_cast<size_t>(steps) + 1, sizeof(StepEvents)));
  bool good = t->steps && !g->driver->cuEventCreate(&t->start, 0);
  for (int32_t i = 0; good && i < steps; ++i)
    good = !g->driver->cuEventCreate(&t->steps[i].begin, 0) &&
           !g->driver->cuEventCreate(&t->steps[i].end, 0);
  t->count = steps;
  if (!good) destroy_times(g);
  return good;
}

// Of an event that has happened; false: the driver does not say.
bool read_event(const GpuSession* g, CUevent event, int64_t* ns) {
  float milliseconds = 0;
  if (g->driver->cuEventElapsedTime(&milliseconds, g->times->start, event)) return false;
  *ns = g->times->start_ns + static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
  return true;
}

}  // namespace

void step_submits(GpuSession* g, StepKind kind) {
  GpuTimes* t = g->times;
  if (!t->is_active || t->next >= t->count) return;
  if (!t->is_in_step) {
    t->is_in_step = !g->driver->cuEventRecord(t->steps[t->next].begin, g->now);
    t->kind = kind;
  } else if (kind == StepKind::kKernel) {
    t->kind = kind;
  }
}

void begin_record(Session* s) {
  GpuSession* g = s->gpu;
  if (!g->times && !make_events(s)) return;
  GpuTimes* t = g->times;
  t->next = 0;
  t->is_in_step = false;
  for (int32_t i = 0; i < t->count; ++i) t->steps[i].kind = StepKind::kHost;
  t->is_active =
      !g->driver->cuEventRecord(t->start, g->now) && !g->driver->cuEventSynchronize(t->start);
  t->start_ns = host_time();
}

void record_step_done(Session* s, int32_t step) {
  GpuSession* g = s->gpu;
  GpuTimes* t = g->times;
  if (!t || !t->is_active) return;
  // What a step submits counts for the next one that is done: steps are done in order.
  if (t->is_in_step && step >= t->next && step < t->count) {
    StepEvents* events = &t->steps[step];
    if (step != t->next) {
      const CUevent begin = t->steps[t->next].begin;
      t->steps[t->next].begin = events->begin;
      events->begin = begin;
    }
    if (!g->driver->cuEventRecord(events->end, g->now)) events->kind = t->kind;
  }
  t->is_in_step = false;
  if (step >= t->next) t->next = step + 1;
}

void end_record(Session* s) {
  GpuSession* g = s->gpu;
  GpuTimes* t = g->times;
  if (!t || !t->is_active) return;
  t->is_active = false;
  const Work work(s, Work::kOwn);
  if (work.status) return;
  DeviceTimes* out = s->record->device_times(s->program->n_steps);
  for (int32_t i = 0; i < t->count; ++i)
    if (t->steps[i].kind != StepKind::kHost && read_event(g, t->steps[i].begin, &out[i].begin) &&
        read_event(g, t->steps[i].end, &out[i].end))
      out[i].kind = t->steps[i].kind;
}

void destroy_times(GpuSession* g) {
  GpuTimes* t = g->times;
  if (!t) return;
  for (int32_t i = 0; t->steps && i < t->count; ++i) {
    if (t->steps[i].begin) g->driver->cuEventDestroy_v2(t->steps[i].begin);
    if (t->steps[i].end) g->driver->cuEventDestroy_v2(t->steps[i].end);
  }
  if (t->start) g->driver->cuEventDestroy_v2(t->start);
  free(t->steps);
  free(t);
  g->times = nullptr;
}

}  // namespace aotc::model::cuda
