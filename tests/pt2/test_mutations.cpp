// Thousands of damaged archives: each reads, or is refused by a UserError; none crashes, hangs, or
// yields a tensor outside of its storage. AOTC_FUZZ_ROUNDS=n runs n times as many.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "ir/error.h"
#include "support.h"

using namespace aotc;
using namespace aotc::pt2;
using namespace std::string_view_literals;

namespace {

constexpr const char* kArchives[] = {"torch-2.5.1/cache_bf16.decomp.pt2",
                                     "torch-2.8.0/mlp_dyn.pt2",
                                     "torch-2.15.0/mlp_dyn.pt2",
                                     "storages.pt2",
                                     "arguments.pt2",
                                     "torch-2.15.0/cache_index_copy_cuda.pt2"};

int rounds() {
  const char* text = std::getenv("AOTC_FUZZ_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

// Touches every element of a tensor, under a bound on how many: expanded ones may have 2^60.
void touch(const ExportedProgram& p, const StoredTensor& t) {
  int64_t count = 1, last = t.offset;
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    REQUIRE(!__builtin_mul_overflow(count, t.sizes[d], &count));
    last += std::max<int64_t>(t.sizes[d] - 1, 0) * t.strides[d];
  }
  const auto bytes =
      static_cast<int64_t>(p.storages.at(static_cast<size_t>(t.storage)).bytes.size());
  if (count > 0) REQUIRE((last + 1) * element_size(t.dtype) <= bytes);
  if (count > 0 && count < 10'000) REQUIRE(!test::dense(p, t).data.empty());
}

// How many of the damaged archives were read after all.
int read_count = 0;

void survive(const test::TempFile& file, const std::string& bytes) {
  file.write(bytes);
  try {
    const ExportedProgram p = read_pt2(file.path());
    ++read_count;
    for (const auto& [name, tensor] : p.state_dict) touch(p, tensor);
    for (const auto& [name, tensor] : p.constants) touch(p, tensor);
    for (const SampleInput& sample : p.sample_inputs)
      if (const auto* tensor = std::get_if<StoredTensor>(&sample)) touch(p, *tensor);
    to_text(p);
    verify_weights(p);
  } catch (const UserError& e) {
    REQUIRE(std::string_view(e.what()).find(file.path()) != std::string_view::npos);
  }
}

size_t below(std::mt19937& random, size_t n) { return n == 0 ? 0 : random() % n; }

// Changes a few bytes, favouring those with a meaning: numbers' ends, opcodes, brackets, quotes.
std::string changed(std::string bytes, std::mt19937& random) {
  static constexpr std::string_view kNasty = "\0\1\x7f\x80\xff.(tRhqcKJX\x8a\x85[]{}\",:09-eN"sv;
  for (size_t n = 1 + below(random, 3); n > 0 && !bytes.empty(); --n) {
    const size_t at = below(random, bytes.size());
    const size_t kind = below(random, 6);
    if (kind == 0) bytes[at] = static_cast<char>(random());
    if (kind == 1) bytes[at] = kNasty[below(random, kNasty.size())];
    if (kind == 2) bytes[at] ^= static_cast<char>(1 << below(random, 8));
    if (kind == 3) bytes.erase(at, 1 + below(random, 4));
    if (kind == 4)
      bytes.insert(at, bytes.substr(below(random, bytes.size()), 1 + below(random, 12)));
    if (kind == 5) bytes.resize(at);
  }
  return bytes;
}

// Replaces one number or word of a JSON text by a hostile one, so that it still parses.
std::string changed_json(std::string json, std::mt19937& random) {
  static constexpr const char* kValues[] = {"0",
                                            "-1",
                                            "1",
                                            "2",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "4294967296",
                                            "18446744073709551615",
                                            "1e308",
                                            "0.5",
                                            "null",
                                            "true",
                                            "\"x\"",
                                            "[]",
                                            "{}",
                                            "[1]",
                                            "{\"as_int\": 3}",
                                            "NaN"};
  size_t at = below(random, json.size());
  at = json.find_first_of("0123456789tfn[{\"", at);
  if (at == std::string::npos) return json;
  size_t end = json.find_first_of(",]}:", at + 1);
  if (end == std::string::npos) end = json.size();
  return json.replace(at, end - at, kValues[below(random, std::size(kValues))]);
}

// Damages one member, under a right CRC; of a nested archive one of its members, or its bytes.
std::string with_damaged_member(std::vector<test::ZipFile> files, std::mt19937& random) {
  test::ZipFile& f = files[below(random, files.size())];
  if (f.name.ends_with(".json")) {
    f.data = below(random, 4) == 0 ? changed(f.data, random) : changed_json(f.data, random);
  } else if (f.data.starts_with("PK") && below(random, 4) != 0) {
    f.data = with_damaged_member(test::unzip(f.data), random);
  } else {
    f.data = changed(f.data, random);
  }
  f.deflate = below(random, 8) == 0;
  return test::make_zip(files);
}

}  // namespace

TEST_CASE("truncated archives are refused") {
  const test::TempFile file("");
  for (const char* name : kArchives) {
    const std::string bytes = test::read_file(test::data_path(name));
    const size_t step = std::max<size_t>(1, bytes.size() / (60 * static_cast<size_t>(rounds())));
    for (size_t n = 0; n < bytes.size(); n += step) {
      INFO(name << " cut to " << n);
      file.write(bytes.substr(0, n));
      CHECK(test::refusal(file.path()) != "");
    }
  }
}

TEST_CASE("archives with changed bytes") {
  std::mt19937 random(1);
  const test::TempFile file("");
  for (const char* name : kArchives) {
    const std::string bytes = test::read_file(test::data_path(name));
    for (int i = 0; i < 100 * rounds(); ++i) {
      INFO(name << " change " << i);
      survive(file, changed(bytes, random));
    }
  }
}

TEST_CASE("archives with changed members under right checksums") {
  std::mt19937 random(2);
  const test::TempFile file("");
  for (const char* name : kArchives) {
    const auto files = test::unzip(test::read_file(test::data_path(name)));
    for (int i = 0; i < 400 * rounds(); ++i) {
      INFO(name << " change " << i);
      survive(file, with_damaged_member(files, random));
    }
  }
  CHECK(read_count > 0);  // some changes do no harm
}
