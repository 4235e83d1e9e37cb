"""Writes programs after public reports of compilers that went wrong on mutation and state, with eager results, as
make_programs.py does. The numbers in the names are those of the table in README.md; from 15: trap_alias_programs.py.

python trap_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

KINDS = (torch.float32, torch.bfloat16, torch.int64)
PAIRS = tuple(k for k in KINDS for _ in range(2))
I = torch.tensor


def T(*sizes, dtype=torch.float32):
    """Small numbers: in every type the results are exact."""
    return torch.randint(-8, 9, sizes).to(dtype)


def each(*shapes, kinds=KINDS):
    """A tensor of each shape and type."""
    return tuple(T(*s, dtype=k) for s in shapes for k in kinds)


def layouts(rows, columns, dtype=torch.float32):
    """One shape in other layouts: transposed, a window of a larger matrix, every second row, off the alignment."""
    return (T(columns, rows, dtype=dtype).t(), T(rows + 3, columns + 2, dtype=dtype)[1:-2, 1:-1],
            T(2 * rows, columns, dtype=dtype)[::2], T(rows * columns + 1, dtype=dtype)[1:].view(rows, columns))


def any_size(*dims):
    """Dynamic shapes of one input per number of dynamic dimensions."""
    return tuple({i: D.AUTO for i in range(d)} for d in dims)


# ---- 1 to 4: reads of what is overwritten, at other indices


@program("trap01_shift_rows", lambda: [each((7, 3), (1, 3), (0, 3), (37, 9)) + layouts(6, 5)])
def _(self, *xs):
    for x in xs:
        x[1:] = x[:-1].clone()


@program("trap01_shift_back", lambda: [each((7, 3), (1, 3), (0, 3), (37, 9)) + layouts(6, 5)])
def _(self, *xs):
    for x in xs:
        x[:-1] = x[1:].clone()


@program("trap01_shift_columns", lambda: [each((3, 7), (3, 2), (3, 40), (0, 4)) + layouts(5, 6)])
def _(self, *xs):
    for x in xs:
        x[:, 2:] = x[:, :-2].clone()
        x[:, :2] = x[:, 1:2] * 2


@program("trap01_shift_any_size",
         lambda: [(R(6, 4), R(5)), (R(1, 3), R(1)), (R(0, 3), R(0)), (R(40, 7), R(99)), (R(4, 9).t(), R(8)[::2])],
         dynamic_shapes=any_size(2, 1), refused=(1, 2))
def _(self, x, v):
    x[1:] = x[:-1].clone()
    v[:-1] = v[1:].clone()
    return x.sum(0), v.sum()


@program("trap01_shift_history", lambda: [(R(2, 2),) for _ in range(5)], lambda: {"hist": torch.zeros(2, 7)}, sequence=True)
def _(self, x):
    self.hist[:, 2:] = self.hist[:, :-2].clone()
    self.hist[:, :2] = x
    return self.hist.cumsum(1)


@program("trap02_put_then_flip", lambda: [(I([0, 3, -1]),) + each((7, 3), (8, 3), (50, 4)) + layouts(5, 6)])
def _(self, i, *xs):
    for x in xs:
        x.index_put_((i,), x.new_ones(3, x.shape[1]) * 5)
        x.add_(x.flip(0))


@program("trap02_copy_then_roll", lambda: [(I([2, 0]),) + each((7, 3), (3, 3), (50, 4)) + layouts(5, 6)])
def _(self, i, *xs):
    for x in xs:
        x.index_copy_(0, i, x[:2] * 3 + 1)
        x.add_(x.roll(1, 0))


@program("trap02_one_row", lambda: [(I([0]), R(1, 4), R(4, 1))])
def _(self, i, x, y):
    x[i] = 2.5
    x.add_(x.flip(0, 1)).sub_(x.roll(1, 1))
    y.index_add_(0, i, y[1:2].clone())
    y.add_(y.flip(0, 1))


@program("trap03_less_own_flip", lambda: [each((4, 7), (4, 8), (4, 1), (4, 0), (2, 65)) + layouts(5, 6)])
def _(self, *xs):
    for s in xs:
        s.sub_(s.flip(1))


@program("trap03_flip_of_state", lambda: [(R(3, 5),) for _ in range(4)], lambda: {"s": R(3, 5)}, sequence=True)
def _(self, x):
    self.s.sub_(self.s.flip(1)).add_(x)
    return self.s.flip(0, 1)


@program("trap04_transposed_copy",
         lambda: [each((2, 5, 5), (1, 17, 17), (3, 1, 1), (0, 4, 4), kinds=KINDS[:2]) + layouts(6, 6)])
def _(self, *ms):
    for m in ms:
        m.copy_(m.mT - 1)


@program("trap04_transposed_product", lambda: [(R(33, 33), R(2, 3, 4, 4), R(5, 5).t())])
def _(self, *xs):
    for x in xs:
        x.copy_(x.transpose(-1, -2) * 1.0)
        x.add_(x.transpose(-1, -2) + 1)
    return xs[0].sum(), xs[1].mT


@program("trap04_transposed_any_size", lambda: [(R(5, 5),), (R(1, 1),), (R(0, 0),), (R(19, 19),), (R(6, 6).t(),)],
         dynamic_shapes=({0: D("n", min=0), 1: D("n", min=0)},))
def _(self, x):
    x.copy_(x.t() - 1)


# ---- 5 to 9: what is read before it is overwritten, and whose storage a value may have


@program("trap05_copy_then_add", lambda: [each((5, 3), (1,), (0, 2), (70,), kinds=PAIRS)])
def _(self, *xs):
    for dst, src in zip(xs[::2], xs[1::2]):
        dst[:] = src[:]
        src.add_(1)


@program("trap05_snapshot", lambda: [layouts(5, 3)])
def _(self, snap, live, other, last):
    snap.copy_(live)
    live.neg_()
    other.copy_(live)
    live.mul_(2)
    last.copy_(snap + live)


@program("trap05_snapshot_of_state", lambda: [(R(4),) for _ in range(3)], lambda: {"live": R(4), "last": torch.zeros(4)},
         sequence=True)
def _(self, x):
    self.last.copy_(self.live)
    self.live.mul_(0.5).add_(x)
    return self.live - self.last


@program("trap05_cast_snapshot", lambda: [(R(6), torch.zeros(6, dtype=torch.bfloat16), torch.zeros(2, 6))])
def _(self, live, low, rows):
    low.copy_(live)
    rows.copy_(live)
    live.sub_(low)
    return rows - live


@program("trap06_scatter_then_fill", lambda: [(R(5, 3), R(2, 3)), (R(5, 3).t().contiguous().t(), R(2, 3))])
def _(self, x, u):
    y, z = x.clone(), torch.slice_scatter(x, u, 0, 1, 3)
    x.zero_()
    x.fill_(5)
    return y, z


@program("trap06_other_scatters", lambda: [(R(5, 3), R(3), I([1, 1, 4]), R(5, 3) > 0)])
def _(self, x, row, i, mask):
    results = (torch.select_scatter(x, row, 0, 2), x.index_put((i,), row), x.index_copy(0, i[1:], x[:2]),
               x.masked_fill(mask, 9.0), x.scatter(0, i[None], row[None]), torch.diagonal_scatter(x, row),
               x.index_fill(0, i, 7.0))
    x[1:3] = row
    x.mul_(2)
    return results


@program("trap06_last_is_written_back", lambda: [(R(5, 3), R(2, 3))])
def _(self, x, u):
    y = torch.slice_scatter(x, u, 0, 1, 3)
    z = torch.slice_scatter(y, u * 2, 0, 2, 4)
    x.copy_(z)
    return y, z.sum(0)


@program("trap07_swap", lambda: [each((3, 2), (1,), (0, 3), (65,), kinds=PAIRS)])
def _(self, *xs):
    for a, b in zip(xs[::2], xs[1::2]):
        old = a.clone()
        a.copy_(b)
        b.copy_(old)


@program("trap07_swap_layouts", lambda: [layouts(4, 5), layouts(4, 5)[::-1], (R(4, 5), R(4, 5), R(4, 5), R(4, 5))])
def _(self, a, b, c, d):
    x, y = a * 1, c + 0
    a.copy_(b)
    b.copy_(x)
    c.copy_(d - 1)
    d.copy_(y - 1)


@program("trap07_rotate", lambda: [(R(4), R(4), R(4)), (R(4), R(8)[::2], R(5)[1:])])
def _(self, a, b, c):
    old = c.clone()
    c.copy_(b)
    b.copy_(a)
    a.copy_(old)
    return a - b


@program("trap07_swap_states", lambda: [(R(3),) for _ in range(3)], lambda: {"a": R(3), "b": R(3)}, sequence=True)
def _(self, x):
    old = self.a.clone()
    self.a.copy_(self.b + x)
    self.b.copy_(old)
    return self.a * self.b


# -0.0 + 0.0 is +0.0; -0.0 - 0 is -0.0.
@program("trap08_neutral", lambda: [(I([-0.0, 0.0, 1.5, float("inf"), float("nan")]), T(4, dtype=torch.int64),
                                     I([-0.0, 2.0]).bfloat16())])
def _(self, *xs):
    results = [y for x in xs for y in (x / 1, x * 1, x + 0, x - 0, x**1, +x, 0 + x, x + 0.0, x - 0.0)]
    for x in xs:
        x.mul_(2)
    return results, [y.signbit() for y in results]


@program("trap08_neutral_returned", lambda: [(R(3, 2), R(1), R(0, 2), R(3, 4).t())])
def _(self, *xs):
    return [y for x in xs for y in (x / 1, x * 1, x + 0.0, x - 0, x * torch.ones(()), x + torch.zeros(()), x.clone(),
                                    x.abs().clone())]


@program("trap09_written_and_returned", lambda: [(R(n, 4),) for n in (3, 0, 1, 33)] + [(R(4, 5).t(),)],
         dynamic_shapes=({0: D("b", min=0)},))
def _(self, x):
    y = F.leaky_relu(x)
    x.copy_(y)
    x.add_(1)
    return y


@program("trap09_all_written_back", lambda: [each((3, 4), (0, 4), (1,), kinds=KINDS[:2])])
def _(self, *xs):
    results = [F.leaky_relu(x) for x in xs]
    for x, y in zip(xs, results):
        x.copy_(y)
    return results


# ---- 10 to 14: state


# A buffer that is bound anew is state as well.
@program("trap10_rebound_counter", lambda: [(R(3),) for _ in range(4)],
         lambda: {"c": I(0), "mean": torch.zeros(3), "one": torch.zeros(1)}, sequence=True)
def _(self, x):
    self.c = self.c + 1
    self.mean = self.mean * 0.9 + x * 0.1
    self.one = self.one - self.c
    return self.mean / self.c, self.one


@program("trap10_rebound_twice", lambda: [(R(3),) for _ in range(3)], lambda: {"b": torch.ones(3)}, sequence=True)
def _(self, x):
    first = self.b
    self.b = self.b + x
    middle = self.b * 2
    self.b = middle - first
    return first * 1, middle, self.b


@program("trap11_flag_and_scale", lambda: [(R(3),) for _ in range(3)],
         lambda: {"ready": I(False), "scale": I(1.5), "one": torch.ones(1)}, sequence=True)
def _(self, x):
    y = torch.where(self.ready, x * self.scale, x - self.one)
    self.ready.fill_(True)
    self.scale.mul_(2)
    self.one.add_(self.scale)
    return y, x * self.scale


@program("trap11_flag_of_cond", lambda: [(R(3),) for _ in range(3)],
         lambda: {"ready": I(False), "scale": I(1.5)}, sequence=True)
def _(self, x):
    y = torch.cond(self.ready, lambda x, s: x * s, lambda x, s: x - s, (x, self.scale))
    self.ready.logical_not_()
    self.scale.mul_(2)
    return y


@program("trap12_doubled_integers", lambda: [(T(3, dtype=torch.int64),) for _ in range(4)],
         lambda: {"n": I([1, -2, 3]), "small": I([1, -2, 3], dtype=torch.int8)}, sequence=True)
def _(self, k):
    old = self.n.clone()
    self.n.mul_(2)
    self.small.mul_(3)
    return old, self.n + k, self.small


@program("trap13_shift_register", lambda: [(R(2, 1), T(2, 1, dtype=torch.bfloat16), R(1)) for _ in range(4)],
         lambda: {"win": R(2, 5), "low": torch.zeros(2, 3, dtype=torch.bfloat16), "last": torch.zeros(1),
                  "f": nn.Parameter(R(5))}, sequence=True)
def _(self, x, low, last):
    self.win.copy_(torch.cat([self.win[:, 1:], x], 1))
    self.low.copy_(torch.cat([low, self.low[:, :-1]], 1))
    before = self.last * 1
    self.last.copy_(torch.cat([self.last[1:], last]))
    return (self.win * self.f).sum(1), self.low.sum(1), before


@program("trap13_shift_argument",
         lambda: [(R(5, 3), R(1, 3), R(3, 6).t(), R(2, 3)), (R(3, 5).t(), R(1, 3), R(6, 3), R(2, 3))])
def _(self, win, x, other, pair):
    win.copy_(torch.cat([win[1:], x]))
    other.copy_(torch.cat([pair, other[:-2]]))
    return win.mean(0)


@program("trap14_state_returned", lambda: [(R(3),) for _ in range(3)],
         lambda: {"b": torch.zeros(3), "n": I(0)}, sequence=True)
def _(self, x):
    self.b.add_(x)
    self.n.add_(1)
    return self.b, self.b[1:], self.n, x * 2, self.n, self.b


@program("trap14_argument_thrice", lambda: [(I(3), R(2)), (I(-1), R(2))])
def _(self, n, x):
    n.add_(1)
    x.mul_(n)
    return n, n, x, n


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
