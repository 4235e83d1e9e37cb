// Starting and stopping a session's profile, and recording its calls. A call never fails because of
// its profile.
#include "profile.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "gpu.h"
#include "options.h"

namespace aotc::model {
namespace {

constexpr int64_t kMostCalls = int64_t{1} << 60;  // their sums fit in 63 bits
constexpr int64_t kBlockBytes = 64 * 1024;

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void record_step(AotcFrame* frame, int32_t step) {
  Session* s = static_cast<Session*>(frame->runtime);
  if (step < 0 || step >= s->program->n_steps) return;
  s->record->step_ends()[step] = now();
  if (s->gpu) gpu_of(s).step_done(s, step);
}

bool add_block(Profile* p) {
  const int64_t fitting =
      (kBlockBytes - static_cast<int64_t>(sizeof(RecordBlock))) / p->record_bytes;
  const int64_t capacity = fitting > 0 ? fitting : 1;
  const int64_t bytes = static_cast<int64_t>(sizeof(RecordBlock)) + capacity * p->record_bytes;
  RecordBlock* block = static_cast<RecordBlock*>(malloc(static_cast<size_t>(bytes)));
  if (!block) return false;
  *block = {nullptr, 0, capacity};
  (p->last ? p->last->next : p->first) = block;
  p->last = block;
  return true;
}

// The place of the next call, all zero; NULL without memory. It is taken when the call is kept.
CallRecord* next_record(Profile* p) {
  if (p->last->used == p->last->capacity && !add_block(p)) return nullptr;
  CallRecord* record = p->last->record(p->last->used, p->record_bytes);
  memset(static_cast<void*>(record), 0, static_cast<size_t>(p->record_bytes));
  return record;
}

void free_profile(Profile* p) {
  for (RecordBlock* block = p->first; block;) {
    RecordBlock* next = block->next;
    free(block);
    block = next;
  }
  free(p);
}

Profile* make_profile(const Session* s) {
  Profile* p = static_cast<Profile*>(calloc(1, sizeof(Profile)));
  if (!p) return nullptr;
  const int64_t step_bytes = sizeof(int64_t) + (s->gpu ? sizeof(DeviceTimes) : 0);
  p->record_bytes = static_cast<int64_t>(sizeof(CallRecord)) + s->program->n_steps * step_bytes;
  p->active = kMostCalls;
  if (add_block(p)) return p;
  free_profile(p);
  return nullptr;
}

}  // namespace

void profile_call_begins(Session* s) {
  Profile* p = s->profile;
  const int64_t number = p->calls++;
  if (number < p->wait || number - p->wait - p->warmup >= p->active) return;
  CallRecord* record = next_record(p);
  if (!record) {
    p->lost += number >= p->wait + p->warmup;
    return;
  }
  record->number = number;
  record->thread = syscall(SYS_gettid);
  record->begin = now();
  s->record = record;
}

void profile_call_ends(Session* s, AotcStatus status) {
  CallRecord* record = s->record;
  if (!record) return;
  if (s->gpu) gpu_of(s).end_record(s);
  record->end = now();
  record->status = status;
  s->record = nullptr;
  if (record->number >= s->profile->wait + s->profile->warmup) ++s->profile->last->used;
}

int32_t run_recorded(Session* s) {
  if (s->gpu) gpu_of(s).begin_record(s);
  s->frame.step_done = record_step;
  s->record->run_begin = now();
  s->record->run_failed = s->program->run(&s->frame) != 0;
  s->record->run_end = now();
  s->frame.step_done = nullptr;
  return s->record->run_failed;
}

void discard_profile(Session* s) {
  if (s->profile) free_profile(s->profile);
  s->profile = nullptr;
}

AotcStatus session_profile_start(AotcSession* handle, const char* json) {
  constexpr char kFunction[] = "session_profile_start";
  Use use(kFunction, handle);
  if (use.status) return use.status;
  Session* s = use.session;
  if (s->profile)
    return fail(AOTC_INVALID_ARGUMENT,
                "%s: the session is being profiled; call session_profile_stop first", kFunction);
  int64_t wait = 0, warmup = 0, active = kMostCalls;
  Option options[] = {integer_option("wait", 0, kMostCalls, &wait),
                      integer_option("warmup", 0, kMostCalls, &warmup),
                      integer_option("active", 1, kMostCalls, &active)};
  if (AotcStatus status = parse_options(kFunction, json, options, 3)) return status;
  Profile* p = make_profile(s);
  if (!p) return fail(AOTC_OUT_OF_MEMORY, "%s: no memory for a profile", kFunction);
  p->wait = wait;
  p->warmup = warmup;
  p->active = active;
  s->profile = p;
  return AOTC_OK;
}

AotcStatus session_profile_stop(AotcSession* handle, const char* path) {
  Use use("session_profile_stop", handle);
  if (use.status) return use.status;
  if (!use.session->profile)
    return fail(AOTC_INVALID_ARGUMENT,
                "session_profile_stop: the session is not being profiled; call "
                "session_profile_start first");
  if (path)
    if (AotcStatus status = write_trace(use.session, path)) return status;
  discard_profile(use.session);
  return AOTC_OK;
}

}  // namespace aotc::model
