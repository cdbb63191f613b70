# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What becomes of samples of an operator: compiled by tilewright.from_torch for cpu, run, held against PyTorch."""

import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import traceback

import tilewright
import tilewright._lowering
import tilewright._torch
import torch

import samples

sys.path.append(str(pathlib.Path(tilewright._lowering.__file__).parent))
import diagnostics
import lower_torch

#: Of each type: relative, absolute. Integers are equal.
TOLERANCES = {torch.float32: (2e-4, 2e-5), torch.float64: (1e-6, 1e-7), torch.float16: (4e-3, 4e-3), torch.bfloat16: (2e-2, 2e-2)}
COUNTS = {"f32": 3, "i64": 1, "i1": 1, "f16": 1}


class Forked:
    """In the place of tilewright._lowering.TORCH: the same script in a fork of this process, which has torch-mlir loaded."""

    def run(self, arguments, timeout):
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    os.dup2(said.fileno(), 1)
                    os.dup2(said.fileno(), 2)
                    sys.stdout = sys.stderr = open(1, "w", closefd=False)
                    signal.setitimer(signal.ITIMER_PROF, timeout or 0)  # of the processor: others may have it
                    code = lower_torch.main(*arguments)
                except Exception:
                    traceback.print_exc()
                finally:
                    sys.stdout.flush()
                    os._exit(code)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
        if status == 0:
            return None
        if status == diagnostics.REFUSED:
            return text
        if status == -signal.SIGPROF:
            return f"torch-mlir has not lowered it within {timeout} s"
        last = (text.splitlines() or ["without a message"])[-1]
        return f"torch-mlir ended by signal {-status}" if status < 0 else f"torch-mlir ended with status {status} ({last})"


tilewright._torch.TORCH = Forked()


def warm_up():
    """Imports what compiling does, before the forks that compile."""
    module = torch.nn.ReLU()
    lower_torch.lower(torch.export.export(module, (torch.ones(2),)))


def journal(operator, path, timeout):
    """Appends a JSON line for each sample of an operator to a file: {"begun": name} and {"case", "result", "reason", "inputs",
    "seconds"}, or {"all": names} in front of samples that are tried together; {"done": true} at the end. What the file has is not tried again."""
    known = [json.loads(line) for line in path.read_text().splitlines()]
    judged = {entry["case"]: entry["result"] for entry in known if "case" in entry}
    begun_together = any("all" in entry for entry in known)
    with open(path, "a") as file:
        def write(**entry):
            file.write(json.dumps(entry) + "\n")
            file.flush()

        try:
            found = samples.operators()[operator].samples(COUNTS)
        except Exception as error:  # its samples need what this machine lacks
            write(none=diagnostics.first_line(error)[:200])
            found = {}
        expected = {}
        for name, sample in found.items():
            if (wanted := expectation(operator.split(".")[0], sample)) is not None:
                expected[name] = wanted
        left = [name for name in expected if name not in judged]
        if len(left) > 1 and not begun_together:
            write(all=left)
            start = time.monotonic()
            together = samples.Together([found[name] for name in left])
            result, _ = verdict(together, [each for name in left for each in expected[name]], timeout)
            if result == "right":
                seconds = round((time.monotonic() - start) / len(left), 1)
                for name in left:
                    write(case=name, result=result, reason="", inputs=str(found[name]), seconds=seconds)
                left = []
        first = next(iter(expected), "").split(".")[0]
        for name in left:
            # Where no sample of the first type is right, those of others add nothing.
            if name.split(".")[0] != first and "right" not in judged.values():
                continue
            write(begun=name, inputs=str(found[name]))
            start = time.monotonic()
            result, reason = verdict(found[name], expected[name], timeout)
            judged[name] = result
            write(case=name, result=result, reason=reason, inputs=str(found[name]), seconds=round(time.monotonic() - start, 1))
        write(done=True)


def expectation(operator, sample):
    """[(tensor, the same by f32 or None, whether its elements are random)] that PyTorch gives; None where it gives an error, or no
    tensor. Some of PyTorch's own sums of f16 are of f16, and not as good as ours."""
    is_unset = operator in samples.UNSET
    is_unordered = operator in samples.UNORDERED and len(sample.tensors[0].unique()) < sample.tensors[0].numel()
    drawn = []
    with torch.no_grad():
        for seed in range(5):
            torch.manual_seed(seed)
            given = [tensor.clone() for tensor in sample.tensors]
            versions = [tensor._version for tensor in given]
            try:
                drawn.append(sample(*given))
            except Exception:
                return None
            sample.copies = sample.copies or versions != [tensor._version for tensor in given]
        precise = _by_f32(sample) if any(tensor.dtype == torch.float16 for tensor in sample.tensors) else None
    return [(one.detach(), precise and precise[number], is_unset or is_unordered and one.dtype == torch.int64 or any(not _same(one, other) for other in others))
            for number, (one, *others) in enumerate(zip(*drawn))] or None


def _by_f32(sample):
    try:
        return sample(*(tensor.float() if tensor.dtype == torch.float16 else tensor for tensor in sample.tensors))
    except Exception:
        return None


def _same(one, other):
    return one.shape == other.shape and bool(torch.all((one == other) | (torch.isnan(one) & torch.isnan(other))))


def verdict(module, expected, timeout):
    """(result, reason): results.py says what there is."""
    try:
        with torch.no_grad():
            program = tilewright.from_torch(module, module.tensors, via="torch-mlir", target="cpu", timeout=timeout, cache=False)
    except tilewright.CompileError as error:
        reason = first_error(str(error))
        if re.search("torch-mlir has not lowered it within", reason):
            return "endless", reason
        return ("failed" if re.search(r"ended (by|with)", str(error)) else "refused"), reason
    except Exception as error:
        return "failed", f"{type(error).__name__}: {diagnostics.first_line(error)}"
    try:
        got = program(*module.tensors)
    except Exception as error:
        return "failed", f"the call: {type(error).__name__}: {diagnostics.first_line(error)}"
    got = list(got) if isinstance(got, (tuple, list)) else [] if got is None else [got]
    if len(got) != len(expected):
        return "wrong", f"{len(got)} results for {len(expected)}"
    for number, (result, (wanted, precise, is_random)) in enumerate(zip(got, expected)):
        result = torch.from_dlpack(result)
        difference = differs(result, wanted, is_random)
        if difference and (precise is None or differs(result, precise.to(wanted.dtype), is_random)):
            return "wrong", f"result {number}: {difference}"
    return "right", ""


def first_error(text):
    errors = re.findall(r"error: (.*)", text)
    text = re.sub(r"; export the model without it.*", "", errors[0] if errors else diagnostics.first_line(text))
    text = re.sub(r'^"[^"]*":\S* |^the module: ', "", text)
    return re.sub(r'^"[^"]*"(:\d+)*: ', "", text)[:200]


def differs(got, wanted, is_random):
    """What is wrong with a result. Of random ones shape and type are known alone."""
    if got.dtype != wanted.dtype and not (got.dtype.is_floating_point or wanted.dtype.is_floating_point) \
            and got.dtype.itemsize == wanted.dtype.itemsize:
        got = got.view(wanted.dtype)  # our integers have no sign
    if got.dtype != wanted.dtype:
        return f"type {got.dtype} for {wanted.dtype}"
    if got.shape != wanted.shape:
        return f"shape {list(got.shape)} for {list(wanted.shape)}"
    if is_random:
        return ""
    rtol, atol = TOLERANCES.get(wanted.dtype, (0, 0))
    good = torch.isclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
    if bool(good.all()):
        return ""
    where = torch.nonzero(~good)[0].tolist()
    return (f"{int((~good).sum())} of {got.numel()} elements, first at {where}: {got[tuple(where)].item():.7g} for "
            f"{wanted[tuple(where)].item():.7g}")
