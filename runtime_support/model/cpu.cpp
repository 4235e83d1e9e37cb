// Asks CPUID and XCR0 (x86-64) or the kernel's hwcap (aarch64) directly: the compilers' own helpers
// need their support libraries, which packages do not link.
#include "cpu.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace aotc::model {
namespace {

struct Level {
  const char* name;
  int32_t rank;
};
constexpr Level kLevels[] = {
    {"x86-64", 1}, {"x86-64-v2", 2}, {"x86-64-v3", 3}, {"x86-64-v4", 4}, {"aarch64", 1}};

#if defined(__x86_64__)
enum Word { kLeaf1Ecx, kLeaf7Ebx, kExtendedEcx, kXcr0, kWords };

struct Feature {
  int32_t rank;  // the first level that needs it
  Word word;
  int32_t bit;
  const char* name;
};
// The psABI's micro-architecture levels. The operating system's part (XCR0) comes first in its
// level.
constexpr Feature kFeatures[] = {
    {2, kLeaf1Ecx, 0, "sse3"},        {2, kLeaf1Ecx, 9, "ssse3"},
    {2, kLeaf1Ecx, 13, "cmpxchg16b"}, {2, kLeaf1Ecx, 19, "sse4.1"},
    {2, kLeaf1Ecx, 20, "sse4.2"},     {2, kLeaf1Ecx, 23, "popcnt"},
    {2, kExtendedEcx, 0, "lahf"},     {3, kLeaf1Ecx, 27, "osxsave"},
    {3, kXcr0, 1, "xmm state"},       {3, kXcr0, 2, "ymm state"},
    {3, kLeaf1Ecx, 28, "avx"},        {3, kLeaf7Ebx, 5, "avx2"},
    {3, kLeaf1Ecx, 12, "fma"},        {3, kLeaf1Ecx, 29, "f16c"},
    {3, kLeaf1Ecx, 22, "movbe"},      {3, kLeaf7Ebx, 3, "bmi1"},
    {3, kLeaf7Ebx, 8, "bmi2"},        {3, kExtendedEcx, 5, "lzcnt"},
    {4, kLeaf7Ebx, 16, "avx512f"},    {4, kLeaf7Ebx, 30, "avx512bw"},
    {4, kLeaf7Ebx, 28, "avx512cd"},   {4, kLeaf7Ebx, 17, "avx512dq"},
    {4, kLeaf7Ebx, 31, "avx512vl"},   {4, kXcr0, 5, "opmask state"},
    {4, kXcr0, 6, "zmm state (low)"}, {4, kXcr0, 7, "zmm state (high)"},
};

void read_features(uint32_t (&words)[kWords]) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  for (uint32_t& word : words) word = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) words[kLeaf1Ecx] = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) words[kLeaf7Ebx] = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) words[kExtendedEcx] = c;
  // xgetbv is an illegal instruction unless the operating system has switched it on.
  if (words[kLeaf1Ecx] >> 27 & 1) __asm__ volatile("xgetbv" : "=a"(words[kXcr0]), "=d"(d) : "c"(0));
}

const char* missing_at_rank(int32_t rank) {
  uint32_t words[kWords];
  read_features(words);
  for (const Feature& feature : kFeatures)
    if (feature.rank <= rank && !(words[feature.word] >> feature.bit & 1)) return feature.name;
  return nullptr;
}
constexpr char kArchitecture[] = "x86-64";
#elif defined(__aarch64__)
const char* missing_at_rank(int32_t) { return getauxval(AT_HWCAP) & 2 ? nullptr : "asimd"; }
constexpr char kArchitecture[] = "aarch64";
#else
const char* missing_at_rank(int32_t) { return "a supported architecture"; }
constexpr char kArchitecture[] = "none";
#endif

}  // namespace

int32_t cpu_level_rank(const char* level) {
  for (const Level& known : kLevels)
    if (strcmp(known.name, level) == 0) return known.rank;
  return -1;
}

const char* missing_cpu_feature(const char* level) {
  if (strncmp(level, kArchitecture, sizeof kArchitecture - 1) == 0)
    return missing_at_rank(cpu_level_rank(level));
  return level[0] == 'x' ? "the x86-64 instruction set" : "the aarch64 instruction set";
}

}  // namespace aotc::model
