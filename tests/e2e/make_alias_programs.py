"""Writes programs whose results are their arguments or views of them, with eager results, as make_programs.py does.

python make_alias_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F

from make_programs import PROGRAMS, D, R, program

BASE = set(PROGRAMS)
A = torch.ops.aten


# ---- what eager returns without a copy: each of these takes its own slice of an input


# A matrix of 4 x 6.
SHARING = [
    lambda x: F.dropout(x, 0.5, False),
    lambda x: F.dropout1d(x, 0.5, False),
    lambda x: F.dropout2d(x[None, None], 0.5, False),
    lambda x: F.dropout3d(x[None, None], 0.5, False),
    lambda x: F.alpha_dropout(x, 0.5, False),
    lambda x: F.feature_alpha_dropout(x, 0.5, False),
    lambda x: torch.feature_dropout(x, 0.5, False),
    lambda x: torch.dropout(x, 0.0, True),
    lambda x: torch.broadcast_tensors(x, torch.ones(1))[0],
    lambda x: torch.broadcast_tensors(x[:, None], torch.ones(4, 1, 6))[0],
    lambda x: torch.meshgrid(x[0], x[1, :2], indexing="ij")[1][0],
    lambda x: torch.meshgrid(x[0], x[1, :2], indexing="xy")[0][1],
    lambda x: torch.cartesian_prod(x[1]),
    lambda x: torch.einsum("ij->ji", x),
    lambda x: torch.einsum("ii->i", x[:, :4]),
    lambda x: torch.einsum("...j", x),
    lambda x: x.type_as(torch.ones(1)),
    lambda x: torch.atleast_1d(x),
    lambda x: torch.atleast_2d(x[1]),
    lambda x: torch.atleast_3d(x),
    lambda x: torch.atleast_2d([x[0], x[1]])[1],
    lambda x: x.sum_to_size(4, 6),
    lambda x: x[None].sum_to_size(1, 4, 6),
]

# The same, but torch's decomposed form has copies.
UNSAFE = [
    lambda x: x.unsafe_chunk(2)[1],
    lambda x: torch.unsafe_split(x, 3, 1)[0],
    lambda x: torch.unsafe_split_with_sizes(x, [1, 3])[1],
]

# What eager copies.
COPYING = [
    lambda x: F.pad(x, (0, 0)),
    lambda x: x.repeat(1, 1),
    lambda x: x.tile(1),
    lambda x: x.flip([]),
    lambda x: x.roll(0, 0),
    lambda x: x.rot90(4),
    lambda x: torch.cat([x]),
    lambda x: torch.column_stack([x]),
    lambda x: torch.block_diag(x),
    lambda x: x.to(torch.float32, copy=True),
    lambda x: x.t().contiguous(),
    lambda x: torch.linalg.matrix_power(x[:, :4], 1),
    lambda x: A.chain_matmul([x]),
    lambda x: A.channel_shuffle(x[None, :, :, None], 1),
    lambda x: F.pixel_shuffle(x[None], 1),
    lambda x: F.interpolate(x[None], size=6),
    lambda x: A.native_dropout(x, 0.5, False)[0],
    lambda x: x.tril(9),
    lambda x: x[:, :1].sum(1),
    lambda x: torch.einsum("ij,->ij", x, torch.ones(())),
    lambda x: x.sum_to_size(1, 6),
    lambda x: x.diag(),
    lambda x: torch.cartesian_prod(x[0], x[1, :1]),
    lambda x: x[torch.arange(4)],
    lambda x: x.double().float(),
    lambda x: x.expand(4, 6).clone(),
]


def cases(functions):
    return lambda: [(R(len(functions), 4, 6),)]


@program("shared_results_written", cases(SHARING), decomp=False)
def _(self, x):
    for k, f in enumerate(SHARING):
        f(x[k]).add_(k + 1)
    return x * 1


@program("shared_results_read", cases(SHARING))
def _(self, x):
    results = [f(x[k]) for k, f in enumerate(SHARING)]
    x.mul_(3)
    return [y * 1 for y in results]


@program("shared_results_returned", cases(SHARING))
def _(self, x):
    return [f(x[k]) for k, f in enumerate(SHARING)]


@program("shared_results_of_state", lambda: [(R(1),)] * 2, lambda: {"b": R(len(SHARING), 4, 6)}, sequence=True,
         decomp=False)
def _(self, x):
    for k, f in enumerate(SHARING):
        f(self.b[k]).mul_(k + x)
    return self.b.sum(0)


@program("unsafe_parts", cases(UNSAFE), decomp=False)
def _(self, x):
    results = [f(x[k]) for k, f in enumerate(UNSAFE)]
    for k, y in enumerate(results):
        y.add_(k + 1)
    x.mul_(3)
    return results


@program("copied_results_written", cases(COPYING), decomp=False)
def _(self, x):
    for k, f in enumerate(COPYING):
        f(x[k]).add_(k + 1)
    return [f(x[k]).mul_(2) for k, f in enumerate(COPYING)]


@program("copied_results_read", cases(COPYING), decomp=False)
def _(self, x):
    results = [f(x[k]) for k, f in enumerate(COPYING)]
    x.mul_(3)
    return results


@program("shared_results_of_any_size", lambda: [(R(4, 3), R(3)), (R(6, 5), R(2)), (R(2, 2), R(7))],
         dynamic_shapes=({0: D.AUTO, 1: D.AUTO}, {0: D.AUTO}))
def _(self, x, v):
    torch.einsum("ij->ji", F.dropout(x, 0.1, False)).add_(1)
    torch.meshgrid(v, v, indexing="ij")[0][:, 0].mul_(2)
    y = torch.atleast_3d(x.type_as(v)).sum_to_size(x.shape[0], x.shape[1], 1)
    y.mul_(3)
    return y, torch.broadcast_tensors(x[:, :1], v)[0].sum(), x.sum_to_size(1, x.shape[1])


# ---- inputs of layouts other than the exported one


def _columns(rows, columns):
    return R(columns, rows).t()


# Each view has strides in every layout of x.
# For one row or column a transposed tensor is contiguous: what is a copy otherwise is the argument itself.
@program("copies_of_most_sizes", lambda: [(R(3, 4), R(3, 4)), (R(5, 4), R(2, 4)), (R(1, 4), R(3, 4)), (R(3, 4), R(1, 4))],
         dynamic_shapes=({0: D("n", min=1)}, {0: D("m", min=1)}), refused=(2, 3), decomp=False)
def _(self, x, y):
    x.t().contiguous().add_(1)
    flat = y.t().reshape(-1)
    y.mul_(2)
    return x * 2, flat, (x * 1).t().contiguous().mul_(3)


@program("views_of_any_layout", lambda: [(_columns(6, 4),), (R(6, 4),), (R(6, 8)[:, ::2],), (R(12, 4)[::2],)],
         dynamic_shapes=({0: D.AUTO, 1: D.AUTO},))
def _(self, x):
    return x.diagonal(), x.t()[1:], x[::2].diagonal(1), x.unfold(0, 2, 2), x[None].expand(3, *x.shape), x * 2


# Exported for rows that are one row.
@program("repeated_rows", lambda: [(R(1, 4).expand(4, 4), R(3).expand(2, 3)), (R(4, 4), R(2, 3)), (R(4, 4).t(), R(3, 2).t())])
def _(self, x, y):
    return x * 2, x.sum(0), x[1:], x.diagonal(), x.flip(0), y.t() + 1, x @ x, y


# ---- repeats that are data


@program("repeats_in_data", lambda: [(R(3, 2), torch.tensor(n), torch.tensor(2)) for n in ([1, 2, 3], [0, 0, 1], [4, 0, 0], [0, 0, 0])],
         lambda: {"t": torch.tensor(0)}, sequence=True)
def _(self, x, n, k):
    y = torch.repeat_interleave(x, n, dim=0)
    self.t.add_(y.shape[0])
    flat = torch.repeat_interleave(x[:, 0], n)
    return y, y.sum(0), flat.flip(0), torch.repeat_interleave(n), torch.repeat_interleave(x, k.expand(2), dim=1)


# ---- complex tensors: the same storage under other numbers


def Z(*sizes):
    return torch.complex(R(*sizes), R(*sizes))


# torch cannot decompose some of these.
@program("conjugates_written", lambda: [(Z(4, 4), R(4, 2), R(3))], decomp=False)
def _(self, z, pairs, x):
    c = z.conj()
    c.add_(1j)
    c.t()[1].mul_(2 + 1j)
    z.mH[2].add_(3j)
    z.t().conj().diagonal().mul_(2j)
    z.real.mul_(2)
    z.imag[0].add_(1)
    z.conj().imag[1].copy_(x.new_ones(4))
    torch.view_as_real(z)[2:, :, 1].neg_()
    torch.view_as_complex(pairs).mul_(1j)
    z.adjoint().conj()[3].sub_(1j)
    torch._neg_view(z)[:, 3].add_(5)
    x.conj().real.add_(1)
    torch.conj_physical(x).mul_(2)
    z.conj().resolve_conj().zero_()
    z.resolve_conj()[3, 3] = 7j
    return z * 1, c * 1, x * 1


@program("conjugates_read", lambda: [(Z(3, 4), R(3, 4, 2))])
def _(self, z, pairs):
    views = [z.conj(), z.mH, z.real, z.imag, z.conj().imag, torch.view_as_real(z), torch.view_as_complex(pairs),
             torch._neg_view(z), z.conj().resolve_conj(), z[1].conj().conj(), z.conj().real.t()]
    z.mul_(1 + 2j)
    pairs.add_(1)
    return [v * 1 for v in views]


@program("conjugates_of_state", lambda: [(Z(3, 4),)] * 2, lambda: {"b": Z(3, 4)}, sequence=True, decomp=False)
def _(self, z):
    self.b.conj().mul_(z)
    self.b.real.add_(1)
    return self.b.conj(), self.b.mH @ z, self.b.real * 1


@program("conjugates_of_real_tensors", lambda: [(R(2, 3), R(3))])
def _(self, x, v):
    x.conj().mul_(2)
    x.mH[0].add_(1)
    v.real.add_(1)
    torch.conj_physical(v).neg_()
    v.resolve_conj()[0] = 9
    return x.adjoint(), x.conj(), v.real, torch.conj_physical(v), v.resolve_neg()


@program("complex_arithmetic", lambda: [(Z(3, 4), Z(3, 4)), (Z(3, 4).conj(), torch.zeros(3, 4, dtype=torch.complex64))],
         decomp=False)
def _(self, a, b):
    return (a + b, a - 2j, a * b, a * b.real, (a + 3) / (b + 3), a.exp(), a.sqrt(), a**2, a ** (1 + 1j), a.sin(), a.tanh(),
            a.sgn() * 1, b.sgn(), torch.where(a.real > 0, a, b), a == b, a.sum(1), a.mean(), a.prod(0), a.cumsum(1),
            a.cumprod(0), torch.full((2,), 1j), a.clone().fill_(2j), torch.polar(a.real * a.real, b.imag),
            torch.complex(a.real, b.imag[:1]), a.real.to(torch.complex64), a.to(torch.complex128).reciprocal())


@program("complex_products", lambda: [(Z(3, 4), Z(3, 4))])
def _(self, a, b):
    return (a @ b.mT, a @ b.mH, torch.addmm(a @ b.mT, a, b.mT, beta=2j, alpha=0.5), a @ b[0], a[0] @ b[1],
            torch.vdot(a[0], b[1]), torch.linalg.vecdot(a, b), torch.einsum("ij,kj->ik", a, b), torch.outer(a[0], b[1]),
            torch.nn.functional.linear(a.to(torch.complex128), b.to(torch.complex128)))


# Programs that mutate nothing, for --alias: a cache that the caller gets back, and dynamic sizes.
@program("functional_cache", lambda: [(R(2, 8, 4), R(2, 1, 4), torch.tensor([3])), (R(2, 8, 4), R(2, 1, 4), torch.tensor([7]))])
def _(self, cache, new, position):
    updated = cache.index_copy(1, position, new)
    return updated.sum(), updated, new * 2, cache[:, :1].t() if cache.dim() == 2 else cache.sum((0, 1))


@program("functional_update", lambda: [(R(4, 3), R(4, 3)), (R(7, 3), R(7, 3))],
         dynamic_shapes=({0: D("n", min=2, max=64)}, {0: D("m", min=2, max=64)}))
def _(self, x, y):
    return x + 1, y * 2, y.mT.contiguous(), x[:2], x[:, 0].clone()


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or [p for p in PROGRAMS if p not in BASE]:
        PROGRAMS[name](out)
