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
inline int64_t weights_digest_part(int64_t size) { return size < 4096 ? size : 4096; }
// From the first and the last weights_digest_part(size) bytes.
inline uint64_t weights_digest(const void* first, const void* last, int64_t size) {
  const uint64_t part = static_cast<uint64_t>(weights_digest_part(size));
  return digest_number(digest_bytes(digest_bytes(kDigestSeed, first, part), last, part), size);
}
inline uint64_t weights_digest(const void* blob, int64_t size) {
  const char* end = static_cast<const char*>(blob) + size;
  return weights_digest(blob, end - weights_digest_part(size), size);
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
