// CPU levels as both back ends name them.
#pragma once
#include <string>

namespace aotc {

// "x86-64" or "aarch64": the folder of stubs, and what g++ must run on. UserError for an unknown
// level.
std::string cpu_architecture(const std::string& cpu_level);

// The architecture of this machine: "x86-64", "aarch64", or "" for any other.
std::string host_architecture();

}  // namespace aotc
