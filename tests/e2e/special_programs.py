"""Programs of incomplete gamma functions, segments, weighted histograms, unique slices, fractional pools and other
ops with algorithms of their own. make_programs.py registers them.
"""
import torch

A = torch.ops.aten
F = torch.nn.functional
D = torch.export.Dim
R = torch.randn
INF, NAN = float("inf"), float("nan")


def _gammas(self, a, x, d, e):
    s = torch.special
    return (torch.igamma(a, x), torch.igammac(a, x), s.gammainc(d, e), s.gammaincc(d, e), torch.igamma(a.bfloat16(), x.bfloat16()),
            torch.igammac(a.half(), x.half()), torch.igamma(d[:3, None], e[:4]), torch.igamma(a, x.double()), torch.igammac(d[:0], e[:0]))


def _gamma_inputs():
    ends = torch.tensor([0, -0.0, 0, 1, 1, 3, INF, INF, 2, -1, 1, NAN, 1, 0, 1e-30, 1e30, 5, 1e-30])
    at = torch.tensor([0, 1, INF, 0, INF, INF, INF, 1, 2, 1, -1, 1, NAN, -0.0, 1e-30, 1e30, 1e-38, 2])
    grid = torch.tensor([1e-3, 0.1, 0.5, 1, 1.5, 7, 19, 40, 150, 1e3, 1e5])
    a, x = torch.meshgrid(grid, torch.tensor([1e-3, 0.2, 0.6, 0.95, 1.05, 1.5, 4]), indexing="ij")
    near = 1 + R(60).double() / 3
    far = torch.exp(R(60).double() * 2)
    return [(torch.cat([ends, a.flatten(), grid]), torch.cat([at, (a * x).flatten(), grid + 1]), far, far * near.abs())]


def _frexp(self, x, d, h):
    return (*torch.frexp(x), *torch.frexp(d), *torch.frexp(h), *torch.frexp(h.bfloat16()), *torch.frexp(x[0]), *torch.frexp(x[:0]))


def _frexp_inputs():
    x = torch.tensor([0.0, -0.0, 1, -0.5, 3, INF, -INF, NAN, 1e-45, -1e-40, 1.1754944e-38, 3.4e38, 0.1])
    return [(x, torch.cat([x.double(), torch.tensor([5e-324, -2e-310, 1.7e308, 2.2250738585072014e-308]).double()]),
             torch.tensor([6e-8, 65504, -1e-5, 0.3, NAN, INF, 0]).half())]


def _segments(self, x, lengths, per_row):
    s = torch.segment_reduce
    modes = ("sum", "mean", "max", "min", "prod")
    plain = [s(x, m, lengths=lengths, unsafe=True) for m in modes]
    begun = [s(x[:, 0], m, lengths=lengths, initial=1.5) for m in modes]
    offsets = torch.cat([lengths[:1] * 0, lengths.cumsum(0)])
    return (*plain, *begun, s(x, "sum", offsets=offsets, unsafe=True), s(x, "mean", offsets=offsets.int()),
            s(x.t(), "max", lengths=per_row, axis=1), s(x.double(), "prod", lengths=lengths.int(), axis=0),
            s(x.bfloat16(), "mean", lengths=lengths), s(x.half(), "min", lengths=lengths), s(x[:0], "max", lengths=lengths * 0))


def _segment_inputs():
    x = R(6, 3)
    bad = x.clone()
    bad[2, 1], bad[5, 0] = NAN, INF
    def given(*v):
        return torch.tensor(v)

    rows = given([1, 5], [3, 3], [0, 6])
    return [(x, given(1, 0, 2, 3), rows), (bad, given(0, 6, 0, 0), rows), (x, given(2, 2, 2, 0), rows), (x, given(2, 1, 2, 0), rows)]


def _weighted_histograms(self, x, edges, w):
    h = torch.histogram
    all_ = [*h(x, 5), *h(x, 4, range=(-1.0, 2.0)), *h(x, edges), *h(x, edges, density=True), *h(x, 3, weight=w),
            *h(x, edges, weight=w, density=True), *h(x.double(), 2, range=(0.0, 1.0)), *h(x[:0], 3), *h(x * 0 + 2, 3), *h(x, 1)]
    return tuple(all_)


def _unique_slices(self, x, n, f):
    u, c = torch.unique, torch.unique_consecutive
    how = {"return_inverse": True, "return_counts": True}
    return (*u(x, dim=0, **how), *u(n, dim=1, **how), u(x[:, 0], dim=0), *u(f, dim=-1, **how), *c(x, dim=0, **how), *c(n, dim=1, **how),
            *c(f, dim=2, **how), *u(x > 0, dim=0, **how), u(x.half(), dim=1), *u(x[:1], dim=0, **how), c(x[:, 0], dim=0))


def _unique_inputs():
    x = torch.tensor([[1.0, 2], [0, 5], [1, 2], [1, -2], [0, 5], [-0.0, 5]])
    n = torch.randint(0, 2, (2, 7, 2))
    return [(x, n, n.float().transpose(1, 2).flip(0)), (x * 0, n * 0, n.float().transpose(1, 2)), (R(6, 2), n, n.float().transpose(1, 2))]


def _fractional_pools(self, x, s, v, t):
    flat = A.fractional_max_pool2d(x[0], [3, 2], [2, 2], s[:1])
    return (*A.fractional_max_pool2d(x, [2, 3], [3, 4], s), *flat, *A.fractional_max_pool2d(x.double(), [2, 2], [1, 1], s.double()),
            *A.fractional_max_pool3d(v, [2, 1, 2], [2, 3, 1], t), *A.fractional_max_pool2d(x, [1, 1], [7, 8], s))


def _pool_inputs():
    x = R(2, 3, 7, 8)
    bad = x.clone()
    bad[0, 0, 3, 3], bad[1, 1, 0, 0] = NAN, INF
    return [(y, torch.rand(2, 3, 2), R(2, 1, 4, 5, 3), torch.rand(2, 1, 3)) for y in (x, bad, -x * INF)]


def _softmax_parts(self, g, x, mask, rows):
    y, z = torch.softmax(x, 1), torch.log_softmax(x, 0)
    s, b, m = A._softmax_backward_data, A._log_softmax_backward_data, torch._masked_softmax
    four = x.reshape(1, 1, *x.shape).expand(2, 2, *x.shape)
    return (s(g, y, 1, torch.float32), b(g, z, 0, torch.float32), s(g.double(), torch.softmax(x.double(), -1), -1, torch.float64),
            s(g.bfloat16(), y.bfloat16(), 1, torch.bfloat16), b(g[0, 0], z[0, 0], 0, torch.float32), m(x, mask, 1, 2), m(x, mask, 0),
            m(four, mask[:, :4][:4], 3, 0), m(four, rows, 3, 1), A.glu_jvp(F.glu(x, 1), x, g, 1), A.glu_jvp(F.glu(x, 0), x, g, -2))


def _margin_losses(self, x, t):
    f, loss = A.multilabel_margin_loss_forward, F.multilabel_margin_loss
    return (*f(x, t, 1), *f(x, t, 0), *f(x, t, 2), *f(x[0], t[0], 1), loss(x, t), loss(x.double(), t, reduction="none"), loss(x[1], t[1]))


def _less_common_products(self, x, w, b, i, j, p, q, scales):
    c = torch.conv_tbc
    return (c(x, w, b, 1), c(x, w, b), torch._int_mm(i, j), torch._int_mm(i, i.t()), torch._weight_int8pack_mm(p, q, scales),
            torch._weight_int8pack_mm(p.bfloat16(), q, scales.bfloat16()), torch._euclidean_dist(p, p[:5] + 1), *torch._aminmax(x),
            *torch._aminmax(x, 1), *torch._aminmax(i, 0, True), A._convolution_mode(x, w.permute(2, 1, 0)[:, :1, :2], b, [1], "same", [2], 3),
            A._convolution_mode(x, w.permute(2, 1, 0)[:, :1], None, [2], "valid", [1], 3))


def _product_inputs():
    i, j = (torch.randint(-128, 128, s, dtype=torch.int8) for s in ((17, 8), (8, 16)))
    return [(R(5, 3, 3), R(3, 3, 6), R(6), i, j, R(32, 32), torch.randint(-128, 128, (32, 32), dtype=torch.int8), torch.rand(32) / 100)]


def _of_any_size(self, x, lengths):
    rows = torch.segment_reduce(x, "mean", lengths=lengths)
    values, inverse, counts = torch.unique(x.round(), dim=0, return_inverse=True, return_counts=True)
    return (rows, values, inverse, counts, torch.igamma(x.abs(), x[:1].abs() + 1), *torch.frexp(x),
            F.fractional_max_pool2d(x[None], 1, (2, 1), _random_samples=x[None, :1, :2].sigmoid()))


def register(program):
    def add(name, forward, cases, make=dict, **options):
        program(name, cases, make, **options)(forward)

    add("incomplete_gammas", _gammas, _gamma_inputs)
    add("mantissas", _frexp, _frexp_inputs)
    add("segments", _segments, _segment_inputs, refused=(3,))
    add("weighted_histograms", _weighted_histograms, lambda: [(R(9, 4), torch.tensor([-1.0, 0.25, 0.5, 2.0]), torch.rand(9, 4)),
        (torch.tensor([-1.0, 0.25, 0.5, 2, INF, -INF, NAN, 3, 0]).repeat(4).view(9, 4), torch.tensor([-1.0, 0.25, 0.5, 2.0]), torch.rand(9, 4))], refused=(1,))
    add("unique_slices", _unique_slices, _unique_inputs)
    add("fractional_pools", _fractional_pools, _pool_inputs)
    add("softmax_parts", _softmax_parts, lambda: [(R(4, 4), R(4, 4), R(4, 4) > 0, torch.tensor([[True, False, False, True], [False] * 4])),
        (R(4, 4), R(4, 4) * 50, torch.ones(4, 4) > 0, torch.ones(2, 4) > 0)])
    add("margin_losses", _margin_losses, lambda: [(R(3, 4), torch.tensor([[0, 2, -1, 1], [-1, 0, 1, 2], [3, 3, 1, 0]])),
        (R(3, 4) * INF, torch.tensor([[0, 2, -1, 1], [-1, 0, 1, 2], [3, 3, 1, 0]]))][:1])
    add("less_common_products", _less_common_products, _product_inputs)
    add("rarer_ops_of_any_size", _of_any_size, lambda: [(R(6, 2), torch.tensor([1, 0, 5])), (R(3, 2), torch.tensor([1, 2])),
        (R(9, 2), torch.tensor([1, 2, 3, 3]))], dynamic_shapes=({0: D.AUTO}, {0: D.AUTO}))
