// What `aotc explain` says that GPU kernels move between memory and the chip.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "codegen/pipeline.h"

namespace aotc {
namespace {

using json = nlohmann::json;

json explained(const std::string& program) {
  const std::string path = std::string(AOTC_DEVICE_PROGRAMS) + "/" + program + ".pt2";
  return json::parse(explain_json(*compile_model(path, {}, "plan").plan));
}

int64_t bytes_moved(const json& explained) {
  int64_t total = 0;
  for (const json& k : explained["kernels"])
    total += k["bytes_read"].get<int64_t>() + k["bytes_written"].get<int64_t>();
  return total;
}

// Each input and output once.
int64_t least_bytes(const json& explained) {
  std::map<std::string, int64_t> ends;
  for (const json& k : explained["kernels"])
    for (const char* side : {"reads", "writes"})
      for (const json& b : k[side])
        if (b["home"] != "arena")
          ends[b["home"].get<std::string>() + b["name"].get<std::string>()] = b["bytes"];
  int64_t total = 0;
  for (const auto& [_, bytes] : ends) total += bytes;
  return total;
}

}  // namespace

TEST_CASE("rows that fit on the chip are read once and written once") {
  for (const std::string op :
       {"softmax", "log_softmax", "layer_norm", "rms_norm", "group_norm", "norm_of_sum"})
    for (const std::string type : {"", "_half"}) {
      INFO(op + type);
      const json j = explained("row_" + op + type);
      CHECK(j["kernels"].size() == 1);
      CHECK(j["device_arena_bytes"] == 0);
      CHECK(10 * bytes_moved(j) <= 11 * least_bytes(j));
    }
}

TEST_CASE("what does not fit on the chip counts each time that it is loaded") {
  const json j = explained("rows_beyond_registers");
  CHECK(j["device_arena_bytes"] > 0);
  CHECK(bytes_moved(j) > least_bytes(j));
  CHECK(bytes_moved(j) < 2 * least_bytes(j));
}

}  // namespace aotc
