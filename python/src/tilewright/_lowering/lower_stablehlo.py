# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From StableHLO to linalg on tensors, by IREE's compiler.

    python lower_stablehlo.py model.mlir lowered.mlir [--parameters FILE] [--inputs NAMES]

A process of its own: the package iree-base-compiler brings another LLVM than ours. Needs that package and the files beside this
one. model.mlir: text or bytecode; NAMES: a comma list, what to call the arguments of `main`. Exit code 0: lowered.mlir is written,
and the parameter file where one is named and there are large constants; 3: the model is refused, with the reason on stdout;
anything else is a fault of IREE's compiler.

    model.mlir ─ prepare_stablehlo.py ─▶ StableHLO ─ pipeline ─▶ linalg ─ irregular.py, spelling.py ─▶ lowered.mlir
"""

import argparse
import re
import sys

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

import irregular
import prepare_stablehlo
import spelling
from diagnostics import Refused, first_line
from finish import finish

EXPAND = "builtin.module(inline,symbol-dce)"
SIMPLIFY = ("builtin.module(func.func(chlo-legalize-to-stablehlo),iree-stablehlo-preprocessing-flatten-scf-tuples,"
            "iree-stablehlo-to-stablehlo-preprocessing,canonicalize,cse)")
PIPELINE = ("builtin.module(func.func(chlo-legalize-to-stablehlo,iree-stablehlo-legalize-custom-calls,iree-stablehlo-legalize-control-flow,"
            "iree-stablehlo-legalize-shape-computations,iree-stablehlo-to-linalg-ext,chlo-legalize-to-stablehlo),"
            "iree-stablehlo-to-iree-input,reconcile-unrealized-casts,canonicalize,cse)")
# A portable artifact is in a dialect of its own, which only that pass reads.
OF_ARTIFACTS = "builtin.module(iree-stablehlo-input-transformation-pipeline,canonicalize,cse)"


def lower(source, inputs=()):
    """The text of a function `main` for the bytes of a module of StableHLO."""
    context = ir.Context()
    context.allow_unregistered_dialects = True  # of what surrounds StableHLO, and ops of ours
    with context, ir.Location.unknown():
        try:
            module = ir.Module.parse(source)
        except Exception as error:
            raise Refused(f"it is not read as StableHLO: {reason(str(error))}") from None
        portable = any(op.name.startswith("vhlo.") for op in prepare_stablehlo.ops(module))
        context.emit_error_diagnostics = False  # they are in the exception then
        try:
            if portable:
                run(OF_ARTIFACTS, module)
            else:
                unknown = lower_text(module)
        except ir.MLIRError as error:
            raise Refused(reason(str(error))) from None
        for op in prepare_stablehlo.ops(module):
            if not portable and op.name.split(".")[0] in ("stablehlo", "chlo"):
                raise Refused(f"op {op.name}: IREE's compiler does not lower it to linalg")
        text = module.operation.get_asm()
        if not portable and unknown and re.search(r"\bcomplex<", text):
            raise Refused(unknown)
    try:
        return spelling.name_arguments(irregular.rewrite(donated(text)), inputs)
    except ValueError as error:
        raise Refused(str(error)) from None


def lower_text(module):
    """Why the result is refused if it has complex numbers."""
    prepare_stablehlo.expand(module)
    run(EXPAND, module)
    unknown = prepare_stablehlo.prepare(module)
    prepare_stablehlo.hide(module)
    run(SIMPLIFY, module)
    # What broadcasts have become reshapes there is moved behind conversions; IREE's way to linalg stops where it has to.
    run(SIMPLIFY, module)
    prepare_stablehlo.show(module)
    run(PIPELINE, module)
    return unknown


def donated(text):
    """Arguments whose memory a result may have, as JAX marks them: IREE's lowering has put them into words of its own."""
    return re.sub(r"\biree\.abi\.output = (\d+) : index", r"tf.aliasing_output = \1 : i32", text)


def run(pipeline, module):
    PassManager.parse(pipeline).run(module.operation)


def reason(message):
    """The op that was not lowered, in the words of the model, from a failed pipeline's diagnostics."""
    if call := re.search(r'failed to legalize operation \'stablehlo\.custom_call\'.*?call_target_name = "([^"]*)"', message, re.S):
        return f"op stablehlo.custom_call of '{call[1]}': that function is of another library"
    if op := re.search(r"failed to legalize (?:unresolved (?:\w+ )?materialization(?: from \('(\w+)'\))?|operation '([\w.]+)')", message):
        # What became linalg in part is known by the name that the program gives it.
        place = re.search(r'error: (?:callsite\()?"(?:[^"]*/)?([\w.]+)', message)
        name = op[2] if op[2] and not op[2].startswith("linalg.") else place[1] if place else op[2]
        what = f"op {name}: " if name else ""
        return what + (f"its types{f' ({op[1]})' if op[1] else ''} are not lowered to linalg" if not op[2]
                       else "IREE's compiler does not lower it to linalg")
    errors = re.findall(r"error: (.*)", message)
    text = re.sub(r'^(("[^"]*"|callsite)\(.*\)|"[^"]*"|<unknown>|unknown|-|loc\([^)]*\))(:\d+:\d+)?: ', "",
                  errors[0]) if errors else first_line(message)
    return text[:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--parameters")
    parser.add_argument("--inputs", default="")
    options = parser.parse_args()
    with open(options.source, "rb") as file:
        source = file.read()
    return finish(lambda: lower(source, options.inputs.split(",")), options.target, options.parameters)


if __name__ == "__main__":
    sys.exit(main())
