"""Writes programs whose products, reductions and attention are computed where a mutation puts them, without scratch
memory; as make_programs.py does.

python make_placed_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

I = torch.tensor


@program("in_place_product_in_part", lambda: [(R(16, 5), R(2, 3), R(3, 5), R(5, 16), R(4, 2, 5, 6), R(4, 5, 3), R(4, 3, 6))])
def _(self, x, a, b, columns, y, c, d):
    x[2:4] = a @ b
    columns[:, 3:5] = (a @ b).t()
    y[:, 1] = c @ d


@program("in_place_product_half", lambda: [(R(16, 5).to(t), R(2, 3).to(t), R(3, 5).to(t), R(5).to(t))
                                           for t in (torch.bfloat16,)])
def _(self, x, a, b, bias):
    x[2:4] = torch.addmm(bias, a, b)
    x[7:9] = a @ b


@program("in_place_reduction_in_part", lambda: [(R(16, 5), R(3, 5), R(16), R(2, 4), R(3, 16))])
def _(self, x, a, y, b, z):
    x[2] = a.sum(0)
    y[3:5] = b.amax(1)
    z[:, 2] = a.mean(1)
    z[:, 3] = torch.linalg.vector_norm(a, dim=1)


@program("placed_normalized_rows", lambda: [(R(9, 6), R(2, 6), R(6), R(2, 6, 5), R(2, 5))])
def _(self, x, a, w, y, b):
    x[3:5] = F.layer_norm(a, (6,), w)
    x[0:2] = torch.softmax(a, 1)
    y[:, 2] = F.rms_norm(b, (5,))


# The projection of a decoder goes into its cache row: static and run-time positions, both layouts.
def _projection():
    return {"k": torch.zeros(1, 2, 8, 4), "v": torch.zeros(1, 8, 2, 4), "w": nn.Parameter(R(8, 6))}


@program("in_place_projection_static", lambda: [(R(1, 1, 6),), (R(1, 1, 6),)], _projection, sequence=True)
def _(self, x):
    p = F.linear(x, self.w).view(1, 1, 2, 4)
    self.k[:, :, 3:4] = p.transpose(1, 2)
    self.v[:, 5:6] = F.linear(x, self.w).view(1, 1, 2, 4)


@program("in_place_projection_rows", lambda: [(R(1, 3, 6),), (R(1, 3, 6),)], _projection, sequence=True)
def _(self, x):
    self.k[:, :, 2:5] = F.linear(x, self.w).view(1, 3, 2, 4).transpose(1, 2)
    self.v[:, 5:8] = F.linear(x, self.w).view(1, 3, 2, 4)


@program("placed_projection_at", lambda: [(R(1, 1, 6), I([n])) for n in (0, 3, 7, 8)], _projection, sequence=True,
         refused=(3,))
def _(self, x, at):
    self.k.index_copy_(2, at, F.linear(x, self.w).view(1, 1, 2, 4).transpose(1, 2))
    self.v[:, at] = F.linear(x, self.w).view(1, 1, 2, 4)
    return self.k.sum()


@program("placed_projection_offset", lambda: [(R(1, 2, 6), n) for n in (0, 3, 6)], _projection, sequence=True,
         dynamic_shapes=(None, D.DYNAMIC(min=0, max=6)))
def _(self, x, n):
    self.k.narrow(2, n, 2).copy_(F.linear(x, self.w).view(1, 2, 2, 4).transpose(1, 2))
    self.v.narrow(1, n, 2).copy_(F.linear(x, self.w).view(1, 2, 2, 4))
    return self.v.sum()


@program("placed_projection_batch", lambda: [(R(3, 1, 6), I([n])) for n in (0, 5)],
         lambda: {"k": torch.zeros(3, 2, 8, 4), "w": nn.Parameter(R(8, 6)), "b": nn.Parameter(R(8))}, sequence=True)
def _(self, x, at):
    self.k.index_copy_(2, at, F.linear(x, self.w, self.b).view(3, 1, 2, 4).transpose(1, 2))
    return self.k.sum()


@program("placed_attention", lambda: [(R(1, 2, 3, 4), R(1, 2, 5, 4), R(1, 2, 5, 4), R(1, 2, 9, 4))])
def _(self, q, k, v, out):
    out[:, :, 2:5] = F.scaled_dot_product_attention(q, k, v)


@program("placed_convolution", lambda: [(R(1, 2, 8), R(4, 2, 3), R(1, 4, 9))])
def _(self, x, w, out):
    out[:, :, 1:7] = F.conv1d(x, w)


@program("placed_parts_of_outputs", lambda: [(R(2, 3), R(3, 4), R(5, 4)), (R(7, 3), R(3, 4), R(2, 4))],
         dynamic_shapes=({0: D("n")}, None, {0: D("m")}))
def _(self, a, b, c):
    return torch.cat([a @ b, c.softmax(1), (b @ b.t() @ b)[:1]]), torch.stack([b.sum(1), b.amax(1)], 1)


# What is computed reads what it is put into, or is needed again: it keeps its own memory.
@program("kept_products", lambda: [(R(6, 6), R(2, 6), R(6, 6))])
def _(self, x, a, y):
    x[2:4] = a @ x
    p = a @ y
    y[0:2] = p
    return p * 2, x[2:4] @ y


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
