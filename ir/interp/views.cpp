// From index maps to strides, symbolically where simplification shows them, else by trying every
// element.
#include "ir/interp/views.h"

#include <algorithm>
#include <cstring>

#include "ir/interp/sym_program.h"
#include "ir/ops/op.h"

namespace aotc::interp {
namespace {

std::string index_name(size_t d) { return "@" + std::to_string(d); }

// One view result: its sizes and, as an expression in @0, @1, ..., the position of its elements in
// memory.
class View {
 public:
  View(const Node& n, int k, const Tensor& base, const Symbols& symbols)
      : node_(n, symbols), base_(base) {
    const auto* meaning = n.op->as<ViewMeaning>();
    AOTC_CHECK(meaning, "{} is no view", n.op->name());
    type_ = node_.node.outputs.at(static_cast<size_t>(k))->type;
    sizes_ = eval(type_.sizes, symbols);
    std::vector<Sym> index;
    Assumptions known;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      bool moves = sizes_[d] > 1;
      index.push_back(moves ? Sym::symbol(index_name(d)) : Sym(0));
      if (moves) known.set_axis(index_name(d), Sym(sizes_[d]));
    }
    at_ = meaning->map(node_.node, k, index);
    AOTC_CHECK(at_.size() == base.sizes.size(), "{} maps to {} indices, its argument has rank {}",
               n.op->name(), at_.size(), base.sizes.size());
    Sym position(base.offset);
    for (size_t d = 0; d < at_.size(); ++d) position = position + at_[d] * Sym(base.strides[d]);
    position_ = known.simplify(position);
  }

  bool is_empty() const {
    for (int64_t s : sizes_)
      if (s == 0) return true;
    return false;
  }

  Tensor on_base(int64_t offset, std::vector<int64_t> strides) const {
    return {base_.dtype, sizes_, std::move(strides), offset, base_.memory};
  }

  // Strides of dimensions that never move are eager's where the type tells them.
  std::vector<int64_t> default_strides(const Symbols& symbols) const {
    return type_.strides.empty() ? contiguous_strides(sizes_) : eval(type_.strides, symbols);
  }

  std::optional<Tensor> by_expression(std::vector<int64_t> strides) const {
    Sym rest = position_;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (sizes_[d] <= 1) continue;
      auto linear = rest.linear_in(index_name(d));
      auto factor = linear ? linear->coefficient.constant() : std::nullopt;
      if (!factor) return std::nullopt;
      strides[d] = *factor;
      rest = linear->rest;
    }
    auto offset = rest.constant();
    if (!offset) return std::nullopt;
    return on_base(*offset, std::move(strides));
  }

  std::optional<Tensor> by_trial(std::vector<int64_t> strides) const {
    std::vector<int64_t> at = positions_of_elements();
    std::vector<int64_t> rows = contiguous_strides(sizes_);
    for (size_t d = 0; d < sizes_.size(); ++d)
      if (sizes_[d] > 1) strides[d] = at[static_cast<size_t>(rows[d])] - at[0];
    Tensor t = on_base(at[0], strides);
    return positions(t) == at ? std::optional<Tensor>(t) : std::nullopt;
  }

  // Row-major; each index is checked against the base.
  std::vector<int64_t> positions_of_elements() const {
    std::vector<int64_t> slots(sizes_.size()), all;
    auto slot_of = [](const std::string& name) {
      AOTC_CHECK(name[0] == '@', "a view depends on {}, which has no value", name);
      return std::stoi(name.substr(1));
    };
    std::vector<SymProgram> programs;
    for (const Sym& s : at_) programs.emplace_back(s, slot_of);
    for_each_index(sizes_, [&](const std::vector<int64_t>& index) {
      int64_t p = base_.offset;
      for (size_t d = 0; d < programs.size(); ++d) {
        int64_t i = programs[d].run(index.data());
        if (i < 0 || i >= base_.sizes[d])
          internal_error("{}: index {} in dimension {} is outside of its argument's size {}",
                         node_.node.op->name(), i, d, base_.sizes[d]);
        p += i * base_.strides[d];
      }
      all.push_back(p);
    });
    return all;
  }

  const TensorType& type() const { return type_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  ConcreteNode node_;
  const Tensor& base_;
  TensorType type_;
  std::vector<int64_t> sizes_;
  std::vector<Sym> at_;
  Sym position_;
};

std::optional<Tensor> alias(const View& v, const Symbols& symbols) {
  std::vector<int64_t> strides = v.default_strides(symbols);
  if (v.is_empty()) return v.on_base(0, strides);
  auto t = v.by_expression(strides);
  if (!t) t = v.by_trial(strides);
  if (t && !fits(*t)) internal_error("a view lies outside of its memory");
  return t;
}

Tensor gather(const View& v, const Tensor& base) {
  Tensor out = empty(base.dtype, v.sizes());
  std::vector<int64_t> at = v.is_empty() ? std::vector<int64_t>{} : v.positions_of_elements();
  auto size = static_cast<size_t>(element_size(base.dtype));
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(out.memory->writable() + i * size,
                base.memory->data() + static_cast<size_t>(at[i]) * size, size);
  return out;
}

// Each dimension steps over all that those with smaller strides reach.
bool is_nested(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t d = 0; d < t.sizes.size(); ++d)
    if (t.sizes[d] > 1) dims.emplace_back(std::abs(t.strides[d]), t.sizes[d]);
  std::sort(dims.begin(), dims.end());
  int64_t reach = 1;
  for (auto [stride, size] : dims) {
    if (stride < reach) return false;
    reach += (size - 1) * stride;
  }
  return true;
}

}  // namespace

std::optional<Tensor> alias_view(const Node& n, int k, const Tensor& base, const Symbols& symbols) {
  return alias(View(n, k, base, symbols), symbols);
}

Tensor gather_view(const Node& n, int k, const Tensor& base, const Symbols& symbols) {
  return gather(View(n, k, base, symbols), base);
}

Tensor eager_view(const Node& n, int k, const Tensor& base, const Symbols& symbols) {
  View v(n, k, base, symbols);
  bool declared = !n.op->schema.args.empty() && n.op->schema.args[0].aliased;
  if (!declared) return gather(v, base);
  auto t = alias(v, symbols);
  if (!t) return gather(v, base);
  bool may_copy = !n.op->as<ViewMeaning>()->always_aliases && !v.type().strides.empty();
  if (may_copy && !same_strides(t->sizes, t->strides, v.default_strides(symbols)))
    return gather(v, base);
  return *t;
}

bool overlaps_itself(const Tensor& t) {
  if (t.numel() == 0 || is_nested(t)) return false;
  std::vector<int64_t> at = positions(t);
  std::sort(at.begin(), at.end());
  return std::adjacent_find(at.begin(), at.end()) != at.end();
}

}  // namespace aotc::interp
