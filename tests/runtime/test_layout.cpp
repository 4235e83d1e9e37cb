// Overlap tests and copies against brute force on random strided views.
#include <map>
#include <random>
#include <set>

#include "catch2/catch.hpp"
#include "tensor.h"

using namespace aotc::model;

namespace {
// A view into `memory` around its middle, with up to four small dimensions.
struct RandomView {
  RandomView(std::mt19937& random, char* middle, int64_t item_bytes) {
    const auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    const int rank = pick(0, 4);
    for (int d = 0; d < rank; ++d) {
      sizes.push_back(pick(0, 12) == 0 ? 0 : pick(1, 4));
      strides.push_back(pick(-9, 9));
    }
    view = {middle + pick(-40, 40), item_bytes, rank, sizes.data(), strides.data()};
  }
  // The address of each element, in row-major order.
  std::vector<const char*> elements() const {
    std::vector<const char*> out;
    const int64_t count = count_elements(view.sizes, view.ndim);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, offset = 0;
      for (size_t d = sizes.size(); d-- > 0;) {
        offset += rest % sizes[d] * strides[d];
        rest /= sizes[d];
      }
      out.push_back(view.data + offset * view.item);
    }
    return out;
  }
  std::vector<int64_t> sizes, strides;
  View view;
};

// Bytes of the elements; *twice says whether one was there already.
std::set<const char*> bytes_of(const RandomView& random, bool* twice) {
  std::set<const char*> out;
  *twice = false;
  for (const char* element : random.elements())
    for (int64_t i = 0; i < random.view.item; ++i)
      if (!out.insert(element + i).second) *twice = true;
  return out;
}
}  // namespace

TEST_CASE("overlaps are found exactly") {
  std::mt19937 random(1);
  std::vector<char> memory(2000);
  int overlapping = 0, apart_within_range = 0, twice_count = 0;
  for (int round = 0; round < 20000; ++round) {
    const int64_t items[] = {1, 2, 4, 8};
    RandomView a(random, memory.data() + 1000, items[random() % 4]);
    RandomView b(random, memory.data() + 1000, items[random() % 4]);
    bool twice = false, unused = false;
    const std::set<const char*> bytes_a = bytes_of(a, &twice), bytes_b = bytes_of(b, &unused);
    bool meet = false;
    for (const char* byte : bytes_a) meet |= bytes_b.count(byte) > 0;
    REQUIRE(views_overlap(a.view, b.view) == meet);
    REQUIRE(views_overlap(b.view, a.view) == meet);
    REQUIRE(overlaps_itself(a.view) == twice);
    uintptr_t lo = 0, hi = 0;
    REQUIRE(byte_range(a.view, &lo, &hi));
    if (bytes_a.empty()) {
      REQUIRE(lo == hi);
    } else {
      REQUIRE(lo == reinterpret_cast<uintptr_t>(*bytes_a.begin()));
      REQUIRE(hi == reinterpret_cast<uintptr_t>(*bytes_a.rbegin()) + 1);
    }
    overlapping += meet;
    twice_count += twice;
    if (!meet && !bytes_a.empty() && !bytes_b.empty())
      apart_within_range +=
          *bytes_a.begin() <= *bytes_b.rbegin() && *bytes_b.begin() <= *bytes_a.rbegin();
  }
  CHECK(overlapping > 1000);
  CHECK(apart_within_range > 500);
  CHECK(twice_count > 1000);
}

TEST_CASE("copies move every element between any layouts") {
  std::mt19937 random(2);
  for (int round = 0; round < 20000; ++round) {
    const int64_t items[] = {1, 2, 3, 4, 8, 16};
    const int64_t item = items[random() % 6];
    std::vector<char> from_memory(8000), to_memory(8000, 0x11);
    for (char& byte : from_memory) byte = static_cast<char>(random());
    RandomView from(random, from_memory.data() + 4000, item);
    RandomView to(random, to_memory.data() + 4000, item);
    to.sizes = from.sizes;
    to.strides.resize(to.sizes.size(), 13);
    to.view = {to.view.data, item, from.view.ndim, to.sizes.data(), to.strides.data()};
    if (overlaps_itself(to.view)) continue;
    std::vector<char> expected = to_memory;
    const auto sources = from.elements(), targets = to.elements();
    for (size_t i = 0; i < sources.size(); ++i)
      std::copy_n(sources[i], item, expected.data() + (targets[i] - to_memory.data()));
    copy_elements(to.view, from.view);
    REQUIRE(to_memory == expected);
  }
}

TEST_CASE("large interleaved caches are told apart without looking at elements") {
  // Keys and values in one storage of 2^40 elements: a test of every element would not end.
  const int64_t half = int64_t{1} << 19;
  const int64_t sizes[] = {int64_t{1} << 20, half}, strides[] = {2 * half, 1};
  char* const base = reinterpret_cast<char*>(uintptr_t{1} << 44);
  const View keys = {base, 4, 2, sizes, strides}, values = {base + 4 * half, 4, 2, sizes, strides};
  CHECK_FALSE(views_overlap(keys, values));
  CHECK_FALSE(overlaps_itself(keys));
}

TEST_CASE("element counts") {
  const int64_t big[] = {INT64_MAX, 2}, empty[] = {INT64_MAX, 0, 5}, negative[] = {2, -1};
  CHECK(count_elements(nullptr, 0) == 1);
  CHECK(count_elements(big, 2) == -1);
  CHECK(count_elements(empty, 3) == 0);
  CHECK(count_elements(negative, 2) == -1);
}

TEST_CASE("lists in messages are cut") {
  const std::vector<int64_t> many(100, 123456789);
  const std::string text = list_text(many.data(), 100).text;
  CHECK(text.size() < 256);
  CHECK(text.substr(text.size() - 4) == "...]");
  CHECK(std::string(list_text(nullptr, 0).text) == "[]");
}
