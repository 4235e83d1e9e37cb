#!/usr/bin/env python3
"""Times whole processes that should be short: `aotc inspect PACKAGE`, and a program that does nothing for comparison."""

import argparse
import pathlib
import tempfile

import measure


def describe(name, costs):
    wall, cpu = sorted(c.wall for c in costs), [c.cpu for c in costs]
    return [name, *(f"{1000 * t:.2f}" for t in (wall[0], measure.median(wall), wall[len(wall) * 95 // 100], wall[-1],
                                               measure.median(cpu)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    measure.add_aotc_option(parser)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="default: a few of this repository's")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = {"true": ["true"]}
        for program in options.programs or measure.own_programs()[::6]:
            package = measure.compile_package(options.aotc, program, folder)
            commands[f"inspect {package.name}"] = [options.aotc, "inspect", package]
        costs = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                costs[name].append(measure.run(command))
    rows = [describe(name, results) for name, results in costs.items()]
    print(measure.table(["command", "ms min", "median", "95%", "max", "CPU median"], rows))


main()
