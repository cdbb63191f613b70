# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tilewright_sweep"""

import sys

from tilewright_sweep.cli import main

# Workers of an executor import this, too, under another name.
if __name__ == "__main__":
    sys.exit(main())
