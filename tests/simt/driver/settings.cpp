#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

namespace aotc::simt {
namespace {

uint64_t number(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

Settings read_settings() {
  Settings s;
  const char* order = std::getenv("AOTC_SIM_ORDER");
  s.reverse = order && std::string(order) == "reverse";
  s.seed = number("AOTC_SIM_SEED", s.seed);
  s.memory = number("AOTC_SIM_MEMORY", s.memory);
  s.arch = static_cast<int>(number("AOTC_SIM_ARCH", 90));
  s.devices = static_cast<int>(number("AOTC_SIM_DEVICES", 1));
  s.pools = number("AOTC_SIM_POOLS", 1) != 0;
  s.report = number("AOTC_SIM_REPORT", 0) != 0;
  return s;
}

struct Failure {
  std::string function;
  uint64_t call;
  int code;
};

std::vector<Failure> read_failures() {
  std::vector<Failure> list;
  const char* text = std::getenv("AOTC_SIM_FAIL");
  std::stringstream in(text ? text : "");
  for (std::string item; std::getline(in, item, ',');) {
    std::stringstream parts(item);
    std::string function, call, code;
    std::getline(parts, function, ':');
    std::getline(parts, call, ':');
    std::getline(parts, code, ':');
    list.push_back({function, std::strtoull(call.c_str(), nullptr, 10),
                    code.empty() ? 999 : std::atoi(code.c_str())});
  }
  return list;
}

std::mutex mutex;
int n_complaints = 0;

}  // namespace

const Settings& settings() {
  static const Settings s = read_settings();
  return s;
}

int planned_failure(const char* function) {
  static const std::vector<Failure> failures = read_failures();
  if (failures.empty()) return 0;
  static std::map<std::string, uint64_t> calls;
  std::lock_guard lock(mutex);
  const uint64_t own = ++calls[function], any = ++calls["*"];
  for (const Failure& f : failures)
    if ((f.function == function && f.call == own) || (f.function == "*" && f.call == any))
      return f.code;
  return 0;
}

void complain(const std::string& text) {
  std::fprintf(stderr, "cuda simulator: %s\n", text.c_str());
  std::lock_guard lock(mutex);
  ++n_complaints;
}

int complaints() {
  std::lock_guard lock(mutex);
  return n_complaints;
}

}  // namespace aotc::simt
