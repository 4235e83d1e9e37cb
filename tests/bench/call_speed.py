#!/usr/bin/env python3
"""Compares the latency of a call of the same programs: ours from C++ (call_cost, and `aotc bench` as a check) and, where
a Python with torch is given, AOTInductor from Python and, with peer/build_runner.sh's program, from C++.

Every round starts each as a new process, in turn, on the package's sample inputs with the same number of threads. A
process reports its minimum and its median; the table has the smallest minimum and the median of the medians.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import zipfile

import measure

PEER = pathlib.Path(__file__).parent / "peer"
TYPES = {"float32": "f32", "int64": "i64"}


def output_of(arguments, environment=None):
    return subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, text=True, check=True,
                          env=environment).stdout


def sample_arguments(package, folder):
    """Unpacks in<i>.npy into `folder`; returns the runner's description of each."""
    arguments = []
    with zipfile.ZipFile(package) as archive:
        names = [n for n in archive.namelist() if n.startswith("samples/in")]
        inputs = json.loads(archive.read("manifest.json"))["inputs"]
        for name in sorted(names, key=lambda n: int(n[len("samples/in"):-len(".npy")])):
            data = archive.read(name)
            (folder / pathlib.Path(name).name).write_bytes(data)
            shape = data.partition(b"'shape': (")[2].partition(b")")[0].decode().replace(" ", "").strip(",")
            arguments.append(f"{TYPES.get(inputs[len(arguments)]['dtype'], '?')}:{shape}")
    return arguments


class Program:
    """One archive: our package, the peer's, and a function per way to call them that returns (min, median) in ns."""

    def __init__(self, options, program, folder):
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=program.stem, dir=folder))
        self.ours = measure.compile_package(options.aotc, program, self.folder)
        self.samples = sample_arguments(self.ours, self.folder)
        self.ways = {"ours, C++": self.call_cost, "aotc bench": self.bench}
        if options.peer_python:
            self.theirs = self.folder / "peer.pt2"
            measure.run([options.peer_python, PEER / "compile.py", program, self.theirs], log=str(self.folder / "log"))
            self.ways["peer, Python"] = self.peer_python
            if options.peer_runner:
                self.ways["peer, C++"] = self.peer_runner

    def call_cost(self, threads):
        text = output_of([self.options.aotc.parent / "call_cost", "--threads", threads, "--rounds",
                          int(2000 * self.options.seconds), "--inputs", self.folder, self.ours])
        return tuple(float(cell) for cell in text.split("\t")[1:3])

    def bench(self, threads):
        result = json.loads(output_of([self.options.aotc, "bench", self.ours, "--threads", threads,
                                       "--seconds", self.options.seconds, "--json"]))
        return result["ns_min"], result["ns_median"]

    def peer_python(self, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        result = json.loads(output_of([self.options.peer_python, PEER / "call.py", self.theirs, self.folder,
                                       self.options.seconds], environment).splitlines()[-1])
        return result["ns_min"], result["ns_median"]

    def peer_runner(self, threads):
        result = json.loads(output_of([self.options.peer_runner, self.theirs, self.options.seconds,
                                       threads, *self.samples]).splitlines()[-1])
        return result["ns_min"], result["ns_median"]


def describe(name, threads, results):
    base = [min(r[0] for r in results["ours, C++"]), measure.median([r[1] for r in results["ours, C++"]])]
    for way, pairs in results.items():
        values = [min(p[0] for p in pairs), measure.median([p[1] for p in pairs])]
        yield [name, threads, way, *(f"{v / 1000:.2f}" for v in values), *(f"{v / b:.2f}" for v, b in zip(values, base))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measure.add_aotc_option(parser)
    parser.add_argument("--peer-python", type=pathlib.Path, help="a Python that has torch")
    parser.add_argument("--peer-runner", type=pathlib.Path, help="what peer/build_runner.sh built")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=0.5, help="how long each process measures")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="default: this repository's")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in options.programs or measure.own_programs():
            program = Program(options, path, pathlib.Path(folder))
            for threads in options.threads:
                results = {way: [] for way in program.ways}
                for _ in range(options.rounds):
                    for way, run in program.ways.items():
                        results[way].append(run(threads))
                rows += describe(path.name.removesuffix(".pt2"), threads, results)
    print(measure.table(["program", "threads", "called", "us min", "us median", "min / ours", "median / ours"], rows))


main()
