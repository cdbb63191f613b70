#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiling costs, and what the plan of temporaries saves.

    perf/compile.py                          the examples and the suites of perf/suites, for the default targets
    perf/compile.py --target=cuda:sm_90a --json=FILE examples/mlp.mlir

For each program: seconds of the whole process (median of --runs, with the least), its processor time and peak memory; where
the time goes, from --trace of one more run (stages, summed over programs of all targets; "kernels" is code generation,
which runs in parallel); the arena of temporaries over what is alive at once, the largest of the program's functions. One
JSON line per program goes to FILE.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python/src"))

from tilewright_sweep import journal


def timed(command):
    """(seconds, processor seconds, peak bytes) of a process; its diagnostics on failure."""
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"compile.py: error: {' '.join(map(str, command))}:\n{errors.read().decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def parts_of(trace):
    """Seconds per stage, and of kernels, out of a trace."""
    total = collections.Counter()
    for event in json.loads(trace.read_text())["traceEvents"]:
        kind, _, name = event["name"].partition(" ")
        if event["ph"] == "X" and kind in ("stage", "kernel"):
            total["kernels" if kind == "kernel" else name] += event["dur"] * 1e-6
        elif event["ph"] == "X" and event["name"] in ("parse", "package"):
            total[event["name"]] += event["dur"] * 1e-6
    return dict(total)


def arena_of(compiler, program, target):
    """(bytes, bytes alive at once) of the function with the largest arena; None without one."""
    done = subprocess.run([compiler, program, f"--target={target}", "--stop-after=place", "-o", "-"], capture_output=True,
                          text=True, check=True)
    found = [tuple(map(int, m)) for m in re.findall(r"tilewright\.arena = array<i64: (\d+), (\d+)>", done.stdout)]
    return max(found, default=None)


def measure(arguments, program):
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.compiler, program, f"--target={arguments.target}", "-o", f"{folder}/out.tw"]
        runs = [timed(command) for _ in range(arguments.runs)]
        trace = pathlib.Path(folder) / "trace.json"
        timed([*command, f"--trace={trace}"])
        parts = parts_of(trace)
    arena = arena_of(arguments.compiler, program, arguments.target)
    return {"program": str(program.relative_to(ROOT)) if program.is_relative_to(ROOT) else program.name,
            "target": arguments.target, "median_s": statistics.median(r[0] for r in runs), "min_s": min(r[0] for r in runs),
            "processor_s": statistics.median(r[1] for r in runs), "peak_bytes": max(r[2] for r in runs), "parts_s": parts,
            "arena_bytes": arena and arena[0], "live_bytes": arena and arena[1]}


def describe(line):
    parts = sorted(line["parts_s"].items(), key=lambda item: -item[1])[:4]
    arena = f"{line['arena_bytes'] / line['live_bytes']:.3f}" if line["arena_bytes"] else "-"
    return (f"{line['program']:<36} {line['median_s']:7.3f} s {line['processor_s']:7.3f} s {line['peak_bytes'] / 2**20:6.0f} MiB "
            f"{arena:>6}  " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, metavar="PROGRAM.mlir")
    parser.add_argument("--compiler", type=pathlib.Path, default=ROOT / "build/bin/tilewright-compile", help="%(default)s")
    parser.add_argument("--target", default="cuda:sm_80,cuda:sm_90a,vulkan,cpu", help="%(default)s")
    parser.add_argument("--runs", type=int, default=5, help="%(default)s")
    parser.add_argument("--json", type=pathlib.Path, help="append a line per program")
    arguments = parser.parse_args()
    programs = arguments.programs or [*sorted((ROOT / "examples").glob("*.mlir")), *sorted((ROOT / "perf/suites").glob("*/*.mlir"))]
    print(f"{'program':<36} {'whole':>9} {'processor':>9} {'peak':>10} {'arena':>6}  seconds of the longest parts")
    for program in programs:
        line = measure(arguments, program.resolve())
        print(describe(line), flush=True)
        if arguments.json:
            journal.append(arguments.json, line)


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"compile.py: error: {error}")
