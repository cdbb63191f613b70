# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that the blocks of a cluster share (sm_90): softmax, norms, log-sum-exp, the largest element and its place, sums that
begin with what is in memory. Pinned to tiles so small that short rows have several; a few are as long as the rows that
the default shares. Other targets have the configs that they would have anyway.
"""

import numpy as np

from data import BF16, F16, F32, I32, I64, integers, uniform
from families.fused import line
from families.softmax import RANGE, check as softmax_check, reference_for
from functions import EXACT, Function, relative


def config(block, warps, blocks):
    """Of rows (all loops but the last) and the `blocks` parts of a row."""
    rows = ", ".join("1" for _ in block[:-1])
    cluster = f"{rows}, {blocks}" if rows else str(blocks)
    spread = f"{rows}, {warps}" if rows else str(warps)
    text = (f"#tilewright.lowering_config<strategy = reduction, block = [{', '.join(map(str, block))}], "
            f"warps = [{spread}], cluster = [{cluster}]>")
    return f'tilewright.lowering_config = {{"cuda:sm_90" = {text}, "cuda:sm_90a" = {text}}}'


def wide(f, x, element):
    """A value of `x` as f32."""
    return [f"%w = arith.extf {x} : {element.name} to f32"] if element is not F32 else []


def rows(family, element, label, dims, dynamic, known="n"):
    f = Function(family, element.name, label, dims, dynamic, known=known)
    return f, f.arg(element, "".join(dims))


def softmax(element, label, dims, pinned, dynamic=False, more=(), how="cluster", known="n"):
    f, x = rows(f"{how}_softmax", element, label, dims, dynamic, known)
    iteration, kept = "".join(dims), "".join(dims)[:-1]
    name = element.name
    top = f.generic(iteration, [x], f.filled(element, kept, float("-inf")),
                    line(f"%t = arith.maximumf {{0}}, {{1}} : {name}"), reduce="n", attributes=pinned)

    def exponential(lines, x, top, out):
        lines += [f"%t = arith.subf {x}, {top} : {name}", f"%u = math.exp %t : {name}"]
        return "%u"

    e = f.generic(iteration, [x, top], f.empty(element, iteration), exponential)

    def add(lines, x, acc):
        if element is F32:
            lines.append(f"%t = arith.addf {x}, {acc} : f32")
        else:
            lines += [f"%w = arith.extf {x} : {name} to f32", f"%t = arith.addf %w, {acc} : f32"]
        return "%t"

    total = f.generic(iteration, [e], f.zeros(F32, kept), add, reduce="n")

    def divide(lines, x, total, out):
        if element is F32:
            lines.append(f"%t = arith.divf {x}, {total} : f32")
            return "%t"
        lines += [f"%w = arith.extf {x} : {name} to f32", f"%q = arith.divf %w, {total} : f32",
                  f"%t = arith.truncf %q : f32 to {name}"]
        return "%t"

    f.ret(f.generic(iteration, [e, total], f.empty(element, iteration), divide))
    for sizes in ({}, *more):
        full = {**dims, **sizes}
        f.case("x".join(map(str, full.values())), sizes, uniform(-RANGE, RANGE), softmax_check(element, full["n"]),
               reference_for(element, len(dims) - 1))
    return f


def layer_norm(element, label, dims, pinned, dynamic=False, more=(), how="cluster"):
    """The means and the reciprocal deviations are results, too: one block of a cluster writes them."""
    f, x = rows(f"{how}_layer_norm", element, label, dims, dynamic)
    scale, shift = f.arg(F32, "n"), f.arg(F32, "n")
    n, name = dims["n"], element.name

    def widened(lines, x):
        lines += wide(f, x, element)
        return x if element is F32 else "%w"

    def add(lines, x, acc):
        lines.append(f"%t = arith.addf {widened(lines, x)}, {acc} : f32")
        return "%t"

    total = f.generic("mn", [x], f.zeros(F32, "m"), add, reduce="n", attributes=pinned)
    share = f"%share = arith.constant {1 / n:.17e} : f32"

    def scaled(lines, total, out):
        lines += [share, f"%t = arith.mulf {total}, %share : f32"]
        return "%t"

    mean = f.generic("m", [total], f.empty(F32, "m"), scaled)

    def squares(lines, x, mean, acc):
        lines += [f"%d = arith.subf {widened(lines, x)}, {mean} : f32", "%q = arith.mulf %d, %d : f32",
                  f"%t = arith.addf %q, {acc} : f32"]
        return "%t"

    variance = f.generic("mn", [x, mean], f.zeros(F32, "m"), squares, reduce="n")

    def reciprocal(lines, total, out):
        lines += [share, "%few = arith.constant 1.0e-5 : f32", f"%v = arith.mulf {total}, %share : f32",
                  "%s = arith.addf %v, %few : f32", "%t = math.rsqrt %s : f32"]
        return "%t"

    deviation = f.generic("m", [variance], f.empty(F32, "m"), reciprocal)

    def normalise(lines, x, mean, deviation, scale, shift, out):
        lines += [f"%d = arith.subf {widened(lines, x)}, {mean} : f32", f"%p = arith.mulf %d, {deviation} : f32",
                  f"%q = arith.mulf %p, {scale} : f32", f"%t = arith.addf %q, {shift} : f32"]
        if element is F32:
            return "%t"
        lines.append(f"%r = arith.truncf %t : f32 to {name}")
        return "%r"

    out = f.generic("mn", [x, mean, deviation, scale, shift], f.empty(element, "mn"), normalise)
    f.ret(out, mean, deviation)

    def reference(x, scale, shift):
        mean = x.mean(axis=1)
        deviation = 1 / np.sqrt(((x - mean[:, None]) ** 2).mean(axis=1) + 1e-5)
        whole = (x - mean[:, None]) * deviation[:, None] * scale + shift
        return [element.round(whole), mean, deviation]

    for sizes in ({}, *more):
        # Sums of n terms below 2: an error of n roundings, of results of about 1.
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, uniform(0.5, 2),
               relative(4 * element.eps + 8 * n * F32.eps, 8 * n * F32.eps + 8 * element.eps), reference)
    return f


def log_sum_exp(label, dims, pinned, dynamic=False, more=(), how="cluster"):
    f, x = rows(f"{how}_log_sum_exp", F32, label, dims, dynamic)
    top = f.generic("mn", [x], f.filled(F32, "m", float("-inf")), line("%t = arith.maximumf {0}, {1} : f32"), reduce="n",
                    attributes=pinned)

    def add(lines, x, top, acc):
        lines += [f"%d = arith.subf {x}, {top} : f32", "%e = math.exp %d : f32", f"%t = arith.addf %e, {acc} : f32"]
        return "%t"

    total = f.generic("mn", [x, top], f.zeros(F32, "m"), add, reduce="n")

    def finish(lines, total, top, out):
        lines += [f"%l = math.log {total} : f32", f"%t = arith.addf %l, {top} : f32"]
        return "%t"

    f.ret(f.generic("m", [total, top], f.empty(F32, "m"), finish))

    def reference(x):
        top = x.max(axis=1)
        return np.log(np.exp(x - top[:, None]).sum(axis=1)) + top

    for sizes in ({}, *more):
        n = {**dims, **sizes}["n"]
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, uniform(-RANGE, RANGE), relative((n + 20) * F32.eps),
               reference)
    return f


def argmax(element, label, dims, pinned, dynamic=False, more=(), how="cluster", known="n"):
    """The largest element of a row and the first place where it is, as the compiler writes what front ends have for it."""
    f, x = rows(f"{how}_argmax", element, label, dims, dynamic, known)
    name = element.name

    best = f.generic("mn", [x], f.filled(element, "m", float("-inf")), line(f"%t = arith.maxnumf {{0}}, {{1}} : {name}"),
                     reduce="n", attributes=pinned)

    def first(lines, x, best, place):
        lines += ["%i = linalg.index 1 : index", "%j = arith.index_cast %i : index to i64",
                  "%far = arith.constant 9223372036854775807 : i64", f"%c = arith.cmpf oeq, {x}, {best} : {name}",
                  "%p = arith.select %c, %j, %far : i64", f"%t = arith.minsi %p, {place} : i64"]
        return "%t"

    f.ret(best, f.generic("mn", [x, best], f.filled(I64, "m", 2**63 - 1), first, reduce="n"))

    def reference(x):
        return [x.max(axis=1), x.argmax(axis=1)]

    for sizes in ({}, *more):
        # Few values: the largest is there often.
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-40, 40), EXACT, reference)
    return f


def sum_into(label, dims, pinned, dynamic=False, more=(), how="cluster", known="n"):
    """Sums that begin with what an argument has, which counts once, and each element's share of the row's sum."""
    f, x = rows(f"{how}_sum", I32, label, dims, dynamic, known)
    start = f.arg(I32, "m")
    total = f.generic("mn", [x], start, line("%t = arith.addi {0}, {1} : i32"), reduce="n", attributes=pinned)
    f.ret(total, f.generic("mn", [x, total], f.empty(I32, "mn"), line("%t = arith.subi {0}, {1} : i32")))

    def reference(x, start):
        total = x.sum(axis=1) + start
        return [total, x - total[:, None]]

    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-1000, 1000), EXACT, reference)
    return f


def functions():
    empty = [{"m": 1}, {"m": 0}, {"m": 7}]
    yield softmax(F32, "ragged", {"m": 3, "n": 1100}, config([1, 256], 2, 5))
    yield softmax(F32, "vector", {"n": 700}, config([256], 1, 3))
    yield softmax(F16, "rows", {"m": 3, "n": 2048}, config([1, 512], 2, 4), True, empty)
    yield softmax(BF16, "most_blocks", {"m": 2, "n": 2041}, config([1, 256], 4, 8))
    yield softmax(F32, "rows_together", {"m": 6, "n": 517}, config([4, 256], 2, 3), True, empty)
    yield softmax(F32, "default", {"m": 2, "n": 40000}, config([1, 16384], 16, 3))
    yield layer_norm(F32, "ragged", {"m": 3, "n": 777}, config([1, 256], 2, 4))
    yield layer_norm(F16, "rows", {"m": 3, "n": 1024}, config([1, 512], 1, 2), True, empty)
    yield layer_norm(BF16, "rows_together", {"m": 5, "n": 500}, config([2, 128], 4, 4), True, empty)
    yield log_sum_exp("ragged", {"m": 3, "n": 1000}, config([1, 128], 1, 8))
    yield log_sum_exp("rows_together", {"m": 9, "n": 300}, config([8, 64], 2, 5), True, empty)
    yield argmax(F32, "ragged", {"m": 3, "n": 1500}, config([1, 512], 2, 3))
    yield argmax(F16, "rows", {"m": 2, "n": 1024}, config([1, 512], 1, 2), True, empty)
    yield sum_into("ragged", {"m": 3, "n": 1023}, config([1, 256], 2, 4))
    yield sum_into("rows_together", {"m": 6, "n": 640}, config([4, 128], 2, 5), True, empty)
