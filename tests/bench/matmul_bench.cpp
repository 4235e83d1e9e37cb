// Times the float32 matrix product of templates/ and, given a library that exports sgemm_ (MKL
// inside libtorch_cpu.so, OpenBLAS), that library's, interleaved in one process.
//   matmul_bench [--blas LIBRARY.so] [--level LEVEL] [--threads N] [--seconds S per shape]
// One thread is measured in its CPU time, more in wall time. Ours adds a bias, sgemm_ does not.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "levels.h"

namespace {

using Sgemm = void(const char* trans_a, const char* trans_b, const int* m, const int* n,
                   const int* k, const float* alpha, const float* a, const int* lda, const float* b,
                   const int* ldb, const float* beta, float* c, const int* ldc);

struct Options {
  std::string blas, level;
  int threads = 1;
  double seconds = 0.3;
};

struct Shape {
  int batch, m, k, n;
};

constexpr Shape kShapes[] = {
    {1, 8, 128, 256},    {1, 8, 256, 10},     {1, 1, 128, 256},    {1, 1, 768, 2304},
    {1, 1, 768, 3072},   {1, 1, 3072, 768},   {1, 1, 768, 50257},  {1, 4, 768, 3072},
    {1, 16, 768, 3072},  {1, 32, 768, 3072},  {1, 128, 768, 2304}, {1, 128, 768, 3072},
    {1, 128, 3072, 768}, {1, 384, 384, 1536}, {1, 384, 1536, 384}, {12, 128, 64, 128},
    {12, 128, 128, 64},  {12, 1, 64, 1024},   {1, 128, 768, 50257}};

// Workers that spin between calls; call 0 .. threads - 1 at a time.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; i++) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    stop_ = true;
    round_++;
    for (std::thread& worker : workers_) worker.join();
  }
  static void run(void* context, int64_t n, int64_t, void (*fn)(void*, int64_t, int64_t),
                  void* arg) {
    Pool& pool = *static_cast<Pool*>(context);
    pool.fn_ = fn, pool.arg_ = arg;
    pool.next_ = 0, pool.count_ = n;
    pool.busy_ = int(pool.workers_.size());
    pool.round_++;
    pool.take();
    while (pool.busy_) std::this_thread::yield();
  }

 private:
  void take() {
    for (int64_t i = next_++; i < count_; i = next_++) fn_(arg_, i, i + 1);
  }
  void work() {
    for (int seen = 0;; seen++) {
      while (round_ == seen) std::this_thread::yield();
      if (stop_) return;
      take();
      busy_--;
    }
  }
  std::vector<std::thread> workers_;
  std::atomic<int> round_{0}, busy_{0};
  std::atomic<int64_t> next_{0};
  int64_t count_ = 0;
  std::atomic<bool> stop_{false};
  void (*fn_)(void*, int64_t, int64_t) = nullptr;
  void* arg_ = nullptr;
};

double now(bool wall) {
  timespec t;
  clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

struct Timing {
  std::vector<double> samples;
  double least() const { return *std::min_element(samples.begin(), samples.end()); }
  double median() const {
    std::vector<double> sorted = samples;
    std::nth_element(sorted.begin(), sorted.begin() + long(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// Alternates the candidates until each has had its share of `seconds`.
std::vector<Timing> measure(const std::vector<std::function<void()>>& candidates, double seconds,
                            bool wall) {
  std::vector<Timing> timings(candidates.size());
  for (const auto& run : candidates) run();
  const double once_start = now(wall);
  candidates[0]();
  const int repeats = std::max(1, int(50e-6 / (now(wall) - once_start + 1e-9)));
  const double end = now(wall) + seconds * double(candidates.size());
  while (now(wall) < end || timings[0].samples.size() < 3) {
    for (size_t i = 0; i < candidates.size(); i++) {
      candidates[i]();  // brings operands back into the caches
      const double start = now(wall);
      for (int r = 0; r < repeats; r++) candidates[i]();
      timings[i].samples.push_back((now(wall) - start) / repeats);
    }
  }
  return timings;
}

std::vector<float> random_floats(size_t count) {
  std::vector<float> values(count);
  uint32_t state = 1;
  for (float& x : values) {
    state = state * 1664525u + 1013904223u;
    x = float(int32_t(state)) * 0x1p-31f;
  }
  return values;
}

struct Operands {
  std::vector<float> a, b, c, bias;
  std::vector<char> scratch;
};

AotcMatmul make_request(const Shape& s, bool weight_nk, Operands& v, const Level& level, Pool& pool,
                        int threads) {
  AotcMatmul q{};
  std::fill(std::begin(q.batch_sizes), std::end(q.batch_sizes), 1);
  q.batch_sizes[3] = s.batch;
  q.m = s.m, q.n = s.n, q.k = s.k;
  q.a = v.a.data(), q.a_row = s.k, q.a_col = 1, q.a_batch[3] = int64_t(s.m) * s.k;
  q.b = v.b.data(), q.b_batch[3] = int64_t(s.n) * s.k;
  q.b_row = weight_nk ? 1 : s.n, q.b_col = weight_nk ? s.k : 1;
  q.c = v.c.data(), q.c_row = s.n, q.c_col = 1, q.c_batch[3] = int64_t(s.m) * s.n;
  q.d = v.bias.data(), q.d_col = 1;
  q.alpha = q.beta = 1;
  v.scratch.resize(size_t(level.table->scratch(s.batch, s.m, s.n, s.k, threads)) + 64);
  q.scratch = v.scratch.data() + 64 - reinterpret_cast<uintptr_t>(v.scratch.data()) % 64;
  q.threads = threads;
  q.parallel_context = &pool;
  q.parallel_for = Pool::run;
  return q;
}

void run_blas(Sgemm* sgemm, const Shape& s, bool weight_nk, Operands& v) {
  const float one = 1, zero = 0;
  const int ldb = weight_nk ? s.k : s.n;
  for (int i = 0; i < s.batch; i++) {
    sgemm(weight_nk ? "T" : "N", "N", &s.n, &s.m, &s.k, &one, v.b.data() + size_t(i) * s.n * s.k,
          &ldb, v.a.data() + size_t(i) * s.m * s.k, &s.k, &zero, v.c.data() + size_t(i) * s.m * s.n,
          &s.n);
  }
}

void bench_shape(const Shape& s, bool weight_nk, const Options& options, const Level& level,
                 Sgemm* sgemm, Pool& pool) {
  Operands v;
  v.a = random_floats(size_t(s.batch) * s.m * s.k);
  v.b = random_floats(size_t(s.batch) * s.k * s.n);
  v.c.resize(size_t(s.batch) * s.m * s.n);
  v.bias = random_floats(size_t(s.n));
  const AotcMatmul q = make_request(s, weight_nk, v, level, pool, options.threads);
  std::vector<std::function<void()>> candidates{[&] { level.table->f32(&q); }};
  if (sgemm) candidates.emplace_back([&] { run_blas(sgemm, s, weight_nk, v); });
  const auto timings = measure(candidates, options.seconds, options.threads > 1);
  const double work = 2e-9 * s.batch * s.m * double(s.k) * s.n;
  char name[64];
  std::snprintf(name, sizeof name, "%dx(%d,%d,%d) %s", s.batch, s.m, s.k, s.n,
                weight_nk ? "NK" : "KN");
  std::printf("| %-22s | %9.2f | %9.2f | %6.1f |", name, timings[0].least() * 1e6,
              timings[0].median() * 1e6, work / timings[0].least());
  if (sgemm) {
    std::printf(" %9.2f | %9.2f | %5.2f | %5.2f |", timings[1].least() * 1e6,
                timings[1].median() * 1e6, timings[0].least() / timings[1].least(),
                timings[0].median() / timings[1].median());
  }
  std::printf("\n");
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--blas") options.blas = value;
    if (key == "--level") options.level = value;
    if (key == "--threads") options.threads = std::max(1, std::atoi(value.c_str()));
    if (key == "--seconds") options.seconds = std::atof(value.c_str());
  }
  return options;
}

Sgemm* open_blas(const Options& options) {
  if (options.blas.empty()) return nullptr;
  const std::string threads = std::to_string(options.threads);
  setenv("OMP_NUM_THREADS", threads.c_str(), 1);
  setenv("MKL_NUM_THREADS", threads.c_str(), 1);
  void* library = dlopen(options.blas.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* sgemm = library ? dlsym(library, "sgemm_") : nullptr;
  if (!sgemm) std::fprintf(stderr, "%s: %s\n", options.blas.c_str(), dlerror());
  return reinterpret_cast<Sgemm*>(sgemm);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  Sgemm* sgemm = open_blas(options);
  if (!options.blas.empty() && !sgemm) return 1;
  const Level* level = nullptr;
  for (const Level& usable : usable_levels()) {
    if (options.level.empty() ? usable.name != "wide" : usable.name == options.level)
      level = &usable;
  }
  if (!level) {
    std::fprintf(stderr, "level '%s' is not built or this CPU cannot run it\n",
                 options.level.c_str());
    return 1;
  }
  std::printf("level %s, %d thread(s), us of %s; weight [N,K] or [K,N]\n", level->name.c_str(),
              options.threads, options.threads > 1 ? "wall time" : "CPU time");
  std::printf("| batch x (M,K,N)        |  ours min |       med |   GF/s |%s\n",
              sgemm ? "  blas min |       med | ratio |   med |" : "");
  Pool pool(options.threads);
  for (const Shape& shape : kShapes) {
    for (bool weight_nk : {true, false})
      bench_shape(shape, weight_nk, options, *level, sgemm, pool);
  }
  return 0;
}
