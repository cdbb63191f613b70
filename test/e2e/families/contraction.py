# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions: matmul and its batched, transposed and general forms, dot,
matrix-vector, contractions over several dims, and the fused fully connected layer.

Integer data is small enough that every partial sum is exact in the accumulator:
K · r² stays below its 2^(mantissa + 1). Random floats may differ by
(K + 8) · eps · sum |a · b|.
"""

import numpy as np

from data import BF16, F16, F32, F64, I32, I8, integers, uniform
from functions import BOUNDED, EXACT, Function

# Operand type, result (and accumulator) type.
PAIRS = ((F32, F32), (F64, F64), (F16, F32), (F16, F16), (BF16, F32), (I32, I32), (I8, I32))

LARGE = {"m": 457, "n": 330, "k": 512}


def sizes(m, n, k, **more):
    return {"m": m, "n": n, "k": k, **more}


def pair_name(a, c):
    return a.name if a is c else f"{a.name}-{c.name}"


def depth(terms, dims):
    return int(np.prod([dims[d] for d in terms], dtype=np.int64))


def exact_data(a, c, k, weight=1):
    """Integers whose sums over k terms (plus `weight` of them) are exact."""
    if a is I8:
        return integers(-128, 127)
    if a is I32:
        return integers(-2_000_000_000, 2_000_000_000)
    limit = 2 ** (c.mantissa + 1)
    return integers(-r, r) if (r := int(min(3, (limit / max(k + weight, 1)) ** 0.5))) else integers(0, 1)


def add_cases(f, a, c, dims_list, terms, reference, random=True):
    for dims in dims_list:
        full = {**f.sizes, **dims}
        label = "x".join(str(v) for v in full.values())
        k = depth(terms, full)
        f.case(f"int/{label}", dims, exact_data(a, c, k), EXACT, reference)
        if a.is_float and random and k > 1:
            f.case(f"random/{label}", dims, uniform(-1, 1), BOUNDED, reference)


def named(element, c, dynamic, label, dims, name, op, maps, dims_list=({},), result="mn", terms="k",
          attributes="", random=True):
    """One function made of `op` over operands with the dims `maps`."""
    f = Function(name, pair_name(element, c), label, dims, dynamic)
    ins = [f.arg(element, m) for m in maps]
    f.ret(f.op(op, ins, f.zeros(c, result), attributes))
    equation = ",".join(maps).lower() + "->" + result.lower()

    def reference(*arrays):
        return np.einsum(equation, *arrays)

    if element.is_float:
        exact = reference
    else:
        def exact(*arrays):
            return c.round(np.einsum(equation, *[x.astype(np.int64) for x in arrays]))
    add_cases(f, element, c, dims_list, terms, exact, random)
    return f


def indexing(iteration, *maps):
    """The attribute of linalg.matmul / linalg.contract with maps of its own."""
    texts = [f"affine_map<({', '.join('d_' + d for d in iteration)}) -> ({', '.join('d_' + d for d in m)})>"
             for m in maps]
    return f"indexing_maps = [{', '.join(texts)}]"


STATIC = (("1x1x1", sizes(1, 1, 1)), ("9x9x9", sizes(9, 9, 9)), ("37x53x29", sizes(37, 53, 29)),
          ("128x64x32", sizes(128, 64, 32)), ("1x70x65", sizes(1, 70, 65)), ("70x1x65", sizes(70, 1, 65)),
          ("5x7x0", sizes(5, 7, 0)), ("0x7x5", sizes(0, 7, 5)))
FEW = (STATIC[1], ("64x128x64", sizes(64, 128, 64)))
# Few rows have variants of their own: on both sides of 1, 16 and 64.
DYNAMIC = [s for _, s in STATIC] + [sizes(2, 3, 4), sizes(129, 257, 67), sizes(64, 64, 64), sizes(3, 0, 5),
                                    sizes(1, 64, 96), sizes(16, 72, 64), sizes(17, 64, 32), sizes(65, 40, 48)]


def matmul():
    for a, c in PAIRS:
        for label, dims in STATIC if a is F32 else FEW:
            yield named(a, c, False, label, dims, "matmul", "linalg.matmul", ("mk", "kn"))
        if (a, c) in ((F32, F32), (F16, F32)):
            yield named(a, c, False, "457x330x512", LARGE, "matmul", "linalg.matmul", ("mk", "kn"))
        large = [LARGE] if a in (F32, I8) else []
        yield named(a, c, True, "any", sizes(1, 1, 1), "matmul", "linalg.matmul", ("mk", "kn"), DYNAMIC + large)


def transposed():
    for a, c in PAIRS:
        for label, left, right in (("ta", "km", "kn"), ("tb", "mk", "nk"), ("tab", "km", "nk")):
            if label == "tab" and a is not F32:
                continue
            attributes = indexing("mnk", left, right, "mn")
            args = ("matmul_transposed", "linalg.matmul", (left, right))
            if a in (F32, F16):
                yield named(a, c, False, f"{label}_37x53x29", sizes(37, 53, 29), *args, attributes=attributes)
            chunks = [sizes(21, 70, 333)] if a in (F32, I8) else []  # of packed operands
            yield named(a, c, True, label, sizes(1, 1, 1), *args,
                        [sizes(9, 9, 9), sizes(64, 96, 33), sizes(1, 5, 70), sizes(4, 4, 0)] + chunks,
                        attributes=attributes)


def batched():
    for a, c in PAIRS:
        args = ("batch_matmul", "linalg.batch_matmul", ("bmk", "bkn"))
        if a in (F32, F16, I8):
            yield named(a, c, False, "3x17x33x20", {"b": 3, **sizes(17, 33, 20)}, *args, result="bmn")
        yield named(a, c, True, "any", {"b": 1, **sizes(1, 1, 1)}, *args,
                    [{"b": 2, **sizes(9, 9, 9)}, {"b": 5, **sizes(64, 32, 40)}, {"b": 0, **sizes(4, 4, 4)},
                     {"b": 3, **sizes(1, 1, 7)}], result="bmn")


def general():
    """linalg.contract: any projected permutation on each side."""
    forms = (("out_transposed", "mnk", ("mk", "kn"), "nm", "k"), ("batch_reduce", "bmnk", ("bmk", "bkn"), "mn", "bk"),
             ("two_k", "mnkl", ("mkl", "lkn"), "mn", "kl"), ("batch_inside", "bmnk", ("mbk", "knb"), "mbn", "k"),
             ("vecmat", "nk", ("k", "kn"), "n", "k"), ("matvec", "mk", ("mk", "k"), "m", "k"),
             ("dot", "k", ("k", "k"), "", "k"),
             ("batch_vecmat", "bnk", ("bk", "bkn"), "bn", "k"), ("two_m", "mpnk", ("mpk", "nk"), "mpn", "k"),
             ("two_batches", "abmnk", ("abmk", "abkn"), "abmn", "k"))
    every = {"a": 2, "b": 3, "m": 17, "p": 2, "n": 18, "k": 21, "l": 4}
    small = {"a": 1, "b": 1, "m": 1, "p": 1, "n": 1, "k": 1, "l": 1}
    long = {"a": 1, "b": 2, "m": 5, "p": 3, "n": 64, "k": 1030, "l": 2}
    for a, c in PAIRS:
        for label, iteration, maps, result, terms in forms:
            if a in (F64, I32) and label not in ("two_k", "matvec", "dot"):
                continue
            choose = lambda d: {x: d[x] for x in iteration}
            args = ("contract", "linalg.contract", maps)
            keys = dict(result=result, terms=terms, attributes=indexing(iteration, *maps, result))
            if a is F32:
                yield named(a, c, False, label, choose(every), *args, **keys)
            yield named(a, c, True, label, choose(small), *args,
                        [choose(every), choose(small), choose(long), {**choose(every), iteration[-1]: 0}], **keys)


def skinny():
    """Few rows or columns: threads share the sums. Also so few results that blocks share them."""
    forms = (("rows", ("mk", "kn"), sizes(4, 70, 300)), ("row", ("mk", "kn"), sizes(1, 257, 1031)),
             ("rows_tb", ("mk", "nk"), sizes(8, 33, 520)), ("rows_ta", ("km", "kn"), sizes(3, 65, 129)),
             ("small", ("mk", "kn"), sizes(4, 20, 37)), ("small_tb", ("mk", "nk"), sizes(2, 9, 64)),
             ("small_columns", ("km", "kn"), sizes(19, 3, 33)),
             ("columns", ("mk", "kn"), sizes(129, 5, 264)), ("columns_tb", ("mk", "nk"), sizes(64, 16, 512)),
             ("split_tb", ("mk", "nk"), sizes(2, 3, 70001)), ("split", ("mk", "kn"), sizes(3, 12, 40009)))
    for a, c in PAIRS:
        for label, maps, dims in forms:
            if (a is F64 and label not in ("rows", "rows_tb")) or (c is F16 and "split" in label):
                continue
            yield named(a, c, False, label, dims, "skinny", "linalg.matmul", maps,
                        attributes=indexing("mnk", *maps, "mn"))
    for a, c in ((F32, F32), (F16, F32), (I8, I32)):
        yield named(a, c, False, "batch", {"b": 3, **sizes(4, 96, 200)}, "skinny", "linalg.batch_matmul",
                    ("bmk", "bkn"), result="bmn")


def accumulate():
    """The output's first value is an argument: C += A · B."""
    for a, c in ((F32, F32), (F16, F32), (I8, I32)):
        for dynamic in (False, True):
            dims = sizes(33, 47, 19)
            f = Function("matmul_accumulate", pair_name(a, c), "any" if dynamic else "33x47x19", dims, dynamic)
            x, y, z = f.arg(a, "mk"), f.arg(a, "kn"), f.arg(c, "mn")
            f.ret(f.op("linalg.matmul", [x, y], z))
            for sizes_ in [{}] + ([sizes(5, 6, 0), sizes(65, 64, 40)] if dynamic else []):
                k = {**dims, **sizes_}["k"]
                data = integers(-3, 3)
                label = "x".join(str(v) for v in {**dims, **sizes_}.values())
                f.case(f"int/{label}", sizes_, data, EXACT, lambda x, y, z: z + x @ y)
                if a.is_float:
                    f.case(f"random/{label}", sizes_, uniform(-1, 1), BOUNDED)
            yield f


def fully_connected():
    """relu(x · w + bias): one kernel with the bias broadcast over the rows."""
    for a, c in ((F32, F32), (F16, F32), (BF16, F32), (F64, F64), (I8, I32)):
        for dynamic in (False, True):
            dims = sizes(40, 56, 72)
            f = Function("fully_connected", pair_name(a, c), "any" if dynamic else "40x56x72", dims, dynamic)
            x, w, bias = f.arg(a, "mk"), f.arg(a, "kn"), f.arg(c, "n")
            product = f.op("linalg.matmul", [x, w], f.zeros(c, "mn"))
            zero = f.constant(c, 0)

            def body(lines, p, b, out):
                add, most = ("addf", "maximumf") if c.is_float else ("addi", "maxsi")
                lines.append(f"%t = arith.{add} {p}, {b} : {c.name}")
                lines.append(f"%u = arith.{most} %t, {zero.name} : {c.name}")
                return "%u"

            f.ret(f.generic("mn", [product, bias], f.empty(c, "mn"), body))
            for sizes_ in [{}] + ([sizes(1, 1, 1), sizes(129, 65, 33), sizes(7, 8, 0), sizes(0, 4, 4)]
                                  if dynamic else []):
                full = {**dims, **sizes_}
                label = "x".join(str(v) for v in full.values())
                f.case(f"int/{label}", sizes_, exact_data(a, c, full["k"]) if a is not I8 else
                       [integers(-128, 127), integers(-128, 127), integers(-9999, 9999)], EXACT,
                       lambda x, w, b: np.maximum(x @ w + b, 0))
                if a.is_float:
                    f.case(f"random/{label}", sizes_, uniform(-1, 1), BOUNDED,
                           lambda x, w, b: np.maximum(x @ w + b, 0))
            yield f


def scaled():
    """An epilogue without coordinates, the same for every element: relu(2 x · w), narrowed where the sums are wide."""
    for a, c, to in ((F16, F32, F16), (F16, F16, F16), (I8, I32, I32)):
        f = Function("scaled", pair_name(a, c), "any", sizes(40, 56, 72), True)
        x, w = f.arg(a, "mk"), f.arg(a, "kn")
        product = f.op("linalg.matmul", [x, w], f.zeros(c, "mn"))
        zero, two = f.constant(c, 0), f.constant(c, 2)

        def body(lines, p, out):
            multiply, most = ("mulf", "maximumf") if c.is_float else ("muli", "maxsi")
            lines.append(f"%t = arith.{multiply} {p}, {two.name} : {c.name}")
            lines.append(f"%u = arith.{most} %t, {zero.name} : {c.name}")
            if to is c:
                return "%u"
            lines.append(f"%v = arith.truncf %u : {c.name} to {to.name}")
            return "%v"

        f.ret(f.generic("mn", [product], f.empty(to, "mn"), body))
        for sizes_ in ({}, sizes(17, 130, 33), sizes(70, 9, 64), sizes(3, 5, 0)):
            label = "x".join(str(v) for v in {**f.sizes, **sizes_}.values())
            data = integers(-128, 127) if a is I8 else integers(-2, 2)
            f.case(f"int/{label}", sizes_, data, EXACT, lambda x, w: np.maximum(2 * (x @ w), 0))
        yield f


def functions():
    for part in (matmul, transposed, batched, general, skinny, accumulate, fully_connected, scaled):
        yield from part()
