// The packages that the loader's tests open: hand-written programs, compiled by the system's
// compiler.
#pragma once
#include "digest.h"
#include "package_writer.h"
#include "support.h"

namespace aotc::test {

// The rows of programs/counter.cpp; the other programs have none.
inline std::string counter_digest() {
  const AotcAliasedIo rows[] = {{1, -1, 2, "kv_cache_update", 1, "rows are written in place"},
                                {2, -1, 0, "identity", 1, "one element"}};
  char text[17];
  digest_text(aliased_io_digest(rows, 2), text);
  return text;
}
inline std::string empty_digest() {
  char text[17];
  digest_text(aliased_io_digest(nullptr, 0), text);
  return text;
}

inline std::string module(const std::string& name) {
  return read_file(std::string(AOTC_TEST_MODULES) + "/" + name + ".so");
}

// The weights of programs/counter.cpp.
inline std::string counter_weights() {
  std::string blob(128, '\0');
  blob[0] = 5;
  const float bias[] = {1, 2, 3};
  std::memcpy(blob.data() + 64, bias, sizeof bias);
  return blob;
}

inline Members counter_members() {
  return {{"manifest.json", make_manifest(counter_digest(), any_cpu())},
          {"model.so", module("counter")}};
}
inline Members external_members() {
  return {{"manifest.json", make_manifest(counter_digest(), any_cpu())},
          {"model.so", module("external")},
          {"weights.bin", counter_weights()}};
}
inline Members plain_members(const std::string& name) {
  return {{"manifest.json", make_manifest(empty_digest(), any_cpu())}, {"model.so", module(name)}};
}

// One step of the counter; true when it computes what it should for a fresh session.
inline bool counts(const Model& model) {
  Session session(model);
  Floats x = {10, 20, 30};
  return values<float>(session.run({over(x)})[0]) == Floats{11, 22, 33} &&
         session.state("count").item<int64_t>() == 6;
}

// The message of opening `path`, or "".
inline std::string open_failure(const std::string& path, const std::string& options = "{}") {
  try {
    Model model(path, options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace aotc::test
