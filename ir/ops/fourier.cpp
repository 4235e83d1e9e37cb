// Discrete Fourier transforms. One dimension is transformed by a pass for each prime factor of its
// length (Stockham's ordering: results need no reordering), so that a length of n takes n times the
// sum of its factors; a length that only a call knows is one factor. Roots of unity come from a
// table that is computed in float64.
#include <algorithm>
#include <cmath>

#include "ir/ops/fourier.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

// ---- e^(-2 pi i t / n) for t < n

Types roots_type(const Node& n) {
  return {contiguous_type(*dtype_arg(n, "dtype"), {sym_arg(n, "n")})};
}

// Exact at the quarters: the angle is that within a quarter, turned by whole quarters.
E root(KernelBuilder& k, const Node& node, const Index& at) {
  Sym n = sym_arg(node, "n");
  E quarter = k.index(floordiv(at[0] * 4, n)), rest = k.index(mod(at[0] * 4, n));
  E fraction = cast(rest, DType::Float64) / cast(k.index(n), DType::Float64);
  E c = cos(fraction * (M_PI / 2)), s = sin(fraction * (M_PI / 2));
  E odd = (quarter == 1.0) || (quarter == 3.0);
  E x = where(odd, s, c), y = where(odd, c, s);
  E real = where((quarter == 1.0) || (quarter == 2.0), -x, x);
  E imaginary = where(quarter >= 2.0, y, -y);
  E z = k.apply(Prim::complex, {real, imaginary}, DType::Complex128);
  return cast(z, *dtype_arg(node, "dtype"));
}

// ---- one pass over the last dimension

// The factors so far have the product `done`; of the length n, left = n / done is still to do. With
// left = radix m, element (j radix + k) done + q of the result is the sum over r of element
// q + done (j + m r) times e^(-2 pi i k (j + m r) / left).
void lower_pass(Lowering& l, const Node& n) {
  Value *self = self_of(n), *roots = tensor_arg(n, "roots");
  Sym radix = sym_arg(n, "radix"), done = sym_arg(n, "done"), length = self->type.sizes.back();
  Sym m = floordiv(length, radix * done);
  KernelBuilder k(l, l.unique_kernel_name("fourier"));
  Index at = k.axes(Index(self->type.sizes.begin(), self->type.sizes.end() - 1));
  Sym j = k.axis(m), out = k.axis(radix), q = k.axis(done), r = k.inner_axis(radix);
  Index from = at;
  Sym place = j + m * r;
  from.push_back(q + done * place);
  E z = l.load(k, self, from), turn = l.load(k, roots, {mod(done * out * place, length)});
  if (bool_arg(n, "inverse")) turn = unary(Prim::conj, turn);
  E sum = k.result(k.accumulate(Prim::add, z * turn));
  k.begin_phase();
  at.push_back((j * radix + out) * done + q);
  k.store(l.output(n), at, sum);
  l.finish(k, n);
}

// The factors of a length, small ones together as fours.
Index factors(const Sym& length) {
  auto n = length.constant();
  if (!n) return {length};
  Index found;
  int64_t rest = *n;
  for (; rest % 4 == 0 && rest > 0; rest /= 4) found.push_back(Sym(4));
  for (int64_t p = 2; p * p <= rest; p += p == 2 ? 1 : 2)
    for (; rest % p == 0; rest /= p) found.push_back(Sym(p));
  if (rest > 1) found.push_back(Sym(rest));
  return found;
}

TensorExpr transform(TensorExpr x, int64_t dim, bool forward) {
  Sym n = x.size(dim);
  Index radices = factors(n);
  if (n.is(1) || product(x.sizes()).is(0)) return x;
  bool last = dim == x.rank() - 1;
  if (!last) x = x.transpose(dim, -1);
  TensorExpr roots{x.r, (*x.r)("aotc.roots_of_unity", {n, x.dtype()})};
  Sym done = 1;
  for (const Sym& radix : radices) {
    x = x.apply("aotc.fourier_pass", {roots.v, radix, done, !forward});
    done = done * radix;
  }
  return last ? x : x.transpose(dim, -1);
}

// ---- scaling

// `mode`: 0 none, 1 by the root of the signal's length, 2 by the length.
TensorExpr scaled(TensorExpr x, const Sym& length, int64_t mode) {
  if (mode == 0 || length.is(1)) return x;
  if (auto n = length.constant()) {
    auto size = static_cast<double>(*n);
    return x * (mode == 1 ? 1 / std::sqrt(size) : 1 / size);
  }
  TensorExpr size{x.r, (*x.r)("aten.scalar_tensor.default", {length, DType::Float64})};
  if (mode == 1) size = sqrt(size);
  return x * size.apply("aten.reciprocal.default");
}

}  // namespace

TensorExpr fourier_full(TensorExpr x, const Dims& dims, int64_t mode, bool forward) {
  Sym length = count_of(x, dims);
  for (int64_t d : dims) x = transform(x, d, forward);
  return scaled(x, length, mode);
}

TensorExpr fourier_of_real(TensorExpr x, const Dims& dims, int64_t mode, bool forward,
                           bool one_sided) {
  Sym length = count_of(x, dims);
  int64_t last = dims.back();
  Sym half = floordiv(x.size(last), 2) + 1;
  x = transform(x.cast(complex_type_of(x.dtype())), last, forward);
  if (one_sided) x = x.slice(last, 0, half);
  for (size_t i = 0; i + 1 < dims.size(); ++i) x = transform(x, dims[i], forward);
  return scaled(x, length, mode);
}

TensorExpr fourier_to_real(TensorExpr x, const Dims& dims, int64_t mode, bool forward,
                           const Sym& size) {
  int64_t last = dims.back();
  Dims others(dims.begin(), dims.end() - 1);
  Sym length = count_of(x, others) * size;
  for (int64_t d : others) x = transform(x, d, forward);
  x = x.slice(last, 0, floordiv(size, 2) + 1);
  // Elements beyond the middle are the conjugates of those before it.
  TensorExpr mirrored = x.slice(last, 1, floordiv(size - 1, 2) + 1);
  mirrored = mirrored.apply("aten.conj_physical.default");
  mirrored = mirrored.apply("aten.flip.default", {Index{Sym(last)}});
  TensorExpr whole{x.r, (*x.r)("aten.cat.default", {Values{x, mirrored}, Sym(last)})};
  whole.v->type.sizes[static_cast<size_t>(last)] = size;
  return scaled(transform(whole, last, forward).apply("aotc.real"), length, mode);
}

DType complex_type_of(DType t) {
  if (is_complex(t)) return t;
  return t == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

namespace {

Dims core_dims(const Rewriter& r) {
  Dims dims;
  for (int64_t d : ints_arg(r.node, "dim"))
    dims.push_back(wrap_dim(d, static_cast<int64_t>(r.tensor("self")->type.rank()), r.node));
  for (size_t i = 0; i < dims.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (dims[i] == dims[j])
        unsupported(r.node, "a dimension that is named twice", "name each dimension once");
  return dims;
}

// The tensor, of float32 or float64 or their complex types, as `complex` says.
TensorExpr signal(Rewriter& r, bool complex) {
  TensorExpr x = in(r, "self");
  DType t = x.dtype();
  bool fits = complex ? t == DType::Complex64 || t == DType::Complex128
                      : t == DType::Float32 || t == DType::Float64;
  if (!fits)
    unsupported(r.node, fmt::format("a Fourier transform of {}", name(t)),
                complex ? "cast to complex64 first" : "cast to float32 first");
  if (int64_t mode = int_arg(r.node, "normalization"); mode < 0 || mode > 2)
    unsupported(r.node, "this normalization", "pass 0, 1 or 2");
  for (int64_t d : core_dims(r))
    if (x.size(d).is(0))
      unsupported(r.node, "a transform of no elements", "transform at least one element");
  return x;
}

Values full(Rewriter& r) {
  Dims dims = core_dims(r);
  TensorExpr x = signal(r, true);
  if (dims.empty()) return {x.apply("aten.clone.default")};
  return {fourier_full(x, dims, int_arg(r.node, "normalization"), bool_arg(r.node, "forward"))};
}

Values of_real(Rewriter& r) {
  TensorExpr x = signal(r, false);
  if (core_dims(r).empty()) return {x.cast(complex_type_of(x.dtype()))};
  return {fourier_of_real(x, core_dims(r), int_arg(r.node, "normalization"), true,
                          bool_arg(r.node, "onesided"))};
}

Values to_real(Rewriter& r) {
  TensorExpr x = signal(r, true);
  Dims dims = core_dims(r);
  if (dims.empty()) return {x.apply("aotc.real")};
  Sym size = sym_arg(r.node, "last_dim_size");
  auto missing = (floordiv(size, 2) + 1 - x.size(dims.back())).constant();
  auto length = size.constant();
  if ((missing && *missing > 0) || (length && *length < 1))
    unsupported(r.node,
                fmt::format("{} elements from half a spectrum of {}", size.str(),
                            x.size(dims.back()).str()),
                "pass last_dim_size / 2 + 1 elements");
  return {fourier_to_real(x, dims, int_arg(r.node, "normalization"), false,
                          sym_arg(r.node, "last_dim_size"))};
}

}  // namespace

Rows fourier_core_ops() {
  return {
      formula_op("aotc.roots_of_unity(SymInt n, ScalarType dtype) -> Tensor", LoopsKind::Creation,
                 roots_type, root),
      loops_op("aotc.fourier_pass(Tensor self, Tensor roots, SymInt radix, SymInt done, bool "
               "inverse) -> Tensor",
               LoopsKind::Template, same_type, lower_pass),
      rewrite_op("aten._fft_c2c.default(Tensor self, SymInt[] dim, int normalization, bool "
                 "forward) -> Tensor",
                 full),
      rewrite_op("aten._fft_r2c.default(Tensor self, int[] dim, int normalization, bool onesided) "
                 "-> Tensor",
                 of_real),
      rewrite_op("aten._fft_c2r.default(Tensor self, int[] dim, int normalization, SymInt "
                 "last_dim_size) -> Tensor",
                 to_real),
  };
}

}  // namespace aotc
