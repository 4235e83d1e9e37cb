// Arguments that fit together: which kind of drawing an op needs.
#include <algorithm>

#include "drawing.h"

namespace aotc::random_graphs {

namespace {

// "aten.index_put_.default" -> "index_put"
std::string base_name(const std::string& op) {
  size_t first = op.find('.') + 1;
  std::string base = op.substr(first, op.find('.', first) - first);
  if (base.ends_with('_') && !base.ends_with("__")) base.pop_back();
  return base;
}

}  // namespace

Drawing::Drawing(Pool& pool, const OpDef& op, Value* self)
    : pool_(pool), op_(op), self_(self), base_(base_name(op.name())) {}

std::optional<std::vector<Arg>> Drawing::draw() {
  args_.resize(op_.schema.args.size());
  given_.resize(args_.size());
  if (!choose_self()) return std::nullopt;
  if (!family()) return std::nullopt;
  for (size_t i = 0; i < args_.size(); ++i)
    if (!given_[i] && !argument(i)) return std::nullopt;
  return args_;
}

bool Drawing::choose_self() {
  if (op_.schema.args.empty() || op_.schema.args[0].type != "Tensor") return true;
  std::string_view letters = shape_letters(op_.name());
  if (!letters.empty()) return true;
  if (!self_)
    self_ = walks_dimensions() ? pool_.any([](const Value& v) { return v.type.rank() > 0; })
                               : pool_.any();
  if (!self_ || (walks_dimensions() && rank() == 0)) return false;
  give(size_t{0}, self_);
  return true;
}

// Eager refuses tensors of rank 0 (reductions and views of the whole aside).
bool Drawing::walks_dimensions() const {
  if (op_.as<ReduceMeaning>() || op_.as<ScalarMeaning>()) return false;
  return has("dim") || has("dim0") || has("dims") || has("dim1") || has("start_dim") ||
         has("dimension") || has("source") || has("kernel_size") || has("sections") ||
         has("chunks") || has("indices") || has("pad") || has("padding") || has("scale_factors") ||
         has("normalized_shape") || has("spacing") || has("sorted_sequence") || has("boundaries") ||
         has("vec2");
}

bool Drawing::argument(size_t i) {
  const SchemaArg& a = op_.schema.args[i];
  if (!a.is_tensor()) {
    give(i, draw_plain(pool_, a, sizes()));
    return true;
  }
  if (a.type.ends_with("?") && (pool_.percent(60) || a.name == "sorter")) {
    give(i, None{});
    return true;
  }
  if (a.type.find('[') != std::string::npos) return tensor_list(i);
  give(i, other());
  return true;
}

// A tensor that probably goes with self: of its shape, or one that broadcasts to it.
Value* Drawing::other() {
  if (!self_ || pool_.chance(6)) return pool_.any();
  DType t = pool_.chance(5) ? pool_.dtype() : self_->type.dtype;
  std::vector<Sym> shape = sizes();
  if (pool_.chance(3)) shape.erase(shape.begin(), shape.begin() + pool_.integer(0, rank()));
  for (Sym& s : shape)
    if (pool_.chance(6)) s = Sym(1);
  return pool_.like(t, shape);
}

bool Drawing::tensor_list(size_t i) {
  Value* first = self_ ? self_ : pool_.any();
  std::vector<Value*> list{first};
  while (list.size() < 4 && pool_.percent(60)) {
    Value* same = pool_.any([&](const Value& v) { return v.type.sizes == first->type.sizes; });
    list.push_back(pool_.chance(5) ? pool_.any() : same);
  }
  if (!self_) self_ = first;
  give(i, list);
  return true;
}

bool Drawing::family() {
  if (std::string_view letters = shape_letters(op_.name()); !letters.empty())
    return by_letters(letters);
  static const std::map<std::string_view, bool (Drawing::*)()> kFamilies = {
      {"view", &Drawing::reshaped},
      {"_unsafe_view", &Drawing::reshaped},
      {"reshape", &Drawing::reshaped},
      {"view_copy", &Drawing::reshaped},
      {"_reshape_copy", &Drawing::reshaped},
      {"expand", &Drawing::expanded},
      {"broadcast_to", &Drawing::expanded},
      {"expand_copy", &Drawing::expanded},
      {"slice", &Drawing::sliced},
      {"slice_copy", &Drawing::sliced},
      {"select", &Drawing::selected},
      {"select_copy", &Drawing::selected},
      {"narrow", &Drawing::narrowed},
      {"narrow_copy", &Drawing::narrowed},
      {"unfold", &Drawing::unfolded},
      {"unfold_copy", &Drawing::unfolded},
      {"as_strided", &Drawing::strided},
      {"as_strided_copy", &Drawing::strided},
      {"unflatten", &Drawing::unflattened},
      {"split_with_sizes", &Drawing::split_sizes},
      {"split_with_sizes_copy", &Drawing::split_sizes},
      {"unsafe_split_with_sizes", &Drawing::split_sizes},
      {"slice_scatter", &Drawing::scattered_slice},
      {"select_scatter", &Drawing::scattered_slice},
      {"diagonal_scatter", &Drawing::scattered_slice},
      {"as_strided_scatter", &Drawing::scattered_slice},
      {"diagonal", &Drawing::diagonals},
      {"diagonal_copy", &Drawing::diagonals},
      {"linalg_diagonal", &Drawing::diagonals},
      {"index_select", &Drawing::along_dim},
      {"index_add", &Drawing::along_dim},
      {"index_copy", &Drawing::along_dim},
      {"index_fill", &Drawing::along_dim},
      {"index_reduce", &Drawing::along_dim},
      {"gather", &Drawing::gathered},
      {"scatter", &Drawing::gathered},
      {"scatter_add", &Drawing::gathered},
      {"scatter_reduce", &Drawing::gathered},
      {"take_along_dim", &Drawing::gathered},
      {"index", &Drawing::indexed},
      {"_unsafe_index", &Drawing::indexed},
      {"index_put", &Drawing::indexed},
      {"_unsafe_index_put", &Drawing::indexed},
      {"_index_put_impl", &Drawing::indexed},
      {"masked_fill", &Drawing::masked},
      {"masked_select", &Drawing::masked},
      {"masked_scatter", &Drawing::masked},
      {"where", &Drawing::masked},
      {"embedding", &Drawing::embedded},
      {"take", &Drawing::flat_indices},
      {"put", &Drawing::flat_indices},
      {"copy", &Drawing::copied}};
  auto it = kFamilies.find(base_);
  return it == kFamilies.end() || (this->*it->second)();
}

std::optional<std::vector<Arg>> draw_arguments(Pool& pool, const OpDef& op, Value* self) {
  return Drawing(pool, op, self).draw();
}

}  // namespace aotc::random_graphs
