#!/usr/bin/env python3
"""Measures what a call costs beyond its kernels: calls a program beside itself without its kernels.

The package has the program's sources. Its program.cpp (the calls in order, and the tables) is linked once more with
the same run time and weights, but each kernel and each matrix product is a function that returns at once. What is left of a call is all that is not kernels: checks of the inputs, sizes, results, the calls
themselves. Both libraries are called in turn in one process, on zeros of the smallest sizes, with one thread.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import zipfile

import measure

STUB = "\t.globl {0}\n\t.type {0}, @function\n{0}:\n\txorl %eax, %eax\n\tret\n"
WEIGHTS = "\t.section .rodata\n\t.globl aotc_weights\n\t.balign 4096\naotc_weights:\n\t.incbin \"{0}\"\n"
NOT_KERNELS = ("aotc_matmul_scratch",)  # the size of the scratch memory is part of a call's sizes


def undefined_symbols(file):
    text = subprocess.run(["nm", "-u", "-P", file], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in text.splitlines()]


def is_kernel(symbol, kernels):
    return symbol in kernels or (symbol.startswith("aotc_matmul_") and symbol not in NOT_KERNELS)


def kernel_names(source):
    """Functions that program.cpp declares and kernels.cpp defines."""
    names = set()
    for line in source.splitlines():
        if line.startswith('extern "C"') and "(" in line:
            names.add(line.partition("(")[0].split()[-1].lstrip("*"))
    return names


def weights_of(options, program, work):
    """The file with the program's weights, which model.so embeds."""
    package = measure.compile_package(options.aotc, program, work, "--weights", "external")
    with zipfile.ZipFile(package) as archive:
        return pathlib.Path(archive.extract("weights.bin", work))


def link_without_kernels(package, weights, support, folder):
    name = package.name.removesuffix(".aotc")
    work = pathlib.Path(folder) / name
    with zipfile.ZipFile(package) as archive:
        archive.extractall(work)
    manifest = json.loads((work / "manifest.json").read_text())
    level = manifest["cpu"][0]["level"]
    compiler = ["g++", "-std=c++20", "-O2", f"-march={level}", "-fPIC", "-fvisibility=hidden", "-w"]
    subprocess.run([*compiler, "-c", work / "sources" / "program.cpp", "-o", work / "program.o"], check=True)
    kernels = kernel_names((work / "sources" / "kernels.cpp").read_text())
    stubs = [s for s in undefined_symbols(work / "program.o") if is_kernel(s, kernels)]
    (work / "stubs.s").write_text("\t.text\n" + "".join(map(STUB.format, stubs)) +
                                  WEIGHTS.format(weights) +
                                  '\t.section .note.GNU-stack,"",@progbits\n')
    library = work / "without_kernels.so"
    subprocess.run([*compiler, "-shared", "-o", library, work / "program.o", work / "stubs.s",
                    "-Wl,--undefined=aotc_get_api", "-Wl,--gc-sections", "-Wl,-z,now", support / "libaotc_model.a",
                    support / f"libaotc_templates_{level}.a", "-lm"], check=True)
    return work / "model.so", library, len(stubs)


def call_costs(options, libraries):
    lines = subprocess.run([options.call_cost, "--rounds", str(options.rounds), *libraries], stdout=subprocess.PIPE,
                           text=True, check=True).stdout.splitlines()
    return [[float(cell) for cell in line.split("\t")[1:]] for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measure.add_aotc_option(parser)
    parser.add_argument("--call-cost", type=pathlib.Path, help="the built call_cost (default: beside aotc)")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="default: this repository's")
    options = parser.parse_args()
    options.call_cost = options.call_cost or options.aotc.parent / "call_cost"
    support = options.aotc.parent.parent / "lib" / "aotc"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for program in options.programs or measure.own_programs():
            external = pathlib.Path(folder) / "external"
            external.mkdir(exist_ok=True)
            package = measure.compile_package(options.aotc, program, folder)
            full, empty, kernels = link_without_kernels(package, weights_of(options, program, external), support, folder)
            whole, rest = call_costs(options, [full, empty])
            rows.append([package.name.removesuffix(".aotc"), kernels, *(f"{t:.0f}" for t in whole + rest)])
    header = ["program", "kernels"]
    for what in ("whole call", "without kernels"):
        header += [f"{what}, ns min", "median", "storage given min", "median"]
    print(measure.table(header, rows))


main()
