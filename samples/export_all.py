"""Runs every sample's export.py (needs torch). File names in the programs' stack traces become
relative to the sample, so that the archives are the same wherever they were made."""
import os
import pathlib
import re
import runpy

import torch

samples = pathlib.Path(__file__).resolve().parent
save = torch.export.save


def save_with_relative_names(program, path):
    for node in program.graph.nodes:
        trace = node.meta.get("stack_trace")
        if trace:
            node.meta["stack_trace"] = re.sub(r'File "[^"]*/([^"/]*)"', r'File "\1"', trace)
    save(program, path)


torch.export.save = save_with_relative_names
for script in sorted(samples.glob("*/export.py")):
    print(script.parent.name)
    os.chdir(script.parent)
    runpy.run_path(str(script), run_name="__main__")
