# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir does not lower, and why; for the scripts beside it."""

import re

#: Exit code of a process that says on its standard output why it refuses a model.
REFUSED = 3


class Refused(Exception):
    """What torch-mlir does not lower, and why."""


def refuse_changes(signature):
    """Programs have no state: what a module writes in place would be one result more."""
    changed = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
    if changed:
        raise Refused(f"it writes '{changed[0]}' in place, and a program has no state: call eval() before, or return the new value")


def first_line(error):
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def reason(message):
    """The op that was not lowered, in the words of the model, from a failed pipeline's diagnostics."""
    if op := re.search(r'"torch\.operator"[^\n]*?name = "onnx\.(\w+)"', message):
        return f"ONNX op {op[1]}: torch-mlir does not lower it with these attributes and types"
    if op := re.search(r'"torch\.operator"[^\n]*?name = "torch\.([\w.]+)"', message):
        return f"PyTorch op {op[1]}: torch-mlir does not lower it with these types"
    if op := re.search(r"failed to legalize operation '([\w.]+)'", message):
        return f"op {op[1]}: torch-mlir does not lower it to linalg"
    errors = re.findall(r"error: (.*)", message)
    text = re.sub(r'^"[^"]*": |^loc\([^)]*\): ', "", errors[0]) if errors else first_line(message)
    return text[:200]
