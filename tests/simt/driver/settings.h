// What the environment asks of the stand-in driver; tests/simt/README.md describes it.
#pragma once
#include <cstdint>
#include <string>

namespace aotc::simt {

struct Settings {
  bool reverse = false;          // AOTC_SIM_ORDER=reverse: threads of a block
  uint64_t seed = 0;             // AOTC_SIM_SEED: order of blocks; 0: ascending
  uint64_t memory = 4ull << 30;  // AOTC_SIM_MEMORY: bytes of the device
  int arch = 90;                 // AOTC_SIM_ARCH
  int devices = 1;               // AOTC_SIM_DEVICES
  bool pools = true;             // AOTC_SIM_POOLS=0: no stream-ordered allocation
  bool report = false;           // AOTC_SIM_REPORT=1: leaks and errors at exit, status 86
};

const Settings& settings();

// AOTC_SIM_FAIL=FUNCTION:N[:CODE],...: the N-th call of that driver function (*: of any) fails with
// CODE (default 999, unknown). Returns 0 where it does not.
int planned_failure(const char* function);

// Says what is wrong on standard error; counted for the report.
void complain(const std::string& text);
int complaints();

}  // namespace aotc::simt
