"""Writes programs at the edges of what ops do: copies that depend on a layout, bounds outside of a type's range,
reductions of nothing, NaN and infinities; as make_programs.py does.

python edge_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F

from make_programs import D, PROGRAMS, R, program

PROGRAMS.clear()

A = torch.ops.aten
I = torch.tensor
nan, inf = float("nan"), float("inf")


# ---- conversions of the memory format: the same tensor or a copy


def _formats():
    return R(2, 3, 4, 5), R(2, 3, 4, 5).to(memory_format=torch.channels_last), R(1, 3, 2, 2, 2), R(4, 3)


@program("to_memory_format", lambda: [_formats()])
def _(self, x, y, z, m):
    last, last3 = torch.channels_last, torch.channels_last_3d
    results = [x.to(memory_format=last).add_(1), y.to(memory_format=torch.contiguous_format).mul_(2),
               z.to(memory_format=last3).relu_(), z.to(torch.float32, memory_format=last3).sub_(1),
               x.to(y, memory_format=last).neg_(), x.to(torch.device("cpu"), torch.float32, memory_format=last).abs_(),
               x.contiguous(memory_format=last).exp_()]
    return results


@program("to_same_memory_format", lambda: [_formats()])
def _(self, x, y, z, m):
    x.to(memory_format=torch.contiguous_format).add_(1)
    x.to(memory_format=torch.preserve_format).mul_(2)
    y.to(memory_format=torch.channels_last).add_(1)
    y.to(y, memory_format=torch.channels_last).add_(1)
    y.contiguous(memory_format=torch.channels_last).mul_(3)
    z.to(torch.float32, memory_format=torch.contiguous_format).add_(1)
    m.to(memory_format=torch.contiguous_format).add_(1)


@program("to_memory_format_state", lambda: [(R(2, 3, 4, 5),), (R(2, 3, 6, 4),)],
         lambda: {"b": R(2, 3, 1, 1)}, sequence=True,
         dynamic_shapes=((None, None, D.DYNAMIC(max=8), D.DYNAMIC(max=8)),))
def _(self, x):
    y = x.to(memory_format=torch.channels_last)
    y.add_(self.b)
    self.b.to(memory_format=torch.contiguous_format).add_(y.sum())
    return y, x


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
