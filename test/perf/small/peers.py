# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small products, and one whose reference is wrong on purpose: its verdict must be a mismatch."""

EPSILON = 2.0**-24


def reference(function, a, b):
    expected, bound = a @ b, (a.shape[-1] + 8) * EPSILON * (abs(a) @ abs(b))
    if function.startswith("wrong"):
        expected[-1, -1] += 1
    return expected, bound


PEERS = {}
