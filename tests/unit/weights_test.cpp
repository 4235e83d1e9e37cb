// The weights blob, piece by piece and as a whole.
#include "codegen/weights.h"

#include <catch2/catch.hpp>

#include "runtime_support/model/digest.h"

using namespace aotc;

namespace {

std::shared_ptr<pt2::ExportedProgram> program_with(const std::vector<std::string>& storages,
                                                   DType dtype) {
  auto p = std::make_shared<pt2::ExportedProgram>();
  for (size_t i = 0; i < storages.size(); ++i) {
    p->storages.push_back({storages[i], "", std::nullopt});
    pt2::StoredTensor t;
    t.dtype = dtype;
    t.sizes = {static_cast<int64_t>(storages[i].size())};
    t.strides = {1};
    t.storage = static_cast<int>(i);
    p->state_dict["w" + std::to_string(i)] = t;
  }
  return p;
}

void check_blob(const std::vector<std::string>& storages, DType dtype,
                const std::vector<std::string>& expected) {
  Graph g;
  g.program = program_with(storages, dtype);
  const WeightLayout layout = layout_weights(g);
  const WeightBlob blob(g, layout);
  const std::string whole = blob.str();
  REQUIRE(static_cast<int64_t>(whole.size()) == blob.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const WeightStorage& s = layout.storages[i];
    CHECK(s.offset % 64 == 0);
    CHECK(whole.substr(static_cast<size_t>(s.offset), static_cast<size_t>(s.bytes)) == expected[i]);
  }
  CHECK(blob.digest() == weights_digest(whole.data(), blob.size()));
  for (const int64_t begin : {int64_t{0}, blob.size() / 3, blob.size()})
    for (const int64_t end : {begin, blob.size() / 2, blob.size()}) {
      if (end < begin) continue;
      std::string part;
      blob.read(begin, end, [&](std::string_view piece) { part += piece; });
      CHECK(part == whole.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    }
}

}  // namespace

TEST_CASE("a blob is what its storages hold, wherever empty ones are", "[weights]") {
  const std::string a(100, 'a'), b(4097, 'b'), c(3, 'c');
  check_blob({}, DType::UInt8, {});
  check_blob({a}, DType::UInt8, {a});
  check_blob({a, b, c}, DType::UInt8, {a, b, c});
  check_blob({"", a, "", b, ""}, DType::UInt8, {"", a, "", b, ""});
  check_blob({"", ""}, DType::UInt8, {"", ""});
  // The first and the last 4096 bytes end between storages.
  check_blob({std::string(4090, 'x'), std::string(4000, 'y'), std::string(70, 'z')}, DType::UInt8,
             {std::string(4090, 'x'), std::string(4000, 'y'), std::string(70, 'z')});
}

TEST_CASE("bools of an archive become 0 and 1", "[weights]") {
  std::string odd(70000, '\0'), clean = odd;
  for (size_t i = 0; i < odd.size(); i += 7) {
    odd[i] = static_cast<char>(2 + i % 200);
    clean[i] = 1;
  }
  check_blob({odd}, DType::Bool, {clean});
}
