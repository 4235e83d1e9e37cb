// Names that a generated CMake project may bear: the name is its target, and its header's.
#pragma once
#include <string>

namespace aotc {

// Why `name` cannot name a project: a header of that name would hide one of the C library, or CMake
// or a linker knows the target by it. Empty: it can.
std::string project_name_fault(const std::string& name);

}  // namespace aotc
