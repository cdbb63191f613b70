#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a suite's problems beside its peers, checks every answer, and appends a JSON line per problem.

    perf/bench/run.py --device=cuda --json=results/bench.jsonl perf/suites/gemm

Each argument is a suite's folder (see suite.py) with NAME.tw beside its problems, or --artifacts=DIR has them. On CUDA the
peers work on the same inputs in the same queue, by turns (contest.py), and PyTorch must be there; elsewhere, and with
--no-peers, ours is timed alone, on inputs from NumPy, and without PyTorch no ceiling is measured. --framework=torch on
the CPU tries out the peers that PyTorch has there. A line is of the schema of tilewright-run --json (its page), with

    suite          the suite's name
    uuid           of the device
    late           of the `count` samples, those that the host was too late for, so that its time is in them
    peers          per peer: verdict, median_s, min_s, spread, count, enqueue_s, late; ratio = its median / ours: above 1 ours
                   is faster; or error. `tuned` marks a peer that tried several configs for this problem: it is held
                   against ours tuned, `ratio_tuned`, and one that did not against ours as compiled, `ratio`
    tuned          ours from --tuned=DIR, the same suites compiled with pinned configs: verdict, artifact, median_s, ...
    ceilings       what this device did at most in this run (ceilings.py)
    ceiling        which of them limits the operations: that of the operands' type
    floor_s, share the time that the work takes at the ceilings, and that over the median
    clocks         of the card, right after
    rotated        how many sets of inputs took turns, so that no cache holds them

A problem whose run fails has the verdict `error` and the message, and the others go on; where it takes the device along
the exit code is 3, and started again the run goes on behind it (attempts.py). A problem that FILE has already, of
the same artifact on the same device, is not run again: a run that was cut off goes on. --budget stops it in time.
"""

import argparse
import dataclasses
import hashlib
import math
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The modules that sweeps measure with lie beside this folder where it has travelled.
sys.path[:0] = [str(ROOT / "python/src"), str(pathlib.Path(__file__).resolve().parents[1])]

from attempts import Attempts, run
from places import HostPlace, TorchPlace
from suite import load_peers, read_problems
from tilewright_sweep import journal, runtime
from tilewright_sweep.contest import contest

SCHEMA = 1
#: Of an element; 2 where nothing is said.
BYTES = {"f64": 8, "f32": 4, "i32": 4, "i8": 1, "i4": 0.5, "f8E4M3FN": 1, "f8E5M2": 1}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", type=pathlib.Path, metavar="SUITE", help="folder of a suite")
    parser.add_argument("--artifacts", type=pathlib.Path, help="folder with NAME.tw per suite (each suite's own)")
    parser.add_argument("--tuned", type=pathlib.Path, help="folder with NAME.tw per suite, of pinned configs")
    parser.add_argument("--library", default=str(ROOT / "build/lib/libtilewright.so"), help="%(default)s")
    parser.add_argument("--device", default="cuda", help="%(default)s")
    parser.add_argument("--target", help="of the artifact (the first that the device runs)")
    parser.add_argument("--problems", default="", help="only functions with this text in their names")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("bench.jsonl"), help="%(default)s")
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, per contender (%(default)s)")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds for everything")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--slow-peers", action="store_true", help="torch.compile, too, which compiles for each problem")
    parser.add_argument("--framework", choices=("numpy", "torch"), help="of inputs and peers (torch on CUDA, else numpy)")
    return parser.parse_args()


def key_of(line):
    """What makes a measurement another one. A device that has no UUID is told by its description."""
    return (line.get("suite"), line["problem"]["function"], line.get("artifact"), line["config"]["target"], line["device"],
            line.get("uuid") or line.get("driver"), line.get("tuned", {}).get("artifact"))


def all_of(results):
    """A function has one result or several."""
    return results if isinstance(results, (list, tuple)) else [results]


def references(peers, place, problem, inputs):
    """(value, bound) of each result that the suite knows, the first at least."""
    known = peers.reference(problem.function, *[place.wide(t, x) for t, x in zip(inputs, problem.inputs)])
    return known if isinstance(known, list) else [known]


def verdict_of_all(place, known, gots, roundoffs):
    """`gots` may be more, or, of a peer, fewer than `known`."""
    for number, (reference, got, roundoff) in enumerate(zip(known, gots, roundoffs)):
        said = verdict(place, reference, got, roundoff)
        if said != "ok":
            return said if len(known) == 1 else f"{said} of result {number}"
    return "ok"


def our_verdict(place, known, results):
    place.stream.synchronize()
    return verdict_of_all(place, known, map(place.fetch, results), [0.0] * len(known))


def verdict(place, reference, got, roundoff=0.0):
    """Of a result in f64; `roundoff`: what its own type adds, relative to the value."""
    expected, bound = reference
    if roundoff:
        bound = bound + roundoff * abs(expected)
    if tuple(got.shape) != tuple(expected.shape):
        return f"mismatch: shape {tuple(got.shape)}, not {tuple(expected.shape)}"
    return "ok" if place.all_within(got, expected, bound) else "mismatch"


def prepare_peers(place, peers, problem, sets, known):
    """{name: call(turn)} of those that work, and {name: report} of all."""
    calls, reports = {}, {}
    for name, make in peers.items():
        try:
            made = [make(problem.function, *inputs) for inputs in sets]
            results = all_of(made[0]())
            reports[name] = {"verdict": verdict_of_all(place, known, map(place.wide, results), map(place.roundoff, results))}
            calls[name] = lambda turn, made=made: made[turn % len(made)]()
        except Exception as error:
            reports[name] = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
    return calls, reports


def shares(line, work, ceilings):
    """Floor and share of it, where the work and the ceilings are known."""
    flops, moved = work
    median, name = line["median_s"], line["ceiling"]
    line["flops_per_s"] = None if flops is None else flops / median
    line["bytes_per_s"] = None if moved is None else moved / median
    if not ceilings:
        return
    line["ceilings"] = ceilings
    if flops and name not in ceilings:
        return
    floor = max((flops or 0) / ceilings[name] if flops else 0, (moved or 0) / ceilings["bytes_per_s"])
    line["floor_s"], line["share"] = floor, floor / median


def ceiling_of(problem):
    """The name of the ceiling of a problem's operations: of the widest type that its tensors multiply in."""
    types = {x.dtype for x in problem.inputs if len(x.dims) > 1} or {x.dtype for x in problem.inputs}
    for kind in ("f64", "f32"):
        if kind in types:
            return kind + "_flops_per_s"
    return "i8_flops_per_s" if types <= {"i8", "i4"} else "flops_per_s"


def begin_line(device, program, suite, problem, tuned):
    """What a line says whatever comes of it."""
    line = {"schema": SCHEMA, "version": device.library.version, "suite": suite, "program": f"{suite}.tw",
            "artifact": program.hash, "problem": {"function": problem.function, "inputs": [str(x) for x in problem.inputs]},
            "config": {"target": program.target}, "device": device.name, "uuid": device.uuid,
            "driver": device.description, "check": "f64 reference", "outputs": []}
    if tuned:
        line["tuned"] = {"artifact": tuned.hash}
    return line


def bind(place, program, problem, sets):
    return [program.bind(problem.function, [place.view(t, x) for t, x in zip(inputs, problem.inputs)])
            for inputs in sets]


def peers_to_time(peers, arguments):
    if arguments.no_peers:
        return {}
    slow = () if arguments.slow_peers else getattr(peers, "SLOW", ())
    return {name: make for name, make in peers.PEERS.items() if name not in slow}


def run_problem(arguments, place, program, tuned, peers, problem, ceilings, line):
    """Completes the line of one problem."""
    total = sum(math.prod(x.dims) * BYTES.get(x.dtype, 2) for x in problem.inputs)
    rotated = max(1, min(16, math.ceil(place.working_set() / total)))
    sets = [[place.random(dataclasses.replace(x, seed=x.seed + 1000 * i)) for x in problem.inputs] for i in range(rotated)]
    if hasattr(peers, "inputs"):
        sets = [peers.inputs(problem.function, *inputs) for inputs in sets]
    calls = bind(place, program, problem, sets)
    place.stream.synchronize()
    device = place.device
    device.set_poison(True)
    results = calls[0](place.stream)
    place.stream.synchronize()
    known = references(peers, place, problem, sets[0])
    line["config"]["launches"] = program.launches(calls[0], place.stream)
    line["verdict"] = our_verdict(place, known, results)
    line["ceiling"] = ceiling_of(problem)
    ours = {"": lambda turn: calls[turn % rotated](place.stream)}
    if tuned:
        tuned_calls = bind(place, tuned, problem, sets)
        results = tuned_calls[0](place.stream)
        line["tuned"].update(verdict=our_verdict(place, known, results),
                             launches=tuned.launches(tuned_calls[0], place.stream))
        ours["tuned"] = lambda turn: tuned_calls[turn % rotated](place.stream)
    device.set_poison(False)
    use = peers_to_time(peers, arguments) if place.peers else {}
    contenders, reports = prepare_peers(place, use, problem, sets, known)
    del known, results
    times = contest(device, place.stream, {**ours, **{"peer " + name: call for name, call in contenders.items()}},
                    arguments.seconds)
    line.update(times[""])
    if tuned:
        line["tuned"].update(times["tuned"])
    for name in contenders:
        peer = times["peer " + name]
        reports[name].update(peer, tuned=name in getattr(peers, "TUNED", ()), ratio=peer["median_s"] / line["median_s"])
        if tuned:
            reports[name]["ratio_tuned"] = peer["median_s"] / line["tuned"]["median_s"]
    line.update(rotated=rotated, framework=place.name, peers=reports, clocks=place.clocks())
    shares(line, program.work(problem.function, calls[0].views), ceilings)


def describe(line):
    if line["verdict"] == "error":
        return f"{line['suite']}/{line['problem']['function']:<28} error: {line['error']}"
    text = f"{line['suite']}/{line['problem']['function']:<28} {line['verdict']:<9} {line['median_s'] * 1e6:10.1f} us"
    if line.get("flops_per_s"):
        text += f" {line['flops_per_s'] * 1e-9:9.1f} GFLOP/s"
    if line.get("bytes_per_s"):
        text += f" {line['bytes_per_s'] * 1e-9:7.1f} GB/s"
    if "share" in line:
        text += f" {100 * line['share']:5.1f} % of the floor"
    if "tuned" in line:
        text += f"  tuned {line['tuned']['median_s'] * 1e6:.1f} us ({line['tuned']['verdict']})"
    for name, peer in line["peers"].items():
        text += f"  {name} {peer['ratio']:.2f}x{' tuned' * peer['tuned']} ({peer['verdict']})" if "ratio" in peer else f"  {name}: {peer['error'][:60]}"
    return text


def open_place(arguments, library):
    """The device, and where its tensors live."""
    device = library.open(arguments.device)
    on_cuda = device.name.startswith("cuda")
    framework = arguments.framework or ("torch" if on_cuda and not arguments.no_peers else "numpy")
    if framework == "torch" and not on_cuda and device.name != "cpu":
        raise runtime.Error(f"--framework=torch: PyTorch shares no memory with {device.name}, only with cuda and cpu")
    return (TorchPlace if framework == "torch" else HostPlace)(device)


def load_hashed(device, path, target):
    program = device.load(path, target)
    program.hash = hashlib.sha256(path.read_bytes()).hexdigest()
    return program


def main():
    arguments = parse()
    library = runtime.Library(arguments.library)
    place = open_place(arguments, library)
    device = place.device
    print(f"{device.name}: {device.description}; {place.name}", flush=True)
    ceilings = None
    if place.peers and device.name.startswith("cuda"):
        from ceilings import measure

        ceilings = measure(place.torch)
        print("ceilings: " + ", ".join(f"{k} {v:.4g}" for k, v in ceilings.items()), flush=True)
    finished = {key_of(line) for line in journal.read_records(arguments.json)}
    attempts, begin, bad = Attempts(arguments.json), time.monotonic(), 0
    for folder in arguments.suites:
        suite, peers, loaded = folder.resolve().name, load_peers(folder), None
        for problem in read_problems(folder / "problems.txt"):
            if arguments.problems not in problem.function:
                continue
            if not loaded:
                loaded = [load_hashed(place.device, where / f"{suite}.tw", arguments.target)
                          for where in (arguments.artifacts or folder, arguments.tuned) if where]
            program, tuned = loaded[0], loaded[1] if arguments.tuned else None
            line = begin_line(place.device, program, suite, problem, tuned)
            if key_of(line) in finished:
                print(f"{suite}/{problem.function}: in {arguments.json} already", flush=True)
                continue
            if time.monotonic() - begin > arguments.budget:
                print(f"stopped: {arguments.budget:.0f} s are over; run again to go on", flush=True)
                return 1
            try:
                with attempts.of(place, suite, problem.function, program.hash):
                    run_problem(arguments, place, program, tuned, peers, problem, ceilings, line)
            except (RuntimeError, MemoryError) as error:
                line.update(verdict="error", error=str(error).split("\n")[0])
            journal.append(arguments.json, line)
            print(describe(line), flush=True)
            bad += line["verdict"] != "ok"
    return 2 if bad else 0


if __name__ == "__main__":
    run(main)
