"""Exports programs with tensors on cuda:0, also where there is no GPU: the module is traced with fake tensors, and the
values of an equal module on the CPU are put into the archive. With a GPU, plain torch.export does the same."""
import json
import os
import zipfile

import torch
from torch._subclasses import FakeTensorMode


def export(make, inputs, on_gpu, **kw):
    """The program of make(), whose module may name cuda:0; the inputs with numbers in `on_gpu` are there."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        fake = [torch.empty_like(x, device="cuda:0" if i in on_gpu else "cpu") if isinstance(x, torch.Tensor) else x
                for i, x in enumerate(inputs)]
        return torch.export.export(make().eval(), tuple(fake), **kw)


def save(program, real, path):
    """Writes the archive with the parameters and buffers of `real`, a module on the CPU."""
    torch.export.save(program, path)
    source = zipfile.ZipFile(path)
    root = source.namelist()[0].split("/")[0]
    values = {**dict(real.named_parameters()), **dict(real.named_buffers())}
    weights = f"{root}/data/weights/"
    config = weights + "model_weights_config.json"
    table = json.loads(source.read(config))
    with zipfile.ZipFile(path + ".tmp", "w", zipfile.ZIP_STORED) as z:
        for i, (name, entry) in enumerate(table["config"].items()):
            entry["path_name"] = f"weight_{i}"
            z.writestr(f"{weights}weight_{i}", values[name].detach().contiguous().numpy().tobytes())
        for name in source.namelist():
            if name == config:
                z.writestr(name, json.dumps(table))
            elif not name.startswith(weights + "weight_"):
                z.writestr(name, source.read(name))
    os.replace(path + ".tmp", path)
