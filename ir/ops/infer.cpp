// Type rules shared by rows: promotion, broadcasting, reductions; and the makers that give rows
// their `infer`.
#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/open_conditions.h"
#include "ir/ops/require.h"

namespace aotc {
namespace {

struct Categories {
  std::optional<DType> dimensioned, zero_dim, scalar;
};

std::optional<DType> promote_defined(std::optional<DType> a, std::optional<DType> b) {
  if (!a) return b;
  if (!b) return a;
  return promote(*a, *b);
}

DType to_complex(DType t) {
  if (t == DType::Float64) return DType::Complex128;
  return is_half(t) && t == DType::Float16 ? DType::Complex32 : DType::Complex64;
}

// torch's combine_categories: a lower-priority operand only matters if it is of a higher category.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower) return higher;
  if (is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? to_complex(*higher) : higher;
  if (is_bool(*higher) || is_floating(*lower) || is_complex(*lower))
    return promote(*higher, *lower);
  return higher;
}

void add_argument(Categories& c, const Arg& a) {
  if (auto* v = std::get_if<Value*>(&a)) {
    auto& slot = (*v)->type.rank() > 0 ? c.dimensioned : c.zero_dim;
    slot = promote_defined(slot, (*v)->type.dtype);
  } else if (auto* list = std::get_if<std::vector<Value*>>(&a)) {
    for (Value* v : *list)
      if (v) add_argument(c, Arg(v));
  } else if (std::holds_alternative<bool>(a)) {
    c.scalar = promote_defined(c.scalar, DType::Bool);
  } else if (auto* s = std::get_if<Sym>(&a)) {
    c.scalar = promote_defined(c.scalar, is_float(*s) ? DType::Float32 : DType::Int64);
  } else if (std::holds_alternative<double>(a)) {
    c.scalar = promote_defined(c.scalar, DType::Float32);
  } else if (std::holds_alternative<Complex>(a)) {
    c.scalar = promote_defined(c.scalar, DType::Complex64);
  }
}

std::vector<int> promoting_arguments(const Node& n, const ScalarMeaning& m) {
  std::vector<int> args;
  const Schema& s = n.op->schema;
  for (size_t i = 0; i < s.args.size() && i < n.args.size(); ++i) {
    const std::string& name = s.args[i].name;
    bool takes_part =
        m.promoting.empty()
            ? s.args[i].is_tensor() || name == "other" || name == "exponent" || name == "self"
            : std::find(m.promoting.begin(), m.promoting.end(), name) != m.promoting.end();
    if (takes_part) args.push_back(static_cast<int>(i));
  }
  return args;
}

}  // namespace

DType result_type(const Node& n, const std::vector<int>& args) {
  Categories c;
  for (int i : args) add_argument(c, n.args[static_cast<size_t>(i)]);
  auto t = combine(c.dimensioned, combine(c.zero_dim, c.scalar));
  AOTC_CHECK(t.has_value(), "{}: no argument has a type", n.op->name());
  return *t;
}

// The type in which a pointwise row's arguments meet, and the type of its result.
std::pair<DType, DType> pointwise_types(const Node& n, const ScalarMeaning& m) {
  if (m.rule == TypeRule::Bool) return {DType::Bool, DType::Bool};
  DType common = result_type(n, promoting_arguments(n, m));
  switch (m.rule) {
    case TypeRule::Promote:
      return {common, common};
    case TypeRule::Float: {
      if (!is_floating(common) && !is_complex(common)) common = DType::Float32;
      return {common, common};
    }
    case TypeRule::Compare:
      return {common, DType::Bool};
    case TypeRule::SameAs0: {
      DType t = std::get<Value*>(n.args[0])->type.dtype;
      return {t, t};
    }
    case TypeRule::Dtype: {
      auto t = dtype_arg(n, "dtype");
      return {t ? *t : common, t ? *t : common};
    }
    case TypeRule::Bool:
      break;
  }
  internal_error("unknown type rule");
}

int64_t wrap_dim(int64_t dim, int64_t rank, const Node& n) {
  int64_t limit = std::max<int64_t>(rank, 1);
  if (dim < -limit || dim >= limit)
    user_error("{}: node '{}' ({}): dimension {} is out of range for rank {}", n.source.str(),
               n.name, n.op->name(), dim, rank);
  return dim < 0 ? dim + limit : dim;
}

std::vector<Sym> broadcast_sizes(const std::vector<std::vector<Sym>>& shapes, const Node& n) {
  size_t rank = 0;
  for (const auto& s : shapes) rank = std::max(rank, s.size());
  std::vector<Sym> out(rank, Sym(1));
  for (const auto& s : shapes)
    for (size_t i = 0; i < s.size(); ++i) {
      Sym& o = out[rank - s.size() + i];
      if (s[i].is(1) || o == s[i]) continue;
      if (o.is(1)) {
        o = s[i];
      } else if (o.constant() && s[i].constant()) {
        user_error("{}: node '{}' ({}): sizes {} and {} do not broadcast", n.source.str(), n.name,
                   n.op->name(), o.str(), s[i].str());
      } else {
        OpenConditions::add(sym_eq(o, s[i]));
        if (s[i].constant()) o = s[i];
      }
    }
  return out;
}

TensorType contiguous_type(DType dtype, std::vector<Sym> sizes, Device device) {
  TensorType t;
  t.dtype = dtype;
  t.strides = contiguous_strides(sizes);
  t.sizes = std::move(sizes);
  t.device = std::move(device);
  return t;
}

namespace {

Device first_device(const Node& n) {
  Device device;
  bool found = false;
  Graph::for_each_operand(n, [&](Value* v) {
    if (v->kind != ValueKind::Tensor || (found && v->type.rank() == 0)) return;
    if (!found || v->type.rank() > 0) device = v->type.device;
    found = true;
  });
  return device;
}

std::vector<TensorType> infer_scalar(const Node& n) {
  std::vector<std::vector<Sym>> shapes;
  Graph::for_each_operand(n, [&](Value* v) { shapes.push_back(v->type.sizes); });
  DType out = pointwise_types(n, *n.op->as<ScalarMeaning>()).second;
  return {contiguous_type(out, broadcast_sizes(shapes, n), first_device(n))};
}

DType reduce_dtype(const Node& n, const ReduceMeaning& m, DType in) {
  using R = ReduceMeaning::Result;
  std::optional<DType> given;
  if (n.op->schema.index_of("dtype") >= 0) given = dtype_arg(n, "dtype");
  bool integral = is_integer(in) || is_bool(in);
  switch (m.result) {
    case R::Same:
      return in;
    case R::Float:
      return given ? *given : integral ? DType::Float32 : in;
    case R::Sum:
      return given ? *given : integral ? DType::Int64 : in;
    case R::Bool:
      return in == DType::UInt8 ? DType::UInt8 : DType::Bool;
    case R::Index:
      return DType::Int64;
    case R::Dtype:
      return given ? *given : in;
  }
  internal_error("unknown reduction result");
}

std::vector<TensorType> infer_reduce(const Node& n) {
  const ReduceMeaning& m = *n.op->as<ReduceMeaning>();
  const TensorType& in = std::get<Value*>(n.args[0])->type;
  std::vector<int64_t> dims = reduced_dims(n);
  bool keep = n.op->schema.index_of("keepdim") >= 0 && bool_arg(n, "keepdim");
  if (m.refuses_empty)
    for (int64_t d : dims)
      require(n, can_hold(sym_ne(in.sizes[static_cast<size_t>(d)], 0)),
              "cannot reduce over an empty dimension ({})", d);
  std::vector<Sym> sizes;
  for (size_t i = 0; i < in.rank(); ++i) {
    bool reduced = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (reduced && keep) sizes.push_back(Sym(1));
    if (!reduced) sizes.push_back(in.sizes[i]);
  }
  std::vector<TensorType> types{contiguous_type(reduce_dtype(n, m, in.dtype), sizes, in.device)};
  if (m.with_index) types.push_back(contiguous_type(DType::Int64, sizes, in.device));
  return types;
}

}  // namespace

std::vector<int64_t> reduced_dims(const Node& n) {
  int64_t rank = static_cast<int64_t>(std::get<Value*>(n.args[0])->type.rank());
  std::vector<int64_t> dims;
  if (n.op->schema.index_of("dim") >= 0)
    for (int64_t d : ints_arg(n, "dim")) dims.push_back(wrap_dim(d, rank, n));
  std::sort(dims.begin(), dims.end());
  if (auto twice = std::adjacent_find(dims.begin(), dims.end()); twice != dims.end())
    user_error("{}: node '{}' ({}): 'dim' names dimension {} twice", n.source.str(), n.name,
               n.op->name(), *twice);
  if (rank == 0)
    dims.clear();
  else if (dims.empty())
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
  return dims;
}

OpDef scalar_op(std::string_view schema, TypeRule rule, std::function<E(Elements&)> fn,
                std::vector<std::string> promoting) {
  OpDef op;
  op.schema = parse_schema(schema);
  op.meaning = ScalarMeaning{rule, std::move(fn), std::move(promoting)};
  op.infer = infer_scalar;
  return op;
}

OpDef reduce_op(std::string_view schema, ReduceMeaning meaning) {
  OpDef op;
  op.schema = parse_schema(schema);
  op.meaning = std::move(meaning);
  op.infer = infer_reduce;
  return op;
}

OpDef view_op(std::string_view schema, std::function<std::vector<TensorType>(const Node&)> infer,
              std::function<std::vector<Sym>(const Node&, int, const std::vector<Sym>&)> map,
              bool always_aliases) {
  OpDef op;
  op.schema = parse_schema(schema);
  op.meaning = ViewMeaning{std::move(map), always_aliases};
  op.infer = std::move(infer);
  return op;
}

OpDef rewrite_op(std::string_view schema, std::function<std::vector<Value*>(Rewriter&)> fn) {
  OpDef op;
  op.schema = parse_schema(schema);
  op.meaning = RewriteMeaning{std::move(fn)};
  return op;
}

OpDef loops_op(std::string_view schema, LoopsKind kind,
               std::function<std::vector<TensorType>(const Node&)> infer,
               std::function<void(Lowering&, const Node&)> fn) {
  OpDef op;
  op.schema = parse_schema(schema);
  op.meaning = LoopsMeaning{kind, std::move(fn)};
  op.infer = std::move(infer);
  return op;
}

}  // namespace aotc
