// Compares address ranges: all that DLPack shows of a result's storage.
#include "codegen/cli/check_places.h"

#include <algorithm>

namespace aotc::cli {
namespace {

// The addresses of the bytes that a tensor's elements span; begin == end when it has none.
struct Range {
  const std::byte *begin = nullptr, *end = nullptr;
  bool empty() const { return begin == end; }
  bool overlaps(const Range& o) const {
    return !empty() && !o.empty() && begin < o.end && o.begin < end;
  }
  bool within(const Range& o) const { return begin >= o.begin && end <= o.end; }
};

Range range_of(const DLTensor* t) {
  if (!t || !t->data) return {};
  const std::vector<int64_t> sizes(t->shape, t->shape + t->ndim);
  const std::vector<int64_t> strides = t->strides
                                           ? std::vector<int64_t>(t->strides, t->strides + t->ndim)
                                           : contiguous_strides(sizes);
  const std::byte* begin = static_cast<const std::byte*>(t->data) + t->byte_offset;
  return {begin, begin + view_span(sizes, strides) * (t->dtype.bits / 8)};
}

Range range_of(const HostStorage& s) { return {s.data(), s.data() + s.size()}; }

// Views that hold the same elements, not all alike, are of the same elements.
bool same_elements(const DLTensor& a, const DLTensor& b) {
  const auto sorted = [](const DLTensor& t) {
    const Array array = value_of(t);
    const size_t item = static_cast<size_t>(element_size(array.dtype));
    std::vector<std::string> items;
    for (size_t i = 0; i < array.data.size(); i += item)
      items.push_back(array.data.substr(i, item));
    std::sort(items.begin(), items.end());
    return items;
  };
  const std::vector<std::string> x = sorted(a), y = sorted(b);
  return x == y && !x.empty() && x.front() != x.back();
}

void check_input_alias(int64_t i, int64_t input, const std::vector<HostTensor>& inputs,
                       const Range& found, std::vector<std::string>& problems) {
  if (input < 0 || input >= static_cast<int64_t>(inputs.size()) || found.empty()) return;
  if (!found.within(range_of(*inputs[static_cast<size_t>(input)].storage)))
    problems.push_back(fmt::format("out{} must point into the storage of in{}", i, input));
}

// Pieces of one storage that do not overlap cannot be told from separate results.
void check_output_alias(int64_t i, int64_t output, const Results& results,
                        std::vector<std::string>& problems) {
  if (output < 0 || output >= static_cast<int64_t>(results.size())) return;
  const DLTensor* a = results.at(static_cast<size_t>(i));
  const DLTensor* b = results.at(static_cast<size_t>(output));
  if (!a || !b || range_of(a).empty() || range_of(a).overlaps(range_of(b))) return;
  if (same_elements(*a, *b))
    problems.push_back(fmt::format("out{} must share its storage with out{}", i, output));
}

// An output with a place of its own lies in no input, nor in an output that is before it.
void check_separate(const CaseMeta& meta, int64_t i, const std::vector<HostTensor>& inputs,
                    const Results& results, std::vector<std::string>& problems) {
  const Range found = range_of(results.at(static_cast<size_t>(i)));
  for (size_t k = 0; k < inputs.size(); ++k)
    if (found.overlaps(range_of(*inputs[k].storage)))
      problems.push_back(fmt::format("out{} must not lie in the storage of in{}", i, k));
  for (int64_t k = 0; k < i; ++k) {
    const auto other = meta.outputs.find(k);
    if (other != meta.outputs.end() && (other->second.input || other->second.output == i)) continue;
    if (found.overlaps(range_of(results.at(static_cast<size_t>(k)))))
      problems.push_back(fmt::format("out{} must not share storage with out{}", i, k));
  }
}

}  // namespace

void check_places(const CaseMeta& meta, bool strict, const std::vector<HostTensor>& inputs,
                  const Results& results, std::vector<std::string>& problems) {
  if (!meta.has_outputs) return;
  for (const auto& [i, place] : meta.outputs) {
    if (i >= static_cast<int64_t>(results.size()) || !results.at(static_cast<size_t>(i))) continue;
    const Range found = range_of(results.at(static_cast<size_t>(i)));
    if (place.input && strict) check_input_alias(i, *place.input, inputs, found, problems);
    if (place.output && strict) check_output_alias(i, *place.output, results, problems);
    if (!place.input && !place.output) check_separate(meta, i, inputs, results, problems);
  }
}

}  // namespace aotc::cli
