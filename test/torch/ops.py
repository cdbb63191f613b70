#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs what PyTorch tests its own operators and modules with; README.md tells how.

    test/torch/ops.py --filter 'nn.functional.*' --check    # those, against results.tsv
    test/torch/ops.py --seconds 600                         # as many as ten minutes suffice for; a later call goes on
    test/torch/ops.py --record                              # the rest, and writes results.tsv and docs/torch.md

Exit code 0: as recorded; 1: a sample got worse; 77: this Python lacks torch, torch-mlir or tilewright.
"""

import argparse
import collections
import fnmatch
import hashlib
import json
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/torch", help="folder of the journal (%(default)s)")
    parser.add_argument("--filter", default="*", help="comma list of patterns of operators' names")
    parser.add_argument("--shard", default="1/1", help="I/N: of all operators every Nth from the Ith on")
    parser.add_argument("--not-right", action="store_true", help="those alone that results.tsv does not have all right")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no operator after that long")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for a sample (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--again", action="store_true", help="also what the journal has of these sources")
    parser.add_argument("--check", action="store_true", help="fail where a sample is worse than recorded")
    parser.add_argument("--record", action="store_true", help="write what was found to results.tsv and docs/torch.md")
    parser.add_argument("--page", action="store_true", help="fail if docs/torch.md is not made of results.tsv; runs nothing")
    return parser.parse_args()


def stamp():
    """Of what results depend on."""
    from tilewright import _compiler, _lowering
    sources = [*sorted(pathlib.Path(_lowering.__file__).parent.glob("*.py")), HERE / "samples.py", HERE / "attempt.py",
               pathlib.Path(_compiler.find_compiler())]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]


class Worker:
    """A fork that tries the samples of an operator and writes what it finds to a file."""

    def __init__(self, options, operator, path):
        self.options, self.operator, self.path = options, operator, path
        self.start()

    def start(self):
        self.size, self.since = -1, time.monotonic()
        self.child = os.fork()
        if self.child == 0:
            try:
                os.setpgid(0, 0)
                said = os.open(self.path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(said, 1)
                os.dup2(said, 2)
                import attempt
                attempt.journal(self.operator, self.path, self.options.timeout)
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(1)

    def is_done(self):
        """Whether the file is complete. What crashed or takes too long is noted, and the rest goes on without it."""
        ended, status = os.waitpid(self.child, os.WNOHANG)
        size = self.path.stat().st_size
        if not ended:
            if size != self.size:
                self.size, self.since = size, time.monotonic()
            # Together they have the time of two; lowering has its own limit.
            if time.monotonic() - self.since < 2 * self.options.timeout + 5:
                return False
            os.killpg(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            result = ("endless", f"it takes more than {2 * self.options.timeout} s")
        elif status == 0:
            return True
        else:
            code = os.waitstatus_to_exitcode(status)
            result = ("failed", f"it ends by signal {-code}" if code < 0 else f"it ends with status {code}")
        return not self.note(*result)

    def note(self, result, reason):
        """Gives the sample that was begun last this result, and goes on; False where none was."""
        last = json.loads(self.path.read_text().splitlines()[-1])
        with open(self.path, "a") as file:
            if "begun" in last:
                file.write(json.dumps({"case": last["begun"], "result": result, "reason": reason, "inputs": last["inputs"]}) + "\n")
            elif "all" not in last:
                file.write(json.dumps({"none": reason}) + "\n" + json.dumps({"done": True}) + "\n")
                return False
        self.start()
        return True


def entries(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_known(path, mark):
    known = entries(path)
    return bool(known) and known[0] == {"stamp": mark} and known[-1] == {"done": True}


def work(options, operators):
    """Has the journal of each operator written, as far as the time suffices; how many are left."""
    mark, begun = stamp(), time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    paths = {name: options.out / f"{name.replace('/', '_')}.jsonl" for name in operators}
    left = [name for name in operators if options.again or not is_known(paths[name], mark)]
    print(f"{len(operators)} operators, {len(operators) - len(left)} of them in the journal", flush=True)
    live, done = [], 0
    try:
        while live or left and time.monotonic() - begun < options.seconds:
            while left and len(live) < options.jobs and time.monotonic() - begun < options.seconds:
                name = left.pop(0)
                known = entries(paths[name])
                if options.again or not known or known[0] != {"stamp": mark}:
                    paths[name].write_text(json.dumps({"stamp": mark}) + "\n")
                live.append(Worker(options, name, paths[name]))
            time.sleep(0.02)
            still = [worker for worker in live if not worker.is_done()]
            done += len(live) - len(still)
            if len(still) < len(live) and done % 50 == 0:
                print(f"  {done} operators after {time.monotonic() - begun:.0f} s, {len(left)} left", flush=True)
            live = still
    finally:
        for worker in live:
            os.killpg(worker.child, signal.SIGKILL)
    return paths, len(left)


def found_in(paths):
    """{operator: {case: (result, reason, inputs)}} of complete journals."""
    found = {}
    for name, path in paths.items():
        known = entries(path)
        cases = {entry["case"]: (entry["result"], " ".join(entry["reason"].split()), entry["inputs"]) for entry in known if "case" in entry}
        if cases and known[-1] == {"done": True}:
            found[name] = cases
    return found


def chosen(options, recorded):
    import samples
    first, of = map(int, options.shard.split("/"))
    names = [name for name in samples.operators() if any(fnmatch.fnmatchcase(name, p) for p in options.filter.split(","))]
    if options.not_right:
        names = [name for name in names if any(cells[0] != "right" for cells in recorded.get(name, {"": ("",)}).values())]
    return names[first - 1::of]


def main():
    options = arguments()
    sys.path.insert(0, str(HERE))
    import results
    if options.page:
        return results.check_page()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import tilewright, torch, torch_mlir, expecttest  # noqa: all are needed; the last by PyTorch's list of operators
    except ImportError as error:
        print(f"test/torch: {error}; README.md says what is needed", file=sys.stderr)
        return SKIPPED
    import logging
    import attempt  # before the forks
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    attempt.warm_up()
    recorded = results.read()
    paths, left = work(options, chosen(options, recorded))
    found = found_in(paths)
    counts = collections.Counter(cells[0] for cases in found.values() for cells in cases.values())
    print(f"{len(found)} operators: " + ", ".join(f"{counts[what]} {what}" for what in results.ORDER) + (f"; {left} operators left" if left else ""))
    for name, cases in found.items():
        for case, (result, reason, inputs) in cases.items():
            if result in ("wrong", "failed", "endless"):
                print(f"  {result.upper()} {name} {case} ({inputs}): {reason}")
    if options.record:
        results.write({**results.read(), **found})  # others may have written theirs
    worse = results.worse(recorded, found) if options.check else []
    for line in worse:
        print(f"WORSE {line}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
