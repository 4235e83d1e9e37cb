"""Programs of ops that models use less often: gradients, transforms, matrices. make_programs.py registers them."""
import torch

A = torch.ops.aten
D = torch.export.Dim
R = torch.randn


def _parts(results):
    return tuple(r for r in results if r is not None)


def _pool_gradients(self, x, g, odd, one):
    return (A.avg_pool2d_backward(g[..., :3, :3], x, [3, 2], [2, 3], [1, 0], False, True, None),
            A.avg_pool2d_backward(g[..., :3, :3], x, [3, 3], [2, 3], [1, 1], True, False, None),
            A.avg_pool2d_backward(g[..., :2, :4], x, [2, 2], [], [0, 0], False, True, 3),
            A._adaptive_avg_pool2d_backward(g[..., :3, :5], x), A._adaptive_avg_pool2d_backward(odd, x),
            A._adaptive_avg_pool2d_backward(one, x), A._adaptive_avg_pool2d_backward(one.bfloat16(), x.bfloat16()))


def _convolution_gradients(self, x, w, g, v, tg, sx, sw, sg, q, qw, qg):
    plain = A.convolution_backward(g, x, w, [6], [2, 3], [1, 0], [2, 1], False, [0, 0], 2, [True, True, True])
    moved = A.convolution_backward(tg, x, v, [4], [3, 2], [1, 1], [2, 2], True, [1, 1], 2, [True, True, True])
    line = A.convolution_backward(sg, sx, sw, [2], [1], [0], [1], False, [0], 1, [False, True, True])
    space = A.convolution_backward(qg, q, qw, [2], [1, 2, 1], [0, 1, 1], [1, 1, 1], False, [0, 0, 0], 1,
                                   [True, True, False])
    return _parts((*plain, *moved, *line, *space))


def _convolution_inputs():
    f = torch.nn.functional
    x, w, v = R(2, 4, 7, 6), R(6, 2, 3, 2), R(4, 2, 3, 3)
    g = f.conv2d(x, w, None, (2, 3), (1, 0), (2, 1), 2)
    tg = f.conv_transpose2d(x, v, None, (3, 2), 1, 1, 2, 2)
    q, qw = R(1, 2, 3, 4, 3), R(2, 2, 2, 3, 3)
    return [(x, w, R(g.shape), v, R(tg.shape), R(3, 2, 5), R(2, 2, 3), R(3, 2, 3), q, qw,
             R(f.conv3d(q, qw, None, (1, 2, 1), (0, 1, 1)).shape))]


def _norm_gradients(self, x, w, b):
    g = x.sin()
    _, mean, rstd = A.native_layer_norm(x, [4, 3], w, b, 1e-5)
    first = A.native_layer_norm_backward(g, x, [4, 3], mean, rstd, w, b, [True, True, True])
    bare = A.native_layer_norm_backward(g, x, [4, 3], mean, rstd, None, None, [True, False, False])
    n = x.shape[0]
    _, m, r = A.native_group_norm(x, w[:, 0], None, n, 4, 3, 2, 1e-5)
    return _parts((*first, *bare, *A.native_group_norm_backward(g, x, m, r, w[:, 0], n, 4, 3, 2, [True, True, True]),
                   *A.native_group_norm_backward(g, x, m, r, None, n, 4, 3, 2, [True, False, False])))


def _grouped_products(self, x, w, v, offs):
    f = torch.nn.functional
    return (f.grouped_mm(x, w, offs=offs), f.grouped_mm(x, v.transpose(1, 2), offs=offs),
            f.grouped_mm(x.bfloat16(), w.bfloat16(), offs=offs))


def _histograms(self, x, y, h, z):
    return (torch.histc(x, 4, 0, 3), torch.histc(x, 7, -1, 2.5), torch.histc(y, 5), torch.histc(y[0] * 0 + 2, 3),
            torch.histc(h, 5, 0, 11), torch.histc(h), torch.histc(z, 3), torch.histc(y.double(), 6, -0.3, 0.7))


def _histogram_inputs():
    x = torch.tensor([0.0, 1, 2, 3, float("nan"), float("inf"), -1, 2.9999998, 1.5, -0.0])
    y = R(9, 5)
    bad = y.clone()
    bad[1, 2] = float("nan")
    h, z = torch.arange(12).bfloat16(), torch.zeros(0)
    return [(x, y, h, z), (x * 0.7, bad, h, z)]


def _embedding_gradients(self, g, i):
    return (A.embedding_dense_backward(g, i, 6, -1, False), A.embedding_dense_backward(g, i, 6, 2, True),
            A.embedding_dense_backward(g.double(), i.int(), 5, 0, True))


def _transforms(self, x, z):
    f = torch.fft
    return (f.fft(z), f.ifft(z, dim=0), f.fft(x, n=5, norm="ortho"), f.ifft(z, n=20, norm="forward"), f.rfft(x),
            f.rfft(x, n=7, dim=0, norm="forward"), f.irfft(z), f.irfft(z, n=9, norm="ortho"), f.hfft(z), f.ihfft(x))


def _many_transforms(self, x, z, y):
    f = torch.fft
    return (f.fft2(z), f.ifftn(z), f.rfftn(x), f.rfft2(x, s=(3, -1)), f.irfftn(z, s=(6, 7)), f.irfft2(z), f.hfft2(z),
            f.ihfftn(x), f.fftshift(x), f.ifftshift(z, dim=1), f.fft(y), f.rfft(y[:0]), f.fft(y[:, :1]), f.fftn(y.double()))


def _moving_transforms(self, x, half):
    z = torch.fft.rfft(x)
    return z.abs(), z.angle(), torch.fft.irfft(z, n=x.shape[1]), torch.fft.fft(x, norm="ortho"), torch.fft.fft(half)


def _spectrogram(self, x, w):
    z = torch.stft(x, 16, 4, window=w, return_complex=True)
    short = torch.stft(x[0], 12, 5, win_length=9, center=False, onesided=False, normalized=True, return_complex=True)
    return z.abs(), z, short, torch.istft(z, 16, 4, window=w), torch.istft(z * 2, 16, 4, window=w, length=70, center=False)


def _complex_parts(self, x, y):
    z = torch.complex(x, y)
    p = torch.polar(x.abs(), y)
    return (z, p, z.real, p.imag, z.conj(), z.conj().imag, torch.view_as_real(z * p), z.abs(), p.angle(),
            torch.view_as_complex(torch.stack([y, x], -1)), z.real.conj(), z.exp())


def _given_outputs(self, x, y, out, top, at):
    torch.atan2(x, y, out=out)
    torch.max(x, 1, out=(top, at))
    held = torch.empty(2, 3)
    torch.add(x, y, alpha=2, out=held)
    total = torch.sum(held, 0, out=torch.empty(3))
    return held, total, torch.mm(x, y.t(), out=torch.empty(2, 2)), x.clone().resize_(2, 3), (x * 2).resize_(4)


def _factors(self, a, p, b, v):
    g = torch.linalg
    lu, pivots, info = g.lu_factor_ex(a)
    return (lu, pivots, info, g.det(a), *g.slogdet(a), g.inv_ex(a)[0], g.solve_ex(a, b)[0], g.cholesky_ex(p)[0],
            g.cholesky_ex(p, upper=True)[0], g.cholesky_ex(a + a.mT)[1], g.solve_triangular(a, b, upper=True),
            g.solve_triangular(a, b.mT, upper=False, left=False, unitriangular=True),
            torch.cholesky_solve(b, p.tril()), g.lu_factor_ex(v)[0], g.det(a[0, :0, :0]))


def _solved(self, a, p, v):
    g = torch.linalg
    x = g.solve(a, v)
    return x, g.inv(a) @ v, g.cholesky(p), torch.logdet(p), g.lu_factor(a)[0], torch.lu_solve(v[:, None], *g.lu_factor(a))


# Mutations before and after an op that can fail: a call that fails changes nothing.
def _checked_updates(self, x):
    self.total.add_(x)
    inverse = torch.linalg.inv(x)
    x.mul_(2)
    torch.ops.aten._assert_async.msg((x != 0).any(), "all zero")
    self.total.sub_(inverse)
    return torch.linalg.solve(x, self.total)


def _positive(n, *batch):
    x = R(*batch, n, n)
    return x @ x.mT + torch.eye(n)


def _antialiased(self, x):
    def resized(mode, **how):
        return torch.nn.functional.interpolate(x, mode=mode, antialias=True, **how)

    return (resized("bilinear", size=(3, 5)), resized("bicubic", size=(3, 5)), resized("bicubic", scale_factor=0.4),
            resized("bilinear", size=(13, 4), align_corners=True), resized("bicubic", size=(1, 16)))


# ---- the same bits under other types


def _bits(self, x, n, b, h, u):
    x.view(torch.int32)[0].bitwise_or_(1 << 31)
    n.view(torch.uint8)[..., 3].fill_(7)
    self.packed.view(torch.int64)[1] = 5
    return (x.view(torch.int32) * 1, x.view(torch.uint8) * 1, x.view(torch.float64) * 1, n.view(torch.int16) * 1,
            b.view(torch.uint8) * 1, h.view(torch.int16) * 1, h.view(torch.float32) * 1, u.view(torch.bool) & True,
            u.view(torch.bfloat16) * 1, self.packed.view(torch.float16) * 1, x.t().contiguous().view(torch.uint8).t() * 1,
            x[:, :2].view(torch.int32) * 1, x[0, 0].view(torch.int32) * 1, x.double().view(torch.float32) * 1)


def _bits_of_any_size(self, x):
    y = x.view(torch.int16)
    y[:, ::2].zero_()
    return y * 1, y.view(torch.float32).sum(1), x.view(torch.uint8).to(torch.int64).sum()


def _where_found(self, x):
    i, j = torch.where(x > 0)
    z = x[0, 0].nonzero()
    return z, torch.argwhere(x > 0.5), i, j, x[i, j], torch.where(x[0, 0] < 0)[0]


def _deep(self, x):
    y, z = x, x
    for i in range(300):
        y = y * x + 0.5
        z = torch.where(z > 0.5, z - 0.25, z + 0.5)
    return y, z


# ---- regions that compute in bfloat16 where torch.autocast does


def _autocast(self, x, h, d):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ self.w
        z = torch.nn.functional.linear(y, self.w, self.b)
        c = torch.nn.functional.conv1d(x[None], self.k)
        s = torch.softmax(z, -1) + x
        n = torch.nn.functional.layer_norm(z, (4,), self.b, self.b)
        p = torch.cat([z, x]).prod(0)
        with torch.autocast("cpu", enabled=False):
            u = x @ x.t()
        e = torch.einsum("ij,kj->ik", x, h)
        x.add_(y)
        m = d @ d
        t = torch.addmm(self.b, x, self.w) * torch.matmul(h.float(), self.w)
        o = torch.where(x > 0, x, y.float())
    return y, z, c, s, n, p, u, e, m, t, o, (x @ self.w)


def _autocast_layers(self, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.relu(torch.nn.functional.linear(x, self.w, self.b))
        z = torch.nn.functional.scaled_dot_product_attention(y[None], y[None], x[None])
    return y, z, y.float() + x, y.sum(0)


def register(program):
    def add(name, forward, cases, make=dict, **options):
        program(name, cases, make, **options)(forward)

    add("pool_gradients", _pool_gradients, lambda: [(R(2, 2, 5, 8), R(2, 2, 4, 5), R(2, 2, 7, 9), R(2, 2, 1, 1))])
    add("convolution_gradients", _convolution_gradients, _convolution_inputs)
    add("norm_gradients", _norm_gradients, lambda: [(R(2, 4, 3), R(4, 3), R(4, 3)), (R(5, 4, 3), R(4, 3), R(4, 3))],
        dynamic_shapes=({0: D.AUTO}, None, None))
    add("embedding_gradients", _embedding_gradients,
        lambda: [(R(2, 4, 3), torch.tensor([[0, 2, 2, 1], [4, 0, 0, 3]]))])
    add("transforms", _transforms, lambda: [(R(6, 12), torch.complex(R(6, 12), R(6, 12)))])
    add("many_transforms", _many_transforms,
        lambda: [(R(4, 6), torch.complex(R(4, 6), R(4, 6)), R(3, 64))])
    add("moving_transforms", _moving_transforms, lambda: [(R(2, 12), R(6)), (R(2, 8), R(4)), (R(2, 30), R(15))],
        dynamic_shapes=({1: 2 * D("n", min=2, max=100)}, {0: D("n", min=2, max=100)}))
    add("spectrogram", _spectrogram, lambda: [(R(2, 64), torch.hann_window(16) + 0.1)])
    add("complex_parts", _complex_parts, lambda: [(R(3, 5), R(3, 5)), (torch.tensor([0.0, -0.0, 1.0]).expand(3, 3),
        torch.tensor([[0.0], [-0.0], [-1.0]]).expand(3, 3))][:1])
    add("given_outputs", _given_outputs,
        lambda: [(R(2, 3), R(2, 3), R(3, 2).t(), R(2), torch.zeros(2, dtype=torch.int64))])
    add("factors", _factors, lambda: [(R(2, 4, 4), _positive(4, 2), R(2, 4, 3), R(5, 3))])
    add("solved", _solved, lambda: [(R(3, 3), _positive(3), R(3)), (torch.tensor([[0.0, 2, 1], [1, 0, 0], [3, 1, 0]]),
        _positive(3), R(3)), (torch.zeros(3, 3), _positive(3), R(3)), (R(3, 3), -_positive(3), R(3))],
        refused=(2, 3))
    add("checked_updates", _checked_updates, lambda: [(R(3, 3),), (torch.zeros(3, 3),), (R(3, 3),)],
        lambda: {"total": torch.zeros(3, 3)}, sequence=True, refused=(1,))
    add("autocast", _autocast, lambda: [(R(4, 4), R(4, 4).bfloat16(), R(3, 3).double())],
        lambda: {"w": R(4, 4), "b": R(4), "k": R(2, 4, 3)}, decomp=False)
    add("autocast_layers", _autocast_layers, lambda: [(R(4, 4),), (R(4, 4),)], lambda: {"w": R(4, 4), "b": R(4)})
    nan = float("nan")
    add("bits", _bits, lambda: [(torch.tensor([[1.5, nan, -0.0, float("inf")], [1e-40, -2, 3, 4]]),
        torch.tensor([[1, -1], [2**31 - 1, -2**31]], dtype=torch.int32), torch.tensor([True, False]),
        torch.tensor([1.5, nan, -0.0, 3]).bfloat16(), torch.tensor([0, 1, 2, 255], dtype=torch.uint8))],
        lambda: {"packed": torch.arange(16, dtype=torch.uint8)})
    add("bits_of_any_size", _bits_of_any_size, lambda: [(R(2, 4),), (R(5, 4),), (R(2, 4),)],
        dynamic_shapes=({0: D.AUTO},))
    add("where_found", _where_found, lambda: [(R(3, 4),), (torch.zeros(3, 4),), (-R(3, 4).abs(),)])
    add("deep_chain", _deep, lambda: [(torch.tensor([0.5, -0.5, 1, 0, 0.25]),)])
    add("antialiased", _antialiased, lambda: [(R(1, 2, 9, 8),)])
    add("histograms", _histograms, _histogram_inputs, refused=(1,))
    add("grouped_products", _grouped_products, lambda: [
        (R(7, 8), R(4, 8, 16), R(4, 16, 8), torch.tensor([2, 2, 5, 7], dtype=torch.int32)),
        (R(9, 8), R(4, 8, 16), R(4, 16, 8), torch.tensor([0, 9, 9, 9], dtype=torch.int32))], dynamic_shapes=({0: D.AUTO}, None, None, None))
