"""Writes programs whose partial updates read the storage that they change, at other places; as make_programs.py does.
Those named in_place_apart_* read what they never write and take no scratch memory; staged_* keep their update aside,
never the whole storage.

python make_overlap_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

I = torch.tensor


@program("in_place_apart_rows", lambda: [(R(9, 6), R(5, 8), R(2, 8, 3), R(1, 4))])
def _(self, x, y, z, one):
    x[4:6] = x[0:2] * 2 + x[7:9]
    y[:, 0:3] = y[:, 3:6].exp()
    z[0] = z[1].flip(0)
    one[:, 1:2] = one[:, 3:4]


@program("in_place_apart_sums", lambda: [(R(5, 6), R(5, 8))])
def _(self, x, y):
    x[0] = x[1:].sum(0)
    y[:, 0] = y[:, 1:].amax(1)


@program("staged_shift",
         lambda: [(R(9, 6), R(9, 6), R(12), R(12), R(6, 5)), (R(6, 9).t(), R(9, 6), R(24)[::2], R(12), R(5, 6).t())])
def _(self, x, y, v, w, z):
    x[1:] = x[:-1].clone()
    y[:-2] = y[2:] * 2
    v[3:] = v[:-3].flip(0)
    w[1:-1] = (w[:-2] + w[2:]) / 2
    z[1:4] = F.pad(z, (0, 0, 1, 1))[0:6:2] - z[3:6]


@program("staged_swap", lambda: [(R(4, 6), R(5, 4), R(3, 3), n) for n in (torch.arange(6), torch.arange(6) * 3)])
def _(self, x, y, square, n):
    t = x[0].clone()
    x[0] = x[3]
    x[3] = t
    left = y[:, :2].clone()
    y[:, :2] = y[:, 2:].flip(0)
    y[:, 2:] = left * 2
    upper = square[0, 1:].clone()
    square[0, 1:] = square[1:, 0]
    square[1:, 0] = upper
    n[0:4:2] = n[1:5:2] + n[2:6:2]


@program("staged_rotation", lambda: [(R(3, 4), R(7))])
def _(self, x, ring):
    a, b, c = x[0].clone(), x[1].clone(), x[2].clone()
    x[0], x[1], x[2] = b, c, a
    oldest = ring[0].clone()
    ring[:-1] = ring[1:].clone()
    ring[-1] = oldest + 1


@program("staged_index", lambda: [(R(9, 4), i, R(9, 4), R(9), i) for i in (I([3, 0, 8]), I([1, 1, -1]), I([-9, 4, 5]))])
def _(self, x, i, y, v, j):
    x[i] = x[i] * 2 + 1
    y[i] = y[i.flip(0)] + y[0]
    v.index_put_((j,), v[j] * v[j - j], accumulate=True)


@program("staged_index_copy",
         lambda: [(R(9, 4), i, R(4, 9), R(9, 4), R(9, 4)) for i in (I([3, 0]), I([8, 1]), I([0, 1]))])
def _(self, x, i, y, z, w):
    x.index_copy_(0, i, x[2:4].clone())
    y.index_copy_(1, i, y[:, 1:3] * 2)
    z.index_add_(0, i, z[0:2].clone(), alpha=3)
    w.index_fill_(0, i, 2).index_copy_(0, i + 1 - 1, w[1:3] + 1)


@program("staged_scatter", lambda: [(R(5, 4), I([[0, 1, 4], [2, 2, 3]]), R(5, 4)),
                                    (R(5, 4), I([[4, 4, 0], [0, 1, 3]]), R(5, 4))])
def _(self, x, i, y):
    x.scatter_(0, i, x.gather(0, 4 - i))
    y.scatter_add_(0, i, y[1:3] * 2)


@program("staged_masks", lambda: [(R(9), R(9) > 0, R(3, 4), R(3, 4) > 0, R(6, 3)),
                                  (R(9), R(9) > 5, R(3, 4), R(3, 4) > -5, R(6, 3))])
def _(self, x, m, y, k, z):
    x.masked_scatter_(m, x.flip(0))
    y.masked_scatter_(k, y.t().clone())
    z[1:4].masked_scatter_(k[:, :3], z[2:5].clone())


@program("staged_one_row", lambda: [(R(8, 4), I(n), R(4)) for n in (0, 3, 7)])
def _(self, x, at, v):
    row = x.index_select(0, at.reshape(1))
    x.index_copy_(0, at.reshape(1), torch.softmax(row + v, 1))


@program("in_place_rings", lambda: [(R(5, 3), R(1, 3), R(7, 3), R(3, 3), R(2, 6, 3), R(2, 2, 3), R(6, 2), R(9), R(2)),
                                    (R(3, 5).t(), R(1, 3), R(7, 3), R(3, 3), R(2, 6, 3), R(2, 2, 3), R(6, 2), R(18)[::2], R(2))])
def _(self, up, one, far, three, inner, two, parts, flat, last):
    up.copy_(torch.cat([one, up[:-1]]))
    far.copy_(torch.cat([three, far[:-3]]).double().float())
    inner.copy_(torch.cat([two, inner[:, :-2]], 1))
    parts.copy_(torch.cat([parts[1:3], parts[3:] * 2, two[0, :1, :2]]))
    flat.copy_(torch.cat([last, flat[:-2] + 1]))


@program("in_place_rings_both_ways", lambda: [(R(6, 4), R(1, 4), R(2, 4), R(4, 6)) for _ in range(2)])
def _(self, x, new, middle, y):
    x.copy_(torch.cat([x[1:3], middle, x[3:5]]))
    y.copy_(torch.cat([y[:, 1:], new.t()], 1))


@program("in_place_ring_state", lambda: [(R(1, 3),) for _ in range(6)], lambda: {"ring": torch.zeros(4, 3)}, sequence=True)
def _(self, x):
    self.ring.copy_(torch.cat([x, self.ring[:-1]]))
    return self.ring.mean(0)


@program("in_place_rings_of_any_size", lambda: [(R(6, 4), R(1, 4), R(3, 5), R(3, 1)), (R(9, 4), R(1, 4), R(3, 3), R(3, 1))],
         dynamic_shapes=({0: D("n", min=3)}, None, {1: D("m", min=3)}, None))
def _(self, x, new, y, last):
    x.copy_(torch.cat([new, x[:-1]]))
    y.copy_(torch.cat([y[:, 1:], last], 1))


@program("staged_any_size", lambda: [(R(6, 4), R(7)), (R(9, 4), R(5)), (R(3, 4), R(3))],
         dynamic_shapes=({0: D("n", min=3)}, {0: D("m", min=3)}))
def _(self, x, v):
    x[1:] = x[:-1].clone()
    v[:-1] = v[1:] + v[0]


@program("staged_state", lambda: [(R(3),) for _ in range(6)],
         lambda: {"window": torch.zeros(4, 3), "total": torch.zeros(2, 3)}, sequence=True)
def _(self, x):
    self.window[:-1] = self.window[1:].clone()
    self.window[-1] = x
    self.total[0] = self.total[1] + x
    self.total[1] = self.total[0] * 0.5 + self.window.sum(0)
    return self.window * 1, self.total * 1


@program("staged_condition_inside", lambda: [(R(6, 4), I([n])) for n in (2, 6, 5)], refused=(1,))
def _(self, x, i):
    x[1:4] = x[0:3] + x[i]
    return x[i]


# Shifts of a whole tensor run in the order in which they read.
@program("in_place_ring",
         lambda: [(R(2, 3), R(8, 1), R(3)) for _ in range(3)],
         lambda: {"rows": R(8, 3), "columns": R(8, 5)}, sequence=True)
def _(self, x, column, _):
    self.rows.copy_(torch.cat([self.rows[2:], x]))
    self.columns.copy_(torch.cat([self.columns[:, 1:], column], 1))


@program("in_place_ring_of_argument", lambda: [(R(8, 3), R(8), R(4, 4, 4)), (R(3, 8).t(), R(8), R(4, 4, 4))])
def _(self, x, v, y):
    x.copy_(F.pad(x[1:], (0, 0, 0, 1), value=2))
    v.copy_(torch.cat([v[3:] * 2, v.new_ones(3)]))
    y.copy_(F.pad(y[:, :-1], (0, 0, 1, 0)))


@program("kept_ring", lambda: [(R(3),) for _ in range(3)], lambda: {"back": R(6, 3)}, sequence=True)
def _(self, first):
    self.back.copy_(torch.cat([first[None], self.back[:-1]]))


@program("kept_scatter_reduce", lambda: [(R(5, 4), I([[0, 1, 4], [2, 2, 3]])), (R(5, 4), I([[4, 4, 0], [0, 1, 3]]))])
def _(self, z, i):
    z.scatter_reduce_(0, i, z[0:2] + 1, "amax")


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
