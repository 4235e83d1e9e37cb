// Arguments of reading and writing at indices that are data.
#include "drawing.h"

namespace aotc::random_graphs {

bool Drawing::along_dim() {
  int64_t d = give_dim();
  if (d < 0) return false;
  const Sym bound = sizes()[static_cast<size_t>(d)];
  std::vector<Sym> shape = sizes(), count{pool_.size()};
  shape[static_cast<size_t>(d)] = count[0];
  if (!give_tensor("index", pool_.indices(count, bound, false))) return false;
  if (has("value") && op_.schema.args[static_cast<size_t>(slot("value"))].is_tensor())
    return give_tensor("value", pool_.like(self_->type.dtype, {}));
  return give_tensor("source", pool_.like(self_->type.dtype, shape));
}

bool Drawing::gathered() {
  int64_t d = give_dim();
  if (d < 0) return false;
  const Sym bound = sizes()[static_cast<size_t>(d)];
  std::vector<Sym> shape = sizes();
  shape[static_cast<size_t>(d)] = pool_.size();
  Value* index = pool_.indices(shape, bound, false);
  if (!index) return false;
  give_tensor("index", index);
  give_tensor("indices", index);
  return give_tensor("src", pool_.like(self_->type.dtype, shape));
}

// Index tensors that broadcast together, with holes; at times a mask.
bool Drawing::indexed() {
  if (rank() == 0) return false;
  std::vector<Value*> list;
  std::vector<Sym> shape{pool_.size()};
  if (pool_.chance(4)) shape.push_back(pool_.size());
  if (pool_.chance(8)) shape.clear();
  bool some = false;
  for (int64_t d = 0; d < rank() && list.size() < 3; ++d) {
    if (pool_.chance(3) || (d + 1 == rank() && some)) {
      list.push_back(nullptr);
      continue;
    }
    Value* v = pool_.indices(shape, sizes()[static_cast<size_t>(d)], true);
    if (!v) return false;
    list.push_back(v);
    some = true;
  }
  while (!list.empty() && !list.back()) list.pop_back();
  if (list.empty()) return false;
  give("indices", list);
  if (!has("values")) return true;
  const OpDef* read = find_op("aten.index.Tensor");
  Types types = pool_.types_of(*read, {self_, list});
  if (types.empty()) return false;
  std::vector<Sym> of = types[0].sizes;
  if (pool_.chance(4)) of.clear();
  give("values", pool_.like(self_->type.dtype, of));
  return true;
}

bool Drawing::masked() {
  if (base_ == "where" && !has("self")) return give_tensor("condition", pool_.any());
  std::vector<Sym> shape = sizes();
  if (pool_.chance(4) && !shape.empty()) shape.erase(shape.begin());
  if (base_ == "where") {
    self_ = pool_.any();
    shape = sizes();
    give_tensor("condition", pool_.like(DType::Bool, shape));
    if (op_.schema.args[static_cast<size_t>(slot("self"))].is_tensor()) give("self", self_);
    return true;
  }
  give_tensor("mask", pool_.like(DType::Bool, shape));
  if (has("value") && op_.schema.args[static_cast<size_t>(slot("value"))].is_tensor())
    give_tensor("value", pool_.like(self_->type.dtype, {}));
  return give_tensor("source", pool_.like(self_->type.dtype, sizes()));
}

bool Drawing::embedded() {
  if (rank() != 2) return false;
  return give_tensor("indices",
                     pool_.indices(pool_.shape_of_rank(static_cast<size_t>(pool_.integer(0, 2))),
                                   sizes()[0], false));
}

bool Drawing::flat_indices() {
  std::vector<Sym> shape = pool_.shape_of_rank(static_cast<size_t>(pool_.integer(0, 2)));
  return give_tensor("index", pool_.indices(shape, product(sizes()), true)) &&
         give_tensor("source", pool_.like(self_->type.dtype, shape));
}

// Any type is cast; at times a view of the same storage.
bool Drawing::copied() {
  Value* same = pool_.any([&](const Value& v) { return v.type.sizes == self_->type.sizes; });
  give("src", same && pool_.percent(60) ? same : other());
  return true;
}

}  // namespace aotc::random_graphs
