// A profile as a Chrome trace (JSON): a complete event ("X") per step of a call, of category
// "step", and one per call, of category "call".
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "gpu.h"
#include "profile.h"

namespace aotc::model {
namespace {

// Bytes of the UTF-8 sequence that `text` begins with; 0: it is none (also an overlong or surrogate
// one). Stops at the zero byte.
int utf8_length(const unsigned char* text) {
  const unsigned char lead = text[0];
  const int length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead > 0xf4) return 0;
  for (int i = 1; i < length; ++i)
    if ((text[i] & 0xc0) != 0x80) return 0;
  const bool wrong = (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) ||
                     (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f);
  return wrong ? 0 : length;
}

// Collects small pieces of text. After a failure it goes on and writes nothing.
class TraceText {
 public:
  explicit TraceText(NewFile* file) : file_(file) {}

  void bytes(const char* data, int64_t size) {
    for (; size > 0; --size, ++data) {
      if (used_ == static_cast<int64_t>(sizeof buffer_)) flush();
      buffer_[used_++] = *data;
    }
  }
  void text(const char* text) { bytes(text, static_cast<int64_t>(strlen(text))); }
  void integer(int64_t value) {
    char digits[24];
    bytes(digits, snprintf(digits, sizeof digits, "%lld", static_cast<long long>(value)));
  }
  // Nanoseconds as microseconds with three decimals. Not negative.
  void microseconds(int64_t ns) {
    char digits[32];
    bytes(digits, snprintf(digits, sizeof digits, "%lld.%03d", static_cast<long long>(ns / 1000),
                           static_cast<int>(ns % 1000)));
  }
  // A JSON string; bytes that are no UTF-8 become U+FFFD.
  void string(const char* value) {
    bytes("\"", 1);
    for (const char* at = value; *at;) {
      const int length = utf8_length(reinterpret_cast<const unsigned char*>(at));
      character(at, length);
      at += length ? length : 1;
    }
    bytes("\"", 1);
  }
  bool flush() {
    good_ = good_ && file_->write(buffer_, used_);
    used_ = 0;
    return good_;
  }

 private:
  void character(const char* at, int length) {
    const unsigned char first = static_cast<unsigned char>(*at);
    char escaped[8];
    if (length == 0)
      text("\\ufffd");
    else if (first < 0x20 || first == 0x7f)
      bytes(escaped, snprintf(escaped, sizeof escaped, "\\u%04x", first));
    else {
      if (first == '"' || first == '\\') bytes("\\", 1);
      bytes(at, length);
    }
  }

  NewFile* file_;
  int64_t used_ = 0;
  bool good_ = true;
  char buffer_[4096];
};

struct Span {
  int64_t begin, end;
};

class Trace {
 public:
  Trace(const Session* s, NewFile* file) : s_(s), out_(file) {}

  bool write() {
    out_.text("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":");
    out_.string(s_->program->name);
    out_.text(",\"calls\":");
    out_.integer(s_->profile->calls);
    out_.text(",\"truncated\":");
    out_.text(s_->profile->lost ? "true" : "false");
    out_.text(",\"lost_calls\":");
    out_.integer(s_->profile->lost);
    if (const char* trouble = s_->gpu ? gpu_of(s_).graph_trouble(s_) : nullptr) {
      out_.text(",\"cuda_graph\":");
      out_.string(trouble);
    }
    out_.text("},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":");
    out_.integer(pid_);
    out_.text(",\"args\":{\"name\":");
    out_.string(s_->program->name);
    out_.text("}}");
    for (RecordBlock* block = s_->profile->first; block; block = block->next)
      for (int64_t i = 0; i < block->used; ++i) call(*block->record(i, s_->profile->record_bytes));
    out_.text("\n]}\n");
    return out_.flush();
  }

 private:
  // Up to the last member of `args`.
  void begin_event(const char* category, const char* name, const CallRecord& call, Span span) {
    out_.text(",\n{\"ph\":\"X\",\"cat\":\"");
    out_.text(category);
    out_.text("\",\"name\":");
    out_.string(name);
    out_.text(",\"ts\":");
    out_.microseconds(span.begin);
    out_.text(",\"dur\":");
    out_.microseconds(span.end - span.begin);
    out_.text(",\"pid\":");
    out_.integer(pid_);
    out_.text(",\"tid\":");
    out_.integer(call.thread);
    out_.text(",\"args\":{\"call\":");
    out_.integer(call.number);
  }

  // By the device's times where it did something there.
  void step(int32_t i, const CallRecord& call, Span span, bool failed) {
    const AotcStep& step = s_->program->steps[i];
    const DeviceTimes on_device =
        s_->gpu ? call.device_times(s_->program->n_steps)[i] : DeviceTimes{};
    if (on_device.kind == StepKind::kHost)
      begin_event("step", step.name, call, span);
    else
      begin_event(on_device.kind == StepKind::kKernel ? "kernel" : "transfer", step.name, call,
                  {on_device.begin, on_device.end});
    out_.text(",\"op\":");
    out_.string(step.op);
    out_.text(",\"line\":");
    out_.string(step.line);
    if (on_device.kind != StepKind::kHost) {
      out_.text(",\"device\":");
      out_.string(device_name(dl_device(s_->program, AOTC_GPU)).text);
    }
    out_.text(failed ? ",\"failed\":true}}" : "}}");
  }

  void call(const CallRecord& call) {
    begin_event("call", s_->program->name, call, {call.begin, call.end});
    out_.text(",\"status\":");
    out_.integer(call.status);
    out_.text(call.status ? ",\"failed\":true}}" : "}}");
    int32_t next = 0;  // after the last step that ended
    int64_t begin = call.run_begin;
    for (int32_t i = 0; i < s_->program->n_steps; ++i) {
      const int64_t end = call.step_ends()[i];
      if (!end) continue;
      step(i, call, {begin, end}, false);
      begin = end;
      next = i + 1;
    }
    if (call.run_failed && next < s_->program->n_steps)
      step(next, call, {begin, call.run_end}, true);
  }

  const Session* s_;
  const int64_t pid_ = getpid();
  TraceText out_;
};

}  // namespace

AotcStatus write_trace(const Session* s, const char* path) {
  NewFile file;
  if (AotcStatus status = file.create("session_profile_stop", path)) return status;
  if (!Trace(s, &file).write()) return file.failure();
  return file.publish(false);
}

}  // namespace aotc::model
