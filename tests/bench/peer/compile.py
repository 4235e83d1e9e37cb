"""Compiles one archive with AOTInductor and prints what that cost, as JSON. Import and reading the archive do not count.

compile.py PROGRAM.pt2 PACKAGE.pt2
"""

import json
import os
import resource
import sys
import time

import torch
import torch._inductor


def cpu_seconds():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages)


def main():
    program, package = sys.argv[1:]
    exported = torch.export.load(program)
    wall, cpu = time.monotonic(), cpu_seconds()
    torch._inductor.aoti_compile_and_package(exported, package_path=package)
    result = {"wall": time.monotonic() - wall, "cpu": cpu_seconds() - cpu, "bytes": os.path.getsize(package)}
    print("\n" + json.dumps(result))


main()
