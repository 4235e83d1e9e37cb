// Sequences that signal processing starts from: window functions, sample frequencies, closed
// ranges.
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"
#include "ir/sym_float.h"

namespace aotc {
namespace {

// ---- windows

DType window_dtype(const Node& n) {
  DType t = dtype_or(n, DType::Float32);
  require(n, is_floating(t), "a window of {} was asked for, expected a floating-point type",
          name(t));
  return t;
}

// The length that the formulas divide by, less one: a periodic window is one sample shorter.
struct Window {
  Sym length;    // of the result
  Sym full;      // of the symmetric window that it begins
  TensorExpr n;  // 0, 1, ... full - 1
};

using WindowFormula = TensorExpr (*)(const Window&, const Node&);

TensorExpr counted(Rewriter& r, const Sym& length, DType t) {
  return {&r, r("aten.arange.default", {length, t, None{}, arg(r.node, "device")})};
}

// Each step is rounded to the type of the result, as eager's are.
Values window(Rewriter& r, WindowFormula formula) {
  DType t = window_dtype(r.node);
  Sym length = sym_arg(r.node, "window_length");
  require_not_negative(r.node, "window_length");
  if (length.is(0) || length.is(1)) {
    Index sizes{length};
    return {r("aten.ones.default", {sizes, t, None{}, arg(r.node, "device")})};
  }
  if (!length.constant())
    unsupported(r.node, "a window of a dynamic length", "make the length a number");
  bool periodic = r.node.op->schema.index_of("periodic") < 0 || bool_arg(r.node, "periodic");
  Window w{length, length + int64_t{periodic}, {}};
  w.n = counted(r, w.full, t);
  TensorExpr values = formula(w, r.node);
  return {periodic ? values.slice(0, 0, length) : values};
}

double last_of(const Window& w) { return static_cast<double>(*w.full.constant() - 1); }

double option(const Node& n, std::string_view name, double otherwise) {
  return n.op->schema.index_of(name) < 0 ? otherwise : double_arg(n, name);
}

TensorExpr bartlett(const Window& w, const Node&) {
  TensorExpr rising = w.n * (2.0 / last_of(w));
  TensorExpr falling = (rising * -1.0) + 2.0;
  return where(w.n < static_cast<double>((*w.full.constant() - 1) / 2 + 1), rising.v, falling.v);
}

TensorExpr blackman(const Window& w, const Node&) {
  TensorExpr phase = w.n * (M_PI / last_of(w));
  return cos(phase * 4.0) * 0.08 - cos(phase * 2.0) * 0.5 + 0.42;
}

TensorExpr cosine_window(const Window& w, double alpha, double beta) {
  return cos(w.n * (2 * M_PI / last_of(w))) * -beta + alpha;
}

TensorExpr hann(const Window& w, const Node&) { return cosine_window(w, 0.5, 0.5); }

TensorExpr hamming(const Window& w, const Node& n) {
  return cosine_window(w, option(n, "alpha", 0.54), option(n, "beta", 0.46));
}

TensorExpr kaiser(const Window& w, const Node& n) {
  Rewriter& r = *w.n.r;
  double beta = option(n, "beta", 12);
  auto i0 = [](TensorExpr x) { return x.apply("aten.i0.default"); };
  TensorExpr x = w.n * (2.0 / last_of(w)) - 1.0;
  TensorExpr inside = (1.0 - x * x).apply("aten.clamp_min.default", {0.0});
  TensorExpr top{&r, r.full({}, beta, w.n.dtype())};
  return i0(sqrt(inside) * beta) * i0(top).apply("aten.reciprocal.default");
}

OpDef window_op(std::string_view schema, WindowFormula formula) {
  return rewrite_op(schema, [formula](Rewriter& r) { return window(r, formula); });
}

// ---- sample frequencies

double step_of(const Node& n) {
  Sym length = sym_arg(n, "n");
  if (!length.constant())
    unsupported(n, "frequencies of a dynamic number of samples", "make the number static");
  return 1.0 / (static_cast<double>(*length.constant()) * double_arg(n, "d"));
}

DType frequency_dtype(const Node& n) {
  DType t = dtype_or(n, DType::Float32);
  require(n, is_floating(t) || is_complex(t),
          "frequencies of {} were asked for, expected a "
          "floating-point type",
          name(t));
  return t;
}

// 0, 1, ..., then the negative ones.
Values frequencies(Rewriter& r) {
  DType t = frequency_dtype(r.node);
  Sym n = sym_arg(r.node, "n"), positive = floordiv(n + 1, 2);
  TensorExpr i = counted(r, n, DType::Int64);
  TensorExpr signed_i = where(i < positive, i.v, (i - n).v);
  return {signed_i.cast(t) * step_of(r.node)};
}

Values positive_frequencies(Rewriter& r) {
  DType t = frequency_dtype(r.node);
  Sym count = floordiv(sym_arg(r.node, "n"), 2) + 1;
  return {counted(r, count, DType::Int64).cast(t) * step_of(r.node)};
}

// ---- ranges that contain their end

// Integers in int64, floating-point numbers in float64, rounded once.
Values closed_range(Rewriter& r) {
  DType result = dtype_or(r.node, DType::Float32);
  const Arg start = arg(r.node, "start"), end = arg(r.node, "end");
  const Arg step = r.node.op->schema.index_of("step") < 0 ? Arg(Sym(1)) : arg(r.node, "step");
  bool whole = is_whole(start) && is_whole(end) && is_whole(step);
  const Sym by = number_arg(step);
  const bool back = whole && by.constant() && *by.constant() < 0;
  Sym span = back    ? floordiv(number_arg(start) - number_arg(end), Sym(0) - by)
             : whole ? floordiv(number_arg(end) - number_arg(start), by)
                     : floor_to_int(float_div(float_sub(number_arg(end), number_arg(start)),
                                              number_arg(step)));
  require(r.node, can_be_within(span, 0),
          "the range does not reach its end; change the sign of "
          "'step'");
  DType t = is_floating(result) ? DType::Float64 : DType::Int64;
  TensorExpr i = counted(r, span + 1, DType::Int64).cast(t);
  TensorExpr values = i.apply("aten.mul.Tensor", {step}).cast(t);
  return {values.apply("aten.add.Tensor", {start}).cast(result)};
}

}  // namespace

Rows window_ops() {
  return {
      window_op("aten.bartlett_window.default(int window_length, *, ScalarType? dtype=None, "
                "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                bartlett),
      window_op(
          "aten.bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          bartlett),
      window_op("aten.blackman_window.default(int window_length, *, ScalarType? dtype=None, "
                "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                blackman),
      window_op(
          "aten.blackman_window.periodic(int window_length, bool periodic, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          blackman),
      window_op("aten.hann_window.default(int window_length, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                hann),
      window_op(
          "aten.hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          hann),
      window_op("aten.hamming_window.default(int window_length, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                hamming),
      window_op(
          "aten.hamming_window.periodic(int window_length, bool periodic, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          hamming),
      window_op("aten.hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, "
                "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
                "pin_memory=None) -> Tensor",
                hamming),
      window_op("aten.hamming_window.periodic_alpha_beta(int window_length, bool periodic, float "
                "alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                "device=None, bool? pin_memory=None) -> Tensor",
                hamming),
      window_op("aten.kaiser_window.default(int window_length, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                kaiser),
      window_op(
          "aten.kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          kaiser),
      window_op(
          "aten.kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          kaiser),
      rewrite_op("aten.fft_fftfreq.default(int n, float d=1., *, ScalarType? dtype=None, Layout? "
                 "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                 frequencies),
      rewrite_op("aten.fft_rfftfreq.default(int n, float d=1., *, ScalarType? dtype=None, Layout? "
                 "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                 positive_frequencies),
      rewrite_op("aten.range.default(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? "
                 "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                 closed_range),
      rewrite_op("aten.range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? "
                 "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
                 "Tensor",
                 closed_range),
  };
}

}  // namespace aotc
