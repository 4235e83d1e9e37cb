"""Writes programs whose mutations need no copy, and programs whose mutations must be as if never begun when a call
fails; as make_programs.py does. Those named in_place_* take no scratch memory: nothing passes through another storage.

python make_in_place_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

I = torch.tensor


def I64(*sizes):
    return torch.randint(-8, 9, sizes)


# ---- one write of a part touches only that part


@program("in_place_slices", lambda: [(R(9, 6), R(2, 6), R(9, 6), R(9, 3), R(5, 4, 6), R(2, 3, 6)),
                                     (R(6, 9).t(), R(2, 6), R(6, 9).t(), R(3, 9).t(), R(5, 4, 6),
                                      R(3, 2, 6).transpose(0, 1))])
def _(self, x, rows, y, columns, z, block):
    x[3:5] = rows
    y[:, ::2] = columns
    z[-2:, 1:].add_(block)


@program("in_place_selects", lambda: [(R(4, 5, 6), R(5, 6), R(4, 5, 6), R(4, 5), R(4, 5, 6), R(4, 4), R(4, 4))])
def _(self, x, a, y, b, z, square, c):
    x[2] = a
    y.select(2, -1).copy_(b)
    z[0, 0, 0] = 3.5
    square.diagonal(1).mul_(c[0, :3])


@program("in_place_index_put",
         lambda: [(R(9, 4), I([0, -1, 3]), R(3, 4), I64(9, 4), I([2, 2]), I([3, 0]), R(1)) for _ in range(2)])
def _(self, x, i, v, n, j, k, one):
    x.index_put_((i,), v)
    n.index_put_((j, k), j, accumulate=True)
    one[j * 0] = 7


@program("in_place_index_copy", lambda: [(R(9, 4), I([8, 0]), R(2, 4), R(4, 9), R(9, 4), R(9, 4)),
                                         (R(9, 4), I([1, 2]), R(2, 4), R(9, 4).t(), R(4, 9).t(), R(9, 4))])
def _(self, x, i, v, y, z, w):
    x.index_copy_(0, i, v)
    y.index_copy_(1, i, v.t())
    z.index_fill_(0, i, -1)
    w.index_add_(0, i, v, alpha=2)


@program("in_place_scatter", lambda: [(R(5, 4), I([[0, 1, 4], [2, 2, 3]]), R(2, 3), R(5, 4), R(5, 4)),
                                      (R(5, 4), I([[4, 4, 0], [0, 1, 3]]), R(2, 3), R(5, 4), R(5, 4))])
def _(self, x, i, v, y, z):
    x.scatter_(0, i, v)
    y.scatter_add_(0, i, v)
    z.scatter_(0, i, 1.5)


@program("in_place_nothing",
         lambda: [(R(4, 3), R(0, 3), I([], dtype=torch.int64), R(4, 3), R(4, 3), R(0, 4), R(4, 3),
                   R(4, 3) > 9)])
def _(self, x, rows, none, y, z, empty, w, mask):
    x[2:2] = rows
    y.index_put_((none,), rows)
    z.index_copy_(0, none, rows)
    w.masked_fill_(mask, 1)
    empty.mul_(2)


@program("in_place_any_size",
         lambda: [(R(6, 4), R(2, 4), R(6, 4), R(6)), (R(9, 4), R(2, 4), R(9, 4), R(9)),
                  (R(2, 4), R(2, 4), R(4, 2).t(), R(2))],
         dynamic_shapes=({0: D("n", min=2)}, None, {0: D("n", min=2)}, {0: D("n", min=2)}))
def _(self, x, v, y, c):
    x[:2] = v
    y[:, 1] = c


@program("in_place_product", lambda: [(R(2, 4, 4), R(2, 4, 3), R(2, 3, 4), R(3, 5), R(3, 2), R(2, 5))])
def _(self, batch, c, d, x, a, b):
    batch.copy_(c @ d)
    x.copy_(a @ b)


@program("in_place_two_parts", lambda: [(R(16, 8), R(8), R(8), R(16, 8), R(8), R(16))])
def _(self, x, a, b, y, row, column):
    x[0] = a
    x[1] = b
    y[3] = row
    y[:, 2] = column


@program("in_place_whole_and_part", lambda: [(R(16, 8), R(8))])
def _(self, x, a):
    x.mul_(0.5)
    x[0].add_(a)


# ---- several


@program("partly_slices", lambda: [(R(9, 6), R(2, 6), R(9, 3), R(2, 2)), (R(6, 9).t(), R(2, 6), R(9, 3), R(2, 2))])
def _(self, x, rows, columns, block):
    x[3:5] = rows
    x[:, ::2] = columns
    x[-2:, 1:3].add_(block)
    x.narrow(0, 0, 1).fill_(5)
    x[4:4] = 7


@program("partly_selects", lambda: [(R(4, 5, 6), R(5, 6), R(4, 6), R(4))])
def _(self, x, a, b, c):
    x[2] = a
    x.select(1, -1).copy_(b)
    x[:, 1, 2] = c
    x[0, 0, 0] = 3.5
    x.diagonal(0, 1, 2)[:, 3] = c


@program("partly_index_put", lambda: [(R(9, 4), I([0, -1, 3]), R(3, 4), I64(9, 4), I([2]), I([3])) for _ in range(2)])
def _(self, x, i, v, n, j, k):
    x.index_put_((i,), v)
    x[i] = 2.5
    n[j, k] = 7
    n.index_put_((j,), n.new_ones(4), accumulate=True)


@program("in_place_index_put_refused",
         lambda: [(R(9, 4), I([0, 8]), R(2, 4)), (R(9, 4), I([0, 9]), R(2, 4)), (R(9, 4), I([-10, 1]), R(2, 4))],
         refused=(1, 2))
def _(self, x, i, v):
    x[i] = v


@program("partly_index_copy",
         lambda: [(R(9, 4), I([8, 0]), R(2, 4), R(4, 9), R(1)), (R(9, 4), I([1, 2]), R(2, 4), R(9, 4).t(), R(1))])
def _(self, x, i, v, y, one):
    x.index_copy_(0, i, v)
    y.index_copy_(1, i, v.t())
    y.index_fill_(1, i[:1], -1)
    x.index_add_(0, i, v, alpha=2)
    one.index_copy_(0, i[:1] * 0, v[0, :1])


@program("partly_scatter",
         lambda: [(R(5, 4), I([[0, 1, 4], [2, 2, 3]]), R(2, 3), R(5, 4)),
                  (R(5, 4), I([[4, 4, 0], [0, 1, 3]]), R(2, 3), R(5, 4))])
def _(self, x, i, v, y):
    x.scatter_(0, i, v)
    x.scatter_add_(0, i, v)
    y.scatter_(0, i, 1.5)
    y.scatter_reduce_(0, i, v, "amax")


@program("in_place_masked_fill",
         lambda: [(R(3, 5), R(3, 5) > 0, R(5) > 0, I64(3, 5)), (R(5, 3).t(), R(3, 5) > 5, R(5) > -5, I64(3, 5))])
def _(self, x, m, columns, n):
    x.masked_fill_(m, -float("inf"))
    x.masked_fill_(columns, 2)
    n[m] = 9


@program("in_place_elementwise", lambda: [(R(3, 5), R(3, 5), I64(4), R(1), R(0, 2))])
def _(self, x, y, n, one, none):
    x.mul_(y).add_(1).relu_().sub_(y, alpha=2)
    y.zero_()
    n.bitwise_xor_(5).neg_()
    one.add_(3)
    none.exp_()


@program("in_place_one_element", lambda: [(R(1), R(()), R(3)) for _ in range(3)],
         lambda: {"total": torch.zeros(1), "count": I(0), "flag": I(False), "largest": I(-9.0)}, sequence=True)
def _(self, one, scalar, x):
    self.total.add_(one)
    self.count.add_(1)
    self.flag.logical_or_(scalar > 0)
    self.largest.copy_(torch.maximum(self.largest, scalar))
    one.mul_(self.total)
    scalar.add_(self.count)


@program("partly_nothing", lambda: [(R(4, 3), R(0, 3), I([], dtype=torch.int64), R(0, 4), R(4, 3) > 9)])
def _(self, x, rows, none, empty, mask):
    x[2:2] = rows
    x.index_put_((none,), rows)
    x.index_copy_(0, none, rows)
    x.masked_fill_(mask, 1)
    empty.mul_(2).add_(empty)
    empty[:, 1:3] = 4


@program("partly_any_size", lambda: [(R(6, 4), R(2, 4), R(6)), (R(9, 4), R(2, 4), R(9)), (R(2, 4), R(2, 4), R(2))],
         dynamic_shapes=({0: D("n", min=2)}, None, {0: D("n", min=2)}))
def _(self, x, v, c):
    x[:2] = v
    x[:, 1] = c
    x.mul_(2)


# ---- results computed where they belong


@program("partly_products", lambda: [(R(6, 5), R(2, 3), R(3, 5), R(2, 4, 4), R(2, 4, 3), R(2, 3, 4))])
def _(self, x, a, b, batch, c, d):
    x[2:4] = a @ b
    batch.copy_(c @ d)


@program("partly_linear", lambda: [(R(1, 4), I([n])) for n in (0, 2, 5)],
         lambda: {"cache": torch.zeros(6, 3), "w": nn.Parameter(R(3, 4))}, sequence=True)
def _(self, x, at):
    self.cache.index_copy_(0, at, F.linear(x, self.w))
    return self.cache * 1


@program("partly_reductions", lambda: [(R(4, 5), R(3, 5), R(6), R(2, 5, 7))])
def _(self, table, x, v, y):
    table[0] = x.sum(0)
    table[1] = x.amax(0)
    table[2:] = y.mean(2)
    v[2:5] = x.sum(1)


# ---- caches of any rank and dimension


@program("in_place_cache_ranks",
         lambda: [(R(8), R(2), R(8, 3), R(2, 3), R(2, 2, 8, 2, 3), R(2, 2, 2, 2, 3), R(3, 8), R(3, 2))])
def _(self, c1, u1, c2, u2, c5, u5, last, wide):
    c1.copy_(torch.slice_scatter(c1, u1, 0, 3, 5))
    c2[6:] = u2
    c5[:, :, 1:3] = u5
    last.copy_(torch.slice_scatter(last, wide, 1, 0, 2))


@program("in_place_cache_index",
         lambda: [(R(2, 2, 8, 3), R(2, 2, 2, 3), I(p), R(8, 3).bfloat16(), R(2, 3).bfloat16())
                  for p in ([3, 4], [7, 0], [7, 8])],
         refused=(2,))
def _(self, cache, update, at, low, low_update):
    cache[:, :, at] = update
    low.index_copy_(0, at, low_update)


@program("in_place_cache_at", lambda: [(R(1, 2, 2, 4), n) for n in (0, 3, 6, 7)], lambda: {"k": torch.zeros(1, 2, 8, 4)},
         sequence=True, dynamic_shapes=(None, D.DYNAMIC(min=0, max=8)), refused=(3,))
def _(self, x, n):
    self.k.narrow(2, n, 2).copy_(x)


# ---- other spellings of in-place operations


@program("augmented_bits", lambda: [(torch.arange(5), I([3, 0, 2, 1, 4]), R(5) > 0, R(5) > 0)])
def _(self, n, k, mask, other):
    n &= 13
    n <<= k
    n |= k
    n >>= 1
    n ^= n.flip(0)
    mask &= other
    mask |= other.flip(0)
    mask ^= mask.flip(0)


# What such an operation returns is its argument, and is written once more.
@program("written_results_written", lambda: [(R(4, 4), R(4, 4), R(4, 4), R(4, 4))])
def _(self, x, y, z, w):
    x.fill_diagonal_(2).mul_(3)
    torch.add(x, 1, out=y).mul_(2)
    torch.cat([y[:2], x[2:]], out=z)[1].neg_()
    z.add_(1)
    F.normalize(z, out=w).t()[0].mul_(2)
    return x * 1, z.sum(), w * 1


# ---- a call that fails leaves arguments and state as they were


@program("failing_after_writes", lambda: [(R(4, 3), I([n]), R(3)) for n in (1, 4, 3, -5, -4)],
         lambda: {"seen": torch.zeros(4, 3), "count": I(0)}, sequence=True, refused=(1, 3))
def _(self, x, i, v):
    self.seen.add_(x)
    self.count.add_(1)
    x.mul_(2)
    self.seen[i] = v
    return self.seen.sum(0), x[i]


# run_decompositions() drops the condition.
@program("failing_condition", lambda: [(R(4).abs() + 1,), (-R(4).abs() - 99,), (R(4).abs() + 1,)],
         lambda: {"total": torch.zeros(4)}, sequence=True, refused=(1,), decomp=False)
def _(self, x):
    self.total.add_(x)
    x.sqrt_()
    torch._assert_async((self.total > 0).all())
    self.total.mul_(x)
    return self.total * 1


# ---- arguments that share memory at the call


def _halves():
    s = R(4, 6)
    return s[:, :3], s[:, 3:]


def _shared_reads():
    s = R(12)
    return s[:6], s[3:9], R(6)


def _shared_write():
    s = R(12)
    return R(6), s[:6], s[5:11]


def _same():
    s = R(6)
    return R(6), s, s


# Only what is written must be apart.
@program("shared_arguments", lambda: [(R(6), R(6), R(6)), _shared_reads(), _shared_write(), _same()], refused=(2, 3))
def _(self, x, y, z):
    z.add_(x * y)
    return x + y


@program("interleaved_arguments", lambda: [_halves(), (lambda s: (s[:, ::2], s[:, 1::2]))(R(4, 6)), (R(4, 3), R(4, 3))])
def _(self, x, y):
    x.add_(y)
    y.copy_(x * 2)


@program("argument_in_both", lambda: [(s, s.clone()) for s in (R(5), R(5))])
def _(self, x, y):
    before = x.clone()
    x.add_(y)
    return before, x, x[1:], y


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
