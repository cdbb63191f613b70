# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How good predictions were: the order that they give, and their error."""

import math

#: Measured figures that differ by less are equal.
TIE = 1.08


def tau_b(pairs):
    """Kendall's of [(measured, predicted)]; None where one of them has no order at all."""
    agree = measured = predicted = 0
    for i, (a, x) in enumerate(pairs):
        for b, y in pairs[i + 1 :]:
            if max(a, b) < TIE * min(a, b):
                continue
            measured += 1
            predicted += x != y
            agree += ((a > b) - (a < b)) * ((x > y) - (x < y))
    return agree / math.sqrt(measured * predicted) if measured and predicted else None


def geometric_error(ratios):
    """0.2: in the geometric mean predictions are by 20 % too high or too low; None of nothing."""
    return math.exp(sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios)) - 1 if ratios else None
