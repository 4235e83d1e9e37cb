// What a session's profile holds: the calls that it recorded, in blocks that are allocated between
// calls, so that recording a step is one reading of the clock and one store.
#pragma once
#include "session.h"

namespace aotc::model {

// What a step did, and when the device did it, in the host's time; kHost: nothing there.
struct DeviceTimes {
  int64_t begin, end;
  StepKind kind;
};

// One call of session_run; times in nanoseconds of CLOCK_MONOTONIC. The end of each step follows, 0
// where it was not reached; then, for a program with a GPU part, its time on the device.
struct CallRecord {
  int64_t begin, end;          // of session_run
  int64_t run_begin, run_end;  // of the program; 0: the call failed before
  int64_t number;              // of the call since the profile started, from 0
  int64_t thread;
  AotcStatus status;
  int32_t run_failed;  // the program stopped in the step after the last one that has an end
  int64_t* step_ends() { return reinterpret_cast<int64_t*>(this + 1); }
  const int64_t* step_ends() const { return reinterpret_cast<const int64_t*>(this + 1); }
  DeviceTimes* device_times(int32_t n_steps) {
    return reinterpret_cast<DeviceTimes*>(step_ends() + n_steps);
  }
  const DeviceTimes* device_times(int32_t n_steps) const {
    return reinterpret_cast<const DeviceTimes*>(step_ends() + n_steps);
  }
};

struct RecordBlock {
  RecordBlock* next;
  int64_t used, capacity;  // records
  CallRecord* record(int64_t i, int64_t record_bytes) {
    return reinterpret_cast<CallRecord*>(reinterpret_cast<char*>(this + 1) + i * record_bytes);
  }
};

struct Profile {
  int64_t wait, warmup, active;  // calls: not recorded; recorded and forgotten; recorded
  int64_t calls;                 // so far
  int64_t lost;                  // of the active ones, those that there was no memory for
  int64_t record_bytes;
  RecordBlock *first, *last;
};

// Publishes the profile as a Chrome trace.
AotcStatus write_trace(const Session* s, const char* path);

}  // namespace aotc::model
