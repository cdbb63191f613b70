# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator tests of the package `onnx` as folders: CASE/model.mlir, in0.npy …, out0.npy …, case.json.

Each is lowered by lower_onnx.py of the Python package in a fork of this process, which has torch-mlir loaded: forks start
faster than processes, and one that crashes or does not end takes nothing along. Runs in the environment that run.py sets up.
"""

import concurrent.futures
import fnmatch
import json
import os
import pathlib
import signal
import sys
import warnings

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/src/tilewright/_lowering"))
import lower_onnx
from diagnostics import REFUSED

LIMIT = 60  # seconds to lower a model
# Their results are another random generator's.
RANDOM = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
# NumPy's files lack these types: tilewright-run reads the words of their bits, i4 a byte each.
WORDS = {"bfloat16": np.uint16, **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
                                                 "float8_e8m0fnu"), np.uint8)}
BYTES = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")


def collect():
    """[onnx's TestCase] of its operators, sorted by name."""
    from onnx.backend.test.case.node import collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(collect_testcases(None), key=lambda case: case.name)


def operator(case):
    """The op that the test is of: its name has that of the op, which its model may have expanded into others."""
    words = case.name.removeprefix("test_").removeprefix("ai_onnx_ml_").replace("_", "")
    known = {schema.name for schema in onnx.defs.get_all_schemas()}
    nodes = [node.op_type for node in case.model.graph.node]
    if len(nodes) == 1 and nodes[0] != "Constant":
        return nodes[0]
    named = [name for name in known if words.startswith(name.lower())]
    return max(named, key=len) if named else next((n for n in nodes if n != "Constant"), nodes[0])


def storable(array):
    if array.dtype.name in WORDS:
        return np.ascontiguousarray(array).view(WORDS[array.dtype.name]).reshape(array.shape)
    return array.astype(np.int8) if array.dtype.name in BYTES else array


def array(value):
    """A NumPy array of what a test has as operand; None for strings, sequences and optional values."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)) or np.asarray(value).dtype.kind in "OSU":
        return None
    return np.asarray(value)


def write(case, folder):
    """Lowers a case into its folder; {"name", "operator", "lowered" or "reason", ...}."""
    entry = {"name": case.name.removeprefix("test_"), "operator": operator(case), "rtol": case.rtol, "atol": case.atol}
    if RANDOM & {node.op_type for node in case.model.graph.node}:
        return {**entry, "reason": "results are random"}
    folder.mkdir(parents=True, exist_ok=True)
    for kind, values in zip(("in", "out"), case.data_sets[0]):
        arrays = [array(value) for value in values]
        if any(a is None for a in arrays):
            return {**entry, "reason": "operands that are no tensors of numbers"}
        entry[kind] = [a.dtype.name for a in arrays]
        for number, a in enumerate(arrays):
            np.save(folder / f"{kind}{number}.npy", storable(a))
    code, said = forked(folder, case.model)
    if code == 0:
        return {**entry, "lowered": True}
    if code == REFUSED:
        return {**entry, "reason": said}
    return {**entry, "reason": f"torch-mlir {'does not end' if code == -signal.SIGALRM else 'crashes'}"}


def forked(folder, model):
    """(exit code or the signal's number, negative; what was printed) of lowering to folder/model.mlir."""
    log = folder / "lower.log"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(LIMIT)
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            warnings.simplefilter("ignore")
            try:
                (folder / "model.mlir").write_text(lower_onnx.lower(model))
                code = 0
            except lower_onnx.Refused as refusal:
                os.write(1, str(refusal).encode())
                code = REFUSED
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, log.read_text(errors="replace").strip()


def main(out, jobs, names):
    """Writes the cases of which `names` (a file, a name or pattern a line) has the name, or all, and cases.json."""
    out = pathlib.Path(out)
    wanted = pathlib.Path(names).read_text().split() if names else ["*"]
    cases = [case for case in collect() if any(fnmatch.fnmatchcase(case.name.removeprefix("test_"), w) for w in wanted)]
    entries = []
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for entry in pool.map(lambda case: write(case, out / case.name.removeprefix("test_")), cases):
            entries.append(entry)
            if len(entries) % 100 == 0:
                print(f"lowered {len(entries)} of {len(cases)} cases", file=sys.stderr, flush=True)
    (out / "cases.json").write_text(json.dumps(entries, indent=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
