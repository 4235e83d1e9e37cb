// Runs the blocks of a launch one after another, the threads of each as fibers that change only
// where they wait for one another. Finds threads that wait at different barriers, or for threads
// that have returned.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>

#include "fibers.h"
#include "image.h"
#include "memory.h"
#include "settings.h"

namespace aotc::simt {
namespace {

constexpr unsigned kWarp = 32, kMostThreads = 1024;

enum class State : uint8_t { New, Ready, Running, AtBlock, AtWarp, Done };

struct Thread {
  State state = State::New;
  int line = 0;       // of the barrier where it waits
  unsigned mask = 0;  // AtWarp
  unsigned value = 0, result = 0;
  int from = -1;  // lane that an exchange reads; -1: a ballot or barrier
};

std::atomic<uint64_t> n_launches = 0;

class Block {
 public:
  static Block*& current() {
    static Block* block = nullptr;
    return block;
  }

  Block(const Launch& launch, Calls& calls, Fibers& fibers)
      : launch_(launch), calls_(calls), fibers_(fibers) {
    threads_.resize(size_t{launch.block.x} * launch.block.y * launch.block.z);
  }

  bool run(const Index3& block) {
    block_ = block;
    calls_.block = block;
    std::fill(threads_.begin(), threads_.end(), Thread{});
    done_ = at_block_ = started_ = free_fiber_ = 0;
    block_line_ = 0;
    count_ = 0;
    ready_.clear();
    fiber_of_.assign(threads_.size(), 0);
    idle_.clear();
    failed_ = false;
    while (done_ < threads_.size() && !failed_) {
      if (!ready_.empty()) {
        const size_t t = ready_.front();
        ready_.pop_front();
        go_on(t);
      } else if (started_ < threads_.size()) {
        start_some();
      } else {
        deadlock();
      }
    }
    if (failed_) fibers_.reset();
    return !failed_;
  }

  // ---- from inside kernels

  void block_barrier(int line) {
    Thread& t = threads_[running_];
    t.state = State::AtBlock;
    t.line = line;
    if (at_block_++ == 0) block_line_ = line;
    if (line != block_line_)
      return fail("threads of one block wait at different barriers, in lines " +
                  std::to_string(block_line_) + " and " + std::to_string(line));
    if (at_block_ == threads_.size()) release_block();
    fibers_.pause();
  }

  int block_count(int predicate, int line) {
    count_ += predicate;
    block_barrier(line);
    const int count = count_;
    block_barrier(-line);  // nobody starts the next count before all have read this one
    count_ = 0;
    return count;
  }

  unsigned warp(unsigned mask, unsigned value, int from, int line) {
    Thread& t = threads_[running_];
    const unsigned lane = static_cast<unsigned>(running_ % kWarp);
    if (!(mask >> lane & 1)) {
      fail("lane " + std::to_string(lane) + " is not in the mask of its own shuffle or vote");
      return 0;
    }
    t.state = State::AtWarp;
    t.line = line;
    t.mask = mask;
    t.value = value;
    t.from = from;
    release_warp(running_ / kWarp, mask);
    fibers_.pause();
    return t.result;
  }

  void fail(const std::string& what) {
    complain("kernel " + std::string(launch_.kernel->name) + ", " + place() + ": " + what);
    failed_ = true;
    if (inside_) fibers_.pause();
  }

  std::string place() const {
    const Index3 t = index_of(running_);
    auto text = [](const Index3& i) {
      return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) +
             ")";
    };
    return "block " + text(block_) + ", thread " + text(t);
  }
  const char* kernel() const { return launch_.kernel->name; }

 private:
  // Threads start in ascending or, reversed, descending order.
  size_t thread_at(size_t position) const {
    return settings().reverse ? threads_.size() - 1 - position : position;
  }

  Index3 index_of(size_t t) const {
    const unsigned n = static_cast<unsigned>(t);
    return {n % launch_.block.x, n / launch_.block.x % launch_.block.y,
            n / launch_.block.x / launch_.block.y};
  }

  void set_running(size_t t) {
    running_ = t;
    threads_[t].state = State::Running;
    calls_.thread = index_of(t);
  }

  // A fiber runs new threads one after another until one of them waits.
  void start_some() {
    size_t fiber;
    if (idle_.empty()) {
      fiber = free_fiber_++;
    } else {
      fiber = idle_.back();
      idle_.pop_back();
    }
    fiber_ = fiber;
    inside_ = true;
    fibers_.resume(fiber, run_threads, this);
    inside_ = false;
    after(fiber);
  }

  void go_on(size_t t) {
    set_running(t);
    fiber_ = fiber_of_[t];
    inside_ = true;
    fibers_.resume(fiber_, run_threads, this);
    inside_ = false;
    after(fiber_);
  }

  void after(size_t fiber) {
    if (!failed_ && fibers_.finished(fiber)) idle_.push_back(fiber);
  }

  static void run_threads(void* self) { static_cast<Block*>(self)->run_threads(); }
  void run_threads() {
    while (started_ < threads_.size()) {
      const size_t t = thread_at(started_++);
      set_running(t);
      fiber_of_[t] = fiber_;
      const size_t own_fiber = fiber_;
      launch_.kernel->call(launch_.arguments);
      fiber_ = own_fiber;
      finish(t);
      if (!ready_.empty() || failed_) return;
    }
  }

  void finish(size_t t) {
    threads_[t].state = State::Done;
    ++done_;
    if (at_block_ > 0) {
      running_ = t;
      complain("kernel " + std::string(launch_.kernel->name) + ", " + place() +
               ": returns while others wait at the barrier in line " + std::to_string(block_line_));
      failed_ = true;
    }
  }

  void make_ready(size_t t) {
    threads_[t].state = State::Ready;
    ready_.push_back(t);
  }

  void release_block() {
    at_block_ = 0;
    for (size_t i = 0; i < threads_.size(); ++i) make_ready(thread_at(i));
  }

  // All lanes of the mask have arrived: they get what they asked for.
  void release_warp(size_t warp, unsigned mask) {
    const size_t first = warp * kWarp;
    unsigned votes = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if (!(mask >> lane & 1)) continue;
      if (first + lane >= threads_.size()) continue;  // lanes that the block does not have
      const Thread& t = threads_[first + lane];
      if (t.state != State::AtWarp || t.mask != mask) return;
      if (t.line != threads_[running_].line)
        return fail("lanes of one mask wait in lines " + std::to_string(t.line) + " and " +
                    std::to_string(threads_[running_].line));
      votes |= (t.value ? 1u : 0u) << lane;
    }
    for (unsigned i = 0; i < kWarp; ++i) {
      const unsigned lane = settings().reverse ? kWarp - 1 - i : i;
      if (!(mask >> lane & 1) || first + lane >= threads_.size()) continue;
      Thread& t = threads_[first + lane];
      t.result = votes;
      if (t.from >= 0) {
        const size_t other = first + static_cast<size_t>(t.from);
        const bool gives = (mask >> t.from & 1) && other < threads_.size();
        t.result = gives ? threads_[other].value : 0xffffffffu;  // as undefined as on a GPU
      }
      make_ready(first + lane);
    }
  }

  void deadlock() {
    for (size_t t = 0; t < threads_.size(); ++t)
      if (threads_[t].state == State::AtWarp || threads_[t].state == State::AtBlock) running_ = t;
    const Thread& t = threads_[running_];
    fail(std::string(t.state == State::AtWarp ? "waits for lanes of its mask that do not come"
                                              : "waits at a barrier that others do not reach") +
         ", in line " + std::to_string(t.line));
  }

  const Launch& launch_;
  Calls& calls_;
  Fibers& fibers_;
  std::vector<Thread> threads_;
  std::vector<size_t> fiber_of_, idle_;
  std::deque<size_t> ready_;
  Index3 block_{};
  size_t done_ = 0, at_block_ = 0, started_ = 0, free_fiber_ = 0, running_ = 0, fiber_ = 0;
  int block_line_ = 0, count_ = 0;
  bool failed_ = false, inside_ = false;
};

void block_barrier(int line) { Block::current()->block_barrier(line); }
void warp_barrier(unsigned mask, int line) { Block::current()->warp(mask, 0, -1, line); }
unsigned exchange(unsigned mask, unsigned value, int from, int line) {
  return Block::current()->warp(mask, value, from, line);
}
unsigned ballot(unsigned mask, int predicate, int line) {
  return Block::current()->warp(mask, static_cast<unsigned>(predicate), -1, line);
}
int block_count(int predicate, int line) { return Block::current()->block_count(predicate, line); }
void trap(const char* what, int line) {
  Block::current()->fail(std::string(what) + " in line " + std::to_string(line));
}

// ---- accesses outside of allocations

struct sigaction previous_handler;

void on_fault(int signal, siginfo_t* info, void* context) {
  const Block* block = Block::current();
  if (!block) {
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    if (DeviceMemory::get().contains(address)) {
      complain("the host touches device address " + std::to_string(address));
      _exit(86);
    }
    sigaction(signal, &previous_handler, nullptr);
    return;
  }
  (void)context;
  complain("kernel " + std::string(block->kernel()) + ", " + block->place() +
           ": touches memory outside of its allocations" +
           (info->si_addr == DeviceMemory::get().nowhere()
                ? "; the argument is a host address"
                : DeviceMemory::get().describe(reinterpret_cast<uint64_t>(info->si_addr))));
  _exit(86);
}

void install_fault_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &previous_handler);
  });
}

// A permutation of [0, n): the i-th is start + i * step modulo n, step without a common factor.
struct BlockOrder {
  uint64_t n, start = 0, step = 1;
  BlockOrder(uint64_t count, uint64_t seed) : n(count) {
    if (seed == 0 || n < 2) return;
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + n;
    x ^= x >> 29, x *= 0xbf58476d1ce4e5b9ull, x ^= x >> 32;
    start = x % n;
    step = x / n % n | 1;
    while (std::__gcd(step, n) != 1) step = step + 1 >= n ? 1 : step + 1;
  }
  uint64_t operator()(uint64_t i) const {
    return static_cast<uint64_t>((start + static_cast<unsigned __int128>(i) * step) % n);
  }
};

}  // namespace

uint64_t launches() { return n_launches; }

bool run_launch(const Launch& launch) {
  static std::mutex mutex;  // images keep the running thread in one place
  std::lock_guard lock(mutex);
  static Fibers fibers;
  install_fault_handler();
  ++n_launches;
  const DeviceMemory& memory = DeviceMemory::get();
  Calls calls = {{},
                 {},
                 launch.block,
                 launch.grid,
                 memory.shift(),
                 memory.begin(),
                 memory.size(),
                 memory.nowhere(),
                 block_barrier,
                 warp_barrier,
                 exchange,
                 ballot,
                 block_count,
                 trap};
  *launch.image->calls = &calls;
  Block block(launch, calls, fibers);
  Block::current() = &block;
  const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const BlockOrder order(blocks, settings().seed);
  bool ok = true;
  for (uint64_t i = 0; ok && i < blocks; ++i) {
    const uint64_t b = order(i);
    if (launch.image->shared_begin)
      std::memset(launch.image->shared_begin, 0xff,
                  static_cast<size_t>(launch.image->shared_end - launch.image->shared_begin));
    ok = block.run({static_cast<unsigned>(b % launch.grid.x),
                    static_cast<unsigned>(b / launch.grid.x % launch.grid.y),
                    static_cast<unsigned>(b / launch.grid.x / launch.grid.y)});
  }
  Block::current() = nullptr;
  *launch.image->calls = nullptr;
  return ok;
}

}  // namespace aotc::simt
