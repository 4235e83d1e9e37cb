"""Programs whose inputs' sizes are expressions, written as make_programs.py does: make_size_programs.py OUT [NAME...]"""

import os
import sys

import torch

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

S = D("s", min=2, max=8)


# No size is the symbol itself.
@program("even_rows", lambda: [(R(6, 3),), (R(4, 3),), (R(7, 3),), (R(18, 3),), (R(16, 3),)],
         dynamic_shapes=({0: 2 * S},), refused=(2, 3))
def _(self, x):
    x.mul_(2)
    return x.reshape(2, -1).sum(0)


@program("two_and_three_times", lambda: [(R(6), R(9)), (R(8), R(12)), (R(8), R(9)), (R(6), R(10)), (R(5), R(9))],
         dynamic_shapes=({0: 2 * S}, {0: 3 * S}), refused=(2, 3, 4))
def _(self, x, y):
    return torch.cat([x, y]), x.reshape(2, -1) + y.reshape(3, -1)[1:]


@program("one_more", lambda: [(R(5, 2),), (R(4, 2),), (R(9, 2),), (R(10, 2),)], dynamic_shapes=({0: S + 1},), refused=(3,))
def _(self, x):
    return x[1:] - x[:-1], x[2:]


@program("pairs_less_one", lambda: [(R(5), R(6)), (R(3), R(4)), (R(4), R(6)), (R(5), R(5))],
         dynamic_shapes=({0: 2 * S - 1}, {0: 2 * S}), refused=(2, 3))
def _(self, x, y):
    y[1:] = x
    return y * 2


# A Python integer that is an expression of sizes.
@program("integer_of_sizes", lambda: [(R(4, 3), 12, 8), (R(2, 5), 10, 4), (R(4, 3), 11, 8), (R(4, 3), 12, 7)],
         dynamic_shapes=({0: D.AUTO, 1: D.AUTO}, D.AUTO, D.AUTO), refused=(2, 3))
def _(self, x, n, twice):
    if n == x.shape[0] * x.shape[1] and twice == 2 * x.shape[0]:
        return x.reshape(n) * twice
    return x


@program("slices_of_any_size", lambda: [(torch.arange(48.0).reshape(6, 8)[:, :4], R(4, 6, 5)[:, 1:3, ::2]),
                                        (R(5, 3), R(4, 2, 3)), (R(3, 4).t(), R(2, 2, 9)[:, :, ::3])],
         dynamic_shapes=({0: D.AUTO, 1: D.AUTO}, {0: D.AUTO, 1: D.AUTO, 2: D.AUTO}))
def _(self, x, y):
    x.mul_(2)
    return x + 1, x[1:].sum(1), x.t()[0], y.flatten(1), y.permute(2, 0, 1) * 2


@program("transposed_slice", lambda: [(torch.arange(48.0).reshape(6, 8)[:, :4].t(),), (R(2, 7),), (R(9, 4)[:, :3].t(),)],
         dynamic_shapes=({0: D.AUTO, 1: D.AUTO},))
def _(self, x):
    return x.t() - 1, x * 2, x.sum(0)


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
