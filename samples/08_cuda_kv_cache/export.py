"""Writes step.pt2 and expected.txt (needs torch, no GPU): one step of causal attention on cuda:0, with the caches of keys
and values as inputs that it updates in place."""
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fake_gpu

DIM, HEADS, LENGTH, STEPS, SESSIONS = 64, 4, 32, 24, 4


class Step(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.norm = nn.RMSNorm(DIM, device=device)
        self.q, self.k, self.v, self.out = (nn.Linear(DIM, DIM, bias=False, device=device) for _ in range(4))

    def forward(self, x, at, keys, values):
        """x: [1, 1, DIM], at: int64[1], its position, keys and values: [1, HEADS, LENGTH, DIM / HEADS]."""
        h = self.norm(x)
        q, k, v = (layer(h).view(1, 1, HEADS, -1).transpose(1, 2) for layer in (self.q, self.k, self.v))
        keys.index_copy_(2, at, k)
        values.index_copy_(2, at, v)
        seen = torch.arange(LENGTH, device=x.device) <= at
        y = nn.functional.scaled_dot_product_attention(q, keys, values, seen[None, None, None])
        return x + self.out(y.transpose(1, 2).reshape(1, 1, DIM)), keys, values


def sequence(session):  # as main.c has it
    step, j = torch.arange(STEPS)[:, None], torch.arange(DIM)
    return ((5 * step + 3 * j + session) % 13 - 6) / 8


def caches():
    return torch.zeros(2, 1, HEADS, LENGTH, DIM // HEADS).unbind()


torch.manual_seed(0)
real = Step("cpu").eval()
example = (torch.zeros(1, 1, DIM), torch.zeros(1, dtype=torch.int64), *caches())
fake_gpu.save(fake_gpu.export(lambda: Step("cuda:0"), example, range(4)), real, "step.pt2")
with open("expected.txt", "w") as f, torch.no_grad():
    for session in range(SESSIONS):
        keys, values = caches()
        for at, x in enumerate(sequence(session)):
            y, _, _ = real(x.view(1, 1, DIM), torch.tensor([at]), keys, values)
        f.write(f"session {session}: " + " ".join(f"{v:.4f}" for v in y[0, 0, :6]) + "\n")
