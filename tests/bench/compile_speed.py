#!/usr/bin/env python3
"""Times `aotc compile`, and AOTInductor on the same archives where a Python with torch is given, in turn.

Ours is the whole process; the peer's counts neither Python's start nor the import of torch nor reading the archive.
The peer runs in up to three states of its cache folder:
  cold     the folder is empty
  headers  another program was compiled in it, so its precompiled C++ headers are there
  repeat   this very program was compiled in it
"""

import argparse
import json
import os
import pathlib
import shutil
import tempfile

import measure

STATES = ("cold", "headers", "repeat")


class Peer:
    """AOTInductor in processes of its own, with a cache folder whose state is known before each compile."""

    def __init__(self, python, folder, first_program):
        self.python, self.folder, self.first_program = python, folder, first_program
        self.cache, self.with_headers = folder / "cache", folder / "cache-with-headers"

    def compile(self, program, state):
        if state != "repeat":
            shutil.rmtree(self.cache, ignore_errors=True)
        if state == "headers":
            self.prepare_headers()
        return self.compile_once(program)

    # Restored under the same path: a precompiled header is found by its path.
    def prepare_headers(self):
        if not self.with_headers.exists():
            self.compile_once(self.first_program)
            shutil.copytree(self.cache, self.with_headers)
            shutil.rmtree(self.cache)
        shutil.copytree(self.with_headers, self.cache)

    def compile_once(self, program):
        log = self.folder / "peer.log"
        script = pathlib.Path(__file__).parent / "peer" / "compile.py"
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(self.cache))
        measure.run([self.python, script, program, self.folder / "peer.pt2"], environment, str(log))
        return json.loads(log.read_text().splitlines()[-1])


def compile_ours(aotc, program, folder):
    return measure.run([aotc, "compile", program, "-o", folder / "ours.aotc", "--device", "cpu", "--quiet"],
                       log=str(folder / "ours.log"))


def describe(program, ours, peer):
    row = [program.name.removesuffix(".pt2"), f"{measure.median([c.wall for c in ours]):.2f}",
           f"{min(c.wall for c in ours):.2f}", f"{measure.median([c.cpu for c in ours]):.2f}",
           f"{min(c.cpu for c in ours):.2f}"]
    for results in peer.values():
        wall, cpu = [r["wall"] for r in results], [r["cpu"] for r in results]
        pairs = [p / o.wall for p, o in zip(wall, ours)]
        cpu_pairs = [p / o.cpu for p, o in zip(cpu, ours)]
        row += [f"{measure.median(wall):.1f}", f"{measure.median(cpu):.1f}", f"{measure.median(pairs):.0f}x",
                f"{measure.median(cpu_pairs):.0f}x"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measure.add_aotc_option(parser)
    parser.add_argument("--peer-python", type=pathlib.Path, help="a Python that has torch")
    parser.add_argument("--states", nargs="+", choices=STATES, default=["cold", "headers"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="default: this repository's")
    options = parser.parse_args()
    programs = options.programs or measure.own_programs()
    states = [s for s in STATES if options.peer_python and s in options.states]
    header = ["program", "s", "min", "CPU s", "min"]
    for state in states:
        header += [f"peer {state} s", "CPU s", "ratio", "CPU ratio"]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = Peer(options.peer_python, folder, measure.ROOT / "samples" / "05_embed_in_cmake" / "counter.pt2")
        for program in programs:
            compile_ours(options.aotc, program, folder)  # the files are in the page cache from here on
            ours, theirs = [], {state: [] for state in states}
            for _ in range(options.rounds):
                ours.append(compile_ours(options.aotc, program, folder))
                for state in states:
                    theirs[state].append(peer.compile(program, state))
            rows.append(describe(program, ours, theirs))
            print("\t".join(rows[-1]), flush=True)
    print(measure.table(header, rows))


main()
