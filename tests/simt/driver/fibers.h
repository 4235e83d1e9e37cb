// Stacks and switches between them: the threads of a block.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace aotc::simt {

struct Fiber;

// Fibers that run `work(argument)` in turns with the caller. One at a time; all on one OS thread.
class Fibers {
 public:
  using Work = void (*)(void* argument);
  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Runs fiber `number` until it pauses or its work returns. A new number starts `work`.
  void resume(size_t number, Work work, void* argument);
  // From inside a fiber: back to who resumed it.
  void pause();
  // Forgets what runs: the next resume of each number starts anew.
  void reset();
  bool finished(size_t number) const;

 private:
  friend struct Fiber;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* running_ = nullptr;
  void* caller_ = nullptr;  // stack pointer
};

}  // namespace aotc::simt
