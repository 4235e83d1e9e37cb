#!/usr/bin/env python3
"""Exports updates of caches of several lengths (needs torch), compiles them and runs cache_update_cost on all of them."""

import argparse
import os
import subprocess
import tempfile

import torch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--aotc", default="build/ci/bin/aotc")
options = parser.parse_args()


class Update(torch.nn.Module):
    def forward(self, cache, update, at):
        cache.index_copy_(2, at, update)


with tempfile.TemporaryDirectory() as folder:
    packages = []
    for rows in 1, 256:
        for length in 1 << 10, 1 << 16, 1 << 20:
            path = os.path.join(folder, f"rows{rows}_length{length}")
            inputs = torch.zeros(1, 4, length, 16), torch.zeros(1, 4, rows, 16), torch.arange(rows)
            program = torch.export.export(Update(), inputs)
            program._example_inputs = None  # not 256 MB of zeros
            torch.export.save(program, path + ".pt2")
            subprocess.run([options.aotc, "compile", "--quiet", "--in-place=require", path + ".pt2", "-o", path + ".aotc"],
                           check=True)
            packages.append(path + ".aotc")
    subprocess.run([os.path.join(os.path.dirname(options.aotc), "cache_update_cost"), *packages], check=True)
