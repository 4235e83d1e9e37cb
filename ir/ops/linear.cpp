// Matrix products. One core form, aotc.matmul, becomes a template kernel with strided operands;
// torch's spellings bring their operands into its shape by views.
#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// ---- aotc.matmul: alpha a b + beta addend, with up to four batch dimensions that all operands
// share

constexpr size_t kMaxBatchDims = 4;

Types matmul_type(const Node& n) {
  const TensorType &a = tensor_arg(n, "a")->type, &b = tensor_arg(n, "b")->type;
  if (is_complex(a.dtype))
    unsupported(n, fmt::format("a product of {} tensors", name(a.dtype)),
                "compute it with the real and imaginary parts");
  Index sizes = a.sizes;
  sizes.back() = b.sizes.back();
  return {contiguous_type(a.dtype, sizes, a.device)};
}

loops::MatmulOperand operand(Lowering& l, const Node& n, Value* v) {
  Lowering::Strided s = l.strided(n, v);
  size_t batch = s.strides.size() - 2;
  for (size_t d = 0; d < s.strides.size(); ++d)
    if (v->type.sizes[d].is(1)) s.strides[d] = 0;
  loops::MatmulOperand o;
  o.buffer = s.buffer;
  o.offset = s.offset;
  o.batch.assign(s.strides.begin(), s.strides.begin() + static_cast<std::ptrdiff_t>(batch));
  o.row = s.strides[batch];
  o.col = s.strides[batch + 1];
  return o;
}

void lower_matmul(Lowering& l, const Node& n) {
  Value *a = tensor_arg(n, "a"), *b = tensor_arg(n, "b"), *addend = tensor_arg(n, "addend");
  auto m = std::make_shared<loops::Matmul>();
  m->batch_sizes.assign(a->type.sizes.begin(), a->type.sizes.end() - 2);
  m->m = a->type.sizes[a->type.rank() - 2];
  m->k = a->type.sizes.back();
  m->n = b->type.sizes.back();
  m->dtype = a->type.dtype;
  m->a = operand(l, n, a);
  m->b = operand(l, n, b);
  m->alpha = double_arg(n, "alpha");
  m->beta = addend ? double_arg(n, "beta") : 0;
  if (addend) m->d = operand(l, n, addend);
  loops::BufferId out = l.output(n);
  Index strides = contiguous_strides(n.output()->type.sizes);
  m->c.buffer = out;
  m->c.batch.assign(strides.begin(), strides.end() - 2);
  m->c.row = strides[strides.size() - 2];
  m->c.col = strides.back();
  KernelBuilder k(l, l.unique_kernel_name("matmul"));
  k.kernel().kind = loops::KernelKind::Template;
  k.kernel().matmul = std::move(m);
  l.finish(k, n);
}

// ---- building it

bool is_one(const Arg& a) {
  auto* s = std::get_if<Sym>(&a);
  auto* d = std::get_if<double>(&a);
  return (s && s->is(1)) || (d && *d == 1);
}

bool is_known(const Arg& a) {
  auto* s = std::get_if<Sym>(&a);
  return !s || s->constant();
}

// Of complex matrices, by products of their parts.
template <typename Product>
TensorExpr complex_product(TensorExpr a, TensorExpr b, Product product) {
  TensorExpr ar = a.apply("aotc.real"), ai = a.apply("aotc.imag");
  TensorExpr br = b.apply("aotc.real"), bi = b.apply("aotc.imag");
  TensorExpr real = product(ar, br) - product(ai, bi), imag = product(ar, bi) + product(ai, br);
  return real.apply("aten.complex.default", {imag.v});
}

// Batch dimensions beyond four become one. `a` and `b` have equal batch sizes.
TensorExpr product_of(TensorExpr a, TensorExpr b, TensorExpr addend = {}, Arg beta = Sym(1),
                      Arg alpha = Sym(1)) {
  if (is_bool(a.dtype()))
    unsupported(a.r->node, "a matrix product of bool tensors", "convert them to a number type");
  if (is_complex(a.dtype())) {
    TensorExpr c =
        complex_product(a, b, [](TensorExpr x, TensorExpr y) { return product_of(x, y); });
    if (!is_one(alpha)) c = c.apply("aten.mul.Tensor", {alpha});
    return addend ? c + (is_one(beta) ? addend : addend.apply("aten.mul.Tensor", {beta})) : c;
  }
  if (!is_known(alpha) || (addend && !is_known(beta))) {
    const DType t = a.dtype(), wide = compute_type(t);
    TensorExpr c = product_of(a.cast(wide), b.cast(wide)).apply("aten.mul.Tensor", {alpha});
    if (addend) c = c + addend.cast(wide).apply("aten.mul.Tensor", {beta});
    return c.cast(t);
  }
  Index sizes = a.sizes();
  sizes.back() = b.size(-1);
  if (sizes.size() - 2 > kMaxBatchDims) {
    auto flat = [](TensorExpr x) {
      Index batch(x.sizes().begin(), x.sizes().end() - 2);
      return x.reshape({product(batch), x.size(-2), x.size(-1)});
    };
    if (addend) addend = flat(addend);
    a = flat(a);
    b = flat(b);
  }
  Arg d = addend ? Arg(addend.v) : Arg(None{});
  return a.apply("aotc.matmul", {b.v, d, std::move(beta), std::move(alpha)}).reshape(sizes);
}

bool is_zero(const Arg& a) {
  if (auto* s = std::get_if<Sym>(&a)) return s->is(0);
  if (auto* d = std::get_if<double>(&a)) return *d == 0;
  if (auto* b = std::get_if<bool>(&a)) return !*b;
  return false;
}

// alpha a b + beta addend, the addend broadcast to the product. With beta 0 it is not read.
TensorExpr add_product(Rewriter& r, TensorExpr addend, TensorExpr a, TensorExpr b) {
  const Arg &beta = arg(r.node, "beta"), &alpha = arg(r.node, "alpha");
  if (is_zero(beta)) return product_of(a, b, {}, Sym(1), alpha);
  Index sizes = a.sizes();
  sizes.back() = b.size(-1);
  return product_of(a, b, addend.expand(sizes), beta, alpha);
}

TensorExpr as_row(TensorExpr v) { return v.unsqueeze(0); }
TensorExpr as_column(TensorExpr v) { return v.unsqueeze(1); }

Values addmm(Rewriter& r) { return {add_product(r, in(r, "self"), in(r, "mat1"), in(r, "mat2"))}; }
Values baddbmm(Rewriter& r) {
  return {add_product(r, in(r, "self"), in(r, "batch1"), in(r, "batch2"))};
}

Values addmv(Rewriter& r) {
  TensorExpr self = in(r, "self");
  if (self.rank() == 1) self = as_column(self);
  return {add_product(r, self, in(r, "mat"), as_column(in(r, "vec"))).squeeze(1)};
}

// The sum over the batch is one product whose inner dimension runs over batch and inner dimension.
Values addbmm(Rewriter& r) {
  TensorExpr a = in(r, "batch1"), b = in(r, "batch2");
  Sym inner = a.size(0) * a.size(2);
  TensorExpr left = a.permute({1, 0, 2}).reshape({a.size(1), inner});
  return {add_product(r, in(r, "self"), left, b.reshape({inner, b.size(2)}))};
}

TensorExpr outer(TensorExpr a, TensorExpr b) { return as_column(a) * as_row(b); }

// beta self + (alpha vec1) vec2, with beta and alpha in self's type; numbers of bool tensors only
// switch their term on or off.
Values addr(Rewriter& r) {
  TensorExpr self = in(r, "self"), vec1 = in(r, "vec1"), vec2 = in(r, "vec2");
  const Arg &beta = arg(r.node, "beta"), &alpha = arg(r.node, "alpha");
  bool bools = is_bool(self.dtype()) && is_bool(vec1.dtype()) && is_bool(vec2.dtype());
  auto scaled = [&](TensorExpr x, const Arg& by) {
    if (auto* s = std::get_if<Sym>(&by); s && s->is(1)) return x;
    if (bools) return is_zero(by) ? x.apply("aten.zeros_like.default") : x;
    if (auto* d = std::get_if<double>(&by); d && is_floating(self.dtype()))
      return x * as_double(cast(ScalarValue::of(*d), self.dtype()));
    return x.apply("aten.mul.Tensor", {by});
  };
  TensorExpr product = outer(scaled(vec1, alpha), vec2);
  if (is_zero(beta)) return {product.cast(promote(self.dtype(), product.dtype()))};
  return {scaled(self, beta) + product};
}

// ---- matmul: broadcasting over leading dimensions, vectors as rows and columns

TensorExpr matmul(TensorExpr a, TensorExpr b) {
  if (a.rank() == 0 || b.rank() == 0)
    user_error("{}: node '{}' ({}): a matrix product needs tensors of rank 1 or more",
               a.r->node.source.str(), a.r->node.name, a.r->node.op->name());
  bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = as_row(a);
  if (column) b = as_column(b);
  TensorExpr c;
  Index batch(a.sizes().begin(), a.sizes().end() - 2);
  if (b.rank() == 2 && a.rank() > 2 && !column) {
    Index sizes = a.sizes();
    sizes.back() = b.size(1);
    c = product_of(a.reshape({product(batch) * a.size(-2), a.size(-1)}), b).reshape(sizes);
  } else {
    Index b_batch(b.sizes().begin(), b.sizes().end() - 2);
    batch = broadcast_sizes({batch, b_batch}, a.r->node);
    auto spread = [&](TensorExpr x) {
      Index sizes = batch;
      sizes.push_back(x.size(-2));
      sizes.push_back(x.size(-1));
      return x.expand(sizes);
    };
    c = product_of(spread(a), spread(b));
  }
  if (column) c = c.squeeze(-1);
  if (row) c = c.squeeze(column ? -1 : -2);
  return c;
}

// input weight^T + bias, over the last dimension of input.
Values linear(Rewriter& r) {
  TensorExpr input = in(r, "input"), weight = in(r, "weight"), bias = in(r, "bias");
  if (weight.rank() == 1) {
    TensorExpr c = matmul(input, weight);
    return {bias ? c + bias : c};
  }
  Index sizes = input.sizes(), rows(sizes.begin(), sizes.end() - 1);
  sizes.back() = weight.size(0);
  TensorExpr flat = input.reshape({product(rows), input.size(-1)});
  TensorExpr spread = bias ? bias.expand({product(rows), weight.size(0)}) : TensorExpr{};
  return {product_of(flat, weight.transpose(0, 1), spread).reshape(sizes)};
}

Values multi_dot(Rewriter& r) {
  const Values& list = std::get<Values>(r.node.args[0]);
  TensorExpr total{&r, list.at(0)};
  for (size_t i = 1; i < list.size(); ++i) total = matmul(total, {&r, list[i]});
  return {total};
}

// ---- vectors

TensorExpr dot(TensorExpr a, TensorExpr b) {
  return product_of(as_row(a), as_column(b)).reshape({});
}

// Of complex vectors, with the conjugate of the first.
TensorExpr vdot(TensorExpr a, TensorExpr b) {
  return dot(a.apply("aten._conj_physical.default"), b);
}

Values inner(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "other");
  if (a.rank() == 0 || b.rank() == 0) return {a * b};
  if (b.rank() == 1) return {matmul(a, b)};
  Index sizes(a.sizes().begin(), a.sizes().end() - 1),
      b_rows(b.sizes().begin(), b.sizes().end() - 1);
  TensorExpr left = a.reshape({product(sizes), a.size(-1)});
  TensorExpr right = b.reshape({product(b_rows), b.size(-1)}).transpose(0, 1);
  sizes.insert(sizes.end(), b_rows.begin(), b_rows.end());
  return {product_of(left, right).reshape(sizes)};
}

Values vecdot(Rewriter& r) {
  TensorExpr product = in(r, "x").apply("aten._conj_physical.default") * in(r, "y");
  return {product.sum({int_arg(r.node, "dim")}, false)};
}

Values kron(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "other");
  int64_t rank = std::max(a.rank(), b.rank());
  Index a_sizes, b_sizes, merged;
  for (int64_t d = 0; d < rank; ++d) {
    auto size = [&](TensorExpr x) {
      return d < rank - x.rank() ? Sym(1) : x.size(d - rank + x.rank());
    };
    a_sizes.push_back(size(a));
    a_sizes.push_back(1);
    b_sizes.push_back(1);
    b_sizes.push_back(size(b));
    merged.push_back(size(a) * size(b));
  }
  return {(a.reshape(a_sizes) * b.reshape(b_sizes)).reshape(merged)};
}

// Repeated squaring.
Values matrix_power(Rewriter& r) {
  TensorExpr x = in(r, "self");
  int64_t n = int_arg(r.node, "n");
  if (n < 0) {
    x = x.apply("aten.linalg_inv.default");
    n = -n;
  }
  if (n == 0) {
    TensorExpr identity{&r, r("aten.eye.default", {x.size(-1), x.dtype()})};
    return {identity.expand(x.sizes()).apply("aten.clone.default")};
  }
  TensorExpr result, square = x;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return {result};
}

OpDef pair_op(std::string_view schema, TensorExpr (*fn)(TensorExpr, TensorExpr)) {
  return rewrite_op(schema, [fn](Rewriter& r) {
    return Values{
        fn({&r, std::get<Value*>(r.node.args[0])}, {&r, std::get<Value*>(r.node.args[1])})};
  });
}

// 8-bit integers, added up in 32 bits.
Values integer_product(Rewriter& r) {
  require_rank(r.node, "self", 2, 2);
  Shapes(r.node).match("self", "mk").match("mat2", "kn");
  require(r.node,
          dtype_of(r.node, "self") == DType::Int8 && dtype_of(r.node, "mat2") == DType::Int8,
          "the matrices are {} and {}, expected int8", name(dtype_of(r.node, "self")),
          name(dtype_of(r.node, "mat2")));
  return {product_of(in(r, "self").cast(DType::Int32), in(r, "mat2").cast(DType::Int32))};
}

// Rows of int8 weights [N, K] with a scale for each.
Values int8_weight_product(Rewriter& r) {
  Shapes(r.node).match("self", "mk").match("mat2", "nk").match("scales", "n");
  TensorExpr self = in(r, "self"), x = widened(self);
  TensorExpr y = product_of(x, in(r, "mat2").cast(x.dtype()).transpose(0, 1));
  return {(y * widened(in(r, "scales"))).cast(self.dtype())};
}

}  // namespace

Rows linear_ops() {
  auto multiply = [](TensorExpr a, TensorExpr b) { return product_of(a, b); };
  auto times_vector = [](TensorExpr a, TensorExpr v) {
    return product_of(a, as_column(v)).squeeze(1);
  };
  Rows rows = {
      loops_op("aotc.matmul(Tensor a, Tensor b, Tensor? addend=None, Scalar beta=1, Scalar "
               "alpha=1) -> Tensor",
               LoopsKind::Template, matmul_type, lower_matmul),
      pair_op("aten.mm.default(Tensor self, Tensor mat2) -> Tensor", multiply),
      pair_op("aten.bmm.default(Tensor self, Tensor mat2) -> Tensor", multiply),
      pair_op("aten.mv.default(Tensor self, Tensor vec) -> Tensor", times_vector),
      pair_op("aten.dot.default(Tensor self, Tensor tensor) -> Tensor", dot),
      pair_op("aten.vdot.default(Tensor self, Tensor other) -> Tensor", vdot),
      pair_op("aten.outer.default(Tensor self, Tensor vec2) -> Tensor", outer),
      pair_op("aten.ger.default(Tensor self, Tensor vec2) -> Tensor", outer),
      pair_op("aten.matmul.default(Tensor self, Tensor other) -> Tensor", matmul),
      pair_op("aten.linalg_matmul.default(Tensor self, Tensor other) -> Tensor", matmul),
      rewrite_op("aten._int_mm.default(Tensor self, Tensor mat2) -> Tensor", integer_product),
      rewrite_op("aten._weight_int8pack_mm.default(Tensor self, Tensor mat2, Tensor scales) -> "
                 "Tensor",
                 int8_weight_product),
      rewrite_op("aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
                 "Scalar alpha=1) -> Tensor",
                 addmm),
      rewrite_op("aten.baddbmm.default(Tensor self, Tensor batch1, Tensor batch2, *, Scalar "
                 "beta=1, Scalar alpha=1) -> Tensor",
                 baddbmm),
      rewrite_op("aten.addmv.default(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar "
                 "alpha=1) -> Tensor",
                 addmv),
      rewrite_op("aten.addbmm.default(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
                 "Scalar alpha=1) -> Tensor",
                 addbmm),
      rewrite_op("aten.addr.default(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, "
                 "Scalar alpha=1) -> Tensor",
                 addr),
      rewrite_op("aten.linear.default(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
                 linear),
      rewrite_op("aten.linalg_multi_dot.default(Tensor[] tensors) -> Tensor", multi_dot),
      rewrite_op("aten.chain_matmul.default(Tensor[] matrices) -> Tensor", multi_dot),
      rewrite_op("aten.inner.default(Tensor self, Tensor other) -> Tensor", inner),
      rewrite_op("aten.linalg_vecdot.default(Tensor x, Tensor y, *, int dim=-1) -> Tensor", vecdot),
      rewrite_op("aten.kron.default(Tensor self, Tensor other) -> Tensor", kron),
      rewrite_op("aten.matrix_power.default(Tensor self, int n) -> Tensor", matrix_power),
      rewrite_op("aten.linalg_matrix_power.default(Tensor self, int n) -> Tensor", matrix_power),
  };
  append(rows, einsum_ops());
  append(rows, conv_ops());
  append(rows, linalg_ops());
  return rows;
}

}  // namespace aotc
