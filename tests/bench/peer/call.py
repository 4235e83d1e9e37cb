"""Loads a package of AOTInductor, times its calls and prints that and the process's memory after each step, as JSON.

call.py PACKAGE.pt2 INPUT_FOLDER SECONDS      (in0.npy, in1.npy, ... are the inputs; OMP_NUM_THREADS sets the threads)
"""

import json
import pathlib
import sys
import time

ROUND_NS = 100_000


def memory():
    """Resident and private changed memory in kB."""
    values = {}
    for line in open("/proc/self/smaps_rollup"):
        words = line.split()
        if words[0] in ("Rss:", "Private_Dirty:"):
            values[words[0].rstrip(":")] = int(words[1])
    return values


def time_round(call, calls):
    begin = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - begin) / calls


def main():
    package, folder, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    import numpy
    import torch
    import torch._inductor
    steps = {"import": memory()}
    files = sorted(folder.glob("in*.npy"), key=lambda f: int(f.stem[2:]))
    inputs = [torch.from_numpy(numpy.load(f)) for f in files]
    torch.set_grad_enabled(False)
    begin = time.monotonic()
    model = torch._inductor.aoti_load_package(package)
    load = time.monotonic() - begin
    steps["load"] = memory()
    model(*inputs)
    steps["first call"] = memory()
    calls = max(1, int(ROUND_NS / min(time_round(lambda: model(*inputs), 1) for _ in range(5))))
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 10:
        times.append(time_round(lambda: model(*inputs), calls))
    times.sort()
    print(json.dumps({"ns_min": times[0], "ns_median": times[len(times) // 2], "load_s": load, "memory": steps}))


main()
