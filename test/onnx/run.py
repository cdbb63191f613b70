#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the operator tests that the package `onnx` has; README.md tells how.

    test/onnx/run.py --install                    # onnx and torch-mlir, into build/onnx-venv
    test/onnx/run.py --devices cpu --check        # all of them, against results.tsv
    test/onnx/run.py --sample --check             # a few of each operator, as scripts/test does
    test/onnx/run.py --record                     # writes results.tsv and docs/onnx.md

Exit code 0: as recorded; 1: a case got worse; 77: what it needs is not installed.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REQUIREMENTS = ROOT / "python/requirements-onnx.txt"
#: What compiles for a device, and what is in its environment.
DEVICES = {"cpu": ("cpu", {}), "ptxsim@sm_80": ("cuda:sm_80", {"PTXSIM_ARCH": "sm_80"}), "vulkan": ("vulkan", {})}
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, help="folder for everything written (BUILD/onnx)")
    parser.add_argument("--install", action="store_true", help="install what is missing")
    parser.add_argument("--devices", default=",".join(DEVICES), help="comma list (%(default)s)")
    parser.add_argument("--filter", default="*", help="comma list of patterns of case names")
    parser.add_argument("--sample", action="store_true", help="one case of each operator that was right, and the "
                        "cases of always.txt; each on one device in turn, beside cpu")
    parser.add_argument("--check", action="store_true", help="fail where a case is worse than recorded")
    parser.add_argument("--record", action="store_true", help="write what was found to results.tsv and docs/onnx.md")
    parser.add_argument("--page", action="store_true", help="fail if docs/onnx.md is not made of results.tsv; runs nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=60, help="seconds to compile a case, and to run it (%(default)s)")
    parser.add_argument("--report", type=pathlib.Path, help="cases and verdicts as JSON, for scripts/summarize.py")
    options = parser.parse_args()
    options.devices = options.devices.split(",")
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "onnx").resolve()
    return options


def environment(options):
    """The Python with torch-mlir, or None and why there is none."""
    folder = options.build / "onnx-venv"
    wanted = REQUIREMENTS.read_text()
    stamp = folder / "requirements"
    if not (stamp.exists() and stamp.read_text() == wanted):
        if not options.install:
            return None, "onnx and torch-mlir are not installed; --install does it"
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        done = subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                               "-r", REQUIREMENTS], capture_output=True, text=True)
        if done.returncode:
            return None, "cannot be installed: " + (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        stamp.write_text(wanted)
    return folder / "bin/python", ""


def lowered(options, names):
    """What cases.py found, from before where nothing that it is made of changed. `names` may be patterns; None: all."""
    sources = b"".join(path.read_bytes() for path in
                       [REQUIREMENTS, HERE / "cases.py", *sorted((ROOT / "python/src/tilewright/_lowering").glob("*.py"))])

    def is_known(folder, names):
        stamp = hashlib.sha256(sources + repr(names).encode()).hexdigest()
        known = folder / "stamp"
        return known.exists() and known.read_text() == stamp, stamp
    folder = options.out / "cases"
    # Those of a filter are among all, if these are there, and else apart from them.
    if names is not None and options.filter != "*" and not options.sample:
        if is_known(folder, None)[0]:
            names = None
        else:
            folder = options.out / "filtered"
    found, stamp = is_known(folder, names)
    known = folder / "stamp"
    if not found:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        listed = ""
        if names is not None:
            listed = folder / "names"
            listed.write_text("\n".join(names))
        subprocess.run([sys.executable, HERE / "cases.py", folder, str(options.jobs), str(listed)], check=True)
        known.write_text(stamp)
    options.cases = folder
    return json.loads((folder / "cases.json").read_text())


def ended(command, timeout, environment=None):
    """(exit code, None where it did not end; what it printed)"""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=timeout, env={**os.environ, "NO_COLOR": "1", **(environment or {})})
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return None, ""


def complaint(text, code):
    """A diagnostic without what differs from case to case: places, names of values."""
    errors = re.findall(r"error: (.*)", text)
    if not errors:
        return f"signal {-code}" if code < 0 else (text.strip().splitlines() or ["no message"])[-1][:160]
    return re.sub(r"\s+", " ", errors[0])[:200]


def run_case(options, case, device):
    """(result, reason); results.py says what there is."""
    target, variables = DEVICES[device]
    folder = options.cases / case["name"]
    program = folder / f"{device}.tw"
    program.unlink(missing_ok=True)
    compiler, runner = options.build / "bin/tilewright-compile", options.build / "bin/tilewright-run"
    code, text = ended([compiler, folder / "model.mlir", "-o", program, f"--target={target}"], options.timeout)
    if code is None:
        return "endless", f"compiling takes more than {options.timeout} s"
    if code:
        return ("refused" if code == 1 and "error: " in text else "failed"), complaint(text, code)
    got = [folder / f"{device}-out{n}.npy" for n in range(len(case["out"]))]
    for path in got:
        path.unlink(missing_ok=True)
    code, text = ended([runner, program, f"--device={device.split('@')[0]}",
                        *(f"--input=@{folder / f'in{n}.npy'}" for n in range(len(case["in"]))),
                        *(f"--output=@{path}" for path in got)], options.timeout, variables)
    if code is None:
        return "endless", f"running takes more than {options.timeout} s"
    if code:
        return "failed", complaint(text, code)
    for n, path in enumerate(got):
        difference = differs(case, n, path, folder / f"out{n}.npy")
        if difference:
            result = "misread" if agrees_with_oracle(options, case, device) else "wrong"
            return result, f"result {n}: {difference}"
    return "right", ""


def agrees_with_oracle(options, case, device):
    """Whether what torch-mlir made says the same by plain loops, or reads beyond its tensors, where plain loops stop: then it
    is not what the ONNX model says."""
    target, variables = DEVICES[device]
    folder = options.cases / case["name"]
    program = folder / f"{device}-oracle.tw"
    code, _ = ended([options.build / "bin/tilewright-compile", folder / "model.mlir", "-o", program,
                     f"--target={target},cpu-reference"], options.timeout)
    if code != 0:
        return False
    code, text = ended([options.build / "bin/tilewright-run", program, f"--device={device.split('@')[0]}", "--check=oracle",
                     *(f"--input=@{folder / f'in{n}.npy'}" for n in range(len(case["in"])))], options.timeout, variables)
    return code == 0 or "out-of-bounds access" in text


def differs(case, number, got_path, expected_path):
    """What is wrong with a result, by the rule that onnx tests back ends by: its tolerances, but two units in the last
    place of bf16 (and so of f16); integers are equal."""
    import numpy as np
    import ml_dtypes
    got, expected = np.load(got_path), np.load(expected_path)
    if got.shape != expected.shape:
        return f"shape {list(got.shape)} for {list(expected.shape)}"
    if got.dtype.itemsize != expected.dtype.itemsize:
        return f"type {got.dtype} for {expected.dtype}"
    name, rtol = case["out"][number], case["rtol"]
    got = got.view(expected.dtype)
    if hasattr(ml_dtypes, name) and name.startswith(("bfloat", "float8")):
        kind = np.dtype(getattr(ml_dtypes, name))
        got, expected = (array.view(kind).astype(np.float32) for array in (got, expected))
    rtol = max(rtol, {"bfloat16": 2**-6, "float16": 2**-9}.get(name, 0))
    if expected.dtype.kind == "f":
        good = np.isclose(got, expected, rtol=rtol, atol=case["atol"], equal_nan=True)
    else:
        good = got == expected
    if np.all(good):
        return ""
    bad = np.argwhere(~np.atleast_1d(good))
    where = tuple(bad[0])
    return (f"{len(bad)} of {got.size} elements, first at {[int(i) for i in where]}: "
            f"{np.atleast_1d(got)[where]} for {np.atleast_1d(expected)[where]}")


def sample(recorded):
    """[(case, devices)]: of each operator the first case that was right, on cpu and another device in turn."""
    others, chosen, seen = [d for d in DEVICES if d != "cpu"], {}, set()
    for name, entry in sorted(recorded.items()):
        if entry["operator"] not in seen and all(entry["results"].get(d, ("",))[0] == "right" for d in DEVICES):
            seen.add(entry["operator"])
            chosen[name] = ["cpu", others[len(seen) % len(others)]]
    return chosen


def main():
    options = arguments()
    import results
    recorded = results.read()
    if options.page:
        return results.check_page(recorded)
    python, why = environment(options)
    if python is None:
        print(f"test/onnx: {why}", file=sys.stderr)
        return SKIPPED
    if pathlib.Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), *sys.argv])
    chosen = sample(recorded) if options.sample else None
    filters = options.filter.split(",") if options.filter != "*" else None
    cases = lowered(options, sorted(chosen) if chosen is not None else filters)
    cases = [case for case in cases if any(fnmatch.fnmatchcase(case["name"], p) for p in options.filter.split(","))]
    jobs = [(case, device) for case in cases if case.get("lowered")
            for device in (chosen[case["name"]] if chosen is not None else options.devices)]
    start, done = time.monotonic(), 0

    def work(job):
        nonlocal done
        result = run_case(options, *job)
        done += 1
        if done % 100 == 0:
            print(f"  {done} of {len(jobs)} after {time.monotonic() - start:.0f} s", flush=True)
        return result

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(work, jobs))
    found = {case["name"]: {"operator": case["operator"], "lowered": case.get("reason", ""), "results": {}}
             for case in cases}
    for (case, device), verdict in zip(jobs, verdicts):
        found[case["name"]]["results"][device] = verdict
    (options.out / "found.json").write_text(json.dumps(found, indent=0))
    for device in options.devices:
        counts = collections.Counter(entry["results"][device][0] for entry in found.values() if device in entry["results"])
        of = sum(counts.values())
        print(f"{device}: {counts['right']} of {of} right ({100 * counts['right'] / max(of, 1):.1f} %)" +
              "".join(f", {n} {what}" for what, n in sorted(counts.items()) if what != "right"), flush=True)
    if options.record:
        results.write(results.merge(recorded, found, partial=options.filter != "*" or options.sample))
    worse = results.worse(recorded, found) if options.check else []
    for line in worse:
        print(f"WORSE {line}")
    if options.report:
        results.report(options.report, found, worse)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
