"""Writes mlp_cpu.pt2, mlp_gpu.pt2, mlp_hybrid.pt2 and expected.txt (needs torch, no GPU): the same two layers with both
on the CPU, both on cuda:0, and one on each."""
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fake_gpu

ROWS, FEATURES, HIDDEN, CLASSES = 8, 64, 128, 10


class MLP(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.fc1 = nn.Linear(FEATURES, HIDDEN, device=first)
        self.fc2 = nn.Linear(HIDDEN, CLASSES, device=second)

    def forward(self, x):
        h = nn.functional.gelu(self.fc1(x))
        return self.fc2(h.to(self.fc2.weight.device)).to(x.device)


torch.manual_seed(0)
real = MLP("cpu", "cpu").eval()
row, column = torch.arange(ROWS)[:, None], torch.arange(FEATURES)
x = ((7 * row + 3 * column) % 11 - 5) / 4  # as main.c has it
for name, first, second in (("cpu", "cpu", "cpu"), ("gpu", "cuda:0", "cuda:0"), ("hybrid", "cpu", "cuda:0")):
    program = fake_gpu.export(lambda: MLP(first, second), (x,), {0} if first != "cpu" else ())
    fake_gpu.save(program, real, f"mlp_{name}.pt2")
with open("expected.txt", "w") as f, torch.no_grad():
    f.write(" ".join(f"{v:.4f}" for v in real(x)[ROWS - 1]) + "\n")
