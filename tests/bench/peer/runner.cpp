// Loads a package of AOTInductor from C++, times its calls and prints that and the process's
// memory, as JSON.
//   runner PACKAGE.pt2 SECONDS THREADS [DTYPE:SIZE,SIZE...]...    one argument per input, e.g.
//   f32:8,128 i64:1
// Inputs are filled with 0.5 (f32) or 0 (i64).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace {

using Clock = std::chrono::steady_clock;

long memory_kb(const std::string& key) {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0) return std::atol(line.c_str() + key.size());
  return 0;
}

at::Tensor make_input(const std::string& text) {
  std::vector<int64_t> sizes;
  std::istringstream words(text.substr(4));
  for (std::string word; std::getline(words, word, ',');) sizes.push_back(std::stoll(word));
  return text.rfind("i64:", 0) == 0 ? at::zeros(sizes, at::kLong)
                                    : at::full(sizes, 0.5, at::kFloat);
}

double time_round(torch::inductor::AOTIModelPackageLoader& model,
                  const std::vector<at::Tensor>& inputs, int64_t calls) {
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < calls; ++i) model.run(inputs);
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
         static_cast<double>(calls);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4)
    return std::fprintf(stderr, "usage: runner PACKAGE SECONDS THREADS [INPUT...]\n"), 2;
  c10::InferenceMode no_gradients;
  at::set_num_threads(std::atoi(argv[3]));
  std::vector<at::Tensor> inputs;
  for (int i = 4; i < argc; ++i) inputs.push_back(make_input(argv[i]));
  const long start = memory_kb("Rss:");
  torch::inductor::AOTIModelPackageLoader model(argv[1]);
  const long loaded = memory_kb("Rss:");
  for (int i = 0; i < 10; ++i) time_round(model, inputs, 1);
  const auto calls = std::max<int64_t>(1, static_cast<int64_t>(1e5 / time_round(model, inputs, 1)));
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (times.size() < 10 ||
         Clock::now() - begin < std::chrono::duration<double>(std::atof(argv[2])))
    times.push_back(time_round(model, inputs, calls));
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"ns_min\": %.0f, \"ns_median\": %.0f, \"start_kb\": %ld, \"loaded_kb\": %ld, "
      "\"called_kb\": "
      "%ld, \"called_dirty_kb\": %ld}\n",
      times.front(), times[times.size() / 2], start, loaded, memory_kb("Rss:"),
      memory_kb("Private_Dirty:"));
}
