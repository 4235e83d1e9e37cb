// A library with a GPU part through libaotc.so: device memory, results that outlive everything.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

constexpr char kModule[] = AOTC_TEST_MODULES "/affine.so";
constexpr char kCpuModule[] = AOTC_TEST_CPU_MODULES "/counter.so";

}  // namespace

TEST_CASE("a result on the device outlives session, model and the caller's handles") {
  Floats x = {0, 1, 2, 3, 4, 5}, m = {10, 20}, y(6);
  Tensor kept, copy_from;
  std::optional<Model> second;
  {
    const Model model(kModule);
    Session session(model, "{\"cuda_graph\": true}");
    std::vector<Tensor> out =
        session.run({model.to_device(over(x, {2, 3})), model.to_device(over(m))});
    out = session.run({model.to_device(over(x, {2, 3})), model.to_device(over(m))});
    CHECK(session.graph_trouble() == "");
    CHECK(values<float>(model.to_host(out[0])) == Floats{6, 8, 12, 9, 14, 21});
    kept = out[0];
    second.emplace(kModule);
  }
  second->copy(over(y, {2, 3}), kept);
  CHECK(y == Floats{6, 8, 12, 9, 14, 21});
  second.reset();
  kept = Tensor();
}

TEST_CASE("a device tensor keeps its model open") {
  Floats x = {1, 2};
  Tensor kept;
  {
    const Model model(kModule);
    kept = model.to_device(over(x));
    CHECK(values<float>(model.to_host(kept)) == x);
    CHECK_THROWS_WITH(model.copy(model.device_empty(kept.dtype(), {2}, DLDevice{kDLCUDA, 3}), kept),
                      "device_copy: the target is on cuda:3, expected cpu or cuda:0");
  }
}

TEST_CASE("programs for the CPU have no device memory") {
  const Model model(kCpuModule);
  CHECK_THROWS_WITH(model.device_empty(DLDataType{kDLFloat, 32, 1}, {2}),
                    "device memory: the program is for the CPU");
  CHECK(model.api()->session_graph_trouble(Session(model).handle()) == nullptr);
  CHECK_THROWS_WITH(Session(model, "{\"cuda_graph\": true}"), Catch::Contains("is for the CPU"));
}

TEST_CASE("a library without a GPU part does not know how to load a driver") {
  void* const library = dlopen(kCpuModule, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  std::FILE* const file = std::fopen(kCpuModule, "rb");
  std::string bytes;
  for (int c; (c = std::fgetc(file)) != EOF;) bytes += static_cast<char>(c);
  std::fclose(file);
  CHECK(bytes.find("cuLaunchKernel") == std::string::npos);
  dlclose(library);
}
