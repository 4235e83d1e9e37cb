// Sessions in several threads at once.
#include <atomic>
#include <thread>

#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
// Runs a session of `model` and checks every result; returns how many were wrong.
int run_session(const Model& model, int seed, const std::string& options) {
  Session session(model, options);
  int wrong = 0;
  for (int step = 0; step < 100; ++step) {
    Floats x(static_cast<size_t>(200 + 37 * (seed + step) % 900), static_cast<float>(seed));
    const Tensor y = session.run({over(x)})[0];
    const float expected = static_cast<float>(seed * seed + step);
    for (float value : values<float>(y)) wrong += value != expected;
  }
  return wrong;
}
}  // namespace

TEST_CASE("eight sessions at once, each with its own state") {
  const Model model = Model::built_in(aotc_parallel_get_api(1));
  for (const char* options : {"{}", "{\"threads\": 1}", "{\"threads\": 3}"}) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] { wrong += run_session(model, t, options); });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("models are opened, used and closed in several threads at once") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 5; ++i)
        wrong += run_session(Model::built_in(aotc_parallel_get_api(1)), t, "{\"threads\": 2}");
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("one session called from two threads: one works, the other is told so") {
  Program program(aotc_parallel_get_api, "{\"threads\": 2}");
  const AotcApi* api = program.model.api();
  std::atomic<int> done{0}, busy{0}, other{0};
  const auto call = [&] {
    Floats x(5000, 2);
    const Tensor input = over(x);
    for (int i = 0; i < 300; ++i) {
      DLManagedTensor* result[1] = {};
      const AotcStatus status =
          api->session_run(program.session.handle(), &input.dl_tensor(), 1, result, 1);
      ++(status == AOTC_OK ? done : status == AOTC_BUSY ? busy : other);
      if (result[0]) result[0]->deleter(result[0]);
    }
  };
  std::thread first(call), second(call);
  first.join();
  second.join();
  CHECK(other == 0);
  CHECK(done + busy == 600);
  CHECK(program.session.state("steps").item<float>() == static_cast<float>(done));
}

TEST_CASE("last errors of threads do not mix") {
  const AotcApi* api = aotc_parallel_get_api(1);
  api->session_run(nullptr, nullptr, 0, nullptr, 0);
  std::thread([api] {
    CHECK(std::string(api->last_error()).empty());
    api->session_create(nullptr, nullptr, nullptr);
  }).join();
  CHECK(std::string(api->last_error()) == "session_run: the session is NULL");
}
