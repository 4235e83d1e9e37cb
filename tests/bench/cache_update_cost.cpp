// What an update of a cache costs, whatever the cache's length: calls of compiled programs beside
// hand-written loops that do the same, in turns; nanoseconds, minima over rounds.
//   cache_update_cost PACKAGE.aotc...
// A program takes (cache [1, heads, length, dim], update [1, heads, rows, dim], position [rows]),
// all float32 but the positions (int64), and writes the rows in place.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>

#include "program.h"

namespace {

using namespace aotc;
using namespace aotc::bench;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 60;

// The same by hand; the compiler may not know the sizes.
__attribute__((noinline)) void by_hand(float* cache, const float* update, const int64_t* position,
                                       int64_t heads, int64_t length, int64_t rows, int64_t dim) {
  for (int64_t s = 0; s < rows; ++s)
    if (position[s] < 0 || position[s] >= length) return;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t s = 0; s < rows; ++s)
      for (int64_t d = 0; d < dim; ++d)
        cache[(h * length + position[s]) * dim + d] = update[(h * rows + s) * dim + d];
}

struct Subject {
  explicit Subject(const std::string& path)
      : name(path), model(path), session(model, "{\"threads\": 1}") {
    const std::vector<int64_t> c = model.input_spec(0).sizes, u = model.input_spec(1).sizes;
    heads = c.at(1), length = c.at(2), dim = c.at(3), rows = u.at(2);
    cache = Tensor::zeros<float>(c);
    update = Tensor::zeros<float>(u);
    position = Tensor::zeros<int64_t>({rows});
    for (int64_t i = 0; i < rows; ++i) position.data<int64_t>()[i] = 5 + i;
    call = std::make_unique<Call>(session, std::vector<Tensor>{cache, update, position}, true);
    repeats = std::max<int64_t>(1, 200'000 / (heads * rows * dim + 100));
  }

  template <typename F>
  double nanoseconds(const F& f) const {
    const Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < repeats; ++i) f();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
           static_cast<double>(repeats);
  }

  void round() {
    ours = std::min(ours, nanoseconds([&] { (*call)(); }));
    theirs = std::min(theirs, nanoseconds([&] {
                        by_hand(cache.data<float>(), update.data<float>(), position.data<int64_t>(),
                                heads, length, rows, dim);
                      }));
  }

  std::string name;
  Model model;
  Session session;
  int64_t heads, length, dim, rows, repeats;
  Tensor cache, update, position;
  std::unique_ptr<Call> call;
  double ours = 1e18, theirs = 1e18;
};

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (int i = 1; i < argc; ++i) subjects.push_back(std::make_unique<Subject>(argv[i]));
  for (int round = 0; round < kRounds; ++round)
    for (const auto& s : subjects) s->round();
  std::printf("%-28s %10s %6s %10s %10s %12s\n", "program", "positions", "rows", "call ns",
              "loop ns", "difference");
  for (const auto& s : subjects)
    std::printf("%-28s %10lld %6lld %10.1f %10.1f %12.1f\n",
                s->name.substr(s->name.rfind('/') + 1).c_str(), static_cast<long long>(s->length),
                static_cast<long long>(s->rows), s->ours, s->theirs, s->ours - s->theirs);
  return subjects.empty();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
