// Sources for the store checker's tests: the declarations that emitted code has, and a check for
// findings.
#pragma once
#include <string>

#include "codegen/toolchain.h"

namespace aotc::test {

// Declarations of the run time and of matmul, as emitted code copies them.
std::string store_prelude();

// The checker's message for prelude + `body`, "" when it finds nothing.
std::string findings(const std::string& body, const StoreTable& table);

}  // namespace aotc::test
