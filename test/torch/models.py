#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles models of Transformers, torchvision and timm, runs them on cpu and compares with PyTorch; README.md tells how.

    test/torch/models.py --filter 'llama,gpt*'    # those: what became of each, a line
    test/torch/models.py --record                 # all, and writes models.tsv and docs/torch.md

A line: right, refused (with the reason), failed or wrong; kernels of a call for cpu and for sm_90a; the largest error as a share of
the result's largest element. Exit code 0: as models.tsv has it, or better; 1: a model got worse; 77: this Python lacks torch, torch-mlir,
tilewright or transformers.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
#: Share of a result's largest element. Models add thousands of products of f32.
TOLERANCE = 1e-3


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="*", help="comma list of patterns of models' names")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for a model (%(default)s)")
    parser.add_argument("--record", action="store_true", help="write what was found to models.tsv and docs/torch.md")
    return parser.parse_args()


def kernels_of_a_call(explained):
    """Kernels that a call of `main` launches, of each target."""
    return [int(count) for count in re.findall(r"@main\(.*\): (\d+) kernel", explained)]


def largest_error(got, expected):
    import torch
    if got.shape != expected.shape:
        return float("inf")
    got, expected = got.double(), expected.double()
    finite = torch.isfinite(expected)
    if not bool((torch.isnan(got) == torch.isnan(expected)).all()):
        return float("inf")
    scale = max(float(expected[finite].abs().max()) if bool(finite.any()) else 0, 1e-3)
    return float(torch.where(finite, (got - expected).abs(), 0).max()) / scale if got.numel() else 0.0


def judge(name):
    """(result, reason, kernels for cpu, kernels for sm_90a, error); kernels are those of a call of the case's last program."""
    import tilewright
    import torch
    from attempt import first_error
    from generation import CASES
    torch.manual_seed(0)
    case = CASES[name]()
    compiled, counts = {}, (0, 0)
    for each, (module, tensors, shapes) in case.programs.items():
        with torch.no_grad():
            try:
                program = torch.export.export(module, tensors, dynamic_shapes=shapes, strict=False)
            except Exception as error:
                return "refused", f"torch.export: {str(error).splitlines()[0]}", 0, 0, 0.0
        try:
            compiled[each] = tilewright.from_torch(program, tensors, via="torch-mlir", target=["cpu", "cuda:sm_90a"], cache=False, explain=True)
        except tilewright.CompileError as error:
            return "refused", first_error(str(error)), 0, 0, 0.0
        counts = kernels_of_a_call(compiled[each].diagnostics)

    def run(each, *tensors):
        got = compiled[each](*tensors)
        return [torch.from_dlpack(one) for one in (got if isinstance(got, (tuple, list)) else [got])]

    def model(each, *tensors):
        expected = case.programs[each][0](*tensors)
        return list(expected) if isinstance(expected, (tuple, list)) else [expected]

    with torch.no_grad():
        expected, got = case.drive(model), case.drive(run)
    if len(got) != len(expected):
        return "wrong", f"{len(got)} results for {len(expected)}", *counts, 0.0
    error = max(largest_error(one, other) for one, other in zip(got, expected))
    return ("right" if error <= TOLERANCE else "wrong"), "", *counts, error


def judge_apart(name, timeout):
    """judge() in a fork that ends with it, or after `timeout` seconds."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                with open(os.devnull, "w") as nowhere:
                    os.dup2(nowhere.fileno(), 1)
                    os.dup2(nowhere.fileno(), 2)
                try:
                    found = judge(name)
                except Exception as error:
                    found = "failed", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200], 0, 0, 0.0
                said.write(json.dumps(found).encode())
                said.flush()
            finally:
                os._exit(0)
        end = time.monotonic() + timeout
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "failed", f"it takes more than {timeout} s", 0, 0, 0.0
            time.sleep(0.1)
        said.seek(0)
        text = said.read()
    return tuple(json.loads(text)) if text else ("failed", f"it ends by signal {status & 127}", 0, 0, 0.0)


def main():
    options = arguments()
    sys.path.insert(0, str(HERE))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        import tilewright, torch, torch_mlir  # noqa: all are needed; torchvision and timm for their models
        import transformers.integrations.moe  # noqa: defines an operator that the lowering defines where nobody has
    except ImportError as error:
        print(f"test/torch: {error}; README.md says what is needed", file=sys.stderr)
        return SKIPPED
    import logging
    import warnings
    import attempt  # noqa: before the forks
    import results
    from generation import CASES
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    recorded, worse = results.read_models(), []
    names = [name for name in CASES if any(fnmatch.fnmatchcase(name, pattern) for pattern in options.filter.split(","))]
    found = {}
    for name in names:
        found[name] = result, reason, kernels, on_gpu, error = judge_apart(name, options.timeout)
        print(f"{result:8} {name}: " + (reason or f"{kernels} kernels, {on_gpu} for sm_90a, error {error:.1e}"), flush=True)
        before = recorded.get(name)
        if before and results.ORDER.index(result) > results.ORDER.index(before[0]):
            worse.append(f"{name}: was {before[0]}, is {result}")
        if options.record:
            results.write_models({**results.read_models(), name: found[name]})  # others may have written theirs
    for line in worse:
        print(f"WORSE {line}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
