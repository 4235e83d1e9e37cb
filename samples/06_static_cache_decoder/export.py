"""Writes decoder.pt2 and expected.txt (needs torch): a small decoder with static key and value caches in buffers, trained
for a few seconds on the lines below, and what eager torch generates greedily from the start of each."""
import math

import torch
import torch.nn.functional as F
from torch import nn

LINES = """\
the cache keeps what was read.
the decoder writes one row a step.
the fork copies the state and nothing else.
the graph says what changes.
the lock is never taken.
the model is shared by all.
the session owns its state.
the thread has a session of its own.
"""
DIM, HEADS, LAYERS, LENGTH, VOCABULARY = 48, 4, 2, 64, 128


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.ModuleList(nn.Linear(DIM, DIM, bias=False) for _ in range(3))
        self.out = nn.Linear(DIM, DIM, bias=False)
        for name in "k", "v":
            self.register_buffer(name, torch.zeros(1, HEADS, LENGTH, DIM // HEADS))

    def forward(self, x, at, cos, sin, mask):
        q, k, v = (layer(x).view(len(x), -1, HEADS, DIM // HEADS).transpose(1, 2) for layer in self.qkv)
        q, k = (y * cos + torch.cat((-y.chunk(2, -1)[1], y.chunk(2, -1)[0]), -1) * sin for y in (q, k))
        if self.training:  # all positions at once: nothing to keep
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            self.k.index_copy_(2, at, k)
            self.v.index_copy_(2, at, v)
            y = F.scaled_dot_product_attention(q, self.k, self.v, mask)
        return self.out(y.transpose(1, 2).flatten(2))


class Decoder(nn.Module):
    """tokens: int64[1, s], at: int64[s], their positions. Returns the logits that follow the last token."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, DIM)
        self.attention = nn.ModuleList(Attention() for _ in range(LAYERS))
        self.mlp = nn.ModuleList(nn.Sequential(nn.RMSNorm(DIM), nn.Linear(DIM, 2 * DIM), nn.SiLU(), nn.Linear(2 * DIM, DIM))
                                 for _ in range(LAYERS))
        self.norm = nn.ModuleList(nn.RMSNorm(DIM) for _ in range(LAYERS + 1))
        self.register_buffer("rate", torch.exp(torch.arange(0, DIM // HEADS, 2) * (-math.log(1e4) * HEADS / DIM)))

    def logits(self, tokens, at):
        angle = torch.outer(at.float(), self.rate).repeat(1, 2)
        mask = torch.arange(LENGTH) <= at[:, None]
        x = self.tokens(tokens)
        for attention, mlp, norm in zip(self.attention, self.mlp, self.norm):
            x = x + attention(norm(x), at, angle.cos(), angle.sin(), mask)
            x = x + mlp(x)
        return self.norm[-1](x) @ self.tokens.weight.t()

    def forward(self, tokens, at):
        return self.logits(tokens, at)[0, -1]


def forget(model):
    for attention in model.attention:
        attention.k, attention.v = torch.zeros_like(attention.k), torch.zeros_like(attention.v)


def train(model):
    lines = [torch.tensor(list(line.encode())) for line in LINES.splitlines(keepends=True)]
    data = nn.utils.rnn.pad_sequence(lines, batch_first=True)
    at = torch.arange(data.shape[1] - 1)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for step in range(400):
        loss = F.cross_entropy(model.logits(data[:, :-1], at).flatten(0, 1), data[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def generate(model, prompt):
    forget(model)
    text = prompt.encode()
    new, at = text, 0
    while text[-1:] != b"\n" and len(text) < LENGTH:
        positions = torch.arange(at, at + len(new))
        token = model(torch.tensor([list(new)]), positions).argmax().item()
        at, new = at + len(new), bytes([token])
        text += new
    return text.decode()


torch.manual_seed(0)
model = Decoder()
train(model)
model = model.requires_grad_(False).eval()
with open("expected.txt", "w") as f:
    f.writelines(generate(model, "the " + line[4]) for line in LINES.splitlines())
forget(model)
s = torch.export.Dim("s", min=1, max=LENGTH)
program = torch.export.export(model, (torch.zeros(1, 4, dtype=torch.int64), torch.arange(4)),
                              dynamic_shapes=({1: s}, {0: s}))
torch.export.save(program, "decoder.pt2")
