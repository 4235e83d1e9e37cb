"""Writes programs whose tensors live on the CPU and on cuda:0, with eager results; needs no GPU.

python make_device_programs.py OUT      (torch 2.15, numpy)

Modules take the device as an argument: they are exported with fake tensors of cuda:0, their results come from the
same module on the CPU. Files as in ../e2e/make_programs.py.
"""
import os
import re
import sys

import numpy as np
import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples"))
import fake_gpu

D = torch.export.Dim


class HybridMLP(nn.Module):
    """First layer on the host, second on the device; the result comes back where `back`."""

    def __init__(self, device, back=False):
        super().__init__()
        self.fc1 = nn.Linear(12, 16)
        self.fc2 = nn.Linear(16, 5, device=device)
        self.back = back

    def forward(self, x):
        y = self.fc2(nn.functional.gelu(self.fc1(x)).to(self.fc2.weight.device))
        return y.to("cpu") if self.back else y


class DeviceCache(nn.Module):
    """A cache on the device, written at a run-time position, read by attention."""

    def __init__(self, device):
        super().__init__()
        self.register_buffer("k", torch.zeros(1, 2, 8, 4, device=device))
        self.register_buffer("v", torch.zeros(1, 2, 8, 4, device=device))
        self.kv = nn.Linear(8, 16, device=device)

    def forward(self, x, position):
        k, v = self.kv(x).chunk(2, -1)
        self.k.index_copy_(2, position, k.view(1, 1, 2, 4).transpose(1, 2))
        self.v.index_copy_(2, position, v.view(1, 1, 2, 4).transpose(1, 2))
        q = x.view(1, 1, 2, 4).transpose(1, 2)
        mask = torch.arange(self.k.shape[2], device=x.device) <= position
        return nn.functional.scaled_dot_product_attention(q, self.k, self.v, attn_mask=mask[None, None, None])


class Moves(nn.Module):
    """Views move, and what moved once is used twice; the source is overwritten afterwards."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    def forward(self, x):
        there = x.to(self.device, copy=True)
        part = x[:, 1:3].t().to(self.device, copy=True)
        wide = x.double().to(self.device)
        x.mul_(2)
        y = there + 1
        return y, part.exp(), wide.sum(), (there * 2).cpu(), x.to(self.device)[0]


class Scalars(nn.Module):
    """Single numbers of the host in device kernels, host indices into device tensors, mutated device input."""

    def __init__(self, device):
        super().__init__()
        self.register_buffer("scale", torch.tensor(2.5))
        self.device = device

    def forward(self, x, index, n):
        x.add_(self.scale)
        picked = x[index.to(self.device)]
        return picked * n, x.t(), (x * self.scale).softmax(-1)


class Rows(nn.Module):
    """Rows long enough that threads share them: norms, softmax, the best element, sums to a point."""

    def forward(self, x):
        h = nn.functional.layer_norm(x, (x.shape[-1],))
        s = torch.softmax(x, -1)
        best, where = x.max(-1)
        return h, s, best, where, x.sum(), x.cumsum(-1), x.argmin(0)


class Sorted(nn.Module):
    """What has no device kernel of its own runs on the host, with visible transfers."""

    def forward(self, x):
        values, places = x.sort(-1)
        return values + 1, places, (x > 0).nonzero()


class Checked(nn.Module):
    """A check on the device: what it guards is not written, and the call fails."""

    def forward(self, cache, rows, at):
        cache.index_copy_(0, at, rows)
        return cache.sum(0)


class Apply(nn.Module):
    """One function of its inputs."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, *parameters):
        return self.function(x, *parameters)


class InPlace(nn.Module):
    """Rows of any length, and all but the first element of the whole, are changed where they are."""

    def forward(self, x):
        x.copy_(torch.softmax(x, -1))
        x.view(-1)[1:].mul_(3)
        return x + 1


def save(ep, real, path):
    for node in ep.graph.nodes:
        trace = node.meta.get("stack_trace")
        if trace:
            node.meta["stack_trace"] = re.sub(r'File "[^"]*/([^"/]*)"', r'File "\1"', trace)
    fake_gpu.save(ep, real, path)


def write_case(folder, real, inputs, failing):
    os.makedirs(folder, exist_ok=True)
    for i, x in enumerate(inputs):
        np.save(f"{folder}/in{i}.npy", np.asarray(x))
    before = {n: b.clone() for n, b in real.named_buffers()}
    given = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    if failing:
        open(f"{folder}/error.txt", "w").write("index out of range\n")
        return
    with torch.no_grad():
        results = real(*given)
    for i, y in enumerate(results if isinstance(results, tuple) else (results,)):
        np.save(f"{folder}/out{i}.npy", y.contiguous().numpy())
    for i, (x, y) in enumerate(zip(inputs, given)):
        if isinstance(x, torch.Tensor) and not torch.equal(x, y):
            np.save(f"{folder}/mut{i}.npy", y.numpy())
    for n, b in real.named_buffers():
        if not torch.equal(b, before[n]):
            np.save(f"{folder}/buf_{n}.npy", b.numpy())


def write(out, name, make, cases, on_device, sequence=False, failing=(), exported_only=False, **kw):
    """`on_device`: which inputs the exported program has on cuda:0."""
    torch.manual_seed(1)
    real = make("cpu").eval()
    ep = fake_gpu.export(lambda: make("cuda:0"), cases[0], on_device, **kw)
    programs = (("", ep),) if exported_only else (("", ep), (".decomp", ep.run_decompositions()))
    for suffix, program in programs:
        save(program, real, f"{out}/{name}{suffix}.pt2")
    for k, inputs in enumerate(cases):
        folder = f"{out}/{name}.case{k}"
        write_case(folder, real, inputs, k in failing)
        if sequence:
            open(f"{folder}/meta.json", "w").write('{"sequence": true}\n')


def main(out):
    os.makedirs(out, exist_ok=True)
    torch.manual_seed(0)
    r = torch.randn
    batch = {"dynamic_shapes": ({0: D("batch", min=1, max=64)},)}
    many = [(r(n, 12),) for n in (3, 1, 64)]
    write(out, "hybrid_mlp", HybridMLP, many, (), **batch)
    write(out, "hybrid_mlp_back", lambda d: HybridMLP(d, True), many, (), **batch)
    steps = [(r(1, 8), torch.tensor([p])) for p in (0, 1, 9, 2)]
    write(out, "device_cache", DeviceCache, steps, (0, 1), sequence=True, failing=(2,))
    write(out, "moves", Moves, [(r(4, 5),), (r(4, 5),)], ())
    write(out, "scalars", Scalars, [(r(4, 5), torch.tensor([3, 0, -1]), torch.tensor(3.0))], (0,))
    rows = [(r(n, 300),) for n in (3, 1)]
    write(out, "rows", lambda d: Rows(), rows, (0,), dynamic_shapes=({0: D("n", min=1, max=8), 1: D("m", min=1, max=512)},))
    write(out, "sorted", lambda d: Sorted(), [(r(3, 7),)], (0,))
    write(out, "checked", lambda d: Checked(), [(r(4, 3), r(2, 3), torch.tensor(p)) for p in ([1, 3], [0, 4])], (0, 1, 2),
          failing=(1,))
    write_rows(out)


def write_rows(out):
    """Kernels whose rows fit into registers; tests/simt/traffic_test.cpp knows what they move."""
    f, r = nn.functional, torch.randn
    rows = {
        "softmax": (lambda x: torch.softmax(x, -1), [r(5, 1003)]),
        "log_softmax": (lambda x: torch.log_softmax(x, -1), [r(5, 2048)]),
        "layer_norm": (lambda x, w, b: f.layer_norm(x, (1024,), w, b), [r(4, 1024), r(1024), r(1024)]),
        "rms_norm": (lambda x, w: f.rms_norm(x, (520,), w), [r(9, 520), r(520)]),
        "group_norm": (lambda x, w, b: f.group_norm(x, 2, w, b), [r(2, 8, 12, 12), r(8), r(8)]),
        "norm_of_sum": (lambda x, y: f.layer_norm(x + y, (768,)), [r(3, 768), r(3, 768)]),
    }
    for name, (function, inputs) in rows.items():
        for suffix, dtype in (("", torch.float32), ("_half", torch.float16)):
            case = tuple(x.to(dtype) for x in inputs)
            write(out, f"row_{name}{suffix}", lambda d: Apply(function), [case], range(len(case)), exported_only=True)
    any_rows = {"dynamic_shapes": ({0: D("n", min=1), 1: D("m", min=1)},)}
    write(out, "rows_in_place", lambda d: InPlace(), [(r(2, 37),), (r(3, 1),), (r(1, 4501),), (r(3, 1024),)], (0,),
          exported_only=True, **any_rows)
    write(out, "rows_beyond_registers", lambda d: Apply(lambda x: torch.softmax(x, -1)), [(r(1, 33001),)], (0,),
          exported_only=True)


main(sys.argv[1])
