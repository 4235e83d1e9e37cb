"""What the benchmark scripts share: the cost of a finished process, medians, tables, the programs in this repository."""

import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Cost:
    """Wall and CPU seconds of a process with its waited-for children, and its peak memory in MB."""

    def __init__(self, wall, usage):
        self.wall = wall
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss / 1024


def run(arguments, environment=None, log=None):
    """Runs a program to its end without a shell. Its output goes to the file `log` (default: nowhere). Returns Cost."""
    target = log or os.devnull
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, target, flags, 0o644), (os.POSIX_SPAWN_DUP2, 1, 2)]
    arguments = [str(a) for a in arguments]
    begin = time.monotonic()
    process = os.posix_spawnp(arguments[0], arguments, environment or os.environ, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    cost = Cost(time.monotonic() - begin, usage)
    if status != 0:
        text = open(log, errors="replace").read()[-2000:] if log else "run it by hand for its message"
        sys.exit(f"failed with status {os.waitstatus_to_exitcode(status)}: {' '.join(arguments)}\n{text}")
    return cost


def median(values):
    return statistics.median(values)


def table(header, rows):
    """A table in Markdown; numbers must be formatted already."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header] + rows) for i in range(len(header))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in [header] + rows]
    lines.insert(1, " | ".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def own_programs():
    """The .pt2 archives in this repository: the end-to-end tests' and the samples'."""
    return sorted((ROOT / "tests" / "e2e" / "data").glob("*.pt2")) + sorted((ROOT / "samples").glob("*/*.pt2"))


def add_aotc_option(parser):
    parser.add_argument("--aotc", type=pathlib.Path, default=ROOT / "build" / "ci" / "bin" / "aotc",
                        help="the program to measure (default: the ci preset's)")


def compile_package(aotc, program, folder, *flags):
    """Compiles for the CPU into `folder`; returns the package's path."""
    package = pathlib.Path(folder) / (program.name.removesuffix(".pt2") + ".aotc")
    run([aotc, "compile", program, "-o", package, "--device", "cpu", "--quiet", *flags], log=str(package) + ".log")
    return package
