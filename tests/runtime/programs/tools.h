// Short spellings for hand-written program tables.
#pragma once
#include "program.h"

namespace aotc::test {

constexpr DLDataType kFloat32 = {kDLFloat, 32, 1}, kFloat64 = {kDLFloat, 64, 1},
                     kInt64 = {kDLInt, 64, 1}, kBool = {kDLBool, 8, 1};

// The level of any CPU that this code runs on.
#if defined(__aarch64__)
constexpr char kBaseline[] = "aarch64";
#else
constexpr char kBaseline[] = "x86-64";
#endif

constexpr AotcExtent fixed(int64_t value) { return {value, -1}; }
constexpr AotcExtent extent(int32_t index) { return {0, index}; }
constexpr AotcDimension size(int64_t value) { return {fixed(value), -1, 0, 0}; }
constexpr AotcDimension linear(int64_t factor, int32_t index, int64_t offset) {
  return {fixed(0), index, factor, offset};
}
constexpr AotcDimension symbol(int32_t index) { return linear(1, index, 0); }
constexpr AotcDimension expression(int32_t index) { return {extent(index), -1, 0, 0}; }

template <class T, int32_t kCount>
constexpr int32_t length(const T (&)[kCount]) {
  return kCount;
}

inline int32_t failed(AotcFrame* frame, const char* message, int64_t value) {
  frame->failure = {message, value, 1};
  return 1;
}

inline float* floats(void* data) { return static_cast<float*>(data); }
inline int64_t* integers(void* data) { return static_cast<int64_t*>(data); }

}  // namespace aotc::test
