// A spin-then-sleep pool in which the caller never waits for a worker that has not yet entered the
// job: a late worker (asleep, or on a stolen CPU) finds the job closed and goes back to waiting. An
// empty job costs the caller tens of nanoseconds, and no preempted worker can stall it.
//
// The pool lives in pages of its own that the kernel replaces by zeros in a forked child. All zeros
// is the state of a pool without threads, so a child simply starts anew.
#include "pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace aotc::model {
namespace {

// Pool.state: generation in the upper half, then whether the job is open, how many more workers may
// enter, and how many are inside. The generation keeps a compare-and-swap from entering a later job
// by mistake.
constexpr uint64_t kOpen = 1ull << 31;
constexpr uint64_t kSlot = 1ull << 16;
constexpr uint64_t kSlotMask = 0x7fff * kSlot;
constexpr uint64_t kInsideMask = 0xffff;
constexpr int32_t kSpins =
    2000;  // about 50 us: longer than the gap between two kernels of one call

struct Pool {
  alignas(64) uint64_t state;
  alignas(64) uint32_t generation;  // of the newest job; workers sleep on it
  uint32_t sleepers;
  alignas(64) int64_t next;  // chunk
  alignas(64) AotcRangeFn fn;
  void* arg;
  int64_t n, step, chunks;
  alignas(64) uint32_t busy;  // a caller owns the job fields and `threads`
  uint32_t stop;
  int32_t spins;
  int32_t workers;
  int32_t cannot_grow;  // creating a thread failed: keep to what there is
  int32_t owner;        // the process, when the pages are not wiped in a child; else 0
  pthread_t threads[kMaxThreads];
};

Pool* the_pool = nullptr;
int32_t pool_users = 0;
int32_t pool_lock = 0;  // 0, or the process id of the holder

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void futex(uint32_t* word, int operation, uint32_t value) {
  syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

// Guards pool_users and the pool's end. A lock whose holder is another process was copied by fork()
// while a thread of the parent held it; that thread does not exist here.
void lock_users() {
  const int32_t self = getpid();
  for (;;) {
    int32_t holder = 0;
    if (__atomic_compare_exchange_n(&pool_lock, &holder, self, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return;
    if (holder != self && __atomic_compare_exchange_n(&pool_lock, &holder, self, false,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    sched_yield();
  }
}
void unlock_users() { store_release(&pool_lock, 0); }

void do_chunks(Pool* pool) {
  for (;;) {
    const int64_t chunk = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    if (chunk >= pool->chunks) return;
    const int64_t begin = chunk * pool->step;
    const int64_t left = pool->n - begin;
    pool->fn(pool->arg, begin, begin + (left < pool->step ? left : pool->step));
  }
}

uint32_t wait_for_job(Pool* pool, uint32_t seen) {
  int32_t spins = __atomic_load_n(&pool->spins, __ATOMIC_RELAXED);
  for (;;) {
    const uint32_t generation = load_acquire(&pool->generation);
    if (generation != seen) return generation;
    if (spins-- > 0) {
      relax();
      continue;
    }
    // Either this thread sees the new generation, or the caller sees the sleeper and wakes it.
    __atomic_fetch_add(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool->generation, __ATOMIC_SEQ_CST) == seen)
      futex(&pool->generation, FUTEX_WAIT, seen);
    __atomic_fetch_sub(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
  }
}

// Takes part in the current job if it is open and has a free slot.
void join_job(Pool* pool) {
  uint64_t state = load_acquire(&pool->state);
  while ((state & kOpen) && (state & kSlotMask)) {
    if (!__atomic_compare_exchange_n(&pool->state, &state, state - kSlot + 1, true,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    do_chunks(pool);
    __atomic_fetch_sub(&pool->state, 1, __ATOMIC_RELEASE);
    return;
  }
}

void* worker(void* argument) {
  Pool* pool = static_cast<Pool*>(argument);
  prctl(PR_SET_NAME, "aotc-worker");
  uint32_t seen = load_acquire(&pool->generation) - 1;  // a job that is already open counts as new
  for (;;) {
    seen = wait_for_job(pool, seen);
    if (load_acquire(&pool->stop)) return nullptr;
    join_job(pool);
  }
}

// Creates workers up to `count`; the caller owns the pool. Signals stay with the host's threads.
void grow(Pool* pool, int32_t count) {
  if (pool->workers >= count || pool->cannot_grow) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->workers < count) {
    if (pthread_create(&pool->threads[pool->workers], nullptr, worker, pool) != 0) {
      pool->cannot_grow = 1;
      break;
    }
    ++pool->workers;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Spinning only helps threads that have a CPU of their own.
  __atomic_store_n(&pool->spins, pool->workers < usable_cpus() ? kSpins : 0, __ATOMIC_RELAXED);
}

Pool* map_pool() {
  void* pages =
      mmap(nullptr, sizeof(Pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  Pool* pool = static_cast<Pool*>(pages);
  if (madvise(pages, sizeof(Pool), MADV_WIPEONFORK) != 0) pool->owner = getpid();
  return pool;
}

// The pool of this process, made on first use; NULL when there cannot be one.
Pool* get_pool() {
  Pool* pool = load_acquire(&the_pool);
  if (pool) return pool->owner && pool->owner != getpid() ? nullptr : pool;
  Pool* made = map_pool();
  if (!made) return nullptr;
  if (__atomic_compare_exchange_n(&the_pool, &pool, made, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return made;
  munmap(made, sizeof(Pool));
  return pool;
}

void stop_pool(Pool* pool) {
  const bool alive = !pool->owner || pool->owner == getpid();
  if (alive && pool->workers) {
    store_release(&pool->stop, 1u);
    __atomic_fetch_add(&pool->generation, 1, __ATOMIC_SEQ_CST);
    futex(&pool->generation, FUTEX_WAKE, 0x7fffffff);
    for (int32_t i = 0; i < pool->workers; ++i) pthread_join(pool->threads[i], nullptr);
  }
  munmap(pool, sizeof(Pool));
}

void publish(Pool* pool, int32_t slots) {
  const uint32_t generation = __atomic_load_n(&pool->generation, __ATOMIC_RELAXED) + 1;
  __atomic_store_n(&pool->next, 0, __ATOMIC_RELAXED);
  store_release(&pool->state, static_cast<uint64_t>(generation) << 32 | kOpen |
                                  static_cast<uint64_t>(slots) * kSlot);
  __atomic_store_n(&pool->generation, generation, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST))
    futex(&pool->generation, FUTEX_WAKE, static_cast<uint32_t>(slots));
}

// Shuts late workers out and waits for those inside.
void close_job(Pool* pool) {
  __atomic_fetch_and(&pool->state, ~kOpen, __ATOMIC_ACQ_REL);
  for (int32_t i = 0; load_acquire(&pool->state) & kInsideMask; ++i)
    if (i < kSpins)
      relax();
    else
      sched_yield();
}

// Runs the job with up to `helpers` workers; false when it is better done by the caller alone.
bool run_job(Pool* pool, int32_t helpers, int64_t n, int64_t grain, AotcRangeFn fn, void* arg) {
  grow(pool, helpers);
  if (helpers > pool->workers) helpers = pool->workers;
  const int64_t fair = (n - 1) / (4 * (helpers + int64_t{1})) + 1;
  pool->step = fair > grain ? fair : grain;
  pool->chunks = (n - 1) / pool->step + 1;
  if (helpers == 0 || pool->chunks == 1) return false;
  pool->fn = fn;
  pool->arg = arg;
  pool->n = n;
  publish(pool, pool->chunks - 1 < helpers ? static_cast<int32_t>(pool->chunks - 1) : helpers);
  do_chunks(pool);
  close_job(pool);
  return true;
}

}  // namespace

int32_t usable_cpus() {
  // A fixed set holds 1024 CPUs; larger machines refuse it, then all online CPUs are the best
  // guess.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > kMaxThreads ? kMaxThreads : static_cast<int32_t>(online);
}

void pool_retain() {
  lock_users();
  ++pool_users;
  unlock_users();
}

void pool_release() {
  lock_users();
  if (--pool_users == 0)
    if (Pool* pool = the_pool) {
      store_release(&the_pool, static_cast<Pool*>(nullptr));
      stop_pool(pool);
    }
  unlock_users();
}

void pool_parallel_for(void* context, int64_t n, int64_t grain, AotcRangeFn fn, void* arg) {
  const int32_t threads = *static_cast<const int32_t*>(context);
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  Pool* pool = threads > 1 && n > grain ? get_pool() : nullptr;
  if (!pool || __atomic_exchange_n(&pool->busy, 1u, __ATOMIC_ACQUIRE)) return fn(arg, 0, n);
  const bool done = run_job(pool, threads - 1, n, grain, fn, arg);
  store_release(&pool->busy, 0u);
  if (!done) fn(arg, 0, n);
}

}  // namespace aotc::model
