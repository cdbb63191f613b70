# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's text in the spelling of MLIR 22, and without torch-mlir's own dialect.

This is the one place that knows what tilewright-compile does not read of what torch-mlir 20261001 (MLIR 24) prints. That is

* `tm_tensor.scatter`, `scan`, `sort`, `topk`: ops of Tilewright's with the same meaning; irregular.py,
* `ml_program.global`, the state of random numbers: a constant, so every call draws the same,
* `cf.assert` of reciprocals, that no element is zero: PyTorch and ONNX have an infinity there,
* comparisons and selections for aten.maximum, minimum and clamp, which lose a NaN: arith.maximumf and minimumf keep it,
* names of arguments, `%arg0`: those of the graph's inputs, so that messages and callers by name have them.

Everything else is spelled alike in both.
"""

import re

import irregular


def to_mlir_22(text, inputs=()):
    """`inputs`: the names of the graph's inputs, in order."""
    return name_arguments(irregular.rewrite(with_nan(without_zero_checks(constant_globals(text)))), inputs)


def constant_globals(text):
    for name, value in re.findall(r"^ *ml_program\.global private mutable @(\w+)\((.*)\) : [^\n]*\n", text, re.M):
        text = re.sub(rf"^ *ml_program\.global private mutable @{name}\(.*\n", "", text, flags=re.M)
        text = re.sub(rf"ml_program\.global_load @{name} : .*", f"arith.constant {value}", text)
        text = re.sub(rf"^ *ml_program\.global_store @{name} = .*\n", "", text, flags=re.M)
    return text


def without_zero_checks(text):
    return re.sub(r'^ *cf\.assert %[\w$.-]+, "unimplemented: tensor with zero element"\n', "", text, flags=re.M)


_SELECTED = re.compile(r"^(?P<indent> *)(?P<c>%[\w$.-]+) = arith\.cmpf (?P<by>ogt|olt|ugt|ult), (?P<x>%[\w$.-]+), (?P<y>%[\w$.-]+) : (?P<kind>\w+)\n"
                       r" *(?P<r>%[\w$.-]+) = arith\.select (?P=c), (?P<first>%[\w$.-]+), (?P<second>%[\w$.-]+) : \w+\n", re.M)
_YIELD = re.compile(r"\.yield.*")


def with_nan(text):
    """Extrema of two in bodies that are the other operand where one is NaN. (x ugt y ? x : y, a relu, has a NaN of x.)"""
    def extremum(match):
        ordered = match["by"][0] == "o"
        operands = (match["x"], match["y"]) if ordered else (match["y"], match["x"])
        end = _YIELD.search(text, match.end())
        rest = text[match.end():end.end()] if end else text[match.end():]
        if (match["first"], match["second"]) != operands or re.search(rf"{re.escape(match['c'])}(?![\w$.-])", rest):
            return match[0]
        name = "maximumf" if match["by"] in ("ogt", "ult") else "minimumf"
        return f"{match['indent']}{match['r']} = arith.{name} {match['x']}, {match['y']} : {match['kind']}\n"
    return _SELECTED.sub(extremum, text)


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
