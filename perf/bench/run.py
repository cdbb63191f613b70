#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a suite's problems beside its peers, checks every answer, and appends a JSON line per problem.

    perf/bench/run.py --device=cuda --json=results/bench.jsonl perf/suites/gemm

Each argument is a suite's folder (see suite.py) with NAME.tw beside its problems, or --artifacts=DIR has them. On CUDA the
peers work on the same inputs in the same queue, by turns (contest.py), and PyTorch must be there; elsewhere, and with
--no-peers, ours is timed alone, on inputs from NumPy. A line is of the schema of tilewright-run --json (its page), with

    suite          the suite's name
    peers          per peer: verdict, median_s, min_s, spread, count, enqueue_s; ratio = its median / ours: above 1 ours
                   is faster; or error
    ceilings       what this device did at most in this run (ceilings.py)
    floor_s, share the time that the work takes at the ceilings, and that over the median
    clocks         of the card, right after
    rotated        how many sets of inputs took turns, so that no cache holds them

A problem that FILE has already is not run again: a run that was cut off goes on. --budget stops it in time.
"""

import argparse
import hashlib
import json
import math
import pathlib
import sys
import time

import runtime
from contest import contest
from places import HostPlace, TorchPlace
from suite import load_peers, read_problems

SCHEMA = 1
ROOT = pathlib.Path(__file__).resolve().parents[2]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", type=pathlib.Path, metavar="SUITE", help="folder of a suite")
    parser.add_argument("--artifacts", type=pathlib.Path, help="folder with NAME.tw per suite (each suite's own)")
    parser.add_argument("--library", default=str(ROOT / "build/lib/libtilewright.so"), help="%(default)s")
    parser.add_argument("--device", default="cuda", help="%(default)s")
    parser.add_argument("--target", help="of the artifact (the first that the device runs)")
    parser.add_argument("--problems", default="", help="only functions with this text in their names")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("bench.jsonl"), help="%(default)s")
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, per contender (%(default)s)")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds for everything")
    parser.add_argument("--no-peers", action="store_true")
    return parser.parse_args()


def done_before(path):
    """What a results file has: (suite, function, device, target)."""
    if not path.exists():
        return set()
    found = set()
    for text in path.read_text().splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:  # cut off
            continue
        found.add((line.get("suite"), line["problem"]["function"], line["device"], line["config"]["target"]))
    return found


def verdict(place, reference, got, roundoff=0.0):
    """Of a result in f64; `roundoff`: what its own type adds, relative to the value."""
    expected, bound = reference
    if roundoff:
        bound = bound + roundoff * abs(expected)
    if tuple(got.shape) != tuple(expected.shape):
        return f"mismatch: shape {tuple(got.shape)}, not {tuple(expected.shape)}"
    return "ok" if place.all_within(got, expected, bound) else "mismatch"


def prepare_peers(place, peers, problem, sets, reference):
    """{name: call(turn)} of those that work, and {name: report} of all."""
    calls, reports = {}, {}
    for name, make in peers.items():
        try:
            made = [make(problem.function, *inputs) for inputs in sets]
            result = made[0]()
            reports[name] = {"verdict": verdict(place, reference, place.wide(result), place.roundoff(result))}
            calls[name] = lambda turn, made=made: made[turn % len(made)]()
        except Exception as error:
            reports[name] = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
    return calls, reports


def shares(line, work, ceilings):
    """Floor and share of it, where the work and the ceilings are known."""
    flops, moved = work
    median = line["median_s"]
    line["flops_per_s"] = None if flops is None else flops / median
    line["bytes_per_s"] = None if moved is None else moved / median
    if not ceilings:
        return
    line["ceilings"] = ceilings
    floor = max((flops or 0) / ceilings["flops_per_s"], (moved or 0) / ceilings["bytes_per_s"])
    line["floor_s"], line["share"] = floor, floor / median


def run_problem(arguments, place, program, peers, suite, problem, ceilings):
    """The line of one problem."""
    total = sum(math.prod(x.dims) * {"f64": 8, "f32": 4, "i8": 1}.get(x.dtype, 2) for x in problem.inputs)
    rotated = max(1, min(16, math.ceil(place.working_set() / total)))
    sets = [[place.random(type(x)(x.dims, x.dtype, x.seed + 1000 * i)) for x in problem.inputs] for i in range(rotated)]
    calls = [program.bind(problem.function, [place.view(t, x.dtype) for t, x in zip(inputs, problem.inputs)])
             for inputs in sets]
    place.stream.synchronize()
    device = place.device
    device.set_poison(True)
    result = calls[0](place.stream)[0]
    place.stream.synchronize()
    reference = peers.reference(problem.function, *[place.wide(t, x.dtype) for t, x in zip(sets[0], problem.inputs)])
    line = {"schema": SCHEMA, "version": device.library.version, "suite": suite, "program": f"{suite}.tw",
            "artifact": program.hash, "problem": {"function": problem.function, "inputs": [str(x) for x in problem.inputs]},
            "config": {"target": program.target, "launches": program.launches(calls[0], place.stream)},
            "device": device.name, "driver": device.description, "check": "f64 reference",
            "verdict": verdict(place, reference, place.fetch(result)), "outputs": []}
    device.set_poison(False)
    use = peers.PEERS if place.peers and not arguments.no_peers else {}
    contenders, reports = prepare_peers(place, use, problem, sets, reference)
    del reference, result
    times = contest(device, place.stream,
                    {"": lambda turn: calls[turn % rotated](place.stream), **contenders}, arguments.seconds)
    line.update(times[""])
    for name in contenders:
        reports[name].update(times[name], ratio=times[name]["median_s"] / line["median_s"])
    line.update(rotated=rotated, framework=place.name, peers=reports, clocks=place.clocks())
    shares(line, program.work(problem.function, calls[0].views), ceilings)
    return line


def describe(line):
    text = f"{line['suite']}/{line['problem']['function']:<28} {line['verdict']:<9} {line['median_s'] * 1e6:10.1f} us"
    if line.get("flops_per_s"):
        text += f" {line['flops_per_s'] * 1e-9:9.1f} GFLOP/s"
    if line.get("bytes_per_s"):
        text += f" {line['bytes_per_s'] * 1e-9:7.1f} GB/s"
    if "share" in line:
        text += f" {100 * line['share']:5.1f} % of the floor"
    for name, peer in line["peers"].items():
        text += f"  {name} {peer['ratio']:.2f}x ({peer['verdict']})" if "ratio" in peer else f"  {name}: {peer['error'][:60]}"
    return text


def main():
    arguments = parse()
    library = runtime.Library(arguments.library)
    device = library.open(arguments.device)
    on_cuda = device.name.startswith("cuda")
    if on_cuda:
        import torch

        torch.cuda.init()
    place = TorchPlace(device) if on_cuda else HostPlace(device)
    print(f"{device.name}: {device.description}; {place.name}", flush=True)
    ceilings = None
    if on_cuda:
        from ceilings import measure

        ceilings = measure(place.torch)
        print("ceilings: " + ", ".join(f"{k} {v:.4g}" for k, v in ceilings.items()), flush=True)
    finished, begin, bad = done_before(arguments.json), time.monotonic(), 0
    for folder in arguments.suites:
        suite = folder.resolve().name
        path = (arguments.artifacts or folder) / f"{suite}.tw"
        program, peers = device.load(path, arguments.target), load_peers(folder)
        program.hash = hashlib.sha256(path.read_bytes()).hexdigest()
        for problem in read_problems(folder / "problems.txt"):
            if arguments.problems not in problem.function:
                continue
            if (suite, problem.function, device.name, program.target) in finished:
                print(f"{suite}/{problem.function}: in {arguments.json} already", flush=True)
                continue
            if time.monotonic() - begin > arguments.budget:
                print(f"stopped: {arguments.budget:.0f} s are over; run again to go on", flush=True)
                return 1
            line = run_problem(arguments, place, program, peers, suite, problem, ceilings)
            with arguments.json.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(describe(line), flush=True)
            bad += line["verdict"] != "ok"
    return 2 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (runtime.Error, OSError) as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: error: {error}")
