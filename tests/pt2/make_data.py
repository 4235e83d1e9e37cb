"""Makes the archives in data/ that torch 2.15 writes; run it with that torch, then commit what changed.

python make_data.py FOLDER    writes arguments.pt2, storages.pt2, dtypes.pt2, saved_P.pt for pickle protocols 2
                              to 5, and promote.txt

The archives data/torch-VERSION/*.pt2 were written by torch.export.save of those releases.
"""

import collections
import os
import sys

import torch

DTYPES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32 "
    "complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"
).split()


class Arguments(torch.nn.Module):
    """Inputs of every kind, and nodes with arguments of many kinds, subgraphs among them."""

    def forward(self, x, scale, flag, name, nothing, tree, count, *, second, first):
        a, (b, c) = tree["pair"]
        y = torch.cat([x * scale, a], dim=0)
        y = torch.nn.functional.pad(y, (1, 1), mode="constant", value=float("-inf"))
        y = y.clamp(min=-1.0, max=2.0).to(torch.float64)
        index = torch.arange(2, device=x.device, dtype=torch.int64)
        z = y[index, :, None][:, index]
        w = torch.cond(x.sum() > 0, lambda t: t.sin() + 1, lambda t: t.cos(), (y,))
        last = w.new_zeros((y.shape[0], count), layout=torch.strided)
        grid = torch.einsum("ij,jk->ik", b, c)
        up = torch.nn.functional.interpolate(first[None, None], scale_factor=[2.0, 2.0], mode="bilinear")
        parts = torch.split(second, [1, 2])
        return {"w": w, "z": z, "last": last}, (grid, up, parts[1].contiguous(memory_format=torch.contiguous_format))


class Storages(torch.nn.Module):
    """Weights that share storages: tied, sliced, transposed, expanded, empty, of one element."""

    def __init__(self):
        super().__init__()
        pool = torch.arange(24, dtype=torch.float32)
        self.embed = torch.nn.Parameter(torch.arange(12, dtype=torch.float32).reshape(4, 3))
        self.head = self.embed
        self.register_buffer("pool", pool)
        self.register_buffer("tail", pool[6:])
        self.register_buffer("turned", pool[:12].view(3, 4).t())
        self.register_buffer("wide", pool[5:6].expand(7, 1))
        self.register_buffer("skipping", pool[1:20:3])
        self.register_buffer("empty", pool[24:].view(0, 3))
        self.register_buffer("one", torch.tensor(3.5, dtype=torch.float64))
        self.register_buffer("passing", pool[2:4], persistent=False)
        self.literal = torch.tensor([1, 2, 3])

    def forward(self, x):
        total = self.pool.sum() + self.tail.sum() + self.turned.sum() + self.wide.sum()
        total = total + self.skipping.sum() + self.empty.sum() + self.one + self.passing.sum()
        return x @ self.embed + self.head.sum() + total + self.literal.sum()


class Dtypes(torch.nn.Module):
    """A buffer of every element type."""

    def __init__(self):
        super().__init__()
        for name in DTYPES:
            dtype = getattr(torch, name)
            values = torch.tensor([0.0, 1.0, -2.0 if dtype.is_signed else 2.0])
            if dtype == torch.complex32:
                values = torch.complex(values, values + 0.5)
            self.register_buffer("of_" + name, values.to(dtype))

    def forward(self, x):
        return [getattr(self, "of_" + name) for name in DTYPES] + [x]


def save(program, path):
    """Saves without the folders of this machine in the stack traces."""
    here = os.path.dirname(os.path.abspath(__file__)) + os.sep
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.meta.get("stack_trace"):
                node.meta["stack_trace"] = node.meta["stack_trace"].replace(here, "")
    torch.export.save(program, path)


def export_arguments(path):
    n = torch.export.Dim("n", min=1, max=64)
    tree = {"pair": (torch.ones(2, 4), [torch.ones(2, 3), torch.ones(3, 2)])}
    args = (torch.ones(3, 4), 0.5, True, "mode", None, tree, 5)
    kwargs = {"first": torch.ones(2, 2), "second": torch.ones(3)}
    shapes = {
        "x": {0: n}, "scale": None, "flag": None, "name": None, "nothing": None,
        "tree": {"pair": (None, [None, None])}, "count": torch.export.Dim.DYNAMIC, "second": None, "first": None,
    }
    save(torch.export.export(Arguments(), args, kwargs, dynamic_shapes=shapes), path)


def saved_tensors():
    """What state dicts hold: every element type, views of one storage, a parameter under two names."""
    base = torch.arange(12, dtype=torch.float32)
    tensors = collections.OrderedDict((name, tensor) for name, tensor in Dtypes().named_buffers())
    tensors["base"] = base
    tensors["turned"] = base.view(3, 4).t()
    tensors["row"] = base[4:8]
    tensors["weight"] = torch.nn.Parameter(torch.full((2, 2), 0.25))
    tensors["tied"] = tensors["weight"]
    tensors["scalar"] = torch.tensor(-0.0, dtype=torch.float64)
    tensors["empty"] = torch.zeros(0, 3)
    tensors._metadata = collections.OrderedDict([("", {"version": 1})])
    return tensors


def promote_table():
    rows = []
    for a in DTYPES:
        for b in DTYPES:
            try:
                result = str(torch.promote_types(getattr(torch, a), getattr(torch, b)))[6:]
            except RuntimeError:
                result = "error"
            rows.append(f"{a} {b} {result}\n")
    return "".join(rows)


def main(folder):
    export_arguments(f"{folder}/arguments.pt2")
    save(torch.export.export(Storages(), (torch.ones(2, 4),)), f"{folder}/storages.pt2")
    save(torch.export.export(Dtypes(), (torch.ones(1),)), f"{folder}/dtypes.pt2")
    for protocol in range(2, 6):
        torch.save(saved_tensors(), f"{folder}/saved_{protocol}.pt", pickle_protocol=protocol)
    with open(f"{folder}/promote.txt", "w") as table:
        table.write(promote_table())


if __name__ == "__main__":
    main(sys.argv[1])
