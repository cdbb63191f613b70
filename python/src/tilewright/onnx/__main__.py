# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tilewright.onnx model.onnx -o model.mlir: lowers a model in ONNX's format to what tilewright-compile reads."""

import sys

from .._lowering import command
from . import lower

if __name__ == "__main__":
    sys.exit(command("tilewright.onnx", __doc__.split(": ", 1)[1], "a file of ONNX", lower))
