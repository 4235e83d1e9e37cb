// Reads the stack traces that torch.export records with its nodes.
#include "ir/import/source_line.h"

#include <vector>

namespace aotc {
namespace {

// One frame of a Python stack trace: File "m.py", line 34, in forward\n    text
struct Frame {
  std::string file, function, text;
  int line = 0;
};

std::vector<Frame> parse_frames(const std::string& trace) {
  std::vector<Frame> frames;
  size_t at = 0;
  while ((at = trace.find("File \"", at)) != std::string::npos) {
    Frame f;
    size_t name_end = trace.find('"', at + 6);
    size_t line = trace.find("line ", at);
    size_t end = trace.find('\n', at);
    if (name_end == std::string::npos || line == std::string::npos) break;
    f.file = trace.substr(at + 6, name_end - at - 6);
    f.line = std::atoi(trace.c_str() + line + 5);
    size_t in = trace.find(", in ", line);
    if (in != std::string::npos && (end == std::string::npos || in < end))
      f.function = trace.substr(in + 5, end - in - 5);
    if (end != std::string::npos) {
      size_t text_end = trace.find('\n', end + 1);
      std::string text =
          trace.substr(end + 1, text_end == std::string::npos ? text_end : text_end - end - 1);
      size_t first = text.find_first_not_of(' ');
      if (first != std::string::npos && !text.substr(first).starts_with("File \""))
        f.text = text.substr(first);
    }
    frames.push_back(std::move(f));
    at = end == std::string::npos ? trace.size() : end;
  }
  return frames;
}

}  // namespace

Source source_of(const pt2::Node& n) {
  Source s;
  auto it = n.metadata.find("stack_trace");
  if (it == n.metadata.end()) return s;
  std::vector<Frame> frames = parse_frames(it->second);
  if (frames.empty()) return s;
  const Frame* best = &frames.front();
  for (const Frame& f : frames)
    if (f.file.find("site-packages/torch/") == std::string::npos &&
        f.file.find("/torch/nn/") == std::string::npos)
      best = &f;
  return {best->file, best->line, best->text, best->function};
}

}  // namespace aotc
