# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's text in the spelling of MLIR 22, and without torch-mlir's own dialect.

This is the one place that knows what tilewright-compile does not read of what torch-mlir 20261001 (MLIR 24) prints. That is

* `tm_tensor.scatter`, `scan`, `sort`, `topk`: ops of Tilewright's with the same meaning; irregular.py,
* `ml_program.global`, the state of random numbers: a constant, so every call draws the same,
* `cf.assert` of reciprocals, that no element is zero: PyTorch and ONNX have an infinity there,
* names of arguments, `%arg0`: those of the graph's inputs, so that messages and callers by name have them.

Everything else is spelled alike in both.
"""

import re

import irregular


def to_mlir_22(text, inputs=()):
    """`inputs`: the names of the graph's inputs, in order."""
    return name_arguments(irregular.rewrite(without_zero_checks(constant_globals(text))), inputs)


def constant_globals(text):
    for name, value in re.findall(r"^ *ml_program\.global private mutable @(\w+)\((.*)\) : [^\n]*\n", text, re.M):
        text = re.sub(rf"^ *ml_program\.global private mutable @{name}\(.*\n", "", text, flags=re.M)
        text = re.sub(rf"ml_program\.global_load @{name} : .*", f"arith.constant {value}", text)
        text = re.sub(rf"^ *ml_program\.global_store @{name} = .*\n", "", text, flags=re.M)
    return text


def without_zero_checks(text):
    return re.sub(r'^ *cf\.assert %[\w$.-]+, "unimplemented: tensor with zero element"\n', "", text, flags=re.M)


def name_arguments(text, inputs):
    taken = set(re.findall(r"%[\w$.-]+", text))
    for number, name in enumerate(inputs):
        named = "%" + re.sub(r"[^\w$.-]", "_", name)
        # Digits alone are for values without a name.
        if not name or re.match(r"%[\d.-]", named) or named in taken:
            continue
        taken.add(named)
        text = re.sub(rf"%arg{number}(?![\w$.-])", named, text)
    return text
