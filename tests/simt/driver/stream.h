// Streams that do nothing until somebody waits, so that a missing wait shows; events and captured
// graphs over them.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "image.h"

namespace aotc::simt {

struct Module {
  void* library = nullptr;
  const Image* image = nullptr;
};

struct Function {
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
};

// Arguments are copied when the launch is submitted.
struct KernelCall {
  const Function* function = nullptr;
  Index3 grid{}, block{};
  std::vector<std::vector<char>> arguments;
  void set_arguments(void** given);
  bool run();
};

struct Copy {
  uint64_t to = 0, from = 0, bytes = 0;
  bool to_device = false, from_device = false;
  std::shared_ptr<std::vector<char>> kept;  // pageable memory of the host, read when submitted
  bool run() const;
};

struct Fill {
  uint64_t to = 0, count = 0;
  uint32_t value = 0;
  int width = 1;  // bytes of the value
  bool run() const;
};

struct Node {
  enum class Kind { Kernel, Copy, Fill } kind;
  KernelCall kernel;
  Copy copy;
  Fill fill;
  bool run() {
    return kind == Kind::Kernel ? kernel.run() : kind == Kind::Copy ? copy.run() : fill.run();
  }
};

// Of memory; the simulator gives everything back at once.
struct Pool {};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct GraphExec {
  std::vector<Node> nodes;
  std::vector<const Node*> origins;  // the graph's nodes that they come from
};

struct Stream {
  bool blocking = true;  // waits for the default stream, which waits for it
  std::deque<std::function<void()>> work;
  uint64_t submitted = 0, done = 0;
  std::unique_ptr<Graph> capture;
  bool capture_broken = false;

  void submit(std::function<void()> f);
  void run_until(uint64_t number);
  void run_all() { run_until(submitted); }
};

struct Event {
  Stream* stream = nullptr;  // nullptr: never recorded
  uint64_t number = 0;
  double milliseconds = 0;
};

}  // namespace aotc::simt
