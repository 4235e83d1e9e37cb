// Arguments that fit together.
#include "arguments.h"

#include <algorithm>

#include "ir/ops/shape_math.h"

namespace aotc::random_graphs {
namespace {

using Arguments = std::optional<std::vector<Arg>>;

// "aten.index_put_.default" -> "index_put"
std::string base_name(const std::string& op) {
  size_t first = op.find('.') + 1;
  std::string base = op.substr(first, op.find('.', first) - first);
  if (base.ends_with('_') && !base.ends_with("__")) base.pop_back();
  return base;
}

class Drawing {
 public:
  Drawing(Pool& pool, const OpDef& op, Value* self)
      : pool_(pool), op_(op), self_(self), base_(base_name(op.name())) {}

  Arguments draw() {
    args_.resize(op_.schema.args.size());
    given_.resize(args_.size());
    if (!choose_self()) return std::nullopt;
    if (!family()) return std::nullopt;
    for (size_t i = 0; i < args_.size(); ++i)
      if (!given_[i] && !argument(i)) return std::nullopt;
    return args_;
  }

 private:
  // ---- slots

  int slot(const char* name) const { return op_.schema.index_of(name); }
  bool has(const char* name) const { return slot(name) >= 0; }
  void give(size_t i, Arg a) {
    args_[i] = std::move(a);
    given_[i] = true;
  }
  void give(const char* name, Arg a) {
    if (has(name)) give(static_cast<size_t>(slot(name)), std::move(a));
  }
  bool give_tensor(const char* name, Value* v) {
    if (!has(name)) return true;
    if (v) give(name, v);
    return v != nullptr;
  }

  const std::vector<Sym>& sizes() const {
    static const std::vector<Sym> kNone;
    return self_ ? self_->type.sizes : kNone;
  }
  int64_t rank() const { return static_cast<int64_t>(sizes().size()); }

  // A dimension of self, given as `dim`; -1 if there is none.
  int64_t give_dim() {
    if (rank() == 0) return -1;
    int64_t d = pool_.integer(0, rank() - 1);
    give("dim", Sym(pool_.chance(4) ? d - rank() : d));
    return d;
  }

  bool choose_self() {
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
  bool walks_dimensions() const {
    if (op_.as<ReduceMeaning>() || op_.as<ScalarMeaning>()) return false;
    return has("dim") || has("dim0") || has("dims") || has("dim1") || has("start_dim") ||
           has("dimension") || has("source") || has("kernel_size") || has("sections") ||
           has("chunks") || has("indices") || has("pad") || has("padding") ||
           has("scale_factors") || has("normalized_shape") || has("spacing") ||
           has("sorted_sequence") || has("boundaries") || has("vec2");
  }

  // ---- any argument

  bool argument(size_t i) {
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
  Value* other() {
    if (!self_ || pool_.chance(6)) return pool_.any();
    DType t = pool_.chance(5) ? pool_.dtype() : self_->type.dtype;
    std::vector<Sym> shape = sizes();
    if (pool_.chance(3)) shape.erase(shape.begin(), shape.begin() + pool_.integer(0, rank()));
    for (Sym& s : shape)
      if (pool_.chance(6)) s = Sym(1);
    return pool_.like(t, shape);
  }

  bool tensor_list(size_t i) {
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

  // ---- shapes by letters

  bool by_letters(std::string_view words) {
    std::map<char, Sym> bound{{'1', Sym(1)}, {'2', Sym(2)}, {'3', Sym(3)}};
    std::optional<std::vector<Sym>> leading;
    DType dtype = self_ ? self_->type.dtype : pool_.chance(4) ? pool_.dtype() : DType::Float32;
    for (size_t i = 0; i < op_.schema.args.size() && !words.empty(); ++i) {
      const SchemaArg& a = op_.schema.args[i];
      if (!a.is_tensor()) continue;
      std::string_view word = words.substr(0, words.find(' '));
      words.remove_prefix(std::min(words.size(), word.size() + 1));
      if (i == 0 && self_ && !match(word, sizes(), bound, leading)) return false;
      if (i > 0 && a.type.ends_with("?") && pool_.chance(2)) {
        give(i, None{});
        continue;
      }
      Value* v = i == 0 && self_ ? self_ : with_letters(word, dtype, bound, leading);
      if (i == 0) self_ = v;
      if (a.type.find('[') == std::string::npos) {
        give(i, v);
      } else {  // "nk km": both in one list
        Value* second = with_letters(words, dtype, bound, leading);
        give(i, std::vector<Value*>{v, second});
        words = {};
      }
    }
    return true;
  }

  bool match(std::string_view word, const std::vector<Sym>& shape, std::map<char, Sym>& bound,
             std::optional<std::vector<Sym>>& leading) {
    bool star = word.starts_with('*');
    if (star) word.remove_prefix(1);
    if (star ? shape.size() < word.size() : shape.size() != word.size()) return false;
    size_t added = shape.size() - word.size();
    if (star) leading.emplace(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(added));
    for (size_t d = 0; d < word.size(); ++d)
      if (auto [it, fresh] = bound.try_emplace(word[d], shape[added + d]);
          !fresh && !(it->second == shape[added + d]))
        return false;
    return true;
  }

  Value* with_letters(std::string_view word, DType dtype, std::map<char, Sym>& bound,
                      std::optional<std::vector<Sym>>& leading) {
    if (Value* v = pool_.any([&](const Value& x) {
          auto b = bound;
          auto l = leading;
          return x.type.dtype == dtype && (!l || !word.starts_with('*')) &&
                 match(word, x.type.sizes, b, l);
        });
        v && pool_.percent(70)) {
      match(word, v->type.sizes, bound, leading);
      return v;
    }
    std::vector<Sym> shape;
    if (word.starts_with('*')) {
      word.remove_prefix(1);
      if (!leading) leading = pool_.shape_of_rank(static_cast<size_t>(pool_.integer(0, 2)));
      shape = *leading;
    }
    for (char c : word)
      shape.push_back(bound
                          .try_emplace(c, std::isupper(c)    ? Sym(1)
                                          : kernel_letter(c) ? Sym(pool_.integer(1, 3))
                                                             : pool_.size())
                          .first->second);
    return pool_.like(dtype, shape);
  }
  static bool kernel_letter(char c) { return c == 'w' || c == 'v' || c == 'u'; }

  // ---- families

  bool family() {
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

  // The same elements in other dimensions: neighbours merged, or a dimension split.
  bool reshaped() {
    std::vector<Sym> to = sizes();
    if (pool_.chance(5)) {
      to.insert(to.begin() + pool_.integer(0, rank()), Sym(1));
    } else if (to.size() >= 2 && pool_.chance(2)) {
      auto d = static_cast<size_t>(pool_.integer(0, rank() - 2));
      to[d] = to[d] * to[d + 1];
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    } else if (!to.empty()) {
      auto d = static_cast<size_t>(pool_.integer(0, rank() - 1));
      auto n = to[d].constant();
      for (int64_t f : {2, 3, 5})
        if (n && *n > f && *n % f == 0) {
          to[d] = Sym(f);
          to.insert(to.begin() + static_cast<std::ptrdiff_t>(d), Sym(*n / f));
          break;
        }
    }
    if (pool_.chance(6)) to = {product(to)};
    give(has("shape") ? "shape" : "size", to);
    return true;
  }

  bool expanded() {
    std::vector<Sym> to = sizes();
    for (Sym& s : to)
      if (s.is(1))
        s = pool_.size();
      else if (pool_.chance(4))
        s = Sym(-1);
    if (pool_.chance(2)) to.insert(to.begin(), pool_.size());
    give("size", to);
    return true;
  }

  bool sliced() {
    int64_t d = give_dim();
    if (d < 0) return false;
    int64_t n = pool_.sample(sizes()[static_cast<size_t>(d)]);
    int64_t start = pool_.integer(-1, n - 1);
    if (start < 0) start = pool_.integer(-n, -1);
    give("start", pool_.chance(4) ? Arg(None{}) : Arg(Sym(start)));
    give("end", pool_.chance(3)   ? Arg(None{})
                : pool_.chance(3) ? Arg(Sym(INT64_MAX))
                                  : Arg(Sym(pool_.integer(1, n))));
    give("step", Sym(pool_.chance(3) ? 2 : 1));
    return true;
  }

  bool selected() {
    int64_t d = give_dim();
    if (d < 0) return false;
    int64_t n = least(d);
    if (n < 1) return false;
    give("index", Sym(pool_.integer(-n, n - 1)));
    return true;
  }

  // The smallest size that dimension d can have.
  int64_t least(int64_t d) const {
    const Sym& s = sizes()[static_cast<size_t>(d)];
    return s.constant() ? *s.constant() : pool_.sample(s) - 1;
  }

  bool narrowed() {
    int64_t d = give_dim();
    if (d < 0) return false;
    int64_t start = pool_.integer(0, least(d));
    give("start", Sym(start));
    give("length", Sym(pool_.integer(0, least(d) - start)));
    return true;
  }

  bool unfolded() {
    if (rank() == 0) return false;
    int64_t d = pool_.integer(0, rank() - 1);
    if (least(d) < 1) return false;
    give("dimension", Sym(d));
    give("size", Sym(pool_.integer(1, least(d))));
    give("step", Sym(pool_.integer(1, 2)));
    return true;
  }

  // Of a contiguous static tensor that is no view: within its storage.
  bool strided() {
    const TensorType& t = self_->type;
    for (const Sym& s : t.sizes)
      if (!s.constant()) return false;
    if (!(strides_of(t) == contiguous_strides(t.sizes)) ||
        (self_->producer && !pool_.is_fresh(self_)))
      return false;
    for (const Input& in : pool_.graph().inputs)
      if (in.value == self_ && in.kind != InputKind::User) return false;
    int64_t left = product(t.sizes).constant().value_or(0) - 1;
    if (left < 0) return false;
    int64_t offset = pool_.integer(0, left);
    left -= offset;
    std::vector<Sym> to, strides;
    for (int64_t i = pool_.integer(0, 2); i >= 0; --i) {
      int64_t step = pool_.integer(1, 4),
              count = pool_.integer(1, std::min<int64_t>(4, left / step + 1));
      left -= step * (count - 1);
      to.push_back(Sym(count));
      strides.push_back(Sym(step));
    }
    give("size", to);
    give("stride", strides);
    give("storage_offset", offset == 0 && pool_.chance(2) ? Arg(None{}) : Arg(Sym(offset)));
    return true;
  }

  bool unflattened() {
    int64_t d = give_dim();
    if (d < 0) return false;
    const Sym& n = sizes()[static_cast<size_t>(d)];
    int64_t f = n.constant() && *n.constant() % 2 == 0 ? 2 : 1;
    give("sizes", pool_.chance(2) ? std::vector<Sym>{Sym(f), Sym(-1)}
                                  : std::vector<Sym>{floordiv(n, Sym(f)), Sym(f)});
    return true;
  }

  bool split_sizes() {
    int64_t d = give_dim();
    if (d < 0) return false;
    const Sym& n = sizes()[static_cast<size_t>(d)];
    int64_t first = pool_.integer(0, least(d));
    give("split_sizes", std::vector<Sym>{Sym(first), n - first});
    return true;
  }

  bool diagonals() {
    if (rank() < 2) return false;
    int64_t a = pool_.integer(0, rank() - 1), b = (a + pool_.integer(1, rank() - 1)) % rank();
    give("dim1", Sym(a));
    give("dim2", Sym(b - (pool_.chance(3) ? rank() : 0)));
    return true;
  }

  // src has the shape of the view that is written.
  bool scattered_slice() {
    std::string view = base_.substr(0, base_.size() - std::string("_scatter").size());
    bool ok = view == "slice"      ? sliced()
              : view == "select"   ? selected()
              : view == "diagonal" ? diagonals()
                                   : strided();
    const OpDef* op = find_op("aten." + view +
                              (view == "slice"    ? ".Tensor"
                               : view == "select" ? ".int"
                                                  : ".default"));
    if (!ok || !op) return false;
    std::vector<Arg> args;
    for (const SchemaArg& a : op->schema.args) {
      int at = slot(a.name.c_str());
      if (at < 0) return false;
      if (!given_[static_cast<size_t>(at)])
        give(static_cast<size_t>(at), draw_plain(pool_, a, sizes()));
      args.push_back(args_[static_cast<size_t>(at)]);
    }
    Types types = pool_.types_of(*op, args);
    return !types.empty() && give_tensor("src", pool_.like(self_->type.dtype, types[0].sizes));
  }

  bool along_dim() {
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

  bool gathered() {
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
  bool indexed() {
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

  bool masked() {
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

  bool embedded() {
    if (rank() != 2) return false;
    return give_tensor("indices",
                       pool_.indices(pool_.shape_of_rank(static_cast<size_t>(pool_.integer(0, 2))),
                                     sizes()[0], false));
  }

  bool flat_indices() {
    std::vector<Sym> shape = pool_.shape_of_rank(static_cast<size_t>(pool_.integer(0, 2)));
    return give_tensor("index", pool_.indices(shape, product(sizes()), true)) &&
           give_tensor("source", pool_.like(self_->type.dtype, shape));
  }

  // Any type is cast; at times a view of the same storage.
  bool copied() {
    Value* same = pool_.any([&](const Value& v) { return v.type.sizes == self_->type.sizes; });
    give("src", same && pool_.percent(60) ? same : other());
    return true;
  }

  Pool& pool_;
  const OpDef& op_;
  Value* self_;
  const std::string base_;
  std::vector<Arg> args_;
  std::vector<bool> given_;
};

}  // namespace

std::optional<std::vector<Arg>> draw_arguments(Pool& pool, const OpDef& op, Value* self) {
  return Drawing(pool, op, self).draw();
}

}  // namespace aotc::random_graphs
