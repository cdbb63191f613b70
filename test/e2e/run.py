#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the generated end-to-end cases; README.md has the picture.

    test/e2e/run.py --build build [--filter 'matmul/*'] [--devices cpu,vulkan]

Ends in a table per family, type and device, and writes report.json. Exit code 0
if everything is as expected.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np

import artifact
import assemble
import batches as batching
import families
import selection

HERE = pathlib.Path(__file__).resolve().parent
NEWER_VULKAN = "vulkan-newer"
AARCH64 = "cpu-aarch64"
# What the validation layers print, through whatever log.
VALIDATION_MESSAGE = re.compile(r"VUID-|Validation (Error|Warning)|SYNC-HAZARD|vkCreate\w+\(\):")
LARGE = "ptxsim-large"
# Cases that one start of the simulator runs.
MOST_SIMULATED = 1000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--out", type=pathlib.Path, help="folder for everything written (BUILD/e2e)")
    parser.add_argument("--filter", default="*", help="comma list of patterns of FAMILY/TYPE/SHAPE/LABEL")
    parser.add_argument("--all", action="store_true", help="every case, also without --filter; else every pair of family, "
                        "type, layout, static or dynamic, size class and target appears")
    parser.add_argument("--seed", type=int, default=1, help="of the choice among cases that show as many pairs (%(default)s)")
    parser.add_argument("--devices", default="cpu,vulkan,ptxsim@sm_80,ptxsim@sm_90,ptxsim@sm_80+large,ptxsim@sm_90+large",
                        help="comma list; ptxsim@ARCH is the simulator as that GPU, with checks: small cases and those "
                             "of simulated-large.txt; ptxsim@ARCH+large without checks: the others; ptxsim@ARCH+speed "
                             "without checks: all that ptxsim@ARCH has; vulkan-newer@NAME the Vulkan of "
                             "scripts/newer-vulkan under its validation layers; cpu-aarch64[@sveBITS] a processor "
                             "of scripts/aarch64 (%(default)s)")
    parser.add_argument("--simulated-elements", type=int, default=selection.LARGE,
                        help="cases of more input elements are large (%(default)s)")
    parser.add_argument("--report", type=pathlib.Path, help="where report.json goes (OUT/report.json)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--targets", default=",".join(batching.TARGETS))
    parser.add_argument("--compile-arg", action="append", default=[], help="passed on to tilewright-compile")
    parser.add_argument("--compile-only", action="store_true", help="stop after artifacts and cases.json")
    parser.add_argument("--memref-programs", metavar="FROM:COUNT", help="random programs of the family memref_program, "
                        "by number (those of every run)")
    parser.add_argument("--loop-programs", metavar="FROM:COUNT", help="the same of the family loop_program")
    parser.add_argument("--orders", type=seeds, default=[], metavar="FROM:COUNT", help="on the simulator, once for each seed "
                        "of the order in which copies arrive and warps run")
    parser.add_argument("--list", action="store_true", help="print the functions and stop")
    parser.add_argument("--require-ptxas", action="store_true", help="fail where ptxas is missing")
    options = parser.parse_args()
    options.all = options.all or options.filter != "*"
    return options


def choose_cases(options, functions, verdicts):
    """Leaves in `functions` and their cases what this run takes."""
    targets = options.targets.split(",")
    always = listed_lines("always.txt") + listed_lines("simulated-large.txt")
    names = [case.name for f in functions for case in f.cases]
    for pattern in always:
        if not fnmatch.filter(names, pattern):
            verdicts.add(f"list of cases: {pattern}", "failed", "there is no such case")
    taken, of = selection.select(functions, targets, options.seed, always)
    for f in functions:
        f.cases = [case for case in f.cases if case.targets]
        tried = set().union(*(case.targets for case in f.cases))
        f.targets = [t for t in targets if t in tried or t == selection.ORACLE]
    print(f"all pairs, seed {options.seed}: {taken} of {of} cases on targets; --all takes all", flush=True)
    return [f for f in functions if f.cases]


def listed_lines(name):
    """The lines of a list in this folder."""
    lines = (line.split("#")[0].strip() for line in (HERE / name).read_text().splitlines())
    return [line for line in lines if line]


class Verdicts:
    """Every test of the run: [{"name", "verdict", "reason", "row", "column"}]."""

    def __init__(self):
        self.cases = []

    def add(self, name, verdict, reason="", row=None, column=None):
        self.cases.append({"name": name, "verdict": verdict, "reason": reason, "row": row, "column": column})
        if verdict == "failed":
            print(f"FAILED {name}: {reason}", flush=True)


def compile_all(options, functions, expectations, verdicts):
    shutil.rmtree(options.out / "modules", ignore_errors=True)  # coverage.py reads all that is there
    compiler = batching.Compiler(options.build / "bin/tilewright-compile", options.out / "modules",
                                 options.compile_arg)
    batches = batching.make_batches(functions, options.targets.split(","), expectations)
    for target, device in this_machine(list_devices(options)).items() if not options.all else ():
        batching.only_for(batches, target, device)
        kept = sum(target in b.spelled for b in batches)
        print(f"{target}: {kept} modules for all kinds of devices, others for {device} alone; --all takes all", flush=True)

    def timed(batch):
        start = time.monotonic()
        refusals = compiler.compile_batch(batch)
        if time.monotonic() - start > 10:
            print(f"  {batch.name}: {len(batch.functions)} functions in {time.monotonic() - start:.0f} s", flush=True)
        return refusals

    results = batching.parallel(options.jobs, timed, batches)
    for seconds, batch, kernel in sorted(compiler.kernels, reverse=True)[:5]:
        print(f"  longest kernels: {seconds:.1f} s by the clock, {kernel} of {batch}", flush=True)
    for refusals in results:
        for r in refusals:
            verdicts.add(f"compile {r.function.path}", "failed", f"for {r.target}: {r.message}",
                         r.function.family, "compile")
    for batch in batches:
        for f in batch.functions:
            verdicts.add(f"compile {f.path}", "passed", row=f.family, column="compile")
    if not options.compile_only:
        check_refusals(options, compiler, functions, expectations, verdicts)
        check_determinism(options, compiler, batches, verdicts)
    return [b for b in batches if b.artifact]


def check_refusals(options, compiler, functions, expectations, verdicts):
    """What is listed as refused must be refused, clearly, with the listed words."""
    jobs = []
    for f in functions:
        for target in dict.fromkeys(map(batching.short, options.targets.split(","))):
            for e in expectations:
                if e.matches(f"refused {target}", f.path):
                    e.used = True
                    jobs.append((f, target, e))
                    break

    def try_one(job):
        f, target, e = job
        return f, target, e, compiler.alone(f, [t for t in options.targets.split(",") if batching.short(t) == target][:1])

    for f, target, e, refusal in batching.parallel(options.jobs, try_one, jobs):
        name = f"refuse {f.path} for {target}"
        if refusal is None:
            verdicts.add(name, "failed", f"compiles now: remove line {e.line} of expected-failures.txt",
                         f.family, "compile")
        elif not refusal.clear:
            verdicts.add(name, "failed", f"no clear diagnostic: {refusal.message}", f.family, "compile")
        elif e.words not in refusal.message:
            verdicts.add(name, "failed", f"says '{refusal.message}', line {e.line} expects '{e.words}'",
                         f.family, "compile")
        else:
            verdicts.add(name, "skipped", f"not supported yet: {e.words}", f.family, "compile")


def check_determinism(options, compiler, batches, verdicts):
    """One module of each family, compiled again without threads."""
    chosen = {b.functions[0].family: b for b in reversed(batches) if b.artifact}

    def again(batch):
        source = batch.artifact.with_suffix(".mlir")
        second = batch.artifact.with_suffix(".second.tw")
        code, output = compiler.run(source, second, batch.spelled, ["--serial"])
        same = code == 0 and second.read_bytes() == batch.artifact.read_bytes()
        return batch, "" if same else output.strip() or "the two artifacts differ"

    for batch, problem in batching.parallel(options.jobs, again, chosen.values()):
        verdicts.add(f"identical bytes {batch.name}", "failed" if problem else "passed", problem,
                     batch.functions[0].family, "identical")


def fields(config):
    """What a lowering config has: names of fields, some with their values."""
    return {f"{name} {value}" if name in ("strategy", "warps") or value in ("true", "false") else name
            for name, value in re.findall(r"(\w+) = (\[[^]]*\]|\"[^\"]*\"|\w+)", config)}


def with_rings(batch):
    """Yields the functions of the batch of which a kernel for sm_90a has mbarriers, for a ring or warps with roles, each with
    the fields of its configs."""
    data = artifact.sections(batch.artifact.read_bytes())
    symbols = sorted(batch.functions, key=lambda f: -len(f.symbol))
    for program in json.loads(data["manifest"])["programs"]:
        for dispatch in program["dispatches"] if program["target"] == "cuda:sm_90a" else []:
            configs = [variant["config"] for variant in dispatch["variants"] if b"mbarrier.init" in data[variant["section"]]]
            if configs:
                function = next(f for f in symbols if dispatch["name"].startswith(f.symbol + "_"))
                yield function, set().union(*map(fields, configs))


def checked_rings(functions, most, everything):
    """Of functions with rings, [(function, what its configs have)], the large cases that are simulated with checks: all, or,
    of each family, the smallest that show what configs have, static ones first."""
    families_ = collections.defaultdict(list)
    for f, shows in functions:
        for case in f.cases:
            if selection.elements(case) > most and (case.targets is None or "cuda:sm_90a" in case.targets):
                families_[f.family].append((f.shape != "static", selection.elements(case), case.name, shows))
    chosen = set()
    for cases in families_.values():
        shown = set()
        for _, _, name, shows in sorted(cases, key=lambda case: case[:3]):
            if everything or not shows <= shown:
                shown |= shows
                chosen.add(name)
    return chosen


def checked_cases(functions, most, verdicts):
    """The large cases that are simulated with checks: those of simulated-large.txt, and the first of each other family.
    checked_rings() has more."""
    large = [case.name for f in functions for case in f.cases if selection.elements(case) > most]
    listed = set(listed_lines("simulated-large.txt"))
    if verdicts and most == selection.LARGE:
        for name in sorted(listed - set(large)):
            verdicts.add(f"simulated-large.txt: {name}", "failed", "there is no such large case")
    chosen, families_seen = set(listed), {name.split("/")[0] for name in listed}
    for name in large:
        if name.split("/")[0] not in families_seen:
            families_seen.add(name.split("/")[0])
            chosen.add(name)
    return chosen


def devices_of(batch, case, most, checked):
    """What may run a case. A simulator runs the same PTX as cuda."""
    targets = batch.targets if case.targets is None else [t for t in batch.targets
                                                          if t in case.targets or t == selection.ORACLE]
    devices = list(dict.fromkeys(map(batching.short, targets)))
    if "cuda" in devices:
        devices.append("ptxsim" if selection.elements(case) <= most or case.name in checked else LARGE)
    return devices


def write_cases(options, batches, checked):
    """cases.json and the goldens, for tilewright-e2e. The device LARGE stands for ptxsim, for what is too large to check."""
    goldens = options.out / "goldens"
    shutil.rmtree(goldens, ignore_errors=True)
    goldens.mkdir(parents=True)
    programs, number = [], 0
    for batch in batches:
        cases = []
        for f in batch.functions:
            for case in f.cases:
                entry = {"name": case.name, "function": f.symbol, "inputs": case.inputs, "check": case.check,
                         "devices": devices_of(batch, case, options.simulated_elements, checked)}
                if case.error:
                    entry["error"] = case.error
                if case.reference and not options.compile_only:
                    entry["golden"] = []
                    for array in case.golden(f.args):
                        path = goldens / f"{number}.f64"
                        path.write_bytes(np.ascontiguousarray(array, np.float64).tobytes())
                        entry["golden"].append(f"goldens/{number}.f64")
                        number += 1
                cases.append(entry)
        programs.append({"artifact": str(batch.artifact.relative_to(options.out)), "cases": cases})
    write_programs(options.out / "cases.json", programs)
    return programs


def write_programs(path, programs):
    path.write_text(json.dumps({"schema": 1, "programs": programs}, indent=1))


def write_simulated(path, programs, functions, arch, device):
    """Writes and returns the cases of which ptxsim as the GPU `arch` runs those with checks, or, for the device LARGE, without."""
    on_arch = {case.name for f in functions for case in f.cases
               if case.targets is None or any(t.startswith(f"cuda:{arch}") for t in case.targets)}
    chosen = []
    for program in programs:
        cases = [{**case, "devices": ["ptxsim"]} for case in program["cases"]
                 if case["name"] in on_arch and device in case["devices"]]
        if cases:
            chosen.append({**program, "cases": cases})
    write_programs(path, chosen)
    print(f"{path.name}: {sum(len(p['cases']) for p in chosen)} cases", flush=True)
    return chosen


def seeds(text):
    first, count = map(int, text.split(":"))
    return range(first, first + count)


def on_aarch64(options, mode):
    """The command in front of a program for AArch64, with NEON or, as `sve256`, with SVE."""
    return [options.build / "aarch64/run", *([f"--sve={mode.removeprefix('sve')}"] if mode else [])]


def newer_vulkan(options):
    return options.build / "newer-vulkan/run"


class Start:
    """One run of tilewright-e2e: a file of cases on a device, with an environment and a command in front."""

    def __init__(self, options, path, device, name, environment=(), front=(), part=""):
        self.path, self.device, self.name = path, device, name
        self.environment, self.front = dict(environment), list(front)
        seed = self.environment.get("PTXSIM_SEED")
        self.words = device + (f", part {part}" if part else "") + (f", order {seed}" if seed else "")
        stem = "-".join(filter(None, [device, part, seed]))
        self.journal, self.log = options.out / f"journal-{stem}.jsonl", options.out / f"runner-{stem}.log"
        self.program = options.build / "bin/tilewright-e2e"
        self.seconds, self.code = 0, None


def deal(options, programs, parts, stem):
    """Yields (path, part): the cases, dealt out to so many files."""
    for part in range(parts):
        path = options.out / f"cases-{stem}-{part}.json"
        dealt = [{**program, "cases": program["cases"][part::parts]} for program in programs]
        write_programs(path, [program for program in dealt if program["cases"]])
        yield path, f"{part + 1}of{parts}"


def starts(options, devices, programs, functions):
    """Each device is a start of its own, those first that take longest. lavapipe compiles on one core, mostly: its cases are
    dealt out, as are very many on the simulator."""
    for device in sorted(devices, key=lambda device: device.split("@")[0] not in ("vulkan", NEWER_VULKAN)):
        name, _, mode = device.partition("@")
        arch, _, way = mode.partition("+")
        if name == NEWER_VULKAN:
            yield Start(options, options.out / "cases.json", device, "vulkan",
                        front=[newer_vulkan(options), "--validate"])
        elif name == AARCH64:
            start = Start(options, options.out / "cases.json", device, "cpu", front=on_aarch64(options, mode))
            start.program = options.build / "aarch64/bin/tilewright-e2e"
            yield start
        elif device == "vulkan" and options.jobs > 1:
            for path, part in deal(options, programs, options.jobs, "vulkan"):
                yield Start(options, path, device, name, part=part)
        elif not mode:
            yield Start(options, options.out / "cases.json", device, name)
        else:
            if way not in ("", "speed", "large"):
                sys.exit(f"--devices: {device}: expected ptxsim@ARCH, ptxsim@ARCH+speed or ptxsim@ARCH+large")
            environment = {"PTXSIM_ARCH": arch, "PTXSIM_CHECKS": "off" if way else "on"}
            path = options.out / f"cases-{mode}.json"
            chosen = write_simulated(path, programs, functions, arch, LARGE if way == "large" else name)
            parts = -(-sum(len(program["cases"]) for program in chosen) // MOST_SIMULATED)
            if parts > 1 and not options.orders:
                for path, part in deal(options, chosen, parts, mode):
                    yield Start(options, path, device, name, environment, part=part)
                continue
            # Without --orders the seed is the simulator's own, or the environment's.
            for seed in options.orders or [None]:
                yield Start(options, path, device, name, {**environment, **({"PTXSIM_SEED": str(seed)} if seed else {})})


def run_cases(options, programs, devices, expectations, functions, verdicts):
    planned = list(starts(options, devices, programs, functions))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for start in pool.map(lambda start: run_start(options, start), planned):
            read_journal(start.journal, start.device, expectations, functions, verdicts)
            if start.code not in (0, 2):
                verdicts.add("tilewright-e2e", "failed", f"exit code {start.code}; see {start.log}")
            text = start.log.read_text(errors="replace")
            for kernel, warning in simulator_warnings(text):
                verdicts.add(f"{kernel} on {start.words}", "failed", f"the simulator warns: {warning}; see {start.log}")
            message = VALIDATION_MESSAGE.search(text) if start.front else None
            if message:
                verdicts.add("validation layers", "failed", f"say '{message[0]}'; see {start.log}")
            print(f"  {start.words}: {start.seconds:.0f} s", flush=True)


def simulator_warnings(log):
    """Yields (kernel, what is said) of each warning. An error is a failed case by itself: it takes the device away."""
    for match in re.finditer(r"^ptxsim: warning: (.*)\n  in (\w+)", log, re.MULTILINE):
        yield match[2], match[1]


def run_start(options, start):
    begin = time.monotonic()
    start.journal.unlink(missing_ok=True)
    program = [*map(str, start.front), str(start.program)]
    with open(start.log, "w") as log:
        for _ in range(200):  # restarts after crashes
            try:
                start.code = subprocess.run([*program, str(start.path), str(start.journal), start.name], stdout=log,
                                            stderr=log, timeout=1200, env={**os.environ, **start.environment}).returncode
            except subprocess.TimeoutExpired:
                start.code = -1
            if start.code in (0, 1, 2):
                break
    start.seconds = time.monotonic() - begin
    return start


def read_journal(journal, label, expectations, functions, verdicts):
    by_case = {case.name: f for f in functions for case in f.cases}
    # A runner that did not start, for want of a library say, has written none: the caller misses its cases.
    for line in journal.read_text().splitlines() if journal.exists() else ():
        entry = json.loads(line)
        if "case" not in entry:
            continue
        name, device = entry["case"], label or entry["device"]
        f = by_case[name]
        row, column = (f.family, f.element), device
        listed = next((e for e in expectations if e.matches(f"wrong {device.split('@')[0]}", name)), None)
        if listed and entry["verdict"] == "failed":
            listed.used = True
            verdicts.add(f"{name} on {device}", "skipped", f"known to fail: {listed.words}", row, column)
        elif listed:
            listed.used = True
            verdicts.add(f"{name} on {device}", "failed",
                         f"passes now: remove line {listed.line} of expected-failures.txt", row, column)
        else:
            verdicts.add(f"{name} on {device}", entry["verdict"], entry["reason"], row, column)


def check_code(options, batches, devices, verdicts):
    ptxas, spirv_val = shutil.which(os.environ.get("TILEWRIGHT_PTXAS") or "ptxas"), shutil.which("spirv-val")
    if any(device.startswith(NEWER_VULKAN) for device in devices):
        spirv_val = [str(newer_vulkan(options)), "spirv-val"]  # of its age
    if not ptxas or not spirv_val:
        missing = "ptxas" if not ptxas else "spirv-val"
        verdicts.add(missing, "failed" if options.require_ptxas else "skipped", f"no {missing} on this machine")
        return
    for name, kind, problem in assemble.check(batches, ptxas, spirv_val, options.out / "code", options.jobs):
        verdicts.add(f"{kind} {name}", "failed" if problem else "passed", problem or "", name.split("-")[0], kind)


def print_table(verdicts, devices):
    columns = [*devices, "compile", "identical", "ptxas", "spirv-val"]
    cells = collections.defaultdict(collections.Counter)
    for case in verdicts.cases:
        row = case["row"]
        if row is not None:
            row = row if isinstance(row, str) else " ".join(row)
            cells[row, case["column"]][case["verdict"]] += 1
    rows = sorted({row for row, _ in cells})
    widths = [max(14, len(c) + 2) for c in columns]
    print(f"\n{'passed/all':28}" + "".join(f"{c:>{w}}" for c, w in zip(columns, widths)))
    for row in rows:
        texts = []
        for column in columns:
            counts = cells[row, column]
            total = sum(counts.values())
            texts.append(f"{counts['passed']}/{total}{'!' if counts['failed'] else ''}" if total else "")
        print(f"{row:28}" + "".join(f"{t:>{w}}" for t, w in zip(texts, widths)))


def list_devices(options):
    return subprocess.run([options.build / "bin/tilewright-run", "--list-devices"], capture_output=True, text=True).stdout


def this_machine(listed):
    """{target: target for the kind of device that this machine has}: the size of lavapipe's subgroups, as many words as its
    vectors have, which its name says; the level of the processor."""
    kinds = {}
    if bits := re.search(r"^vulkan:0 .*\bllvmpipe\b.*?(\d+) bits", listed, re.MULTILINE):
        kinds["vulkan"] = f"vulkan:1.3+subgroup={int(bits[1]) // 32}"
    if level := re.search(r"^cpu +.*, (x86-64-v[34]),", listed, re.MULTILINE):
        kinds["cpu"] = f"cpu:{level[1]}"
    return kinds


def available(options, devices):
    """The devices that this machine has, and why it lacks the others."""
    listed = list_devices(options)
    good, missing = [], {}
    for device in devices:
        driver = device.split("@")[0].split(":")[0]
        if driver == NEWER_VULKAN:
            if (options.build / "newer-vulkan/found.txt").exists():
                good.append(device)
            else:
                missing[device] = "run scripts/newer-vulkan first"
            continue
        if driver == AARCH64:
            if (options.build / "aarch64/run").exists():
                good.append(device)
            else:
                missing[device] = "run scripts/aarch64 first"
            continue
        lines = [line for line in listed.splitlines() if line.split()[0].split(":")[0] == driver]
        if any("(not available" not in line for line in lines):
            good.append(device)
        else:
            missing[device] = lines[0].split("(not available:")[-1].rstrip(") ").strip() if lines else "no driver"
    return good, missing


def main():
    options = arguments()
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "e2e").resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    for family, numbers in (
        (families.memref_programs, options.memref_programs),
        (families.loop_programs, options.loop_programs),
    ):
        if numbers:
            family.FIRST, family.COUNT = map(int, numbers.split(":"))
    functions = [f for family in families.ALL for f in family.functions()
                 if any(fnmatch.fnmatchcase(f.path, p) for p in options.filter.split(","))]
    verdicts = Verdicts()
    for pattern in options.filter.split(","):
        if not any(fnmatch.fnmatchcase(f.path, pattern) for f in functions):
            verdicts.add(f"filter: {pattern}", "failed", "there is no such function")
    if not options.all:
        functions = choose_cases(options, functions, verdicts)
    if options.list:
        for f in functions:
            print(f.path, len(f.cases))
        print(len(functions), "functions,", sum(len(f.cases) for f in functions), "cases")
        return 0
    everything = options.all and options.filter == "*" and options.targets == ",".join(batching.TARGETS)
    expectations = batching.read_expectations(HERE / "expected-failures.txt")
    clock = time.monotonic()
    report = options.report or options.out / "report.json"
    report.with_suffix(".seconds").unlink(missing_ok=True)

    def lap(what):
        nonlocal clock
        now = time.monotonic()
        print(f"{what}: {now - clock:.0f} s", flush=True)
        with open(report.with_suffix(".seconds"), "a") as seconds:
            seconds.write(f"{now - clock:.1f} {what}\n")
        clock = now

    batches = compile_all(options, functions, expectations, verdicts)
    lap(f"compiled {len(functions)} functions in {len(batches)} modules")
    checked = checked_cases(functions, options.simulated_elements, verdicts if everything else None)
    rings = [found for batch in batches for found in with_rings(batch)]
    more = checked_rings(rings, options.simulated_elements, options.all)
    checked |= more
    if more:
        print(f"{len(more)} large cases of {len({name.split('/')[0] for name in more})} families with rings are checked, too", flush=True)
    programs = write_cases(options, batches, checked)
    if options.compile_only:
        return 0
    devices, missing = available(options, options.devices.split(","))
    check_code(options, batches, devices, verdicts)
    lap("assembled and validated")
    for device, reason in missing.items():
        verdicts.add(f"every case on {device}", "skipped", reason)
    run_cases(options, programs, devices, expectations, functions, verdicts)
    lap(f"ran on {len(devices)} devices")
    if everything and not missing:
        for e in expectations:
            if not e.used:
                verdicts.add(f"expected-failures.txt:{e.line}", "failed", "matches nothing")
    print_table(verdicts, devices)
    report.write_text(json.dumps({"schema": 1, "cases": verdicts.cases}, indent=1))
    counts = collections.Counter(case["verdict"] for case in verdicts.cases)
    print(f"\ne2e: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped; {report}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
