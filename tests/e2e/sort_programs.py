"""Programs of sorting and selection: element types, layouts, special values, sizes known at the call.
make_programs.py registers them.
"""
import torch

R = torch.randn
D = torch.export.Dim
INF, NAN = float("inf"), float("nan")
WIDTHS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32)


def _special(rows, n, dtype=torch.float32):
    x = (R(rows, n) * 3).round() / 2
    for i, v in enumerate((NAN, INF, -0.0, 0.0, -INF, NAN)):
        x.flatten()[(i * 7 + 3) % x.numel()] = v
    return x.to(dtype)


def _integers(rows, n, dtype):
    x = torch.randint(-9, 9, (rows, n))
    if not dtype.is_signed:
        x = x.abs()
    limits = torch.iinfo(dtype)
    x[0, :2] = torch.tensor([limits.max, limits.min])
    return x.to(dtype)


def _both_ways(x, dim=-1):
    up, down = (torch.sort(x, dim=dim, descending=d, stable=True) for d in (False, True))
    return up.values, up.indices, down.values, down.indices


def _sorted_floats(self, *args):
    return tuple(v for x in args for v in _both_ways(x))


def _sorted_layouts(self, x, row, six):
    return (*_both_ways(x.transpose(0, 2), 1), *_both_ways(x[:, ::2, 1:]), *_both_ways(x.flip(1), 1), *_both_ways(row.expand(3, 9)),
            *_both_ways(row.expand(3, 9), 0), *_both_ways(six.permute(5, 1, 2, 0, 4, 3), 2), *_both_ways(x.sum(), 0),
            torch.argsort(x, dim=0, stable=True), torch.msort(x))


def _sorted_of_any_size(self, x):
    first = torch.sort(x, dim=0, descending=True, stable=True)
    return (*_both_ways(x), first.values + 1, first.indices, torch.unique(x[0]), x.msort().cumsum(0))


def _selected(self, x, special):
    top, low, kth = torch.topk(x, 5), torch.topk(x, 3, dim=0, largest=False), torch.kthvalue(x, 70, keepdim=True)
    return (top.values, top.indices, low.values, low.indices, kth.values, kth.indices, torch.topk(x, 60).values, torch.topk(x, 0).values,
            torch.topk(special, 9).values, torch.topk(special, 9, largest=False).values, torch.kthvalue(special, 4).values, torch.median(x),
            torch.median(special, 0).values, torch.nanmedian(special, 1).values, torch.quantile(x, torch.tensor([0.0, 0.3, 1.0]), dim=1))


def _most_frequent(self, i, b, f):
    along = [torch.mode(x, d, keepdim=d == 0) for x in (i, b, f) for d in (0, 1)]
    return (*(m.values for m in along), torch.mode(i[:, :12], 1).indices, torch.mode(i[:, :1], 1).values)


def _sorted_state(self, x):
    self.best.copy_(torch.sort(self.best + x, dim=0, descending=True).values)
    return self.best * 2


def register(program):
    def add(name, forward, cases, make=dict, **options):
        program(name, cases, make, **options)(forward)

    add("sorted_floats", _sorted_floats, lambda: [tuple(_special(2, n, t) for n in (1, 9, 40, 300)
        for t in (torch.float32, torch.bfloat16, torch.float16, torch.float64)[:4 if n != 300 else 1])])
    add("sorted_integers", _sorted_floats, lambda: [(*(_integers(2, 35, t) for t in WIDTHS), R(2, 35) > 0)])
    add("sorted_layouts", _sorted_layouts, lambda: [(_special(4, 30).view(4, 6, 5), R(1, 9), R(2, 3, 5, 2, 1, 2))])
    add("sorted_of_any_size", _sorted_of_any_size, lambda: [(R(3, n).mul(4).round(),) for n in (40, 0, 1, 2, 17, 700)],
        dynamic_shapes=({1: D("n", min=0, max=5000)},))
    add("selected_places", _selected, lambda: [(R(4, 300), _special(3, 80))])
    add("most_frequent", _most_frequent, lambda: [(torch.randint(0, 9, (5, 30)), R(5, 30) > 0, R(5, 30).round())])
    add("sorted_state", _sorted_state, lambda: [(R(3, 4),), (R(3, 4),)], lambda: {"best": torch.arange(12.0).view(3, 4)})
