#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Climbs the ladder on a GPU: each rung of each problem beside cuBLAS and Triton, by turns, and a verdict beside each number.

    python3 run.py --device=cuda --json=ladder.jsonl [SLICE…]

It takes at most --minutes, and goes on where it stopped when it is started again: a problem that FILE has of the same
artifacts on the same device is not measured again. Where a kernel hangs or takes the CUDA context along the exit code is 3;
started again, it goes on without that rung of that problem (attempts.py), and without a rung that did so twice in a slice.
A SLICE is a part of a slice's name; all without one, in their order. A line is one problem:

    slice, problem  what was asked; `device`, `uuid`, `driver`, `version`, `framework`, `clocks`: of whom
    rungs           per rung: verdict of the answer (ok, mismatch, error), artifact, median_s, min_s, spread, tflops, and where cuBLAS was
                    measured `of_cublas`, its time over ours; `gate`, what that has to be, and `passed`
    peers           cublas, triton (the best of its tiles), triton_same (at our tile): verdict, median_s, …; or error
    absent          why there are no peers

Inputs are random normal, answers are held against f64 with a bound that follows from the number of terms, every element.
"""

import argparse
import dataclasses
import hashlib
import json
import math
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# In the repository or where it has travelled.
sys.path[:0] = [str(HERE), *(str(p) for p in (HERE.parent / "bench", HERE.parent, HERE.parents[1] / "python/src") if p.is_dir())]

import rungs
from attempts import Attempts, run
from places import HostPlace, TorchPlace
from suite import Input
from tilewright_sweep import journal, runtime
from tilewright_sweep.contest import contest

SCHEMA = 1
UNIT = 2.0**-24
ROUNDOFF = {"bf16": 2.0**-8, "f16": 2.0**-11}
# What tensor cores of sm_90 keep of a sum of 8-bit floats over at most 128 terms.
STEP = 2.0**-13


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slices", nargs="*", metavar="SLICE", help="a part of a slice's name")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE, help="what make.py made (where this file is)")
    parser.add_argument("--library", default=str(HERE.parents[1] / "build/lib/libtilewright.so"), help="%(default)s")
    parser.add_argument("--device", default="cuda", help="%(default)s")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("ladder.jsonl"), help="%(default)s")
    parser.add_argument("--minutes", type=float, default=8, help="at most (%(default)g)")
    parser.add_argument("--seconds", type=float, default=0.25, help="of measuring, per contender (%(default)g)")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--rungs", default="", metavar="NAME,…", help="only these (all)")
    parser.add_argument("--peers", default="", metavar="NAME,…", help="only these (all): cublas, triton, triton_same")
    return parser.parse_args()


def open_place(arguments, library):
    """The device, where its tensors live, and why there are no peers."""
    device = library.open(arguments.device)
    if arguments.no_peers:
        return HostPlace(device), "--no-peers"
    if not device.name.startswith("cuda"):
        return HostPlace(device), f"{device.name} is no GPU that cuBLAS and Triton run on"
    return TorchPlace(device), ""


def key_of(line):
    return (line["slice"], line["problem"]["name"], line["device"], line["uuid"] or line["driver"],
            tuple(sorted((name, rung["artifact"]) for name, rung in line["rungs"].items())))


def reference(problem, a, b):
    """In f64, and how far off a right answer may be."""
    b = b.swapaxes(-1, -2) if problem.transposed else b
    right, size = a @ b, abs(a) @ abs(b)
    steps = 136 * STEP if problem.transposed else 0
    return right, ((problem.k + 8) * UNIT + steps) * size + ROUNDOFF[problem.result] * abs(right)


def verdict(place, expected, got):
    right, bound = expected
    if tuple(got.shape) != tuple(right.shape):
        return f"mismatch: shape {tuple(got.shape)}"
    return "ok" if place.all_within(got, right, bound) else "mismatch"


def peers_of(place, problem, sets, wanted):
    """{name: make()}: a call that takes the number of the turn."""
    torch = place.torch

    def cublas(a, b):
        if problem.transposed:
            one = torch.ones((), device=a.device)
            return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        return lambda: a @ b

    def triton(tuned):
        def make(a, b):
            import triton_gemm

            return triton_gemm.product(a, b.transpose(-1, -2) if problem.transposed else b, tuned,
                                       place.types[problem.result], triton_gemm.SAME)
        return make

    def turns(make):
        calls = [make(a, b) for a, b in sets]
        return lambda turn: calls[turn % len(calls)]()

    return {name: (lambda make=make: turns(make))
            for name, make in (("cublas", cublas), ("triton", triton(True)), ("triton_same", triton(False)))
            if not wanted or name in wanted}


class Program:
    """A rung's artifact, read when it is needed."""

    def __init__(self, folder, slice_name, rung):
        self.path = folder / f"{slice_name}-{rung.name}.tw"
        self.hash = hashlib.sha256(self.path.read_bytes()).hexdigest()
        self.loaded = None

    def load(self, device):
        self.loaded = self.loaded or device.load(self.path)
        return self.loaded


def check_rung(place, attempts, rung, program, problem, sets, specs, expected, report):
    """The rung's call by number of a turn; completes its report."""
    words = problem.name, rung.name, program.hash
    if sum(w[1:] == words[1:] for w in attempts.lost) > 1:
        raise runtime.Error("not tried, it lost the device at two other problems")
    with attempts.of(place, *words):
        loaded = program.load(place.device)
        calls = [loaded.bind(problem.name, [place.view(t, x) for t, x in zip(inputs, specs)]) for inputs in sets]
        result = calls[0](place.stream)[0]
        place.stream.synchronize()
        report.update(verdict=verdict(place, expected, place.fetch(result)), launches=loaded.launches(calls[0], place.stream))
    return lambda turn: calls[turn % len(calls)](place.stream)


def measure(arguments, place, attempts, slice_, programs, problem, line):
    specs = [Input(shape, rungs.TYPES[problem.type][0], seed) for seed, shape in enumerate(problem.shapes, 1)]
    total = sum(math.prod(x.dims) for x in specs) * (1 if problem.transposed else 2)
    rotated = 1 if slice_.checked_only else max(1, min(16, math.ceil(place.working_set() / total)))
    sets = [[place.random(Input(x.dims, x.dtype, x.seed + 1000 * i)) for x in specs] for i in range(rotated)]
    expected = reference(problem, *(place.wide(t, x) for t, x in zip(sets[0], specs)))
    contenders = {}
    place.device.set_poison(True)
    for rung in slice_.rungs:
        report = line["rungs"][rung.name]
        try:
            contenders[rung.name] = check_rung(place, attempts, rung, programs[rung.name], problem, sets, specs, expected, report)
        except runtime.Error as error:
            report.update(verdict="error", error=str(error).split("\n")[0])
    place.device.set_poison(False)
    line["framework"] = place.name
    if slice_.checked_only:
        return
    if not line["absent"]:
        for name, make in peers_of(place, problem, sets, set(filter(None, arguments.peers.split(",")))).items():
            try:
                call = make()
                got = call(0)
                place.stream.synchronize()
                line["peers"][name] = {"verdict": verdict(place, expected, place.wide(got))}
                contenders["peer " + name] = call
            except Exception as error:
                line["peers"][name] = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
    del expected
    # A rehearsal's times say nothing.
    once = line["size"] == "tiny"
    try:
        with attempts.of(place, problem.name, "times", slice_.name, *(programs[rung.name].hash for rung in slice_.rungs)):
            times = contest(place.device, place.stream, contenders, 0 if once else arguments.seconds, 1 if once else 5)
    except runtime.Error as error:
        line["error"] = f"not timed: {error}"
        return
    for name, taken in times.items():
        report = line["peers"][name[5:]] if name.startswith("peer ") else line["rungs"][name]
        report.update(taken, tflops=problem.flops / taken["median_s"] * 1e-12)
    judge(line)
    line.update(rotated=rotated, clocks=place.clocks())


def judge(line):
    """What of cuBLAS's speed each rung has, and whether that is what its gate wants."""
    theirs = line["peers"].get("cublas", {}).get("median_s")
    for report in line["rungs"].values():
        if theirs and "median_s" in report:
            report["of_cublas"] = theirs / report["median_s"]
            if report["gate"]:
                report["passed"] = report["verdict"] == "ok" and report["of_cublas"] >= report["gate"]


def describe(line):
    text = [f"{line['slice']} {line['problem']['name']}" + (f" (no peers: {line['absent']})" if line["absent"] else "")]
    for name, report in [*line["peers"].items(), *line["rungs"].items()]:
        row = f"  {name:<12} {report.get('verdict', 'error'):<9}"
        if "error" in report:
            row += " " + report["error"][:100]
        if "median_s" in report:
            row += f" {report['median_s'] * 1e6:11.1f} us {report['tflops']:8.1f} TFLOP/s"
        if "of_cublas" in report:
            row += f" {100 * report['of_cublas']:6.1f} % of cuBLAS"
        if "passed" in report:
            row += f", gate {100 * report['gate']:.0f} %: {'passed' if report['passed'] else 'missed'}"
        text.append(row)
    if "error" in line:
        text.append("  " + line["error"])
    return "\n".join(text)


def main():
    arguments = parse()
    begin = time.monotonic()
    plan = json.loads((arguments.folder / "plan.json").read_text())
    library = runtime.Library(arguments.library)
    place, absent = open_place(arguments, library)
    print(f"{place.device.name}: {place.device.description}; {place.name}" + (f"; no peers: {absent}" if absent else ""), flush=True)
    finished = {key_of(line) for line in journal.read_records(arguments.json)}
    attempts, bad = Attempts(arguments.json), 0
    wanted = set(filter(None, arguments.rungs.split(",")))
    for entry in plan["slices"]:
        if arguments.slices and not any(text in entry["name"] for text in arguments.slices):
            continue
        slice_ = rungs.Slice(entry["name"], entry["title"], tuple(rungs.Problem(**p) for p in entry["problems"]),
                             tuple(rungs.Rung(**r) for r in entry["rungs"] if not wanted or r["name"] in wanted),
                             entry["checked_only"])
        programs = {rung.name: Program(arguments.folder, slice_.name, rung) for rung in slice_.rungs}
        for problem in slice_.problems:
            line = {"schema": SCHEMA, "version": library.version, "size": plan["size"], "target": plan["target"],
                    "slice": slice_.name, "title": slice_.title,
                    "problem": {"name": problem.name, **dataclasses.asdict(problem)},
                    "device": place.device.name, "uuid": place.device.uuid, "driver": place.device.description,
                    "rungs": {r.name: {"what": r.what, "gate": r.gate, "config": r.config, "artifact": programs[r.name].hash}
                              for r in slice_.rungs}, "peers": {}, "absent": absent}
            if key_of(line) in finished:
                print(f"{slice_.name} {problem.name}: in {arguments.json} already", flush=True)
                continue
            if time.monotonic() - begin > 60 * arguments.minutes:
                print(f"stopped: {arguments.minutes:g} minutes are over; run again to go on", flush=True)
                return 1
            measure(arguments, place, attempts, slice_, programs, problem, line)
            journal.append(arguments.json, line)
            print(describe(line), flush=True)
            bad += any(r["verdict"] != "ok" for r in line["rungs"].values())
    return 2 if bad else 0


if __name__ == "__main__":
    run(main)
