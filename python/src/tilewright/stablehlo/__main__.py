# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tilewright.stablehlo model.mlir -o lowered.mlir: lowers StableHLO to what tilewright-compile reads."""

import sys

from .._lowering import command
from . import lower

if __name__ == "__main__":
    sys.exit(command("tilewright.stablehlo", __doc__.split(": ", 1)[1],
                     "a file of StableHLO, as text or as bytecode (a portable artifact)", lower))
