#!/usr/bin/env python3
"""Exports PyTorch's operator samples (OpInfo) as programs with eager results, in the layout that `aotc verify` reads.

  make_samples.py OUT [--dtypes float32,int64,...] [--samples 3] [--ops REGEX] [--skip FILE] [--shard I/N]

Needs torch (the version whose results are wanted) and numpy. Programs are called OP.VARIANT.DTYPE.K: OP.pt2 as
exported, OP.decomp.pt2 after run_decompositions() where that computes what eager does. FILE lists OP names to leave
out, one a line. What torch cannot export is counted, not written.
"""
import argparse, copy, itertools, os, re, shutil, sys, warnings

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
TABLE = dict(torch.export.default_decompositions().items())  # made once: it takes a while
# Uninitialised memory and orders that ties leave open have no one result.
UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
BITS = {torch.bfloat16: (torch.int16, np.uint16, "bf16")}


def save_array(stem, value):
    if not isinstance(value, torch.Tensor):
        np.save(f"{stem}.npy", np.asarray(value))
        return
    value = value.detach().contiguous().resolve_conj().resolve_neg()
    if value.dtype in BITS:
        bits, numpy_bits, suffix = BITS[value.dtype]
        np.save(f"{stem}.{suffix}.npy", value.view(bits).numpy().view(numpy_bits))
    else:
        np.save(f"{stem}.npy", value.numpy())


def same(a, b):
    return (a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
            and torch.equal(torch.view_as_real(a).nan_to_num() if a.is_complex() else a.nan_to_num() if a.is_floating_point() else a,
                            torch.view_as_real(b).nan_to_num() if b.is_complex() else b.nan_to_num() if b.is_floating_point() else b))


class Call(torch.nn.Module):
    """A sample as a module: its tensors are inputs, everything else is part of the program."""

    def __init__(self, op, sample):
        super().__init__()
        self.op = op
        leaves, self.spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        self.leaves = [None if isinstance(x, torch.Tensor) else x for x in leaves]
        self.slots = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        self.tensors = tuple(leaves[i].detach().clone() for i in self.slots)

    def forward(self, *tensors):
        leaves = list(self.leaves)
        for slot, tensor in zip(self.slots, tensors):
            leaves[slot] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        result = self.op(*args, **kwargs)
        return [x for x in pytree.tree_leaves(result) if x is not None and not isinstance(x, str)]


def agrees(program, inputs, outputs, mutated):
    """Whether torch itself runs the program to eager's results."""
    given = tuple(x.clone() for x in inputs)
    got = pytree.tree_leaves(program.module()(*given))
    close = lambda a, b: not isinstance(b, torch.Tensor) or torch.allclose(
        a.to(torch.complex128), b.to(torch.complex128), rtol=1e-3, atol=1e-4, equal_nan=True)
    return (len(got) == len(outputs)
            and all(getattr(a, "shape", ()) == getattr(b, "shape", ()) and close(a, b) for a, b in zip(got, outputs))
            and all(a.shape == b.shape and close(a, b) for a, b in zip(given, mutated)))


def save(program, path):
    """Source files by their bare names: results do not depend on where this runs."""
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            if node.meta.get("stack_trace"):
                node.meta["stack_trace"] = re.sub(r'File "[^"]*/([^"/]*)"', r'File "\1"', node.meta["stack_trace"])
    torch.export.save(program, path)


def save_decomposed(program, path, eager):
    try:
        functional = program.run_decompositions(TABLE)
        if agrees(functional, *eager):
            save(functional, path)
    except Exception:  # torch has no such form
        pass


def write(out, name, module, decompose):
    """Writes the program's forms and its one case; false where torch cannot export or repeat it."""
    inputs = module.tensors
    given = tuple(x.clone() for x in inputs)
    with torch.no_grad():
        outputs = module(*given)
        again = module(*(x.clone() for x in inputs))
        program = torch.export.export(module, tuple(x.clone() for x in inputs), strict=False)
        if not outputs or not agrees(program, inputs, outputs, given):
            return False
        if not all(same(a, b) for a, b in zip(outputs, again) if isinstance(a, torch.Tensor)):
            return False
        save(program, f"{out}/{name}.pt2")
        if decompose:
            save_decomposed(program, f"{out}/{name}.decomp.pt2", (inputs, outputs, given))
    case = f"{out}/{name}.case0"
    shutil.rmtree(case, ignore_errors=True)
    os.makedirs(case)
    for i, x in enumerate(inputs):
        save_array(f"{case}/in{i}", x)
    for i, x in enumerate(outputs):
        save_array(f"{case}/out{i}", x)
    for i, (before, after) in enumerate(zip(inputs, given)):
        if not same(before, after):
            save_array(f"{case}/mut{i}", after)
    return True


def spread(samples, count):
    """`count` samples, from the first to the last."""
    if len(samples) <= count:
        return samples
    return [samples[i * (len(samples) - 1) // max(count - 1, 1)] for i in range(count)]


def calls(info, dtype, count):
    """Modules of the op's samples: as a function, and in place where the op has such a form."""
    torch.manual_seed(0)
    samples = spread(list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), 200)), count)
    for k, sample in enumerate(samples):
        yield f"default.{dtype}.{k}", Call(info.op, sample)
    in_place = info.get_inplace()
    if in_place is None:
        return
    for k, sample in enumerate(samples[:max(count - 1, 1)]):
        if sample.broadcasts_input or not isinstance(sample.input, torch.Tensor):
            continue
        yield f"inplace.{dtype}.{k}", Call(in_place, sample)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--dtypes", default="float32,int64,bool,bfloat16,float16")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--ops", default=".")
    parser.add_argument("--skip", metavar="FILE")
    parser.add_argument("--decompose-all", action="store_true", help="not only the first sample of a kind (slow)")
    parser.add_argument("--shard", default="0/1")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    skipped = set(open(options.skip).read().split()) if options.skip else set()
    shard, shards = map(int, options.shard.split("/"))
    written = failed = 0
    infos = [i for i in op_db if re.search(options.ops, i.name) and i.name not in skipped | UNDEFINED]
    for info in infos[shard::shards]:
        for dtype in (getattr(torch, d) for d in options.dtypes.split(",")):
            if dtype not in info.supported_dtypes("cpu"):
                continue
            stem = re.sub(r"\W+", "_", info.name)
            variant = f"{info.variant_test_name}_" if info.variant_test_name else ""
            try:
                for what, module in calls(info, dtype, options.samples):
                    name = f"{stem}.{re.sub(chr(92) + 'W+', '_', variant)}{what}".replace("torch.", "")
                    try:
                        ok = write(options.out, name, module, what.endswith(".0") or options.decompose_all)
                    except Exception as error:
                        ok = False
                        print(f"{name}: {str(error).strip().splitlines()[0][:120] if str(error) else error!r}", file=sys.stderr)
                    written, failed = written + ok, failed + (not ok)
            except Exception as error:
                print(f"{info.name} {dtype}: {str(error)[:120]}", file=sys.stderr)
    print(f"{written} programs written, {failed} left out")


main()
