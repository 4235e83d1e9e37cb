// Prints what a program holds in memory after each step of its life, and how much of its files it
// has copied.
//   memory [--inputs FOLDER] [--calls N] PACKAGE.aotc [WEIGHTS]
// Columns, in kB: resident, of which no file's, peak; then of the mappings of the package (or the
// weights' file): mapped, resident, copied; then the same of the package's library, which lives in
// memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program.h"

namespace {

using namespace aotc;
using namespace aotc::bench;

struct Options {
  std::string program, weights, inputs;
  int calls = 1000;
};

struct Mappings {
  long mapped = 0, resident = 0, copied = 0;
};

// Sums /proc/self/smaps over the mappings whose line contains `name` ("" for all).
Mappings mappings(const std::string& name) {
  std::ifstream file("/proc/self/smaps");
  Mappings sum;
  bool chosen = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    long kb = 0;
    words >> key;
    if (key.back() != ':') {
      chosen = line.find(name) != std::string::npos;
    } else if (chosen && words >> kb) {
      if (key == "Size:") sum.mapped += kb;
      if (key == "Rss:") sum.resident += kb;
      if (key == "Anonymous:") sum.copied += kb;
    }
  }
  return sum;
}

long peak_kb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6);
  return 0;
}

void report(const char* step, const Options& o) {
  const Mappings all = mappings(""), weights = mappings(o.weights.empty() ? o.program : o.weights),
                 library = mappings("/memfd:");
  std::printf("%-12s %9ld %9ld %9ld   %9ld %9ld %9ld   %9ld %9ld %9ld\n", step, all.resident,
              all.copied, peak_kb(), weights.mapped, weights.resident, weights.copied,
              library.mapped, library.resident, library.copied);
}

void measure(const Options& o) {
  std::printf("%-12s %9s %9s %9s   %9s %9s %9s   %9s %9s %9s\n", "after", "resident", "copied",
              "peak", "weights", "resident", "copied", "library", "resident", "copied");
  report("start", o);
  const Model model =
      open_program(o.program, o.weights.empty() ? "{}" : "{\"weights\": \"" + o.weights + "\"}");
  report("open", o);
  Session session(model);
  report("session", o);
  Call call(session, o.inputs.empty() ? smallest_inputs(model) : read_inputs(model, o.inputs),
            false);
  report("inputs", o);
  call();
  report("first call", o);
  for (int i = 0; i < o.calls; ++i) call();
  report("more calls", o);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--inputs") && i + 1 < argc)
      options.inputs = argv[++i];
    else if (!std::strcmp(argv[i], "--calls") && i + 1 < argc)
      options.calls = std::atoi(argv[++i]);
    else
      // As the kernel names the mapped file.
      (options.program.empty() ? options.program : options.weights) =
          std::filesystem::canonical(argv[i]).string();
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  measure(parse(argc, argv));
} catch (const std::exception& e) {
  std::fprintf(stderr, "memory: %s\n", e.what());
  return 1;
}
