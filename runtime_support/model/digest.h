// Digests that the compiler writes and the run time checks: of the weights blob and of the
// aliased_io table. Header only and free of the standard library, so that both sides compile the
// same code.
#pragma once
#include <stdint.h>
#include <string.h>

#include "program.h"

namespace aotc {

// FNV-1a, 64 bits; `seed` is the digest of what came before.
constexpr uint64_t kDigestSeed = 0xcbf29ce484222325u;
inline uint64_t digest_bytes(uint64_t seed, const void* data, uint64_t size) {
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  for (uint64_t i = 0; i < size; ++i) seed = (seed ^ bytes[i]) * 0x100000001b3u;
  return seed;
}

// Eight bytes, least significant first whatever the machine's order.
inline uint64_t digest_number(uint64_t seed, int64_t value) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i)
    bytes[i] = static_cast<unsigned char>(static_cast<uint64_t>(value) >> (8 * i));
  return digest_bytes(seed, bytes, 8);
}

// With its length, so that neighbouring strings cannot trade characters. NULL counts as empty.
inline uint64_t digest_string(uint64_t seed, const char* text) {
  const uint64_t size = text ? strlen(text) : 0;
  return digest_bytes(digest_number(seed, static_cast<int64_t>(size)), text, size);
}

// AotcProgram.weights_digest: the blob's first and last 4096 bytes (all of it, twice, when it is
// shorter) and its size. Constant time, so that opening a package never reads its weights.
inline uint64_t weights_digest(const void* blob, int64_t size) {
  const int64_t part = size < 4096 ? size : 4096;
  uint64_t digest = digest_bytes(kDigestSeed, blob, static_cast<uint64_t>(part));
  digest = digest_bytes(digest, static_cast<const char*>(blob) + (size - part),
                        static_cast<uint64_t>(part));
  return digest_number(digest, size);
}

// What manifest.json carries as aliased_io.digest: every field of every row, in order.
inline uint64_t aliased_io_digest(const AotcAliasedIo* rows, int32_t count) {
  uint64_t digest = digest_number(kDigestSeed, count);
  for (int32_t i = 0; i < count; ++i) {
    const AotcAliasedIo& row = rows[i];
    const int64_t numbers[] = {row.output, row.input, row.storage_name, row.direct};
    for (int64_t number : numbers) digest = digest_number(digest, number);
    digest = digest_string(digest_string(digest, row.kind), row.reason);
  }
  return digest;
}

// A digest as the manifest writes it: 16 lower-case hexadecimal digits and a terminating zero.
inline void digest_text(uint64_t digest, char (&out)[17]) {
  for (int i = 0; i < 16; ++i) out[i] = "0123456789abcdef"[digest >> (60 - 4 * i) & 15];
  out[16] = 0;
}

}  // namespace aotc
