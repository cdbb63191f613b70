# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles generated functions in batches, and finds which ones are refused.

A batch is a module with the functions of one family and shape that are expected to
compile for the same targets, and allow the same of floats. When a batch fails, the functions that its
diagnostics point into are taken out and the rest is compiled again; without such
a diagnostic (a crash) the batch is halved.
"""

import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import subprocess

TARGETS = ("cuda:sm_80", "cuda:sm_90a", "cuda:sm_100a", "vulkan", "cpu", "cpu-reference")
BATCH_SIZE = 24
TIMEOUT = 300
# A kernel's slice in a trace of the compiler.
KERNEL = re.compile(r'"cat":\s*"kernel",\s*"dur":\s*([\d.e+]+),\s*"name":\s*"kernel ([^"]+)"')


@dataclasses.dataclass
class Expectation:
    """A line of expected-failures.txt: what is known not to work yet."""
    kind: str  # "refused TARGET" or "wrong DEVICE"
    pattern: str
    words: str
    line: int
    used: bool = False

    def matches(self, kind, path):
        return self.kind == kind and fnmatch.fnmatchcase(path, self.pattern)


def read_expectations(path):
    result = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            left, _, words = line.partition("|")
            kind, subject, pattern = left.split()
            for each in subject.split(","):
                result.append(Expectation(f"{kind} {each}", pattern, words.strip(), number))
    return result


@dataclasses.dataclass
class Batch:
    name: str
    functions: list
    targets: tuple
    artifact: pathlib.Path = None
    instead: dict = dataclasses.field(default_factory=dict)  # of targets: what is compiled for in their place

    @property
    def spelled(self):
        return tuple(self.instead.get(t, t) for t in self.targets)


@dataclasses.dataclass
class Refusal:
    function: object
    target: str
    message: str
    clear: bool  # one diagnostic, an ordinary exit, no file left


class Compiler:
    def __init__(self, program, folder, compile_args=()):
        self.program, self.folder, self.args = program, folder, list(compile_args)
        self.kernels = []  # (seconds, batch, kernel), of what took longest in each batch
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, name, functions):
        path = self.folder / f"{name}.mlir"
        spans, text = [], module_of(functions[0])
        for f in functions:
            start = text.count("\n") + 1
            text += f.text() + "\n"
            spans.append((start, text.count("\n"), f))
        path.write_text(text + "}\n")
        return path, spans

    def run(self, source, output, targets, more=()):
        output.unlink(missing_ok=True)
        command = [self.program, str(source), "-o", str(output), f"--target={','.join(targets)}", *self.args, *more]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
                                  env={**os.environ, "NO_COLOR": "1"})
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return -1, f"no answer within {TIMEOUT} s"

    def compile_batch(self, batch):
        """Compiles what can be compiled. Returns the refusals of the rest."""
        refusals, functions, attempt = [], list(batch.functions), 0
        while functions:
            source, spans = self.write(batch.name, functions)
            artifact = source.with_suffix(".tw")
            trace = source.with_suffix(".trace.json")
            code, output = self.run(source, artifact, batch.spelled, [f"--trace={trace}"])
            if code == 0:
                self.note_longest(batch, trace)
                batch.artifact, batch.functions = artifact, functions
                return refusals
            blamed = self.blame(source, spans, output) if code == 1 else {}
            if not blamed:
                if len(functions) == 1:
                    blamed = {functions[0].symbol: last_words(code, output)}
                else:
                    blamed = self.search(batch, functions)
                    if not blamed:  # fails together, not apart
                        blamed = {f.symbol: "only in one module with others: " + last_words(code, output)
                                  for f in functions}
            for f in functions:
                if f.symbol in blamed:
                    refusals.append(Refusal(f, "+".join(batch.targets), blamed[f.symbol], code == 1))
            functions = [f for f in functions if f.symbol not in blamed]
            attempt += 1
        batch.functions = []
        return refusals

    def note_longest(self, batch, trace):
        """The kernel that took longest, by the clock of a machine that does other things as well."""
        times = [(float(seconds) / 1e6, name) for seconds, name in KERNEL.findall(trace.read_text())]
        if times:
            seconds, name = max(times)
            self.kernels.append((seconds, batch.name, name))
        trace.unlink()

    def blame(self, source, spans, output):
        blamed = {}
        for match in re.finditer(re.escape(str(source)) + r":(\d+):\d+: error: (.*)", output):
            for first, last, f in spans:
                if first <= int(match[1]) <= last:
                    blamed.setdefault(f.symbol, match[2])
        return blamed

    def search(self, batch, functions):
        """The functions that fail when they are compiled alone, in halves."""
        if len(functions) == 1:
            refusal = self.alone(functions[0], batch.spelled, batch.name + "-part")
            return {functions[0].symbol: refusal.message} if refusal else {}
        blamed = {}
        for half in (functions[:len(functions) // 2], functions[len(functions) // 2:]):
            source, _ = self.write(f"{batch.name}-part", half)
            code, _ = self.run(source, source.with_suffix(".tw"), batch.spelled)
            if code != 0:
                blamed.update(self.search(batch, half))
        return blamed

    def alone(self, function, targets, name=None):
        """A Refusal, or None if it compiles."""
        source, spans = self.write(name or f"refused-{function.symbol}-{targets[0].replace(':', '_')}", [function])
        artifact = source.with_suffix(".tw")
        code, output = self.run(source, artifact, targets)
        if code == 0:
            return None
        blamed = self.blame(source, spans, output)
        clear = code == 1 and bool(blamed) and not artifact.exists()
        return Refusal(function, "+".join(targets), blamed.get(function.symbol) or last_words(code, output), clear)


def last_words(code, output):
    lines = [line for line in output.strip().splitlines() if "error:" in line] or output.strip().splitlines()
    how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}: {lines[-1] if lines else 'no message'}"


def module_of(function):
    """The first line of its module."""
    allowed = ", ".join(f'"{each}"' for each in function.fp)
    return f"module attributes {{tilewright.fp = [{allowed}]}} {{\n" if allowed else "module {\n"


def make_batches(functions, all_targets, expectations):
    """Batches by family, the targets that are expected to accept the function, and what it allows."""
    groups = {}
    for f in functions:
        targets = tuple(t for t in all_targets if (not f.targets or t in f.targets or short(t) in f.targets)
                        and not any(e.matches(f"refused {short(t)}", f.path) for e in expectations))
        groups.setdefault((f.family, targets, f.fp), []).append(f)
    batches = []
    for (family, targets, fp), members in groups.items():
        if not targets:
            continue
        for i in range(0, len(members), BATCH_SIZE):
            suffix = "" if len(targets) == len(all_targets) else "-" + "-".join(re.sub(r"[^\w.]", "_", t) for t in targets)
            suffix += "".join(f"-{each}" for each in fp)
            batches.append(Batch(f"{family}{suffix}-{i // BATCH_SIZE}", members[i:i + BATCH_SIZE], targets))
    return batches


def only_for(batches, target, device):
    """`target` is code for several kinds of devices, of which this machine has one, the target `device`: the smallest batch of
    each family keeps all."""
    smallest = {}
    for batch in batches:
        if target in batch.targets:
            family = batch.functions[0].family
            if family not in smallest or len(batch.functions) < len(smallest[family].functions):
                smallest[family] = batch
    for batch in batches:
        if batch is not smallest.get(batch.functions[0].family):
            batch.instead[target] = device


def short(target):
    return target.split(":")[0]


def parallel(jobs, work, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))
