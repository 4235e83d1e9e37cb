"""Programs that compute with Python floats known at run time. make_programs.py registers them."""
import math

import torch
import torch.nn.functional as F

D = torch.export.Dim
R = torch.randn
AUTO = ({0: D.AUTO},)
LENGTHS = lambda: [(R(5, 2),), (R(7, 2),), (R(16, 2),), (R(2, 2),)]


def _items(self, x, n, h, b):
    s = x.sum().item()
    self.t.mul_(x.max().item())
    return (n * s, x - x.max().item(), h * s, b * s, n + h[0].item(), s * 3 + 1, -s, (x > s / 8) * 1,
            torch.full((2,), s), torch.full_like(n, h[1].item()), torch.scalar_tensor(s), x.clone().fill_(s),
            x.double() / s, torch.where(x > 0, s, x), s)


def _item_of_bool(self, x, b):
    return x * b.item(), x.masked_fill(x > 0, b.item()), torch.full((2,), b.item(), dtype=torch.int64)


def _items_checked(self, x):
    v = x.sum().item()
    torch._check(v > 0.5)
    return x / v


def _branch(self, x):
    return torch.cond(x.sum().item() > 0.25, lambda x: x * 2, lambda x: x - 1, (x,))


def _lengths(self, x):
    n = torch.sym_float(x.shape[0])
    return (x[:torch.sym_int(n * 0.3)], x[:math.trunc(x.shape[0] / 3.0)], x.new_zeros(torch.sym_int(n * 0.5)),
            x * torch.sym_sqrt(n), x * n**0.5, x / (n * 0.1 + 1), x * (1 / x.shape[0]), n * 0.7)


def _arguments(self, x):
    n = x.shape[0] * 0.5
    return (x.clamp(max=n - 1), x.clamp(-x[0, 0].item()**2, 0.5), x.masked_fill(x > 0, n),
            torch.add(x, x, alpha=n), x**n, torch.addcmul(x, x, x, value=n), torch.lerp(x, x * 2, n / 100),
            torch.nan_to_num(x, nan=n), F.leaky_relu(x, n / 100), F.softplus(x, n), F.threshold(x, n / 100, 0.5),
            torch.arange(0, 1, 1 / x.shape[0])[:2], torch.arange(0.0, n, 0.5), torch.sub(x, 2, alpha=n),
            torch.rsub(x, n), torch.addmm(x, x, x[:2], beta=n, alpha=n / 3))


def _resized(mode, **options):
    return lambda self, x: (F.interpolate(x, scale_factor=1.5, mode=mode, **options),
                            F.interpolate(x, scale_factor=0.7, mode=mode, **options),
                            F.interpolate(x, size=(9, x.shape[2] + 1), mode=mode, **options))


def register(program):
    image = lambda: [(R(1, 2, 8, 6),), (R(1, 2, 10, 6),), (R(1, 2, 5, 6),)]
    rows = ({2: D.AUTO},)

    def add(name, forward, cases, *args, **options):
        program(name, cases, *args, **options)(forward)

    add("items", _items, lambda: [(R(3), torch.arange(4), R(4).bfloat16(), torch.tensor([True, False])) for _ in range(2)],
        lambda: {"t": torch.ones(3)}, sequence=True)
    add("item_of_bool", _item_of_bool, lambda: [(R(3), torch.tensor(True)), (R(3), torch.tensor(False))])
    add("items_checked", _items_checked, lambda: [(R(5).abs() + 1,), (torch.ones(5),), (-R(5).abs(),)], refused=(2,))
    add("items_branch", _branch, lambda: [(torch.ones(5),), (-torch.ones(5),), (torch.full((5,), 0.05),)])
    add("lengths", _lengths, LENGTHS, dynamic_shapes=AUTO)
    add("float_arguments", _arguments, LENGTHS, dynamic_shapes=AUTO)
    add("resized_nearest", _resized("nearest"), image, dynamic_shapes=rows)
    add("resized_linear", _resized("bilinear", align_corners=False), image, dynamic_shapes=rows)
    add("resized_aligned", _resized("bilinear", align_corners=True), image, dynamic_shapes=rows)
    add("resized_cubic", _resized("bicubic", align_corners=False), image, dynamic_shapes=rows)
    add("resized_antialiased", _resized("bilinear", align_corners=False, antialias=True), image, dynamic_shapes=rows)
    add("resized_area", _resized("area"), image, dynamic_shapes=rows)
