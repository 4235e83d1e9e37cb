#!/usr/bin/env python3
"""Compiles programs and prints what their model.so holds: bytes as stored, embedded weights, code, data, and the
libraries it needs. Exits with 1 when code and data reach 150 kB or a library besides libc and libm is needed."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import measure

LIMIT = 150_000
ALLOWED = {"libc.so.6", "libm.so.6"}


def needed(library):
    text = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    return [line.split("[")[1].rstrip("]") for line in text.splitlines() if "(NEEDED)" in line]


def sections(library):
    """Bytes by section name, for those that the file stores."""
    text = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    sizes = {}
    for line in text.splitlines():
        words = line.partition("]")[2].split()
        if len(words) > 5 and words[0].startswith(".") and words[1] != "NOBITS":
            sizes[words[0]] = int(words[4], 16)
    return sizes


def describe(package, folder):
    with zipfile.ZipFile(package) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        library = pathlib.Path(archive.extract("model.so", folder))
    size = library.stat().st_size
    weights = manifest["weights_bytes"] if manifest["weights_embedded"] else 0
    parts = sections(library)
    libraries = needed(library)
    row = [package.name.removesuffix(".aotc"), size, weights, size - weights, parts[".text"],
           parts.get(".rodata", 0) - weights, package.stat().st_size, " ".join(libraries)]
    return row, size - weights < LIMIT and set(libraries) <= ALLOWED


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    measure.add_aotc_option(parser)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="default: this repository's")
    options = parser.parse_args()
    rows, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        for program in options.programs or measure.own_programs():
            row, fits = describe(measure.compile_package(options.aotc, program, folder), folder)
            rows.append(row)
            good = good and fits
    print(measure.table(["program", "model.so", "weights", "rest", "text", "constants", "package", "needs"], rows))
    sys.exit(0 if good else 1)


main()
