"""Writes small programs for every kind of input, output, state and mutation, with eager results.

python make_programs.py OUT [NAME ...]      (torch 2.15, numpy)

OUT/NAME.pt2 is the program as exported, OUT/NAME.decomp.pt2 the same after run_decompositions(),
OUT/NAME.case<k>/ one call: inputs, expected outputs, what changed; error.txt where the call must be refused.
"""
import copy
import json
import os
import re
import shutil
import sys

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch import nn

import float_programs
import matrix_programs
import op_programs
import sequence_programs
import sort_programs
import special_programs

D = torch.export.Dim
R = torch.randn
PROGRAMS = {}
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)


def save_array(path, x):
    if not isinstance(x, torch.Tensor):
        np.save(path + ".npy", np.asarray(x))
    elif x.dtype == torch.bfloat16:
        np.save(path + ".bf16.npy", x.detach().contiguous().view(torch.int16).numpy().view(np.uint16))
    elif x.dtype in FLOAT8:
        np.save(f"{path}.{str(x.dtype).removeprefix('torch.')}.npy", x.detach().contiguous().view(torch.uint8).numpy())
    else:
        np.save(path + ".npy", x.detach().resolve_conj().resolve_neg().contiguous().numpy())


def save_program(ep, path):
    """With file names of stack traces made relative, so that they name no machine."""
    for node in ep.graph.nodes:
        trace = node.meta.get("stack_trace")
        if trace:
            node.meta["stack_trace"] = re.sub(r'File "[^"]*/([^"/]*)"', r'File "\1"', trace)
    torch.export.save(ep, path)


def same(a, b):
    if a.dtype in FLOAT8:
        a, b = a.view(torch.uint8), b.view(torch.uint8)
    return a.shape == b.shape and torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))


def call_positions(values):
    return [x for x in values if x is not None and not isinstance(x, str)]


def describe_inputs(flat):
    """Layouts, in elements, with one id per storage; None unless some input is not plainly contiguous."""
    ids, infos, plain = {}, [], True
    for x in flat:
        if not isinstance(x, torch.Tensor):
            infos.append(None)
            continue
        storage = x.untyped_storage()
        key = storage.data_ptr() or -id(x)
        plain = plain and x.is_contiguous() and x.storage_offset() == 0 and key not in ids
        infos.append({"size": list(x.shape), "stride": list(x.stride()), "offset": x.storage_offset(),
                      "storage": storage.nbytes() // x.element_size(), "storage_id": ids.setdefault(key, len(ids))})
    return None if plain else infos


def share(x, y):
    return isinstance(x, torch.Tensor) and x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def output_places(outputs, flat):
    """Which input's storage each output is in; None where nothing is to say, or outputs share another storage:
    a program may share it as well or make copies."""
    places = []
    for k, y in enumerate(outputs):
        if not isinstance(y, torch.Tensor) or y.numel() == 0:
            places.append({})
            continue
        inputs = [i for i, x in enumerate(flat) if share(x, y)]
        if not inputs and any(share(x, y) for x in outputs[:k]):
            return None
        places.append({"alias_in": inputs[0]} if inputs else {})
    return places if any(places) or len(places) > 1 else None


def write_meta(folder, meta):
    if meta:
        with open(f"{folder}/meta.json", "w") as f:
            json.dump(meta, f)


def write_case(folder, module, args, kwargs, sequence, refused):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    flat = call_positions(pytree.tree_flatten((args, kwargs))[0])
    meta = {"sequence": True} if sequence else {}
    if layouts := describe_inputs(flat):
        meta["inputs"] = layouts
    for i, x in enumerate(flat):
        save_array(f"{folder}/in{i}", x)
    if refused:
        with open(f"{folder}/error.txt", "w") as f:
            f.write("refused\n")
        return write_meta(folder, meta)
    before = copy.deepcopy(flat)
    states = {n: b.clone() for n, b in module.named_buffers(remove_duplicate=False)}
    with torch.no_grad():
        outputs = pytree.tree_flatten(module(*args, **kwargs))[0]
    if places := output_places(outputs, flat):
        meta["outputs"] = places
    write_meta(folder, meta)
    for i, y in enumerate(outputs):
        if y is not None and not isinstance(y, str):
            save_array(f"{folder}/out{i}", y)
    for i, x in enumerate(flat):
        if isinstance(x, torch.Tensor) and not same(x, before[i]):
            save_array(f"{folder}/mut{i}", x)
    for n, b in module.named_buffers(remove_duplicate=False):
        if not same(b, states[n]):
            save_array(f"{folder}/buf_{n}", b)


def write(out, name, module, cases, sequence=False, refused=(), decomp=True, **export):
    """cases: (args, kwargs) each; `refused` lists those that must fail; `sequence` runs them on one module."""
    args, kwargs = copy.deepcopy(cases[0])
    ep = torch.export.export(copy.deepcopy(module), args, kwargs=kwargs or None, **export)
    save_program(ep, f"{out}/{name}.pt2")
    if decomp:
        with torch.no_grad():
            save_program(ep.run_decompositions(), f"{out}/{name}.decomp.pt2")
    live = copy.deepcopy(module)
    for k, (args, kwargs) in enumerate(cases):
        one = live if sequence else copy.deepcopy(module)
        write_case(f"{out}/{name}.case{k}", one, args, kwargs, sequence, k in refused)


def program(name, cases, make=dict, **options):
    """Registers the decorated forward(self, ...); `make` yields its buffers, parameters and modules."""

    def register(forward):
        def run(out):
            torch.manual_seed(0)

            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    for key, value in make().items():
                        if isinstance(value, nn.Parameter):
                            self.register_parameter(key, value)
                        elif isinstance(value, nn.Module):
                            self.add_module(key, value)
                        elif isinstance(value, tuple):
                            self.register_buffer(key, value[0], persistent=False)
                        else:
                            self.register_buffer(key, value)

            Model.forward = forward
            calls = [c if len(c) == 2 and isinstance(c[1], dict) else (c, {}) for c in cases()]
            write(out, name, Model(), calls, **options)

        PROGRAMS[name] = run
        return forward

    return register


# ---- outputs and inputs that are no tensors


@program("no_output", lambda: [(R(3),)])
def _(self, x):
    x.add_(1)


@program("constant_outputs", lambda: [(R(3),)])
def _(self, x):
    return x + torch.tensor([1.0, 2.0, 3.0]), 5, None, x * torch.tensor(3), 2.5, True, "text"


@program("python_inputs", lambda: [(R(3), None, "negate", 3, 2.5, True)])
def _(self, x, nothing, mode, n, f, b):
    y = x * n + f
    return (-y if mode == "negate" else y), nothing is None, n, b


@program("nested_inputs", lambda: [(({"b": R(3), "a": R(3)}, (R(2), [R(2)])), {"k": R(4), "z": None})])
def _(self, d, pair, *, k, z=None):
    d["b"].add_(1)
    return {"z": d["a"] + d["b"], "a": pair[0] * pair[1][0], "k": k * 2, "n": z}


# ---- conditions on sizes


@program("divisible_rows", lambda: [(R(16, 3),), (R(24, 3),), (R(20, 3),), (R(5, 3),)],
         dynamic_shapes=({0: D.AUTO},), refused=(2, 3))
def _(self, x):
    return x.view(x.shape[0] // 8, 8, 3).sum(1)


@program("compared_rows", lambda: [(R(16, 3), R(6, 3)), (R(9, 3), R(8, 3)), (R(4, 3), R(8, 3)), (R(12, 3), R(5, 3))],
         dynamic_shapes=({0: D.AUTO}, {0: D.AUTO}), refused=(2, 3))
def _(self, x, y):
    y.mul_(2)
    if x.shape[0] > y.shape[0] and y.shape[0] != 5:
        return x.sum() - y.sum()
    return x.sum() + y.sum()


@program("related_rows", lambda: [(R(8, 3), R(4, 3)), (R(6, 3), R(3, 3)), (R(7, 3), R(3, 3)), (R(8, 3), R(3, 3))],
         dynamic_shapes=({0: 2 * D("s", min=2, max=64)}, {0: D("s", min=2, max=64)}), refused=(2, 3))
def _(self, x, y):
    return x.view(-1, 2, 3).sum(1) + y


@program("nested_sizes", lambda: [(({"k": R(4, 2)}, [R(4)]), {}), (({"k": R(6, 2)}, [R(6)]), {}), (({"k": R(5, 2)}, [R(5)]), {})],
         dynamic_shapes={"d": {"k": {0: D.AUTO}}, "l": [{0: D.AUTO}]}, refused=(2,))
def _(self, d, l):
    return d["k"].view(-1, 2, 2).sum(1) + l[0].view(-1, 2)


# ---- float8: kept as 8 bits, cast to and from the wider types


def _float8_inputs():
    codes = torch.arange(256).to(torch.uint8)
    numbers = torch.cat([codes.view(t).float() * f for t in FLOAT8 for f in (1, 1.03, 1.0625, 1.125, 0.97)])
    edges = [464.0, 464.1, 448.1, 248.0, 247.9, 61439.0, 61440.0, 3e38, float("inf"), -float("inf"), float("nan"), -0.0,
             2.0**-10, 2.0**-10 * 1.001, 2.0**-17, 2.0**-17 * 1.01, 2.0**-18, 1e-45, -1e-45]
    return [(torch.cat([numbers, torch.tensor(edges)]), *(codes.view(t) for t in FLOAT8))]


@program("float8_casts", _float8_inputs, make=lambda: {"w": R(16, 16).to(torch.float8_e4m3fn)})
def _(self, x, *codes):
    narrow = [v.to(t) for v in (x, x.half(), x.bfloat16()) for t in FLOAT8]
    wide = [c.to(t) for c in codes for t in (torch.float32, torch.float16, torch.bfloat16)]
    product = codes[0].view(16, 16).float().nan_to_num() @ self.w.float()
    return (*narrow, *wide, product.to(torch.float8_e5m2), torch.cat([codes[1], codes[1]]), codes[2].view(16, 16).t())


# ---- mutations of inputs


# The copy into a buffer casts and broadcasts; run_decompositions() drops it.
@program("buffer_copies", lambda: [(R(3),), (R(3) * 100,), (torch.zeros(3),)], sequence=True,
         make=lambda: {"one": torch.ones(1), "rows": torch.ones(2, 3), "low": torch.ones(2, dtype=torch.float16),
                       "whole": torch.ones(3, dtype=torch.int64), "every": torch.ones(2, 2, dtype=torch.int32)})
def _(self, x):
    y = x / self.one
    self.one.copy_(x.amax())
    self.rows.copy_(x)
    self.low.copy_(x[:2])
    self.whole.copy_(x * 3)
    self.every.copy_(x.sum())
    return x + self.one, y, self.rows[0], self.rows.sum(0), self.low * 2, self.whole.sum(), self.every.float()


# A tensor that is no input may take another shape in place, and so may a view of an input.
@program("reshaped_in_place", lambda: [(R(3, 2), R(4, 2)), (torch.zeros(3, 2), R(4, 2))])
def _(self, x, w):
    y = x.clone()
    first = y[0]
    y.transpose_(0, 1)
    y.add_(1)
    first.mul_(2)
    z = (x * 2).unsqueeze_(0).squeeze_().t_().swapaxes_(0, 1).swapdims_(-1, -2).unsqueeze_(1).squeeze_((0, 1))
    part = w[1:]
    part.t_()
    part.mul_(3)
    return y, z, part + 1, x.exp().squeeze_(0).unsqueeze_(-1)


@program("filled_diagonals", lambda: [(R(7, 3), R(9, 2), R(2, 5), R(3, 3, 3), torch.arange(12).view(3, 4), R(0, 3), R(4, 4))])
def _(self, tall, wrapped, wide, cube, whole, empty, square):
    rows = tall.clone().fill_diagonal_(1.5)
    return (rows, wrapped.fill_diagonal_(-2.0, True) + 1, wide.fill_diagonal_(3, wrap=True) * 2, cube.fill_diagonal_(9.0),
            whole.fill_diagonal_(2.75), tall.clone().fill_diagonal_(float("inf"), wrap=True), empty.fill_diagonal_(1.0, True),
            square.fill_diagonal_(1.0))


@program("filled_strided", lambda: [(R(4, 5),), (R(4, 5),)])
def _(self, x):
    x.T.index_fill_(0, torch.tensor([0, 2]), 9.0)
    return x + 1


@program("view_writes", lambda: [(R(4, 4), R(2, 4))])
def _(self, x, y):
    x[1:3] = y
    x.select(1, 2).fill_(7)
    x.t()[0].mul_(3)
    x.diagonal().zero_()
    return x.flatten(), x


@program("view_returned", lambda: [(R(3, 4),)])
def _(self, x):
    top, rest = x.split([1, 2])
    middle = rest.view(-1)[2:5].mul_(3)
    changed = rest.neg_()
    x.add_(1)
    return middle, changed, top


@program("transposed_write", lambda: [(R(3, 4), R(4, 3))])
def _(self, x, y):
    x.t().add_(y)
    return x, x.t()


@program("mask_writes", lambda: [(R(3, 4), R(3, 4) > 0)])
def _(self, x, m):
    x.masked_fill_(m, -float("inf"))
    x[x < -1] = 0.5


@program("index_writes", lambda: [(R(4, 6), torch.tensor([0, 0, -1, 2]), R(4, 6), torch.tensor([1, 5]), R(4, 2)),
                                  (R(4, 6), torch.tensor([0, 4, -1, 2]), R(4, 6), torch.tensor([1, 5]), R(4, 2))], refused=(1,))
def _(self, x, i, v, j, w):
    x.index_put_((i,), v, accumulate=True)
    x.index_copy_(1, j, w)


@program("overlapping_inputs", lambda: (lambda s: [(s[:6], s[6:]), (R(6), R(6)), (s[:6], s[3:9])])(R(12)), refused=(2,))
def _(self, x, y):
    x.add_(y)
    y.mul_(2)
    return x * y


@program("empty_input", lambda: [(R(0, 4), R(2, 4))])
def _(self, x, y):
    x.add_(1)
    return torch.cat([x, y])


# ---- state


def _shared():
    both = torch.zeros(4)
    return {"a": both, "b": both}


@program("two_names", lambda: [(R(4),), (R(4),)], _shared, sequence=True, decomp=False)
def _(self, x):
    self.a.add_(x)
    return self.b * 2


def _views():
    big = R(6, 8)
    return {"w": nn.Parameter(big[:, :4]), "v": nn.Parameter(big.t()[4:]), "row": big[1]}


@program("weight_views", lambda: [(R(3, 4),)], _views)
def _(self, x):
    return x @ self.w.t() @ self.v.t() + self.row[:4]


def _kinds():
    return {"halves": torch.ones(3, dtype=torch.bfloat16), "flags": (torch.tensor([True, False, True]),),
            "count": torch.tensor(0), "small": torch.tensor([-128, 0, 127], dtype=torch.int8), "none": torch.zeros(0, 3)}


@program("buffer_kinds", lambda: [(R(3).bfloat16(),), (R(3).bfloat16(),), (R(3).bfloat16(),)], _kinds, sequence=True)
def _(self, x):
    self.halves.mul_(x)
    self.flags.logical_xor_(x > 0)
    self.count.add_(1)
    self.small.add_(self.count.to(torch.int8))
    self.none.add_(1)
    return x * self.count, self.flags & (self.small > 0), self.none.sum()


@program("growing_cache", lambda: [(R(1, 2, 3, 4),), (R(1, 2, 3, 4),), (R(1, 2, 3, 4),)],
         lambda: {"k": torch.zeros(1, 2, 8, 4), "at": torch.tensor(0)}, sequence=True, refused=(2,))
def _(self, x):
    i = self.at + torch.arange(x.shape[2])
    self.k[:, :, i] = x
    self.at.add_(x.shape[2])
    return self.k.sum((0, 1, 3)), self.at.clone()


@program("state_returned", lambda: [(R(2, 3),), (R(2, 3),)], lambda: {"b": torch.zeros(2, 3)}, sequence=True)
def _(self, x):
    self.b.add_(x)
    return self.b, self.b[0], self.b.t()


@program("weights_returned", lambda: [(R(3),)], lambda: {"w": nn.Parameter(R(3)), "b": R(3)})
def _(self, x):
    return self.w, self.b, x + self.w

# ---- what is overwritten is still read, at other indices


@program("reads_own_flip", lambda: [(R(7, 3),)])
def _(self, x):
    x.copy_(x.flip(0))
    return x.sum(1)


@program("reads_own_transpose", lambda: [(R(4, 4),)])
def _(self, x):
    x.copy_(x.t().clone())


@program("reads_own_shift", lambda: [(R(6, 2), R(6, 2))])
def _(self, x, y):
    x[1:] = x[:-1].clone()
    y[:-1].copy_(y[1:] * 2)


@program("reads_own_roll", lambda: [(R(5, 4),)], lambda: {"ring": torch.zeros(5, 4)}, sequence=True)
def _(self, x):
    self.ring.copy_(torch.roll(self.ring, 1, 0) + x)
    return self.ring[0] - x[0]


@program("reads_own_repeats", lambda: [(R(6), torch.tensor([1, 1, -2, 4, 4]))])
def _(self, x, i):
    x[i] = x[i] * 2 + 1
    return x.clone()


@program("reads_own_total", lambda: [(R(4, 3),)])
def _(self, x):
    x.sub_(x.sum(0, keepdim=True))
    x.div_(x.abs().amax())


@program("swap_inputs", lambda: [(R(3, 2), R(3, 2))])
def _(self, x, y):
    t = x.clone()
    x.copy_(y)
    y.copy_(t)


@program("swap_halves", lambda: [(R(4, 3),)])
def _(self, x):
    t = x[:2].clone()
    x[:2] = x[2:]
    x[2:] = t.flip(1)
    return x[1]


@program("old_and_new", lambda: [(R(3, 4), R(4, 4))])
def _(self, x, w):
    before = x * 1
    x.copy_(x @ w)
    return before, x @ w, x


@program("data_dependent", lambda: [(torch.tensor([0.0, 2.0, 0.0, -1.0]),), (torch.zeros(4),), (torch.ones(4),)])
def _(self, x):
    i = x.nonzero().squeeze(1)
    x.mul_(3)
    return i, x[i] * 2, torch.masked_select(x, x > 0).sum()

# In-place forms whose functional op calls its first argument otherwise.
@program("inplace_activations", lambda: [(R(3, 4),)])
def _(self, x):
    f = nn.functional
    f.dropout(f.relu_(x), 0.5, training=False, inplace=True)
    f.alpha_dropout(f.leaky_relu_(x.sub_(0.5)), 0.3, training=False, inplace=True)
    f.hardswish(f.silu(x, inplace=True), inplace=True)
    f.threshold_(f.elu_(x), 0.1, 0.0)

# torch.no_grad and autocast regions are subgraphs of the exported form.
@program("regions", lambda: [(R(2, 3),), (R(2, 3),)],
         lambda: {"w": nn.Parameter(R(3, 3)), "seen": torch.zeros(3)}, sequence=True)
def _(self, x):
    with torch.no_grad():
        y = x * 2
        self.seen.add_(x.sum(0))
        with torch.autocast("cpu", enabled=False):
            z = y + 1
        with torch.enable_grad():
            u = x @ self.w
            x.mul_(0.5)
    return z @ self.w, y, z, u, x

# Two counts of one mask are one size to the program.
@program("mask_used_twice", lambda: [(R(5, 2), torch.tensor([0.1, 0.9, 0.7, 0.2, 0.6])), (R(5, 2), torch.zeros(5))])
def _(self, b, s):
    k = s > 0.5
    b.add_(1)
    return b[k], s[k], k.nonzero()


for part in (op_programs, float_programs, matrix_programs, sequence_programs, sort_programs, special_programs):
    part.register(program)

if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or list(PROGRAMS):
        PROGRAMS[name](out)
