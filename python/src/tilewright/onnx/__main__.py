# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tilewright.onnx model.onnx -o model.mlir: lowers a model in ONNX's format to what tilewright-compile reads."""

import argparse
import os
import sys

from .._errors import Error
from . import lower


def main():
    parser = argparse.ArgumentParser(prog="python -m tilewright.onnx", description=__doc__.split(": ", 1)[1])
    parser.add_argument("model", help="a file of ONNX")
    parser.add_argument("-o", dest="output", default="-", help="the MLIR text; '-', the default, is standard output")
    parser.add_argument("--timeout", type=float, help="seconds after which torch-mlir is ended")
    parser.add_argument("--parameters", metavar="FILE", help="parameter file (safetensors) for constants of 4 KiB and more; the "
                        "default has the name of the text, with .safetensors; the compiler looks for it beside the text")
    parser.add_argument("--inline", action="store_true", help="all constants stay in the text, as they do on standard output")
    options = parser.parse_args()
    if options.inline and options.parameters:
        parser.error("--inline and --parameters exclude each other")
    parameters = options.parameters
    if not parameters and not options.inline and options.output != "-":
        stem = options.output[:-len(".mlir")] if options.output.endswith(".mlir") else options.output
        parameters = stem + ".safetensors"
    try:
        text = lower(options.model, timeout=options.timeout, parameters=parameters)
        if options.output == "-":
            sys.stdout.write(text)
            return 0
        # The whole file or none.
        part = f"{options.output}.{os.getpid()}"
        try:
            with open(part, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, options.output)
        finally:
            if os.path.exists(part):
                os.unlink(part)
    except (Error, OSError) as error:
        print(f"tilewright.onnx: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
