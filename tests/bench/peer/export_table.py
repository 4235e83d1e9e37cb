"""Exports a program with 102 MB of weights of which a call reads few: eight rows of a table and a small matrix.

export_table.py PROGRAM.pt2
"""

import sys

import torch


class Table(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(100_000, 256)
        self.project = torch.nn.Linear(256, 256)

    def forward(self, rows):
        return self.project(self.table(rows))


torch.manual_seed(0)
program = torch.export.export(Table().eval(), (torch.arange(8),))
torch.export.save(program, sys.argv[1])
