# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""contains.py WHOLE PART: fails unless the bytes of PART are in WHOLE."""

import pathlib
import sys

whole, part = (pathlib.Path(name).read_bytes() for name in sys.argv[1:])
sys.exit(0 if part in whole else f"{sys.argv[2]} is not in {sys.argv[1]}")
