# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tilewright.unique`: different elements into fewer, as many or more rows, with and without what else it gives on request."""

import numpy as np

from data import BF16, E4M3, F16, F32, F64, I1, I8, I32, I64, choice, integers
from families.sort import several
from functions import EXACT, Function

REQUESTS = ("indices", "inverse", "counts")


def unique(label, element, number, dims, sizes, dynamic, data=integers(-3, 3), more=(), requests=REQUESTS, memref=False):
    """`sizes` has the number of rows as r."""
    f = Function("unique", element.name, f"{label}.{number.name}" + (".memref" if memref else ""), sizes, dynamic)
    x, values, count = f.arg(element, dims, memref), f.arg(element, "r", memref), f.arg(number, "", memref)
    outs = [values, count]
    text = f"tilewright.unique ins({x.name} : {f.value_type(x)}) outs({values.name}, {count.name} : " \
           f"{f.value_type(values)}, {f.value_type(count)})"
    for request in requests:
        outs.append(f.arg(number, dims if request == "inverse" else "r", memref))
        text += f" {request}({outs[-1].name} : {f.value_type(outs[-1])})"
    if memref:
        f.emit(text)
        f.ret()
    else:
        f.ret(*several(f, text, outs))

    def reference(x, values, count, *others):
        found, first, which, often = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        kept = min(len(found), len(values))
        results = [values.copy(), np.array(len(found))]
        # Of -0 and 0, the first one in the input.
        results[0][:kept] = x.ravel()[first][:kept]
        for request, given in zip(requests, others):
            result = np.zeros_like(given) if request == "counts" else given.copy()
            if request == "inverse":
                result = which.reshape(x.shape)
            else:
                result[:kept] = (first if request == "indices" else often)[:kept]
            results.append(result)
        return [x, *results] if memref else results

    fill = integers(-9, -1)
    for own in [{}, *(more if dynamic else [])]:
        full = {**sizes, **own}
        own_values = data if element is I1 else fill
        f.case("x".join(str(full[d]) for d in dims + "r"), own,
               [data, own_values, fill] + [fill] * len(requests), EXACT, reference)
    return f


def functions():
    plane = {"m": 7, "n": 21, "r": 147}
    more = [{"m": 0}, {"n": 0, "r": 0}, {"r": 3}, {"m": 1, "n": 1}, {"m": 60, "n": 70, "r": 9}, {"m": 1, "n": 5000}]
    for dynamic in (False, True):
        yield unique("plane", F32, I64, "mn", plane, dynamic, more=more)
        yield unique("line", I32, I32, "n", {"n": 1500, "r": 40}, dynamic, requests=(), data=integers(-30, 30), more=[{"n": 3}, {"r": 10}])
    yield unique("plane", F32, I64, "mn", plane, True, memref=True, more=[{"r": 2}])
    yield unique("odd", F32, I64, "n", {"n": 60, "r": 60}, True, data=choice("nan", "inf", 0.0, -0.0, 1e-45), requests=REQUESTS)
    for element in (F16, BF16, F64, I8, I64, E4M3):
        yield unique("space", element, I32, "mnk", {"m": 3, "n": 5, "k": 4, "r": 12}, False, requests=("counts",))
    yield unique("plane", I1, I64, "mn", plane, False, data=integers(0, 1), requests=("inverse",))
    # No elements by the type, with room for some.
    yield unique("empty", I8, I64, "mA", {"m": 5, "A": 0, "r": 3}, True, more=[{"r": 0}, {"m": 0}])
    yield unique("empty", I8, I64, "mn", {"m": 5, "n": 0, "r": 3}, False)
