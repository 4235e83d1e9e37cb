"""Writes more programs after public reports, as trap_programs.py does: results and arguments that share storage or lie
in it in awkward ways.

python trap_alias_programs.py OUT [NAME ...]      (torch 2.15, numpy)
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

from make_programs import PROGRAMS, R, program
from trap_programs import I, KINDS, T, any_size, each, layouts

PROGRAMS.clear()


# ---- 15 to 18: results that are other tensors


@program("trap15_one_tensor", lambda: [(R(3, 4),)])
def _(self, x):
    y = x * 2
    return y, y.contiguous(), y.reshape(-1), y.t(), y, y[1:], y.detach(), y.view(2, 6)


@program("trap15_empty_tensor", lambda: [(R(3, 4), R(0, 4))])
def _(self, x, e):
    y, z = x[1:2] * 2, e * 2
    return y, y, y[0], y[:0], z, z, z.t(), y.expand(3, 4)


@program("trap16_equal_results", lambda: [each((3, 4), (1,), (0,))])
def _(self, *xs):
    return [y for a in xs for y in (a * 2 + 1, a * 2 + 1, (a + 0).sum(), (a + 0).sum())] + [torch.ones(3), torch.ones(3)]


@program("trap17_constants_returned", lambda: [(R(2),) for _ in range(3)],
         lambda: {"w": nn.Parameter(R(2, 3)), "b": R(4), "one": torch.ones(()), "none": torch.zeros(0, 2)}, sequence=True)
def _(self, x):
    return self.w, self.w.t(), self.b, self.b[1:3], self.one, self.none, self.w, I([1.0, 2.0]), x @ self.w


@program("trap18_argument_and_views", lambda: [(R(3, 4), R(2)), (R(4, 3).t(), R(2)), (R(5, 6)[1:4, 2:], R(3)[1:])])
def _(self, x, unused):
    x.add_(1)
    return x, x[1:], x.t(), x[:, 1], x.unsqueeze(0), x.diagonal()


@program("trap18_views_any_size", lambda: [(R(3, 4), R(2)), (R(1, 2), R(2)), (R(6, 5).t(), R(2))],
         dynamic_shapes=any_size(2, 1), refused=(1,))
def _(self, x, unused):
    x.add_(1)
    return x, x[1:], x.t(), x.diagonal()


# ---- 19 to 21: indexed and disguised reads


@program("trap19_repeated_rows", lambda: [(I([1, 1, 3, 1]),) + each((5, 3), (4, 1), (40, 5)) + layouts(5, 4),
                                          (I([-1, 3, 3, -1]),) + each((5, 3), (4, 1), (40, 5)) + layouts(5, 4)])
def _(self, i, *xs):
    for x in xs:
        x[i] += x[i]
        x[i] = x[i] * 2 - 1


@program("trap19_repeated_places", lambda: [(R(4, 5), I([0, 0, 3, 0]), I([1, 1, -1, 2]), I([], dtype=torch.int64), R(1))])
def _(self, x, i, j, none, one):
    x[i, j] += x[i, j]
    x[:, i] *= x[:, i]
    x[none] += 1
    one[i * 0] += one[i * 0]
    x.index_put_((i,), x[i] * 0.5, accumulate=True)


@program("trap20_bits_of_argument", lambda: [(T(5, dtype=torch.int64), R(4), R(3).bfloat16(), R(2, 3), R(3, 2))])
def _(self, n, x, low, d, pairs):
    seen = (n.view(torch.int32) + 3, x.view(torch.int32) * 1, low.view(torch.int16) + 1,
            d.view(torch.uint8).to(torch.int32), torch.view_as_complex(pairs) * 1)
    n[1:].zero_()
    for y in (x, low, d, pairs):
        y.neg_()
    return seen, n.view(torch.int32) + 3


@program("trap20_written_bits", lambda: [(T(5, dtype=torch.int64), R(4), R(2, 3).bfloat16()),
                                         (T(5, dtype=torch.int64), R(8)[::2], R(3, 2).bfloat16().t())])
def _(self, n, x, low):
    before = n * 1
    n.view(torch.int32)[1:3].add_(7)
    x.view(torch.int32).bitwise_and_(0x7FFFFFFF)
    low.view(torch.int16).bitwise_xor_(-32768)
    return before, n * 1, x * 1, low * 1


@program("trap21_cat_then_scatter", lambda: [(I([2, 0]),) + each((3, 2), (4, 1)) + layouts(4, 3)])
def _(self, i, *xs):
    results = []
    for x in xs:
        old = torch.cat([x, 2 * x])
        x[i] = x.new_ones(2, x.shape[1]) * 9
        results += [old, torch.cat([x, 2 * x]), torch.stack([x, x])]
    return results


# ---- 22 to 26: where the storage of an argument or a state lies


@program("trap22_awkward_arguments", lambda: [(R(4, 6).t(), R(8, 9)[2:6, 1:8:2]), (R(6, 4), R(4, 4)),
                                              (R(12, 4)[::2], R(4, 4).t()), (R(6, 8)[:, 1::2], R(4, 5)[:, 1:])])
def _(self, x, window):
    x.mul_(2)
    window.add_(x[:4]).t()[1].sub_(3)
    x[1:] = x[:-1].clone()
    return x.sum(1), window * 1


@program("trap22_exported_contiguous", lambda: [(R(6, 4), R(4, 4)), (R(4, 6).t(), R(8, 9)[2:6, 1:8:2]),
                                                (R(25)[1:].view(6, 4), R(17)[1:].view(4, 4)),
                                                (R(6, 1, 4).squeeze(1), R(4, 8)[:, ::2])])
def _(self, x, window):
    x.mul_(2)
    window.copy_(window.t() @ x[:4])
    x[1:3] += window[0]


def unaligned(*offsets):
    kinds = KINDS + (torch.int8,)
    return tuple(T(70 + o, dtype=k)[o:o + 67] for o, k in zip(offsets, kinds))


@program("trap23_unaligned", lambda: [unaligned(1, 1, 1, 3), unaligned(0, 0, 0, 0), unaligned(3, 5, 7, 5)])
def _(self, *xs):
    for x in xs:
        x.mul_(2)
    return [y for x in xs for y in (x[3:], x[1:60] + x[8:67], x.sum())]


@program("trap24_reshaped_writes", lambda: [(R(6, 4), R(4, 3), R(2, 6)), (R(6, 4), R(4, 3), R(2, 6))])
def _(self, x, y, z):
    x.view(3, 2, -1)[:, 1].mul_(2)
    y.t()[0].add_(1)
    y.reshape(2, 6)[1].view(3, 2).t().neg_()
    z.view(-1)[1::3].unflatten(0, (2, 2)).transpose(0, 1)[0].fill_(7)
    return x.view(-1), z.view(3, 4).sum(0)


@program("trap24_reshaped_any_size", lambda: [(R(6, 4),), (R(2, 1),), (R(0, 4),), (R(26, 3),)],
         dynamic_shapes=any_size(2), refused=(1, 2))
def _(self, x):
    x.view(-1, 2, x.shape[1])[:, 1].mul_(2)
    x.t()[:1].sub_(1)


def _decode():
    return {"k": R(1, 2, 8, 4).bfloat16(), "v": R(1, 2, 8, 4).bfloat16(), "pos": I([2])}


@program("trap25_decode_steps", lambda: [(R(1, 2, 1, 4).bfloat16(),) for _ in range(4)], _decode, sequence=True)
def _(self, x):
    self.k.index_copy_(2, self.pos, x)
    self.v[:, :, self.pos] = x * 2
    self.pos.add_(1)
    return F.scaled_dot_product_attention(x, self.k, self.v, attn_mask=(torch.arange(8) < self.pos)[None])


# The write reaches the buffer through other nodes.
@program("trap25_distant_writes", lambda: [(R(2, 3), I([n])) for n in (1, 0, 3)],
         lambda: {"cache": R(2, 4, 6), "count": I(5)}, sequence=True)
def _(self, x, at):
    rows = self.cache.view(2, 4, 2, 3).select(2, 1).transpose(0, 1)
    rows[at] = x
    rows.narrow(0, 2, 1).squeeze(0).add_(1)
    self.count.view(1).expand(1).reshape(()).sub_(1)
    return self.cache.sum(2), rows.sum() * self.count


class Store(nn.Module):
    def __init__(self, cache):
        super().__init__()
        self.cache = cache


def _layers():
    cache = nn.Module()
    cache.register_buffer("k", torch.zeros(4, 3))
    return {"one": Store(cache), "two": Store(cache)}


# Two layers and one buffer; torch cannot decompose it.
@program("trap26_shared_by_layers", lambda: [(R(3), I(n)) for n in (0, 2, 3)], _layers, sequence=True, decomp=False)
def _(self, x, at):
    self.one.cache.k.index_copy_(0, at.view(1), x[None])
    y = self.two.cache.k.sum(0)
    self.two.cache.k.mul_(2)
    return y, self.one.cache.k * 1


def _names():
    both, low, scalar = R(4), R(2, 2).bfloat16(), I(1.0)
    return {"a": both, "b": both, "c": low, "d": low, "e": scalar, "f": scalar, "g": scalar}


# torch cannot decompose it.
@program("trap26_two_names", lambda: [(R(4),) for _ in range(3)], _names, sequence=True, decomp=False)
def _(self, x):
    self.a[1:].mul_(2)
    y = self.b + x
    self.b.flip(0)
    self.b.copy_(self.a.flip(0))
    self.c.add_(self.d.t() * 0.5)
    self.e.add_(1)
    self.g.mul_(self.f)
    return y, self.a * 1, self.d * 1, self.e * self.f


# ---- 27 to 29


def _norms():
    return {"one": nn.BatchNorm1d(3), "plain": nn.BatchNorm1d(3, affine=False), "two": nn.BatchNorm2d(2, momentum=0.3)}


@program("trap27_batch_norms", lambda: [(R(5, 3), R(2, 2, 3, 3)) for _ in range(3)], _norms, sequence=True)
def _(self, x, image):
    return self.plain(self.one(x)), self.two(image)


@program("trap27_batch_norm_any_size", lambda: [(R(n, 3),) for n in (5, 2, 33)], lambda: {"one": nn.BatchNorm1d(3)},
         sequence=True, dynamic_shapes=any_size(1))
def _(self, x):
    return self.one(x), self.one.num_batches_tracked * 2


@program("trap28_other_layouts",
         lambda: [(R(4, 5), R(5, 3)), (R(5, 4).t(), R(3, 5).t()), (R(1, 5).expand(4, 5), R(5, 1).expand(5, 3)),
                  (R(4, 1).expand(4, 5), R(()).expand(5, 3)), (R(9, 8)[1:5, 2:7], R(12, 9)[1::2, ::3][:5]),
                  (R(5, 8)[:, ::2].t(), R(16)[1:].view(5, 3))])
def _(self, x, y):
    return (x * 2).sum(1), x.sum(0), x @ y, (x[:, :3] * y[:4]).sum(), x.softmax(1), x.argmax(1), x.cumsum(0)


@program("trap29_expanded_targets", lambda: [(I([0, 2, 2, 0]), T(4, 3)) + each((3,), (1,), (0,))])
def _(self, i, values, *xs):
    results = []
    for row, one, none in zip(xs[:3], xs[3:6], xs[6:]):
        e, update = row.expand(4, 3), values.to(row.dtype)
        results += [
            e.index_put((i,), update, accumulate=True), e.index_add(0, i, update), e.index_put((i[:2],), update[:2]),
            e.index_copy(0, i[1:2], update[:1]), torch.slice_scatter(e, update[:2], 0, 1, 3),
            e.scatter_add(0, i[None, :3], update[:1]), e.masked_fill(values > 0, 4), e.clone().add_(update),
            one.expand(4).index_add(0, i, update[:, 0]), none.expand(2, 0).index_put((i[:1],), update[0, :0])]
    return results


@program("trap29_overlapping_argument",
         lambda: [(R(4, 3), R(4, 3)), (R(3).expand(4, 3), R(4, 3)), (R(4, 1).expand(4, 3), R(4, 3)),
                  (R(6).as_strided((4, 3), (1, 1)), R(4, 3))], refused=(1, 2, 3))
def _(self, x, y):
    x.add_(y)
    return x.sum(0)


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
