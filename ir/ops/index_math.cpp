// Indices that are data: their values as index expressions, their checks, and the regions that
// advanced indexing names.
#include "ir/ops/index_math.h"

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {

namespace {

E loaded_index(KernelBuilder& k, Value* indices, const Index& at) {
  return cast(k.lowering().load(k, indices, at), DType::Int64);
}

bool is_mask(const Value* v) {
  return v && (is_bool(v->type.dtype) || v->type.dtype == DType::UInt8);
}

}  // namespace

void check_indices(Lowering& l, const Node& n, Value* indices, const Sym& size, Negative negative) {
  std::string range = negative == Negative::Wraps ? fmt::format("-({0}) to {0} - 1", size.str())
                                                  : fmt::format("0 to {} - 1", size.str());
  l.check(n, indices->type.sizes, "index out of range, expected " + range,
          [&](KernelBuilder& k, const Index& at, E& report) {
            E i = loaded_index(k, indices, at);
            report = i;
            E lowest = negative == Negative::Wraps ? k.index(0 - size) : k.index(0);
            return (i >= lowest) && (i < k.index(size));
          });
}

Sym index_value(KernelBuilder& k, Value* indices, const Index& at, const Sym& size,
                Negative negative) {
  E i = loaded_index(k, indices, at);
  if (negative == Negative::Refused) return k.value_of(i);
  return k.value_of(where(i < 0.0, i + k.index(size), i));
}

// instead.
void define_size(Lowering& l, const Node& n, const Sym& size, loops::BufferId value) {
  auto symbol = size.symbol_name();
  const bool defined =
      symbol && std::ranges::any_of(l.program().kernels, [&](const loops::Kernel& k) {
        return k.symbol == *symbol;
      });
  if (!symbol || defined) {
    l.check(n, {}, "the number of elements is not the one that the program demands",
            [&](KernelBuilder& k, const Index&, E& report) {
              report = k.load(value, {});
              return report == k.index(size);
            });
    return;
  }
  KernelBuilder k(l, l.unique_kernel_name("define_" + *symbol));
  k.load(value, {});
  k.kernel().kind = loops::KernelKind::Host;
  k.kernel().symbol = *symbol;
  l.finish(k, n);
}

AdvancedIndex::AdvancedIndex(const Node& n, const std::vector<Value*>& indices,
                             const TensorType& self)
    : self_(self), indices_(indices) {
  if (indices_.size() > self_.rank())
    user_error("{}: node '{}' ({}): {} indices for a tensor of rank {}", n.source.str(), n.name,
               n.op->name(), indices_.size(), self_.rank());
  indices_.resize(self_.rank(), nullptr);
  std::vector<Index> shapes;
  size_t begin = self_.rank(), end = 0, used = 0;
  for (size_t d = 0; d < indices_.size(); ++d) {
    if (!indices_[d]) continue;
    shapes.push_back(indices_[d]->type.sizes);
    begin = std::min(begin, d);
    end = d + 1;
    ++used;
  }
  broadcast_ = broadcast_sizes(shapes, n);
  first_ = used > 0 && end - begin == used ? begin : 0;
  for (size_t d = 0; d < self_.rank(); ++d)
    if (!indices_[d]) sizes_.push_back(self_.sizes[d]);
  sizes_.insert(sizes_.begin() + static_cast<std::ptrdiff_t>(first_), broadcast_.begin(),
                broadcast_.end());
}

void AdvancedIndex::check(Lowering& l, const Node& n) const {
  for (size_t d = 0; d < indices_.size(); ++d)
    if (indices_[d]) check_indices(l, n, indices_[d], self_.sizes[d], Negative::Wraps);
}

Index AdvancedIndex::at(KernelBuilder& k, const Index& index) const {
  auto begin = index.begin() + static_cast<std::ptrdiff_t>(first_);
  Index in_broadcast(begin, begin + static_cast<std::ptrdiff_t>(broadcast_.size()));
  Index result;
  size_t next = 0;
  for (size_t d = 0; d < self_.rank(); ++d) {
    if (next == first_) next += broadcast_.size();
    if (!indices_[d]) {
      result.push_back(index[next++]);
      continue;
    }
    Index at = broadcast_index(indices_[d]->type.sizes, in_broadcast);
    result.push_back(index_value(k, indices_[d], at, self_.sizes[d], Negative::Wraps));
  }
  return result;
}

std::vector<Value*> expand_masks(Rewriter& r, const std::vector<Value*>& indices,
                                 const std::optional<Sym>& region_size) {
  std::vector<Value*> expanded;
  for (Value* v : indices) {
    if (!is_mask(v)) {
      expanded.push_back(v);
      continue;
    }
    TensorExpr positions{&r, r("aten.nonzero.default", {v})};
    if (region_size) positions.v->type.sizes[0] = *region_size;
    for (int64_t d = 0; d < r.rank(v); ++d) expanded.push_back(positions.select(1, d));
  }
  return expanded;
}

}  // namespace aotc
