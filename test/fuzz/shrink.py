#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes what was found small, by tilewright-reduce.

A crash or a hang of the compiler is its own question; for a call that differs or ends in an error, the text with the sizes of
the case, then one size for each `?`, are tried in turn until the fault shows with the small whole numbers that
tilewright-reduce gives as inputs. As a program, this
is the question about such an error, for `tilewright-reduce --script`:

    FUZZ_DEVICE=ptxsim FUZZ_TARGET=cuda:sm_80 FUZZ_DIM=7 FUZZ_WIDE=0 FUZZ_CODE=1 FUZZ_WORDS=uninitialised FUZZ_BIN=build/bin \
        shrink.py small.mlir
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 240  # seconds for each try of tilewright-reduce


WIDE = {"i64": "-1099511627776:1099511627776", "i32": "-2147483647:2147483647", "i16": "-32767:32767", "i8": "-127:127"}


def inputs_of(text, dim, wide):
    """What tilewright-run gets for each argument of the only function, as tilewright-reduce has it; `wide`: integers from the
    whole range of their type."""
    signature = re.search(r"func\.func @\w+\((.*?)\)(?: -> .*)? \{", text)[1]
    for seed, kind in enumerate(re.findall(r"%\w+: ((?:tensor|memref)<[^>]*(?:, strided<[^>]*>)?>|\w+)", signature)):
        shaped = re.match(r"(?:tensor|memref)<([^,>]*)", kind)
        if not shaped:
            yield f"{kind}={1 if kind == 'i1' else dim}"
            continue
        name = shaped[1].replace("?", str(dim))
        element = name.rsplit("x", 1)[-1]
        bounds = "0:1" if element == "i1" else WIDE.get(element, "-3:3") if wide else "-3:3"
        yield f"{name}=int:{bounds}:{seed}"


def call(folder, target, device, source, dim, wide=False):
    """(exit code, output) of a checked run on whole numbers."""
    with tempfile.TemporaryDirectory() as temporary:
        artifact = pathlib.Path(temporary) / "program.tw"
        done = subprocess.run([folder / "tilewright-compile", source, "-o", artifact, f"--target={target},cpu-reference"],
                              capture_output=True, text=True, errors="replace", timeout=60)
        if done.returncode:
            return None, done.stderr
        done = subprocess.run([folder / "tilewright-run", artifact, f"--device={device}", "--check=oracle",
                               *(f"--input={i}" for i in inputs_of(pathlib.Path(source).read_text(), dim, wide))],
                              capture_output=True, text=True, errors="replace", timeout=60)
        return done.returncode, done.stdout + done.stderr


def shrink(folder, finding, source, twins, result):
    """How it went; `result` is the small program, if there is one. `twins`: texts with sizes for `?`."""
    reduce = [str(folder / "tilewright-reduce"), str(source), "-o", str(result), "--limit=30"]
    environment = dict(os.environ)
    if finding["what"] in ("crash", "timeout"):
        question = ["--crashes"] if finding["what"] == "crash" else ["--hangs"]
        return run([*reduce, *question, f"--target={finding['target']},cpu-reference"], environment, result)
    device, _, arch = finding["device"].partition("@")
    if arch:
        environment["PTXSIM_ARCH"] = os.environ["PTXSIM_ARCH"] = arch
    # The text with the sizes of the case first: what is left of it is small in every way.
    starts = [*((twin, 7) for twin in twins), *((source, dim) for dim in dict.fromkeys([7, *finding["sizes"]]))]
    for start, dim, wide in [(*start, wide) for wide in (False, True) for start in starts]:
        reduce[1] = str(start)
        try:
            code, output = call(folder, finding["target"], device, start, dim, wide)
        except subprocess.TimeoutExpired:
            continue
        if code == 2 and not wide:
            return run([*reduce, f"--device={device}", "--check=oracle", f"--dim={dim}",
                        f"--target={finding['target']},cpu-reference"], environment, result)
        words = key_words((re.search(r"error: (.*)", output) or [None, ""])[1])
        if code == 2 or code == 1 and words in finding["why"]:
            environment.update(FUZZ_DEVICE=device, FUZZ_DIM=str(dim), FUZZ_WORDS=words, FUZZ_TARGET=finding["target"],
                               FUZZ_BIN=str(folder), FUZZ_CODE=str(code), FUZZ_WIDE=str(int(wide)))
            return run([*reduce, f"--script={pathlib.Path(__file__).resolve()}"], environment, result)
    return "not made smaller: inputs of whole numbers do not show it"


def key_words(message):
    """The longest part of a message that names nothing of one program."""
    return max(re.split(r"[%'\"@:;,()]|\d+", message), key=len).strip()


def run(command, environment, result):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        return f"not made smaller within {LIMIT} s"
    if done.returncode or not result.exists():
        return "not made smaller: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:200]
    return f"{len(result.read_text().splitlines())} lines"


def main():
    source, environment = pathlib.Path(sys.argv[1]), os.environ
    try:
        code, output = call(pathlib.Path(environment["FUZZ_BIN"]), environment["FUZZ_TARGET"], environment["FUZZ_DEVICE"], source,
                            int(environment["FUZZ_DIM"]), environment["FUZZ_WIDE"] == "1")
    except (subprocess.TimeoutExpired, TypeError):
        return 1
    return 0 if str(code) == environment["FUZZ_CODE"] and environment["FUZZ_WORDS"] in output else 1


if __name__ == "__main__":
    sys.exit(main())
