# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir does not lower, and why; for the scripts beside it."""

import re

#: Exit code of a process that says on its standard output why it refuses a model.
REFUSED = 3


class Refused(Exception):
    """What torch-mlir does not lower, and why."""


def refuse_changes(changed):
    """Programs have no state: what a module writes in place would be one result more. changed: names of what it writes."""
    for name in changed:
        raise Refused(f"it writes '{name}' in place, and a program has no state: call eval() before, or make it an argument, as "
                      "from_torch(…, state=True) does")


def _unlowered(operation):
    for region in operation.regions:
        for block in region:
            for op in block:
                if re.match(r"torch\.(aten|prims|torchvision|quantized)\.", op.operation.name):
                    yield op.operation.name
                yield from _unlowered(op.operation)


def first_line(error):
    """Of a message, without what differs from run to run: addresses of functions, and where they were called."""
    lines = str(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    named = re.sub(r"<(?:built-in )?function (\w+)[^>]*>", r"\1", lines[0])
    return re.sub(r", \{'stack_trace'.*", "", named).strip()


def reason(message, module):
    """The op that was not lowered, in the words of the model, from a failed pipeline's diagnostics, and the module that it left."""
    if op := re.search(r'"torch\.operator"[^\n]*?name = "onnx\.(\w+)"', message):
        return f"ONNX op {op[1]}: torch-mlir does not lower it with these attributes and types"
    if op := re.search(r'"torch\.operator"[^\n]*?name = "torch\.([\w.]+)"', message):
        return f"PyTorch op {op[1]}: torch-mlir does not lower it with these types"
    if op := re.search(r"failed to legalize operation '([\w.]+)'", message):
        # Constants and lists stay because of an op that takes them.
        name = next(_unlowered(module), op[1]) if op[1].startswith(("torch.constant.", "torch.prim.List")) else op[1]
        return f"op {name}: torch-mlir does not lower it to linalg"
    errors = re.findall(r"error: (.*)", message)
    text = re.sub(r'^"[^"]*": |^loc\([^)]*\): ', "", errors[0]) if errors else first_line(message)
    return text[:200]
