"""Programs with torch.cond, while_loop and map, written as make_programs.py does: make_control_flow.py OUT [NAME...]"""

import os
import sys

import torch
from torch import nn
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.while_loop import while_loop

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

YES, NO = torch.tensor(True), torch.tensor(False)


@program("cond_on_tensor", lambda: [(R(3, 4), YES), (R(3, 4), NO)])
def _(self, x, p):
    return torch.cond(p, lambda x: x.sin() + 1, lambda x: x.cos() * 2, (x,))


# The part that is not taken would fail.
@program("cond_guards_a_check", lambda: [(R(4), torch.tensor([1, 3])), (R(4), torch.tensor([1, 9])), (R(4), torch.tensor([-4, 3]))])
def _(self, x, i):
    inside = ((i < 4) & (i >= -4)).all()
    return torch.cond(inside, lambda x, i: x[i] * 2, lambda x, i: (i * 0).float() - 1, (x, i))


@program("cond_on_size", lambda: [(R(3, 4),), (R(9, 4),), (R(5, 4),)],
         dynamic_shapes=({0: D("b", min=2, max=16)},))
def _(self, x):
    y, z = torch.cond(x.shape[0] > 4, lambda x: (x.sum(0), x * 2), lambda x: (x.amax(0), x - 1), (x,))
    return y + 1, z.t()


# State and an input change before and after; in-place operations on what a branch makes itself.
@program("cond_between_mutations", lambda: [(R(3, 4).abs(),), (-R(3, 4).abs(),), (R(3, 4).abs(),)],
         lambda: {"w": nn.Parameter(R(4, 4)), "n": torch.zeros(1)}, sequence=True)
def _(self, x):
    self.n.add_(1)
    y = torch.cond(x.sum() > 0, lambda x: (x @ self.w).relu_(), lambda x: x.clone().mul_(3), (x,))
    x.add_(y)
    self.n.mul_(y.mean().sign())
    return y + self.n


@program("cond_nested", lambda: [(R(5), a.clone(), b.clone()) for a in (YES, NO) for b in (YES, NO)])
def _(self, x, p, q):
    def yes(x):
        return torch.cond(q, lambda x: x + 1, lambda x: (x * 2).cumsum(0), (x,))

    y = torch.cond(p, yes, lambda x: x - 10, (x,))
    return torch.cond(q, lambda y: y.flip(0), lambda y: y.exp(), (y,))


@program("cond_writes_a_cache", lambda: [(R(2, 4), YES), (R(2, 4), NO), (R(2, 4), YES)],
         lambda: {"cache": torch.zeros(6, 4)}, sequence=True)
def _(self, x, p):
    new = torch.cond(p, lambda c, x: torch.cat([c[2:], x]), lambda c, x: c + 0.5, (self.cache, x))
    self.cache.copy_(new)
    return self.cache.sum(0)


@program("while_counts", lambda: [(R(3, 4), torch.tensor(n)) for n in (3, 0, -2, 7)])
def _(self, x, n):
    return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 1.5 + i), (torch.tensor(0), x))


# Each next value needs the other's old one.
@program("while_coupled", lambda: [(R(4, 4), R(4, 4)), (R(4, 4) * 100, R(4, 4))],
         lambda: {"w": nn.Parameter(R(4, 4))})
def _(self, x, y):
    return while_loop(lambda x, y: x.abs().sum() < 200,
                      lambda x, y: (y + x, (x @ self.w) - y.t()), (x, y))


# torch cannot decompose it.
@program("while_any_size", lambda: [(R(3, 2),), (R(8, 2),)], decomp=False, dynamic_shapes=({0: D("b", min=2, max=16)},))
def _(self, x):
    i, y = while_loop(lambda i, y: i < x.shape[0], lambda i, y: (i + 1, (y.softmax(0) + y.sum()).clamp(max=50)),
                      (torch.zeros((), dtype=torch.int64), x))
    x.mul_(2)
    return y - x, i


@program("while_with_branch", lambda: [(torch.tensor(27),), (torch.tensor(1),), (torch.tensor(97),)])
def _(self, n):
    def step(n, steps):
        after = torch.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, (n,))
        return after, steps + 1

    return while_loop(lambda n, steps: n != 1, step, (n, torch.zeros((), dtype=torch.int64)))


@program("map_rows", lambda: [(R(5, 3, 4), R(4, 2)), (R(2, 3, 4), R(4, 2)), (R(9, 3, 4), R(4, 2))],
         dynamic_shapes=({0: D("b", min=2, max=16)}, None))
def _(self, xs, y):
    return map_rows(lambda x, y: (x @ y).sin(), xs, y)


@program("map_several", lambda: [(R(5, 3), R(5, 3), R(3))])
def _(self, a, b, c):
    total, best = map_rows(lambda t, c: [t[0] + t[1] * c, t[0].max() + c.sum()], (a, b), c)
    a.zero_()
    return total, best, a + 1


@program("cond_with_nonzero", lambda: [(R(10), torch.tensor(True)), (R(10), torch.tensor(False))])
def _(self, x, p):
    return torch.cond(p, lambda x: x[x>0].sum(), lambda x: (x.nonzero()[:, 0].float()*2).sum()+x.amax(), (x,))


@program("while_matmul", lambda: [(R(33, 65), R(65, 65)*0.1)])
def _(self, x, w):
    i, y=while_loop(lambda i, y: i<4, lambda i, y: (i+1, (y@w).tanh()), (torch.tensor(0), x))
    return y, i


@program("cond_with_scatter", lambda: [(R(5, 3), torch.tensor([0, 2, -1]), torch.tensor(1)), (R(5, 3), torch.tensor([0, 0, 1]), torch.tensor(-1))])
def _(self, x, i, s):
    def a(x, i):
        y=x.clone(); y[i]+=1; y.index_add_(0, i.abs(), torch.ones(3, 3)); return y
    return torch.cond(s>0, a, lambda x, i: x.scatter(0, i[None].abs().expand(2, 3), 0.5), (x, i))


@program("cond_bfloat16", lambda: [(R(4, 8).bfloat16(), torch.tensor(True)), (R(4, 8).bfloat16(), torch.tensor(False))])
def _(self, x, p):
    y=torch.cond(p, lambda x: (x.softmax(-1), x.argmax(-1)), lambda x: (x*3, x.argmin(-1)), (x,))
    x.zero_()
    return y


@program("while_on_state", lambda: [(R(4),), (R(4),)], lambda: {"h":torch.zeros(4), "w":nn.Parameter(R(4, 4))}, sequence=True)
def _(self, x):
    i, h=while_loop(lambda i, h: (i<3)&(h.abs().sum()<50), lambda i, h: (i+1, (h@self.w+x)), (torch.zeros((), dtype=torch.int64), self.h))
    self.h.copy_(h)
    return h*2, i


@program("map_sort", lambda: [(R(6, 5),), (R(3, 5),)], dynamic_shapes=({0:D("b", min=2, max=9)},))
def _(self, x):
    return map_rows(lambda r: r.sort().values.cumsum(0), x)


@program("cond_between_input_mutations", lambda: [(R(4), torch.tensor(True)), (R(4), torch.tensor(False))])
def _(self, x, p):
    x.add_(1)
    y=torch.cond(p, lambda x: x*2, lambda x: x*3, (x,))
    x.mul_(y)
    z=torch.cond(p, lambda x, y: x-y, lambda x, y: x+y, (x, y))
    x.sub_(z)
    return z, x


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
