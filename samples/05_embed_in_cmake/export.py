"""Writes the programs of this sample (needs torch): an MLP and a counter."""
import runpy

for sample, name, new in (("03_dynamic_batch", "mlp.pt2", "mlp.pt2"), ("02_buffer_mutation", "buffer_mutation.pt2", "counter.pt2")):
    runpy.run_path(f"../{sample}/export.py")
    import os
    os.replace(name, new)
