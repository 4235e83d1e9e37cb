// Shorthands that several row files share.
#include "ir/ops/row_helpers.h"

#include <limits>

namespace aotc {

OpDef alias_op(std::string_view schema, std::string_view target) {
  return rewrite_op(schema, [target = std::string(target)](Rewriter& r) {
    return r.emit(target, r.node.args)->outputs;
  });
}

OpDef prim_op(std::string_view schema, TypeRule rule, Prim prim, int operands) {
  if (operands == 1)
    return scalar_op(schema, rule, [prim](Elements& x) { return unary(prim, x[0]); });
  return scalar_op(schema, rule, [prim](Elements& x) { return binary(prim, x[0], x[1]); });
}

size_t dim_arg(const Node& n, std::string_view name) {
  return static_cast<size_t>(wrap_dim(int_arg(n, name), input_rank(n), n));
}

TensorType with_layout(const Node& n, Index sizes, Index strides) {
  TensorType t = input_type(n);
  t.sizes = std::move(sizes);
  t.strides = std::move(strides);
  return t;
}

Types same_type(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

Device device_of(const Node& n) {
  if (n.op->schema.index_of("device") >= 0)
    if (auto* d = std::get_if<Device>(&arg(n, "device"))) return *d;
  Device device;
  bool found = false;
  Graph::for_each_operand(n, [&](Value* v) {
    if (!found && v->kind == ValueKind::Tensor) device = v->type.device;
    found |= v->kind == ValueKind::Tensor;
  });
  return device;
}

DType dtype_or(const Node& n, DType otherwise) {
  const Arg& a = arg(n, "dtype");
  if (std::holds_alternative<None>(a)) return otherwise;
  if (auto* t = std::get_if<DType>(&a)) return *t;
  return DType::Int64;
}

E number(KernelBuilder& k, const Node& n, std::string_view name, DType t) {
  const Arg& a = arg(n, name);
  if (auto* v = std::get_if<Value*>(&a)) {
    std::vector<Sym> first((*v)->type.rank(), Sym(0));
    return cast(k.lowering().load(k, *v, first), t);
  }
  if (auto* s = std::get_if<Sym>(&a)) {
    if (auto c = s->constant()) return k.constant(*c, t);
    return cast(k.index(*s), t);
  }
  if (auto* d = std::get_if<double>(&a)) return k.constant(*d, t);
  if (auto* b = std::get_if<bool>(&a)) return k.constant(int64_t{*b}, t);
  if (auto* z = std::get_if<Complex>(&a)) return k.complex_constant(z->real, z->imag, t);
  user_error("{}: node '{}' ({}): argument '{}' must be a number", n.source.str(), n.name,
             n.op->name(), std::string(name));
}

std::string temp_name(Lowering& l, const Node& n, const std::string& what) {
  return fmt::format("{}_{}{}", n.name, what, l.program().buffers.size());
}

OpDef formula_op(std::string_view schema, LoopsKind kind,
                 std::function<std::vector<TensorType>(const Node&)> infer, ElementFormula fn) {
  return loops_op(schema, kind, std::move(infer), [fn = std::move(fn)](Lowering& l, const Node& n) {
    KernelBuilder k(l, l.unique_kernel_name(n.name));
    std::vector<Sym> index = k.axes(n.output()->type.sizes);
    E value = fn(k, n, index);
    k.store(l.output(n), index, value);
    l.finish(k, n);
  });
}

OpDef in_place_as(OpDef op, std::string name) {
  op.in_place_name = std::move(name);
  return op;
}

void append(Rows& rows, Rows more) {
  for (OpDef& op : more) rows.push_back(std::move(op));
}

std::pair<double, double> finite_range(DType t) {
  double high = 0;
  switch (t) {
    case DType::Float16:
      high = 65504;
      break;
    case DType::BFloat16:
      high = 0x1.FEp127;
      break;
    case DType::Float32:
      high = std::numeric_limits<float>::max();
      break;
    case DType::Float64:
      high = std::numeric_limits<double>::max();
      break;
    case DType::Float8E4M3FN:
      high = 448;
      break;
    case DType::Float8E5M2:
      high = 57344;
      break;
    case DType::Float8E4M3FNUZ:
      high = 240;
      break;
    case DType::Float8E5M2FNUZ:
      high = 57344;
      break;
    default:
      internal_error("{} is no floating-point type", name(t));
  }
  return {-high, high};
}

void unsupported(const Node& n, const std::string& what, const std::string& remedy) {
  user_error("{}: node '{}' ({}): {} is not supported; {}", n.source.str(), n.name, n.op->name(),
             what, remedy);
}

}  // namespace aotc
