#include "fibers.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace aotc::simt {
namespace {

constexpr size_t kStack = 128 << 10, kPage = 4096;
// Stacks at equal offsets would fall into the same cache sets.
constexpr size_t kStagger = 320, kStaggers = 12;

}  // namespace

struct Fiber {
  Fibers* owner = nullptr;
  char* stack = nullptr;
  void* pointer = nullptr;  // where it goes on
  Fibers::Work work = nullptr;
  void* argument = nullptr;
  bool started = false, done = false;
#if !defined(__x86_64__)
  ucontext_t own, back;
#endif

  Fiber() {
    void* p = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p == MAP_FAILED) std::abort();
    stack = static_cast<char*>(p);
    mprotect(stack, kPage, PROT_NONE);  // an overflow faults
  }
  ~Fiber() { munmap(stack, kStack); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void run() {
    work(argument);
    done = true;
    owner->pause();
  }
};

#if defined(__x86_64__)
// Saves the registers that a call keeps, changes stacks, restores.
extern "C" void aotc_sim_switch(void** save, void* go);
asm(R"(
.text
.globl aotc_sim_switch
.hidden aotc_sim_switch
.type aotc_sim_switch, @function
aotc_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size aotc_sim_switch, .-aotc_sim_switch
.globl aotc_sim_enter
.hidden aotc_sim_enter
.type aotc_sim_enter, @function
aotc_sim_enter:
  movq %rbx, %rdi
  call aotc_sim_first
  ud2
.size aotc_sim_enter, .-aotc_sim_enter
)");
extern "C" void aotc_sim_enter();
extern "C" __attribute__((used, visibility("hidden"))) void aotc_sim_first(Fiber* f) { f->run(); }

namespace {

void prepare(Fiber& f, size_t number) {
  char* top = f.stack + kStack - 64 - kStagger * (number % kStaggers);
  top -= reinterpret_cast<uintptr_t>(top) % 16;
  auto* words = reinterpret_cast<uint64_t*>(top) - 8;
  std::memset(words, 0, 8 * 8);
  uint32_t control[2] = {0x1f80, 0x037f};
  std::memcpy(words, control, sizeof control);
  words[5] = reinterpret_cast<uint64_t>(&f);              // rbx
  words[7] = reinterpret_cast<uint64_t>(aotc_sim_enter);  // where it returns to
  f.pointer = words;
}

void go_to(Fiber& f, void** caller) { aotc_sim_switch(caller, f.pointer); }
void go_back(Fiber& f, void* caller) { aotc_sim_switch(&f.pointer, caller); }

}  // namespace
#else
namespace {

void first(unsigned low, unsigned high) {
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 32)->run();
}

void prepare(Fiber& f, size_t) {
  getcontext(&f.own);
  f.own.uc_stack.ss_sp = f.stack;
  f.own.uc_stack.ss_size = kStack;
  const auto self = reinterpret_cast<uintptr_t>(&f);
  makecontext(&f.own, reinterpret_cast<void (*)()>(first), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
}

void go_to(Fiber& f, void**) { swapcontext(&f.back, &f.own); }
void go_back(Fiber& f, void*) { swapcontext(&f.own, &f.back); }

}  // namespace
#endif

Fibers::Fibers() = default;
Fibers::~Fibers() = default;

void Fibers::resume(size_t number, Work work, void* argument) {
  while (fibers_.size() <= number) {
    fibers_.push_back(std::make_unique<Fiber>());
    fibers_.back()->owner = this;
  }
  Fiber& f = *fibers_[number];
  if (!f.started || f.done) {
    f.started = true;
    f.done = false;
    f.work = work;
    f.argument = argument;
    prepare(f, number);
  }
  running_ = &f;
  go_to(f, &caller_);
  running_ = nullptr;
}

void Fibers::pause() { go_back(*running_, caller_); }

void Fibers::reset() {
  for (auto& f : fibers_) f->started = false;
}

bool Fibers::finished(size_t number) const { return fibers_[number]->done; }

}  // namespace aotc::simt
