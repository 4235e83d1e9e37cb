"""Writes mlp.pt2 (needs torch): two linear layers with GELU between, for any batch from 1 to 64."""
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(128, 256)
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


torch.manual_seed(0)
batch = torch.export.Dim("batch", min=1, max=64)
program = torch.export.export(MLP().eval(), (torch.randn(8, 128),), dynamic_shapes=({0: batch},))
torch.export.save(program, "mlp.pt2")
