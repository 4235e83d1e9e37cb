"""Writes the program of this sample (needs torch): a counter in a buffer, advanced by each call."""
import torch


class BufferMutation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("counter", torch.zeros(4))

    def forward(self, x):
        self.counter.add_(1)
        return x * self.counter


torch.export.save(torch.export.export(BufferMutation(), (torch.ones(4),)), "buffer_mutation.pt2")
