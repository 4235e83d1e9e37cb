// Which code of a program runs on which GPU.
#include "catch2/catch.hpp"
#include "cuda/gpu_model.h"
#include "error.h"

using namespace aotc::model;

namespace {

struct Images {
  std::vector<AotcDeviceImage> images;
  void add(const char* arch, const char* kind) { images.push_back({arch, kind, "code", 4}); }

  // "arch kind" of what the GPU of this architecture takes, or the message.
  std::string choose(int32_t major, int32_t minor, bool simulator = false) const {
    AotcGpu gpu = {};
    gpu.images = images.data();
    gpu.n_images = static_cast<int32_t>(images.size());
    AotcProgram program = {};
    program.gpu = &gpu;
    cuda::Driver driver = {};
    driver.is_simulator = simulator;
    cuda::Device device = {1, &driver, 0, nullptr, false, nullptr, major, minor, "Test GPU"};
    const AotcDeviceImage* found = nullptr;
    if (cuda::choose_image(&program, &device, &found)) return last_error();
    return std::string(found->arch) + " " + found->kind;
  }
};

}  // namespace

TEST_CASE("the code that fits the GPU best is chosen") {
  Images all;
  for (const char* arch : {"sm_80", "sm_86", "sm_90", "sm_100", "sm_120"}) all.add(arch, "cubin");
  all.add("compute_80", "ptx");
  all.add("compute_90", "ptx");
  all.add("sim", "sim");
  CHECK(all.choose(8, 0) == "sm_80 cubin");
  CHECK(all.choose(8, 6) == "sm_86 cubin");
  CHECK(all.choose(8, 9) == "sm_86 cubin");
  CHECK(all.choose(9, 0) == "sm_90 cubin");
  CHECK(all.choose(10, 3) == "sm_100 cubin");
  CHECK(all.choose(11, 0) == "compute_90 ptx");
  CHECK(all.choose(12, 1) == "sm_120 cubin");
  CHECK(all.choose(9, 0, true) == "sim sim");
}

TEST_CASE("code of one architecture alone") {
  Images exact;
  exact.add("sm_90a", "cubin");
  CHECK(exact.choose(9, 0) == "sm_90a cubin");
  CHECK(exact.choose(9, 1).find("cuda:0 (Test GPU) is sm_91: compile it with --gpu sm_91") !=
        std::string::npos);
}

TEST_CASE("a GPU that no code is for") {
  Images some;
  some.add("sm_90", "cubin");
  some.add("compute_90", "ptx");
  CHECK(some.choose(7, 5) ==
        "the program has code for sm_90 (cubin), compute_90 (ptx); cuda:0 (Test GPU) is sm_75: "
        "compile it with --gpu sm_75");
  CHECK(some.choose(9, 0, true).find("the driver is the simulator: compile it with --gpu sim") !=
        std::string::npos);
  CHECK(Images().choose(9, 0).find("the program has code for no GPU") == 0);
}
