"""Programs of windows, frequencies, ranges, combinations, powers and padded sequences. make_programs.py registers them."""
import torch

A = torch.ops.aten
D = torch.export.Dim
R = torch.randn


def _windows(self, x):
    w = (torch.bartlett_window, torch.blackman_window, torch.hann_window, torch.hamming_window, torch.kaiser_window)
    plain = [f(n) for f in w for n in (0, 1, 2, 9)]
    symmetric = [f(n, periodic=False, dtype=torch.float64) for f in w for n in (1, 2, 8)]
    half = [f(7, dtype=torch.bfloat16) for f in w[:4]] + [f(7, dtype=torch.float16) for f in w[:2]]
    return (*plain, *symmetric, *half, torch.hamming_window(6, True, 0.6), torch.hamming_window(6, False, 0.5, 0.25),
            torch.kaiser_window(9, True, 3.5), torch.kaiser_window(8, False, beta=0.5, dtype=torch.float64), x)


def _frequencies(self, x):
    f = torch.fft
    both = [g(n, d) for g in (f.fftfreq, f.rfftfreq) for n, d in ((1, 1.0), (2, 0.5), (7, 1.0), (8, -0.3))]
    return (*both, f.fftfreq(5, 0.1, dtype=torch.float64), f.rfftfreq(6, dtype=torch.float16), x)


def _closed_ranges(self, x):
    r = torch.range
    return (r(0, 3), r(1, 2, 0.25), r(3, -1, -1.5), r(2, 2), r(0, 7, 3, dtype=torch.int64), r(0.5, 3.2, dtype=torch.float64),
            r(0, x.shape[0]), r(0, 1, 0.1, dtype=torch.bfloat16))


def _combinations(self, x, n, e):
    c = torch.combinations
    return (c(x), c(x, 3), c(x, with_replacement=True), c(x, 1), c(x, 0), c(n, 2), c(n, 3, True), c(e), c(e, 2, True), c(n, 5),
            c(x[:1]), c(x > 0))


def _moving_combinations(self, x):
    return torch.combinations(x), torch.combinations(x, with_replacement=True).sum(1)


def _powers(self, x, n, y):
    v, g = torch.vander, torch.linalg.vander
    return (v(x), v(x, 5), v(x, 1), v(x, 0), v(n, increasing=True), v(n.bool()), v(x.double(), 6), v(x[:0], 3), g(x), g(y), g(y, N=5),
            g(n.to(torch.int32), N=2), g(y[0, 0].double(), N=3))


def _padded_sequences(self, a, b, c):
    pad = torch.nn.utils.rnn.pad_sequence
    return (pad([a, b, c]), pad([a, b, c], batch_first=True, padding_value=-1.5), pad([c, a], padding_side="left"), pad([a]),
            pad([a[:, 0].long(), b[:, 0].long()], padding_value=2.9, batch_first=True), pad([a.bfloat16(), b.bfloat16()]))


def _chunks(self, x, y):
    return (A._chunk_cat([x, y], 0, 2), A._chunk_cat([x, x[:, :2]], 1, 3), A._chunk_cat([x[:, 0], y[:, 0].contiguous()], 0, 4),
            A._stack([x, x], 1), A._stack([x], -1), A.native_channel_shuffle(x[None, None].expand(1, 4, 5, 3), 2))


def _copied_views(self, z, x):
    return (A._conj_copy(z),  A._neg_view_copy(x), torch.view_as_real_copy(z), torch.view_as_complex_copy(x),
            A._reshape_alias_copy(x, [2, 3], [1, 2]), torch.trapz(x), torch.trapz(x, dx=0.5, dim=0), torch.trapz(x, x * 2, dim=0))


def _kept_norms(self, x, y):
    n = torch.norm_except_dim
    return (n(x), n(x, 2, 1), n(x, 1, -1), n(y, 2, 2), n(y, 3, 0), n(y.double(), 2, 1), A.frobenius_norm.dim(x, [1]),
            A.frobenius_norm.dim(x, [0, -1], True), A.frobenius_norm.dim(y, [], False), A.frobenius_norm.dim(x.half(), [0]))


def register(program):
    def add(name, forward, cases, make=dict, **options):
        program(name, cases, make, **options)(forward)

    add("windows", _windows, lambda: [(R(2),)])
    add("frequencies", _frequencies, lambda: [(R(2),)])
    add("closed_ranges", _closed_ranges, lambda: [(R(3),)])
    add("combinations", _combinations, lambda: [(R(4), torch.tensor([3, 1, 2]), R(0))])
    add("moving_combinations", _moving_combinations, lambda: [(R(4),), (R(7),), (R(3),)], dynamic_shapes=({0: D.AUTO},))
    add("vandermonde", _powers, lambda: [(R(4), torch.tensor([2, 0, -3]), R(2, 1, 3)),
        (torch.tensor([float("nan"), float("inf"), -0.0, 1.0]), torch.tensor([2, 1, 7]), R(2, 1, 3))])
    add("padded_sequences", _padded_sequences, lambda: [(R(3, 2), R(2, 2), R(4, 2)), (R(5, 2), R(3, 2), R(2, 2))],
        dynamic_shapes=({0: D.AUTO},) * 3)
    add("chunk_cat", _chunks, lambda: [(R(5, 3), R(2, 3))])
    add("copied_complex_views", _copied_views, lambda: [(torch.complex(R(3), R(3)), R(3, 2))])
    add("kept_norms", _kept_norms, lambda: [(R(3, 4), R(2, 3, 2)), (R(3, 4) * float("inf"), R(2, 3, 2))])
