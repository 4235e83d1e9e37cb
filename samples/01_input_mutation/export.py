"""Writes the two programs of this sample (needs torch): an input is doubled in place, its cosine returned."""
import torch


class NoReturn(torch.nn.Module):
    def forward(self, x):
        x.mul_(2)
        return x.cos()


class WithReturn(torch.nn.Module):
    def forward(self, x):
        x.mul_(2)
        return x, x.cos()


torch.manual_seed(0)
for name, module in (("input_mutation_no_return", NoReturn()), ("input_mutation_with_return", WithReturn())):
    torch.export.save(torch.export.export(module, (torch.randn(2, 3),)), name + ".pt2")
