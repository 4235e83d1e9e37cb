// torch.fft by name, and transforms over windows in time (stft, istft).
#include <algorithm>

#include "ir/ops/fourier.h"

namespace aotc {
namespace {

enum class Kind : uint8_t { Full, OfReal, ToReal };

// A signal with these sizes along `dims`: cut off, or with zeros behind.
TensorExpr resized(TensorExpr x, int64_t dim, const Sym& size) {
  Sym here = x.size(dim);
  if (here == size) return x;
  if (!(size - here).constant()) {  // one of both, known when called
    Sym kept = sym_min(here, size);
    x = x.slice(dim, 0, kept);
    here = kept;
  } else if (*(size - here).constant() < 0) {
    return x.slice(dim, 0, size);
  }
  Index pad(static_cast<size_t>(x.rank() - dim) * 2, Sym(0));
  pad.back() = size - here;
  x = x.apply("aten.constant_pad_nd.default", {pad, 0.0});
  x.v->type.sizes[static_cast<size_t>(dim)] = size;
  return x;
}

int64_t mode_of(const Node& n, bool forward) {
  const Arg& a = arg(n, "norm");
  auto* text = std::get_if<std::string>(&a);
  if (text && *text == "ortho") return 1;
  bool with_forward = text && *text == "forward";
  if (text && !with_forward && *text != "backward")
    unsupported(n, "the normalization '" + *text + "'", "pass backward, forward or ortho");
  return with_forward == forward ? 2 : 0;
}

struct Signal {
  Dims dims;
  Index sizes;  // along dims; of a real signal of complex ones, the result's
};

Sym size_or(const Sym& wanted, const Sym& otherwise) { return wanted.is(-1) ? otherwise : wanted; }

Signal signal_of(const Node& n, TensorExpr x, Kind kind) {
  Signal s;
  Index wanted;
  bool one = n.op->schema.index_of("n") >= 0;
  if (one) {
    s.dims = {int_arg(n, "dim")};
    if (!arg_is_none(n, "n")) wanted = {sym_arg(n, "n")};
  } else {
    wanted = syms_arg(n, "s");
    if (!arg_is_none(n, "dim")) s.dims = ints_arg(n, "dim");
    auto count = arg_is_none(n, "s") ? x.rank() : static_cast<int64_t>(wanted.size());
    if (arg_is_none(n, "dim"))
      for (int64_t d = x.rank() - count; d < x.rank(); ++d) s.dims.push_back(d);
  }
  for (int64_t& d : s.dims) d = wrap_dim(d, x.rank(), n);
  for (size_t i = 0; i < s.dims.size(); ++i)
    if (std::count(s.dims.begin(), s.dims.end(), s.dims[i]) > 1)
      unsupported(n, "a dimension that is named twice", "name each dimension once");
  if (!wanted.empty() && wanted.size() != s.dims.size())
    unsupported(n, fmt::format("{} sizes for {} dimensions", wanted.size(), s.dims.size()),
                "pass a size for each dimension");
  for (size_t i = 0; i < s.dims.size(); ++i) {
    Sym here = x.size(s.dims[i]);
    if (kind == Kind::ToReal && i + 1 == s.dims.size()) here = (here - 1) * 2;
    s.sizes.push_back(wanted.empty() ? here : size_or(wanted[i], here));
    if (auto c = s.sizes.back().constant(); c && *c < 1)
      unsupported(n, "a transform of no elements", "transform at least one element");
  }
  return s;
}

Values transformed(Rewriter& r, Kind kind, bool forward) {
  TensorExpr x = in(r, "self");
  if (is_half(x.dtype()))
    unsupported(r.node, fmt::format("a Fourier transform of {}", name(x.dtype())),
                "cast to float32 first");
  Signal s = signal_of(r.node, x, kind);
  if (s.dims.empty()) return {x.apply("aten.clone.default")};
  for (size_t i = 0; i < s.dims.size(); ++i) {
    bool halved = kind == Kind::ToReal && i + 1 == s.dims.size();
    x = resized(x, s.dims[i], halved ? floordiv(s.sizes[i], 2) + 1 : s.sizes[i]);
  }
  int64_t mode = mode_of(r.node, forward);
  bool real = !is_complex(x.dtype());
  if (real && !is_floating(x.dtype())) x = x.cast(DType::Float32);
  if (kind == Kind::OfReal) return {fourier_of_real(x, s.dims, mode, forward, true)};
  x = x.cast(complex_type_of(x.dtype()));
  if (kind == Kind::Full) return {fourier_full(x, s.dims, mode, forward)};
  return {fourier_to_real(x, s.dims, mode, forward, s.sizes.back())};
}

// Half the signal around: element 0 goes to the middle, or back from there.
Values shifted(Rewriter& r, bool back) {
  TensorExpr x = in(r, "self");
  Dims dims;
  if (arg_is_none(r.node, "dim"))
    for (int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
  else
    for (int64_t d : ints_arg(r.node, "dim")) dims.push_back(wrap_dim(d, x.rank(), r.node));
  Index by;
  for (int64_t d : dims) by.push_back(floordiv(x.size(d) + (back ? 1 : 0), 2));
  if (dims.empty()) return {x.apply("aten.clone.default")};
  return {x.apply("aten.roll.default", {by, as_syms(dims)})};
}

// ---- windows in time

struct Frames {
  Sym length, hop;
  TensorExpr window;  // of `length` elements; none: all ones
};

Frames frames_of(Rewriter& r, DType type) {
  Frames f{sym_arg(r.node, "n_fft"), {}, in(r, "window")};
  f.hop = arg_is_none(r.node, "hop_length") ? floordiv(f.length, 4) : sym_arg(r.node, "hop_length");
  Sym length = arg_is_none(r.node, "win_length") ? f.length : sym_arg(r.node, "win_length");
  if (length == f.length) return f;
  if (!f.window) f.window = {&r, r.full({length}, 1, type)};
  Sym before = floordiv(f.length - length, 2);
  f.window = f.window.apply("aten.constant_pad_nd.default",
                            {Index{before, f.length - length - before}, 0.0});
  return f;
}

bool flag_or(const Node& n, std::string_view name, bool otherwise) {
  return arg_is_none(n, name) ? otherwise : bool_arg(n, name);
}

Values stft(Rewriter& r) {
  TensorExpr x = in(r, "self");
  if (flag_or(r.node, "align_to_window", false))
    unsupported(r.node, "align_to_window", "leave it out");
  bool single = x.rank() == 1;
  if (single) x = x.unsqueeze(0);
  Frames f = frames_of(r, x.dtype());
  if (r.node.op->schema.index_of("center") >= 0 && bool_arg(r.node, "center")) {
    Sym half = floordiv(f.length, 2);
    x = x.unsqueeze(1).apply("aten.pad.default", {Index{half, half}, arg(r.node, "pad_mode")});
    x = x.squeeze(1);
  }
  TensorExpr frames = x.apply("aten.unfold.default", {Sym(1), f.length, f.hop});
  if (f.window) frames = frames * f.window;
  bool real = !is_complex(frames.dtype());
  int64_t mode = bool_arg(r.node, "normalized") ? 1 : 0;
  TensorExpr z = real ? fourier_of_real(frames, {2}, mode, true, flag_or(r.node, "onesided", true))
                      : fourier_full(frames, {2}, mode, true);
  z = z.transpose(1, 2);
  if (single) z = z.squeeze(0);
  if (!flag_or(r.node, "return_complex", !real)) z = z.apply("aten.view_as_real.default");
  return {z};
}

// Frames [N, count, length] added up where they lie in time.
TensorExpr overlapped(TensorExpr frames, const Sym& total, const Sym& hop) {
  TensorExpr columns = frames.transpose(1, 2).unsqueeze(1);
  Index one{Sym(1)}, zero{Sym(0)};
  return columns.apply("aotc.gather_taps", {Index{total}, Index{hop}, zero, one}).squeeze(1);
}

// The windowed frames added up, over the sum of the squared windows.
Values istft(Rewriter& r) {
  TensorExpr z = in(r, "self");
  bool single = z.rank() == 2;
  if (bool_arg(r.node, "return_complex"))
    unsupported(r.node, "an inverse with a complex result", "use a one-sided stft");
  if (single) z = z.unsqueeze(0);
  z = z.transpose(1, 2);
  DType real = z.dtype() == DType::Complex128 ? DType::Float64 : DType::Float32;
  Frames f = frames_of(r, real);
  if (!f.window) f.window = {&r, r.full({f.length}, 1, real)};
  Sym count = z.size(1), total = f.length + f.hop * (count - 1);
  int64_t mode = bool_arg(r.node, "normalized") ? 1 : 2;
  TensorExpr frames = fourier_to_real(z, {2}, mode, false, f.length);
  TensorExpr y = overlapped(frames * f.window, total, f.hop);
  TensorExpr squares = (f.window * f.window).reshape({Sym(1), Sym(1), f.length});
  TensorExpr weight = overlapped(squares.expand({Sym(1), count, f.length}), total, f.hop);
  bool center = bool_arg(r.node, "center");
  Sym start = center ? floordiv(f.length, 2) : Sym(0), end = center ? total - start : total,
      more = 0;
  if (!arg_is_none(r.node, "length")) {
    Sym wanted = start + sym_arg(r.node, "length");
    end = sym_min(wanted, total);
    more = wanted - end;
  }
  y = y.slice(1, start, end);
  weight = weight.slice(1, start, end);
  TensorExpr covered = abs(weight).amin({0, 1}, false) > 1e-11;
  r.emit("aten._assert_async.msg",
         {covered.v, std::string("the windows leave a gap: their squares add up to 0 somewhere")});
  y = y / weight;
  if (!more.is(0)) y = y.apply("aten.constant_pad_nd.default", {Index{Sym(0), more}, 0.0});
  return {single ? y.squeeze(0) : y};
}

// One dimension, the last two by default, all by default.
struct Transform {
  std::string_view schema;
  Kind kind;
  bool forward;
};
constexpr Transform kTransforms[] = {
    {"aten.fft_fft.default(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     Kind::Full, true},
    {"aten.fft_fft2.default(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     Kind::Full, true},
    {"aten.fft_fftn.default(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     Kind::Full, true},
    {"aten.fft_ifft.default(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     Kind::Full, false},
    {"aten.fft_ifft2.default(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     Kind::Full, false},
    {"aten.fft_ifftn.default(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     Kind::Full, false},
    {"aten.fft_rfft.default(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     Kind::OfReal, true},
    {"aten.fft_rfft2.default(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     Kind::OfReal, true},
    {"aten.fft_rfftn.default(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     Kind::OfReal, true},
    {"aten.fft_irfft.default(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     Kind::ToReal, false},
    {"aten.fft_irfft2.default(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     Kind::ToReal, false},
    {"aten.fft_irfftn.default(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     Kind::ToReal, false},
    {"aten.fft_hfft.default(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     Kind::ToReal, true},
    {"aten.fft_hfft2.default(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     Kind::ToReal, true},
    {"aten.fft_hfftn.default(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     Kind::ToReal, true},
    {"aten.fft_ihfft.default(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     Kind::OfReal, false},
    {"aten.fft_ihfft2.default(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     Kind::OfReal, false},
    {"aten.fft_ihfftn.default(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     Kind::OfReal, false},
};

}  // namespace

Rows fourier_ops() {
  Rows rows = fourier_core_ops();
  for (const Transform& t : kTransforms)
    rows.push_back(
        rewrite_op(t.schema, [t](Rewriter& r) { return transformed(r, t.kind, t.forward); }));
  append(rows,
         {
             rewrite_op("aten.fft_fftshift.default(Tensor self, int[1]? dim=None) -> Tensor",
                        [](Rewriter& r) { return shifted(r, false); }),
             rewrite_op("aten.fft_ifftshift.default(Tensor self, int[1]? dim=None) -> Tensor",
                        [](Rewriter& r) { return shifted(r, true); }),
             rewrite_op("aten.stft.default(Tensor self, int n_fft, int? hop_length=None, int? "
                        "win_length=None, Tensor? window=None, bool normalized=False, bool? "
                        "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> "
                        "Tensor",
                        stft),
             rewrite_op("aten.stft.center(Tensor self, int n_fft, int? hop_length=None, int? "
                        "win_length=None, Tensor? window=None, bool center=True, str "
                        "pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
                        "return_complex=None, bool? align_to_window=None) -> Tensor",
                        stft),
             rewrite_op("aten.istft.default(Tensor self, int n_fft, int? hop_length=None, int? "
                        "win_length=None, Tensor? window=None, bool center=True, bool "
                        "normalized=False, bool? onesided=None, int? length=None, bool "
                        "return_complex=False) -> Tensor",
                        istft),
         });
  return rows;
}

}  // namespace aotc
