"""Writes programs at the edges of what ops do: copies that depend on a layout, bounds outside of a type's range,
reductions of nothing, NaN and infinities; as make_programs.py does.

python edge_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

A = torch.ops.aten
I = torch.tensor
nan, inf = float("nan"), float("inf")


# ---- conversions of the memory format: the same tensor or a copy


def _formats():
    return R(2, 3, 4, 5), R(2, 3, 4, 5).to(memory_format=torch.channels_last), R(1, 3, 2, 2, 2), R(4, 3)


@program("to_memory_format", lambda: [_formats()])
def _(self, x, y, z, m):
    last, last3 = torch.channels_last, torch.channels_last_3d
    results = [x.to(memory_format=last).add_(1), y.to(memory_format=torch.contiguous_format).mul_(2),
               z.to(memory_format=last3).relu_(), z.to(torch.float32, memory_format=last3).sub_(1),
               x.to(y, memory_format=last).neg_(), x.to(torch.device("cpu"), torch.float32, memory_format=last).abs_(),
               x.contiguous(memory_format=last).exp_()]
    return results


@program("to_same_memory_format", lambda: [_formats()])
def _(self, x, y, z, m):
    x.to(memory_format=torch.contiguous_format).add_(1)
    x.to(memory_format=torch.preserve_format).mul_(2)
    y.to(memory_format=torch.channels_last).add_(1)
    y.to(y, memory_format=torch.channels_last).add_(1)
    y.contiguous(memory_format=torch.channels_last).mul_(3)
    z.to(torch.float32, memory_format=torch.contiguous_format).add_(1)
    m.to(memory_format=torch.contiguous_format).add_(1)


@program("to_memory_format_state", lambda: [(R(2, 3, 4, 5),), (R(2, 3, 6, 4),)],
         lambda: {"b": R(2, 3, 1, 1)}, sequence=True,
         dynamic_shapes=((None, None, D.DYNAMIC(max=8), D.DYNAMIC(max=8)),))
def _(self, x):
    y = x.to(memory_format=torch.channels_last)
    y.add_(self.b)
    self.b.to(memory_format=torch.contiguous_format).add_(y.sum())
    return y, x


# ---- bounds and numbers outside of a type's range


@program("clamp_outside_of_type", lambda: [(I([0, 7, 255], dtype=torch.uint8), I([-128, 5, 127], dtype=torch.int8),
                                            I([-32768, 5, 32767], dtype=torch.int16), I([-2**31, 5, 2**31 - 1]).int())])
def _(self, u, b, s, i):
    results = [u.clamp(max=300), u.clamp(min=-5), u.clamp(-5, 300), u.clip(-1, 5), b.clamp(-200, 300), b.clamp(max=128),
               b.clamp(min=3, max=500), s.clamp(max=70001), torch.clamp_min(s, -70001), torch.clamp_max(s, 40000),
               i.clamp(-2**40, 2**40), i.clamp(3, 2**31), F.hardtanh(b, -300.7, 300.2), F.hardtanh(b, -2.9, 300.9),
               F.hardtanh(u, -1.5, 6.5), F.relu6(u), b.clamp(-2.5, 300.5), u.clamp(max=2.5)]
    s.clamp_(-40000, 100)
    b.clamp_max_(200).clamp_min_(-129)
    return results


@program("numbers_wrapped", lambda: [(I([0, 7, 255], dtype=torch.uint8), I([-128, 5, 127], dtype=torch.int8))])
def _(self, u, b):
    return (torch.full_like(u, -1), u.masked_fill(u > 3, -255), u.new_full((2,), -5), torch.full_like(u, 2.9),
            u == 300, u < -5, u >= 300, b + 300, b * 300, b - 300, u | 300, u % 300, u // 300, b == 300.0, b < 1e30,
            torch.where(u > 3, u, -7), u.bool().masked_fill(u > 3, 300), b.clone().fill_(-3.7))


# ---- extremes of nothing


_EXTREMES = dict(max=lambda x: x.max(), amax=lambda x: x.amax(0), min_dim=lambda x: x.min(0),
                 argmax=lambda x: x.argmax(), aminmax=lambda x: x.aminmax(),
                 aminmax_dim=lambda x: x.aminmax(dim=0), norm=lambda x: torch.linalg.vector_norm(x, inf),
                 negative_norm=lambda x: torch.linalg.vector_norm(x, -1.5, dim=0),
                 mode=lambda x: x.mode(0), kthvalue=lambda x: x.kthvalue(1, 0), quantile=lambda x: x.quantile(0.5),
                 median_dim=lambda x: x.nanmedian(0))
for _name, _extreme in _EXTREMES.items():
    def _counted(self, x, extreme=_extreme):
        self.n.add_(1)
        return extreme(x)
    program("extreme_of_none_" + _name, lambda: [(R(n, 3),) for n in (4, 0, 2)], lambda: {"n": torch.zeros(1)},
            sequence=True, refused=(1,), decomp=_name != "negative_norm",
            dynamic_shapes=({0: D("n", min=0, max=6)},))(_counted)


@program("extreme_of_none_selected", lambda: [(R(6),), (-R(6).abs(),)], refused=(1,))
def _(self, x):
    return x[x > 0].max()


@program("results_of_nothing", lambda: [(R(n, 3), torch.arange(3 * n).reshape(n, 3)) for n in (4, 0, 1)],
         dynamic_shapes=({0: D("n", min=0, max=6)}, {0: D("n", min=0, max=6)}))
def _(self, x, i):
    norm, z = torch.linalg.matrix_norm, i.new_zeros((0, 3), dtype=torch.float32)
    return (x.median(), x.nanmedian(), x.double().median(), x.bfloat16().nanmedian(), x.amax(1), x.argmin(1), x.max(1),
            torch.linalg.vector_norm(x, inf, dim=1), torch.linalg.vector_norm(x, 3), x.softmax(0),
            x.sum(), x.prod(0), x.std(0), norm(z, inf), norm(z, -1), norm(z.t(), 1),
            norm(z, 2), norm(z.t(), "nuc"), norm(z[:, None], -2), i.amax(1), i.sum(), i.cummax(0))


@program("images_of_nothing", lambda: [(R(n, 5, 5),) for n in (4, 0)], dynamic_shapes=({0: D("n", min=0, max=6)},))
def _(self, x):
    return (F.adaptive_avg_pool2d(x[None], 2), F.adaptive_max_pool2d(x, 3), F.max_pool2d(x[:, None], 2),
            torch.histc(x, 3),
            F.pad(x[:, None], (1, 2, 0, 1), mode="circular"), F.pad(x[:, None], (1, 2, 0, 1), mode="reflect"))


for _name, _image in dict(max_pool=lambda x: F.max_pool2d(x, 2), adaptive=lambda x: F.adaptive_max_pool2d(x, 2),
                          reflect=lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect")).items():
    def _channels(self, x, image=_image):
        return image(x[None])
    program("no_channels_" + _name, lambda: [(R(n, 5, 5),) for n in (4, 0)], refused=(1,), decomp=False,
            dynamic_shapes=({0: D("n", min=0, max=6)},))(_channels)


# Of no elements, what torch decomposes it into is refused.
@program("logsumexp_of_nothing", lambda: [(R(n, 3),) for n in (4, 0)], decomp=False,
         dynamic_shapes=({0: D("n", min=0, max=6)},))
def _(self, x):
    return x.logsumexp(0), torch.linalg.vector_norm(x, 0.5)


# ---- NaN and infinities


def _nans():
    x = R(2, 3, 7, 6)
    x[x > 0.4] = nan
    x[0, 0] = nan
    x[1, 1, 2:] = -inf
    return x


@program("pooling_of_nan", lambda: [(_nans(), torch.full((2, 3, 2), 0.4))])
def _(self, x, samples):
    return (F.max_pool2d(x, 3, 2, 1, return_indices=True),
            F.max_pool2d(x[0], 2, 1, ceil_mode=True, return_indices=True),
            F.max_pool1d(x[:, 0], 3, 1, 1, return_indices=True), F.max_pool3d(x, 3, 2, 1, return_indices=True),
            F.max_pool2d(x.bfloat16(), 3, 1, return_indices=True), F.max_pool1d(x[0], 3, 2, dilation=2),
            F.adaptive_max_pool1d(x[0], 4, return_indices=True), F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
            F.adaptive_max_pool3d(x, 2, return_indices=True), A.fractional_max_pool2d(x, [3, 2], [3, 3], samples))


@program("quantile_of_infinities",
         lambda: [(I([[1.0, inf, 3], [-inf, inf, nan], [-inf, 1, 2], [inf, inf, inf], [-inf, -inf, 7]]),
                   I([0, 0.3, 0.5, 0.7, 1]))])
def _(self, x, q):
    return [f(x, p, dim=1, interpolation=mode) for mode in ("midpoint", "linear", "lower", "higher", "nearest")
            for p in (q, 0.3) for f in (torch.quantile, torch.nanquantile)]


@program("bessel_overflow", lambda: [(I([88.7, 88.8, -89, 91, 92, 709, 710, -712, 713.5, inf, -inf, nan, 0, 3, -20]),)])
def _(self, x):
    s = torch.special
    return [f(v) for v in (x, x.double(), x.bfloat16())
            for f in (torch.i0, s.i0e, s.i1, s.i1e)] + [s.modified_bessel_i0(x[:5]), s.modified_bessel_i1(x[:5])]


# ---- ranges, numbers as tensors, bags


@program("ranges_backward", lambda: [(R(5), 3), (R(1), 2), (R(2), 6)],
         dynamic_shapes=({0: D("n", min=1, max=20)}, D.DYNAMIC(max=9)))
def _(self, x, k):
    n = x.shape[0]
    return (torch.arange(n - 1, -1, -1), torch.arange(5, 0, -2), torch.arange(9, 0, -3), torch.arange(2 * n, 0, -2),
            torch.arange(5, 0, -2, dtype=torch.float16), torch.arange(n, -n, -3, dtype=torch.float32),
            torch.arange(k, k - 7, -2), torch.arange(0, -k, -1), torch.arange(3, 3, -1), torch.arange(1, 0, -0.25),
            torch.arange(k, k + n), torch.arange(-n, n, 2), torch.linspace(3, -n, 4))


@program("default_types", lambda: [(R(2), I([True, False]))])
def _(self, x, b):
    t = torch
    return (t.scalar_tensor(3), t.scalar_tensor(True), t.scalar_tensor(2.5), t.scalar_tensor(3, dtype=t.int8) + x,
            t.full((2,), 3), t.full((2,), True), t.full((2,), 2.5), t.full_like(b, 3), b.new_full((2,), 5),
            t.ones(2), t.zeros(2), t.ones_like(b), b.new_zeros(2), t.arange(3), t.arange(3.0), t.eye(2),
            t.arange(0, 2, 1), t.linspace(0, 3, 4), t.logspace(0, 1, 2), t.tril_indices(2, 2), t.empty(0),
            t.hann_window(3), t.arange(0, 1, 0.5))


@program("embedding_bags_last_offset", lambda: [(I([1, 2, 3, 2]), R(5, 4), I([0, 2, 2, 4]), R(4))])
def _(self, i, w, o, scale):
    bag = F.embedding_bag
    return ([bag(i, w, o, mode=m, include_last_offset=last, padding_idx=p) for m in ("sum", "mean", "max")
             for last in (False, True) for p in (None, 2)] +
            [bag(i, w, o, mode="sum", include_last_offset=True, per_sample_weights=scale)])


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
