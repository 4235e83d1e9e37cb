// Arguments of views: sizes, ranges and dimensions that the tensor has.
#include "drawing.h"

#include "ir/ops/shape_math.h"

namespace aotc::random_graphs {

// The same elements in other dimensions: neighbours merged, or a dimension split.
bool Drawing::reshaped() {
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
  // Eager's view copies nothing: it refuses what only a copy can give.
  if (op_.name() == "aten.view.default" && !self_->type.strides.empty() &&
      !view_strides(self_->type, to))
    return false;
  give(has("shape") ? "shape" : "size", to);
  return true;
}

bool Drawing::expanded() {
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

bool Drawing::sliced() {
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

bool Drawing::selected() {
  int64_t d = give_dim();
  if (d < 0) return false;
  int64_t n = least(d);
  if (n < 1) return false;
  give("index", Sym(pool_.integer(-n, n - 1)));
  return true;
}

// The smallest size that dimension d can have.
int64_t Drawing::least(int64_t d) const { return pool_.least(sizes()[static_cast<size_t>(d)]); }

bool Drawing::narrowed() {
  int64_t d = give_dim();
  if (d < 0) return false;
  int64_t start = pool_.integer(0, least(d));
  give("start", Sym(start));
  give("length", Sym(pool_.integer(0, least(d) - start)));
  return true;
}

bool Drawing::unfolded() {
  if (rank() == 0) return false;
  int64_t d = pool_.integer(0, rank() - 1);
  if (least(d) < 1) return false;
  give("dimension", Sym(d));
  give("size", Sym(pool_.integer(1, least(d))));
  give("step", Sym(pool_.integer(1, 2)));
  return true;
}

// Of a contiguous static tensor that is no view: within its storage.
bool Drawing::strided() {
  const TensorType& t = self_->type;
  for (const Sym& s : t.sizes)
    if (!s.constant()) return false;
  if (!(strides_of(t) == contiguous_strides(t.sizes)) ||
      (self_->producer && (!pool_.is_fresh(self_) || self_->producer->op->as<RewriteMeaning>())))
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

bool Drawing::unflattened() {
  int64_t d = give_dim();
  if (d < 0) return false;
  const Sym& n = sizes()[static_cast<size_t>(d)];
  int64_t f = n.constant() && *n.constant() % 2 == 0 ? 2 : 1;
  give("sizes", pool_.chance(2) ? std::vector<Sym>{Sym(f), Sym(-1)}
                                : std::vector<Sym>{floordiv(n, Sym(f)), Sym(f)});
  return true;
}

bool Drawing::split_sizes() {
  int64_t d = give_dim();
  if (d < 0) return false;
  const Sym& n = sizes()[static_cast<size_t>(d)];
  int64_t first = pool_.integer(0, least(d));
  give("split_sizes", std::vector<Sym>{Sym(first), n - first});
  return true;
}

bool Drawing::diagonals() {
  if (rank() < 2) return false;
  int64_t a = pool_.integer(0, rank() - 1), b = (a + pool_.integer(1, rank() - 1)) % rank();
  give("dim1", Sym(a));
  give("dim2", Sym(b - (pool_.chance(3) ? rank() : 0)));
  return true;
}

// src has the shape of the view that is written.
bool Drawing::scattered_slice() {
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

}  // namespace aotc::random_graphs
