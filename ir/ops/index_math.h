// Indices that are data: their values as index expressions, their checks, and the regions that
// advanced indexing names.
#pragma once
#include "ir/ops/row_helpers.h"
#include "ir/ops/shape_math.h"

namespace aotc {

// Whether a negative index counts from the end or is an error.
enum class Negative : uint8_t { Wraps, Refused };

// Fails the call unless every element of `indices` lies in a dimension of `size` elements.
void check_indices(Lowering& l, const Node& n, Value* indices, const Sym& size, Negative negative);

// The element of `indices` at `at` as an index into a dimension of `size` elements.
Sym index_value(KernelBuilder& k, Value* indices, const std::vector<Sym>& at, const Sym& size,
                Negative negative);

// `size`, a symbol, gets the value in the int64 buffer; a size that the program already knows is checked
// instead.
void define_size(Lowering& l, const Node& n, const Sym& size, loops::BufferId value);

// Advanced indexing: a tensor of integers, or nothing, per dimension of `self`; the tensors
// broadcast.
class AdvancedIndex {
 public:
  AdvancedIndex(const Node& n, const std::vector<Value*>& indices, const TensorType& self);

  // Sizes of the region: the broadcast index sizes in place of the indexed dimensions, or in front
  // of all others where those are not adjacent.
  const std::vector<Sym>& sizes() const { return sizes_; }
  // Which dimensions of the region come from the index tensors: [first, first + count).
  size_t first() const { return first_; }
  size_t count() const { return broadcast_.size(); }
  void check(Lowering& l, const Node& n) const;
  // The index into self of element `index` of the region.
  std::vector<Sym> at(KernelBuilder& k, const std::vector<Sym>& index) const;

 private:
  TensorType self_;
  std::vector<Value*> indices_;
  std::vector<Sym> broadcast_, sizes_;
  size_t first_ = 0;
};

// The index list with every bool mask replaced by the positions of its true elements (one index
// tensor per dimension of the mask). `region_size` is the size that the program gives their number,
// if it has one.
std::vector<Value*> expand_masks(Rewriter& r, const std::vector<Value*>& indices,
                                 const std::optional<Sym>& region_size);

}  // namespace aotc
