# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tilewright_sweep"""

import sys

from tilewright_sweep.cli import main

sys.exit(main())
