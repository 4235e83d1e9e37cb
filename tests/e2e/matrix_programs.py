"""Programs of matrix factors: QR, LU, singular values, eigenvalues. make_programs.py registers them.

Where signs of vectors are free, programs return what does not depend on them.
"""
import torch

D = torch.export.Dim
R = torch.randn
G = torch.linalg


def _qr(self, a, wide, one, d):
    full = [y for x in (a, wide, one, d) for m in ("reduced", "complete", "r") for y in G.qr(x, m)]
    factors, tau = torch.geqrf(a)
    return (*full, factors, tau, G.householder_product(factors, tau), torch.orgqr(factors, tau[..., :2]),
            torch.ormqr(factors, tau, a), torch.ormqr(factors, tau, wide.mT, transpose=True),
            torch.ormqr(factors, tau, wide, left=False))


def _qr_inputs():
    a, d = R(2, 5, 3), R(4, 4).double()
    a[0, :, 1] = 0
    a[1, 1:, 0] = 0
    return [(a, R(2, 3, 5), torch.tensor([[-2.0]]), d), (R(2, 5, 3) * 1e18, R(2, 3, 5) * 1e-18, torch.tensor([[0.0]]), d * 1e-30)]


def _lu(self, a, tall, wide, square):
    plain = [y for x in (a, tall, wide) for y in G.lu(x)]
    lu, pivots = G.lu_factor(a)
    return (*plain, *torch.lu_unpack(lu, pivots), *torch.lu_unpack(lu, pivots, unpack_data=False)[:1],
            *torch.lu_unpack(*torch.lu(wide)), G.tensorinv(square.reshape(4, 6, 3, 8)), G.tensorinv(square.reshape(24, 2, 12), 1),
            G.tensorsolve(square.reshape(4, 6, 24), square[:4, :6]), G.tensorsolve(square.reshape(4, 6, 24).movedim(2, 1), square[:4, :6], dims=(1,)))


def _rebuilt(u, s, vh):
    k = s.shape[-1]
    return u[..., :k] * s[..., None, :] @ vh[..., :k, :], u.mT @ u, vh @ vh.mT, s


def _svd(self, a, d, flat):
    full = [y for x in (a, a.mT, d, flat) for f in (True, False) for y in _rebuilt(*G.svd(x, full_matrices=f))]
    u, s, v = torch.svd(a)
    return (*full, G.svdvals(a), *_rebuilt(u, s, v.mT), torch.svd(d, compute_uv=False)[1], G.svdvals(a[:, :1]), G.svdvals(a[:0]),
            *G.svd(a[0, :, :0]), G.svdvals(a[..., :1]), G.norm(a, 2, dim=(1, 2)), G.matrix_norm(a, -2, keepdim=True),
            G.matrix_norm(a, "nuc", dim=(0, 2)), torch.norm(d, "nuc"), torch.nuclear_norm(d, True), G.norm(d, 2))


def _svd_inputs():
    d = R(6, 4).double()
    low = (R(6, 2).double() @ R(2, 4).double())
    return [(R(2, 5, 3), d, R(2, 9)), (R(2, 5, 3) * 1e-20, low, torch.zeros(2, 9)), (torch.ones(2, 5, 3), d * 1e150, R(2, 9) * 1e18),
            (R(2, 5, 3), d * float("nan"), R(2, 9))]


def _eigen(self, a, d):
    def rebuilt(x, word):
        w, v = G.eigh(x, word)
        return w, v * w[..., None, :] @ v.mT, v.mT @ v

    return (*rebuilt(a, "L"), *rebuilt(a, "U"), *rebuilt(d, "L"), G.eigvalsh(a), G.eigvalsh(d, "U"), *rebuilt(a[:, :1, :1], "L"),
            G.eigvalsh(a[:, :0, :0]), *rebuilt(a[0] * 0, "L"))


def _eigen_inputs():
    d = R(7, 7).double()
    twice = torch.eye(7).double() * 3
    twice[0, 1:] = twice[1:, 0] = 1e-9
    return [(R(2, 4, 4), d), (torch.ones(2, 4, 4), twice), (R(2, 4, 4) * 1e15, d * 1e-100), (R(2, 4, 4) / 0, d)]


def _spectral(self, a, low, p):
    rank, pinv, cond = G.matrix_rank, G.pinv, G.cond
    orders = (None, 2, -2, 1, -1, float("inf"), -float("inf"), "fro", "nuc")
    return (rank(a), rank(low), rank(low, tol=1e3), rank(low.double(), rtol=1e-6), rank(p, hermitian=True),
            rank(low, tol=torch.tensor([0.0, 1e4])), pinv(a), pinv(low), pinv(low.double(), rtol=1e-5), pinv(p, hermitian=True),
            pinv(a, atol=1.0), torch.pinverse(a), pinv(a, 0.3), pinv(a[..., :0]), rank(a[:, :0]),
            *(cond(p, o) for o in orders), cond(p[0] * 0, 1), cond(a), pinv(p, atol=torch.tensor(0.0), rtol=torch.tensor([0.1, 0.5])))


def _spectral_inputs():
    low = R(2, 5, 2) @ R(2, 2, 4)
    x = R(2, 3, 3)
    return [(R(2, 4, 3), low, x @ x.mT + torch.eye(3)), (R(2, 4, 3), low, x + x.mT)]


def _batches_of_any_size(self, x):
    w, v = G.eigh(x.mT @ x)
    return w, v * w[:, None] @ v.mT, G.svdvals(x), G.pinv(x), G.qr(x).R


def _spectra_of_any_size(self, x):
    u, s, vh = G.svd(x)
    w, v = G.eigh(x + x.mT)
    q, r = G.qr(x[:, :2])
    return u * s @ vh, s, w, v * w @ v.mT, q, r, G.qr(x, "complete").R, G.matrix_rank(x), G.cond(x), G.pinv(x), *G.lu(x)


def register(program):
    def add(name, forward, cases, make=dict, **options):
        program(name, cases, make, **options)(forward)

    add("qr_factors", _qr, _qr_inputs)
    add("lu_parts", _lu, lambda: [(R(2, 3, 3), R(5, 2), R(2, 4), R(24, 24) + 8 * torch.eye(24))])
    add("singular_values", _svd, _svd_inputs, refused=(3,))
    add("symmetric_eigenvalues", _eigen, _eigen_inputs, refused=(3,))
    add("ranks_and_inverses", _spectral, _spectral_inputs)
    add("spectra_of_batches", _batches_of_any_size, lambda: [(R(2, 4, 3),), (R(5, 4, 3),)], dynamic_shapes=({0: D.AUTO},))
    add("spectra_of_any_size", _spectra_of_any_size, lambda: [(R(4, 4),), (R(7, 7),), (R(3, 3),)], dynamic_shapes=({0: D("n", min=3), 1: D("n", min=3)},))
