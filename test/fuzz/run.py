#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes random programs, compiles each for every back end, runs it on each device and holds the results against plain loops
(the oracle, within its error bounds) and NumPy. A program is determined by its number.

    test/fuzz/run.py                            # programs 1 to 64
    test/fuzz/run.py --seconds 3600 --from 1    # from there on for an hour; run again, it goes on where it stopped
    test/fuzz/run.py --program 4711             # one program: its text, what compilers and devices say
    test/fuzz/run.py --totals                   # what the journal has: programs, refusals by reason, findings

Findings are crashes and hangs of the compiler, calls that end in an error, and wrong results. Each leaves a folder
OUT/findings/NUMBER-WHERE with the program, what happened and, made by tilewright-reduce, a small program that shows it.
The journal (OUT/journal.jsonl) has a line for each program, written when its batch has run; programs in it are not run again.
README.md has more. Exit code: 0 nothing found, 1 something.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
E2E = HERE.parent / "e2e"
sys.path[:0] = [str(HERE), str(E2E)]
#: Each device: its target, the runner's name of it, its environment.
DEVICES = {"cpu": ("cpu", "cpu", {}), "vulkan": ("vulkan", "vulkan", {}),
           "ptxsim@sm_80": ("cuda:sm_80", "ptxsim", {"PTXSIM_ARCH": "sm_80"}),
           "ptxsim@sm_90": ("cuda:sm_90a", "ptxsim", {"PTXSIM_ARCH": "sm_90"})}
BATCH = 64


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, help="folder for everything written (BUILD/fuzz)")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="NUMBER", help="the first program (%(default)s)")
    parser.add_argument("--programs", type=int, help=f"how many numbers to try ({BATCH}; with --seconds no end)")
    parser.add_argument("--seconds", type=float, help="end after about so many seconds, on a machine that does nothing else")
    parser.add_argument("--program", type=int, metavar="NUMBER", help="run this program alone, whatever the journal has, and print it")
    parser.add_argument("--devices", default=",".join(DEVICES), help="comma list (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile, devices that run at a time (%(default)s)")
    parser.add_argument("--batch", type=int, default=BATCH, help="programs to a process that compiles or runs (%(default)s)")
    parser.add_argument("--timeout", type=int, default=60, help="seconds to compile a program; a call has as long (%(default)s)")
    parser.add_argument("--keep-going", action="store_true", help="do not make findings small (it takes minutes for each)")
    parser.add_argument("--totals", action="store_true", help="print what the journal has, and stop")
    parser.add_argument("--report", type=pathlib.Path, help="verdicts as JSON, for scripts/summarize.py")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "fuzz").resolve()
    unknown = [d for d in options.devices.split(",") if d not in DEVICES]
    if unknown:
        parser.error(f"no device '{unknown[0]}'; there are {', '.join(DEVICES)}")
    options.devices = options.devices.split(",")
    if options.programs is None and options.seconds is None:
        options.programs = BATCH
    return options


class Program:
    def __init__(self, number, folder):
        import programs
        self.number = number
        self.kind, self.function = programs.program(number)
        self.source = folder / f"{number}.mlir"
        self.artifacts = {}   # device: path
        self.compiled = {}    # target: "compiled", or (what, why)
        self.devices = {}     # device: "right", or why not
        self.goldens = {}     # name of a case: files
        self.seconds = 0.0
        if self.function:
            self.source.write_text(f"module {{\n{self.function.text()}\n}}\n")

    def write_goldens(self, folder):
        import numpy as np
        for case in self.function.cases:
            names = self.goldens[case.name] = []
            for number, array in enumerate(case.golden(self.function.args)):
                names.append(f"{self.number}-{case.name.rsplit('/', 1)[1]}-{number}.f64")
                (folder / names[-1]).write_bytes(np.ascontiguousarray(array, np.float64).tobytes())

    def sizes(self):
        """Sizes of `?`, for shrinking."""
        return sorted({int(d) for case in self.function.cases for i in case.inputs for d in i["type"].split("x")[:-1]})[:6]

    def entry(self):
        entry = {"program": self.number, "kind": self.kind, "seconds": round(self.seconds, 2)}
        if not self.function:
            return {**entry, "empty": True}
        return {**entry, "shape": self.function.shape, "cases": len(self.function.cases),
                "targets": self.compiled, "devices": self.devices}

    def findings(self):
        for target, outcome in self.compiled.items():
            if outcome != "compiled" and outcome[0] != "refused":
                yield {"program": self.number, "what": outcome[0], "target": target, "why": outcome[1]}
        for device, outcome in self.devices.items():
            if outcome != "right":
                yield {"program": self.number, "what": "wrong" if " differ" in outcome else "error", "device": device,
                       "target": DEVICES[device][0], "why": outcome, "sizes": self.sizes()}


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.bin = options.build / "bin"
        self.out = options.out
        self.work = self.out / "programs"
        self.work.mkdir(parents=True, exist_ok=True)
        self.compilers = {}   # (thread, targets): process
        self.pool, self.stopped = concurrent.futures.ThreadPoolExecutor(options.jobs), False
        self.start = time.monotonic()
        self.found = []

    def is_late(self, share=1.0):
        return self.options.seconds is not None and time.monotonic() - self.start > share * self.options.seconds

    def compile(self, targets, source, artifact):
        import compiler
        key = threading.get_ident(), targets
        known = self.compilers.get(key)
        if not known:
            known = self.compilers[key] = compiler.Compiler(self.bin / "tilewright-compile", targets, self.options.timeout)
        return known.compile(source, artifact)

    def compile_program(self, program):
        """For all targets at once; where that fails, for one after the other. False: there is no time left for it."""
        if self.is_late(0.6):
            return False
        targets = [DEVICES[d][0] for d in self.options.devices]
        artifact = program.source.with_suffix(".tw")
        what, why, seconds = self.compile((*targets, "cpu-reference"), program.source, artifact)
        program.seconds += seconds
        if what == "compiled":
            program.compiled = dict.fromkeys(targets, "compiled")
            program.artifacts = dict.fromkeys(self.options.devices, artifact)
            return True
        for device in self.options.devices:
            target = DEVICES[device][0]
            artifact = program.source.with_suffix(f".{device}.tw")
            what, why, seconds = self.compile((target, "cpu-reference"), program.source, artifact)
            program.seconds += seconds
            program.compiled[target] = "compiled" if what == "compiled" else (what, why)
            if what == "compiled":
                program.artifacts[device] = artifact
        return True

    def run_on(self, device, programs):
        """All cases of a batch on a device, by one process of tilewright-e2e, which is started again where it dies."""
        target, name, environment = DEVICES[device]
        entries, owners = [], {}
        for program in programs:
            if device not in program.artifacts:
                continue
            cases = []
            for case in program.function.cases:
                owners[case.name] = program
                cases.append({"name": case.name, "function": program.function.symbol, "inputs": case.inputs, "check": case.check,
                              "golden": program.goldens[case.name]})
            program.devices[device] = "right"
            entries.append({"artifact": program.artifacts[device].name, "cases": cases})
        if not entries:
            return
        listed, journal = self.work / f"{device}.json", self.work / f"{device}.jsonl"
        listed.write_text(json.dumps({"schema": 1, "programs": entries}))
        journal.unlink(missing_ok=True)
        for _ in range(len(owners) + 1):
            code = self.run_batch([self.bin / "tilewright-e2e", listed, journal, name], environment, journal)
            if code in (0, 1, 2) or self.stopped:
                break
        seen = set()
        for line in journal.read_text().splitlines() if journal.exists() else ():
            entry = json.loads(line)
            if "case" in entry:
                seen.add(entry["case"])
                if entry["verdict"] == "failed":
                    owners[entry["case"]].devices[device] = f"case {entry['case'].rsplit('/', 1)[1]}: {entry['reason']}"
        for case, program in owners.items():
            if case not in seen:
                program.devices[device] = f"tilewright-e2e did not come to case {case}: exit code {code}"

    def run_batch(self, command, environment, journal):
        """The exit code; a process that writes no line for long is ended, and its case counts as failed."""
        with open(journal.with_suffix(".log"), "w") as log:
            process = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, env={**os.environ, **environment})
            size, since = -1, time.monotonic()
            try:
                while process.poll() is None and not self.stopped:
                    time.sleep(0.02)
                    now = journal.stat().st_size if journal.exists() else 0
                    if now != size:
                        size, since = now, time.monotonic()
                    elif time.monotonic() - since > 2 * self.options.timeout:
                        process.kill()
            finally:
                process.kill()  # where all is interrupted
                process.wait()
            return process.returncode

    def batch(self, numbers):
        programs = [Program(number, self.work) for number in numbers]
        tried = [p for p in programs if p.function]
        for program, compiled in zip(tried, [*self.pool.map(self.compile_program, tried)]):
            if compiled:
                program.write_goldens(self.work)
            else:
                programs.remove(program)
        tried = [p for p in programs if p.function]
        try:
            list(self.pool.map(lambda device: self.run_on(device, tried), self.options.devices))
        except BaseException:
            self.stopped = True  # the threads wait for their runners
            raise
        for program in programs:
            for finding in program.findings():
                self.note(program, finding)
        if self.options.program is None:
            with open(self.out / "journal.jsonl", "a") as journal:
                for program in programs:
                    journal.write(json.dumps(program.entry()) + "\n")
            for path in self.work.glob("*"):
                path.unlink()
        return programs

    def twins(self, program, finding, folder):
        """The text with the sizes of the case that went wrong."""
        import programs
        case = re.match(r"case (\d+):", finding["why"])
        if not case or program.kind == "memref" or program.function.shape == "static":
            return []
        path = folder / "static.mlir"
        path.write_text(f"module {{\n{programs.program(program.number, int(case[1]))[1].text()}\n}}\n")
        return [path]

    def note(self, program, finding):
        """Leaves a folder with all there is about a finding, and makes it small."""
        import shrink
        where = finding.get("device", finding["target"]).replace(":", "_")
        folder = self.out / "findings" / f"{program.number}-{where}"
        folder.mkdir(parents=True, exist_ok=True)
        text = folder / "program.mlir"
        text.write_text(program.source.read_text())
        print(f"FOUND program {program.number} ({program.kind}, {program.function.shape}), {finding['what']} {where}: {finding['why']}",
              flush=True)
        if not self.options.keep_going:
            finding["small"] = shrink.shrink(self.bin, finding, text, self.twins(program, finding, folder), folder / "small.mlir")
            print(f"      {folder}: {finding['small']}", flush=True)
        (folder / "finding.json").write_text(json.dumps(finding, indent=1) + "\n")
        self.found.append(finding)


def journal_entries(options):
    path = options.out / "journal.jsonl"
    entries = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            pass  # cut short
    return entries


def print_totals(options, entries):
    import compiler
    tried = [e for e in entries if not e.get("empty")]
    kinds = collections.Counter(e["kind"] for e in tried)
    print(f"{len(tried)} programs ({', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}), "
          f"{sum(e['shape'] == 'dynamic' for e in tried)} dynamic, {sum(e['cases'] for e in tried)} cases")
    refused = collections.Counter()
    for device, (target, _, _) in DEVICES.items():
        outcomes = [e["targets"].get(target) for e in tried if target in e["targets"]]
        results = [e["devices"][device] for e in tried if device in e["devices"]]
        what = collections.Counter("compiled" if o == "compiled" else o[0] for o in outcomes)
        print(f"  {device}: {what['compiled']} compiled, {sum(r == 'right' for r in results)} right, "
              f"{sum(r != 'right' for r in results)} not" +
              "".join(f", {n} {w}" for w, n in sorted(what.items()) if w != "compiled"))
        for outcome in outcomes:
            if outcome != "compiled" and outcome[0] == "refused":
                refused[target, compiler.general(outcome[1])] += 1
    for (target, reason), count in refused.most_common(30):
        print(f"  refused {count} {target}: {reason}")
    for e in tried:
        for where, outcome in (*e["targets"].items(), *e["devices"].items()):
            if outcome not in ("compiled", "right") and outcome[0] != "refused":
                print(f"  found {e['program']} {where}: {outcome if isinstance(outcome, str) else ': '.join(outcome)}")


def main():
    options = arguments()
    fuzzer = Fuzzer(options)
    entries = journal_entries(options)
    if options.totals:
        print_totals(options, entries)
        return 0
    start = time.monotonic()
    if options.program is not None:
        program, = fuzzer.batch([options.program])
        print(program.source.read_text() if program.function else "nothing comes of this number")
        print(json.dumps(program.entry(), indent=1))
        return 1 if fuzzer.found else 0
    done = {entry["program"] for entry in entries}
    number, ran = options.first, []
    end = options.first + options.programs if options.programs is not None else None
    while (end is None or number < end) and not fuzzer.is_late(0.6):
        numbers = []
        while len(numbers) < options.batch and (end is None or number < end):
            if number not in done:
                numbers.append(number)
            number += 1
        ran += fuzzer.batch(numbers)
        tried = [p for p in ran if p.function]
        print(f"  programs to {number - 1}: {len(tried)} in {time.monotonic() - start:.0f} s, {len(fuzzer.found)} found", flush=True)
    print_totals(options, [p.entry() for p in ran])
    if options.report:
        bad = {f["program"]: f for f in fuzzer.found}
        options.report.write_text(json.dumps({"schema": 1, "cases": [
            {"name": f"program {p.number}", "verdict": "failed" if p.number in bad else "passed",
             "reason": bad.get(p.number, {}).get("why", "")} for p in ran if p.function]}, indent=1))
    return 1 if fuzzer.found else 0


if __name__ == "__main__":
    sys.exit(main())
