// Runs a function so that a fatal error inside LLVM (abort, a bad access, lld's exit) ends the
// function, not the process. While any guard is active the signal handlers of the process are
// LLVM's; they are restored after.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"

namespace aotc::clang_plugin {

// False when `body` did not run to its end.
bool run_guarded(llvm::function_ref<void()> body);

}  // namespace aotc::clang_plugin
