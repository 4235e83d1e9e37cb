// What the compile plugin and its loader agree on.
#pragma once

namespace aotc {

inline constexpr char kClangPluginFile[] = "libaotc_clang.so";

// extern "C" aotc::Toolchain* aotc_clang_toolchain(const char* version, const char*
// support_directory): NULL when the versions differ.
inline constexpr char kClangPluginFactory[] = "aotc_clang_toolchain";

// The interface is C++ (codegen/toolchain.h): both sides must come from one build. Changes with the
// interface.
inline constexpr char kClangPluginVersion[] = "aotc 0.1.0, toolchain 1";

}  // namespace aotc
