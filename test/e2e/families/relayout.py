# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Moving data: transposes of every rank, broadcasts, copies and fills."""

import numpy as np

from data import F16, F32, I64, I8, TYPES, integers
from functions import EXACT, Function

SIZES = {"a": 5, "b": 34, "c": 19, "d": 3, "e": 4}
PERMUTATIONS = ("ba", "acb", "bac", "cba", "cab", "adcb", "dabc", "cdab", "edcba", "baced")
MORE = ({"a": 64, "b": 64, "c": 2, "d": 2, "e": 1}, {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1},
        {"a": 131, "b": 67, "c": 3, "d": 1, "e": 2}, {"a": 0, "b": 4, "c": 5, "d": 6, "e": 2})


def data(element):
    return integers(-100, 100)


def transpose(element, permuted, dynamic):
    order = "".join(sorted(permuted))
    dims = {d: SIZES[d] for d in order}
    f = Function("transpose", element.name, permuted, dims, dynamic)
    x = f.arg(element, order)
    axes = [order.index(d) for d in permuted]
    f.ret(f.op("linalg.transpose", [x], f.empty(element, permuted), suffix=f" permutation = {axes}"))
    for sizes in ({}, *MORE) if dynamic else ({},):
        sizes = {d: sizes[d] for d in order if d in sizes}
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, data(element), EXACT,
               lambda x: np.transpose(x, axes))
    return f


def turned_in_warp(element, side, shift):
    """A tile that one warp turns around: exchanges by shuffles."""
    dims = {"a": 3 * side - 4 * shift, "b": 2 * side + 4 * shift}
    f = Function("transpose", element.name, f"warp_{side}x{side}_{shift}", dims)
    x = f.arg(element, "ab")
    config = (f"#tilewright.lowering_config<strategy = streaming, block = [{side}, {side}], warps = [1, 1]>")
    f.ret(f.op("linalg.transpose", [x], f.empty(element, "ba"),
               suffix=f" permutation = [1, 0] {{tilewright.lowering_config = {config}}}"))
    f.case("x".join(map(str, dims.values())), {}, data(element), EXACT, lambda x: np.transpose(x))
    return f


def broadcast(element, kept, result, dynamic):
    dims = {d: SIZES[d] for d in result}
    f = Function("broadcast", element.name, f"{kept or 'scalar'}_to_{result}", dims, dynamic)
    x = f.arg(element, kept)
    shape = f.arg(element, result)  # gives the dynamic sizes
    added = [i for i, d in enumerate(result) if d not in kept]
    spread = f.op("linalg.broadcast", [x], f.empty(element, result), suffix=f" dimensions = {added}")
    f.ret(spread)
    index = tuple(slice(None) if d in kept else None for d in result)
    for sizes in ({}, *MORE[:2]) if dynamic else ({},):
        sizes = {d: sizes[d] for d in result if d in sizes}
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, data(element), EXACT,
               lambda x, y: np.broadcast_to(x[index], y.shape))
    return f


def copy(element, dims_text, dynamic):
    dims = {d: SIZES[d] for d in dims_text}
    f = Function("copy", element.name, dims_text or "scalar", dims, dynamic)
    x = f.arg(element, dims_text)
    f.ret(f.op("linalg.copy", [x], f.empty(element, dims_text)))
    for sizes in ({}, *MORE) if dynamic and dims else ({},):
        sizes = {d: sizes[d] for d in dims_text if d in sizes}
        f.case("x".join(map(str, {**dims, **sizes}.values())) or "scalar", sizes, data(element), EXACT, lambda x: x)
    return f


def fill(element, dynamic):
    """A constant and a value from the caller."""
    dims = {"a": 33, "b": 65}
    f = Function("fill", element.name, "constant_and_argument", dims, dynamic)
    x, shape = f.arg(element, ""), f.arg(element, "ab")
    value = f.raw(f"tensor.extract {x.name}[] : tensor<{element.name}>", element, None)
    f.ret(f.filled(element, "ab", 7), f.fill(value, f.empty(element, "b")))
    for sizes in [{}] + ([{"a": 1, "b": 1}, {"a": 0, "b": 3}, {"a": 3, "b": 4097}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-9, 9), EXACT,
               lambda x, y: [np.full(y.shape, 7), np.full(y.shape[1], x)])
    return f


def pad(element, dynamic, kind):
    """A padded tensor as a result, through arithmetic, and by a value that is no constant."""
    low, high = (2, 0, 1), (1, 3, 2)
    dims = {"a": 5, "b": 34, "c": 19}
    more = ({"a": 1, "b": 1, "c": 1}, {"a": 0, "b": 4, "c": 5}, {"a": 3, "b": 0, "c": 0}, {"a": 64, "b": 7, "c": 131})

    def sizes_of(sizes):
        return {**sizes, **{d: sizes[s] + low[i] + high[i] for i, (s, d) in enumerate(zip("abc", "xyz"))}}

    f = Function("pad", element.name, kind, sizes_of(dims), dynamic)
    x = f.arg(element, "abc")
    value = f.scalar_arg(element) if kind == "argument" else f.constant(element, -3)
    if kind == "moved":  # by amounts that the program computes: what x has more than its half
        half = f.raw("arith.constant 2 : index", None, None).name
        amount = f.raw(f"arith.floordivsi {f.size_of('c')}, {half} : index", None, None).name
        padded = f.pad(x, "xyn", low[:2] + (amount,), high[:2] + (amount,), value)
        f.ret(f.generic("xyn", [padded], f.pad(x, "xyn", low[:2] + (amount,), high[:2] + (amount,), value),
                        lambda lines, a, b: lines.append(f"%t = arith.addf {a}, {b} : {element.name}") or "%t"))
    elif kind == "added":
        y, out = f.arg(element, "yz"), f.arg(element, "xyz")
        f.ret(f.generic("xyz", [f.pad(x, "xyz", low, high, value), y], out,
                        lambda lines, a, b, c: lines.append(f"%t = arith.addf {a}, {b} : {element.name}") or "%t"))
    else:
        f.ret(f.pad(x, "xyz", low, high, value))

    def reference(x, *others):
        outside = others[0] if kind == "argument" else -3
        if kind == "moved":
            by = x.shape[2] // 2
            return 2 * np.pad(x, [(2, 1), (0, 3), (by, by)], constant_values=outside)
        padded = np.pad(x, list(zip(low, high)), constant_values=outside)
        return padded + others[0] if kind == "added" else padded

    for sizes in ({}, *more) if dynamic else ({},):
        full = sizes_of({**dims, **sizes})
        full["n"] = full["c"] + full["c"] // 2 * 2
        f.case("x".join(str(full[d]) for d in "abc"), full, integers(-9, 9), EXACT, reference)
    return f


def other_map(element, label, dims, x_dims, results, reference, cases=None):
    """An input that is indexed by more than loops and sums of these, added to one that is not: read in the body. `results` are
    of d0, d1; of dynamic functions the loops run over the second argument."""
    f = Function("other_maps", element.name, label, dims, cases is not None)
    x, y = f.arg(element, x_dims), f.arg(element, "ab")
    out = f.empty(element, "ab")
    same = "affine_map<(d0, d1) -> (d0, d1)>"
    add = "addf" if element.is_float else "addi"
    f.ret(f.raw(f"linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> ({results})>, {same}, {same}], "
                f'iterator_types = ["parallel", "parallel"]}} ins({x.name}, {y.name} : {f.value_type(x)}, {f.value_type(y)}) '
                f"outs({out.name} : {f.value_type(out)}) {{\n      ^bb0(%x: {element.name}, %y: {element.name}, %o: {element.name}):\n"
                f"        %s = arith.{add} %x, %y : {element.name}\n        linalg.yield %s : {element.name}\n    }} -> "
                f"{f.value_type(out)}", element, "ab"))
    for sizes in cases or ({},):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-9, 9), EXACT, reference)
    return f


def flipped_filter(element, dims):
    """A convolution by a filter that is read backwards: gathered once, in front of it."""
    f = Function("other_maps", element.name, "filter", dims)
    x, w = f.arg(element, "XYc"), f.arg(element, "klcf")
    out = f.zeros(F32, "xyf")
    to_f32 = "" if element is F32 else f"        %p = arith.extf %x : {element.name} to f32\n        %q = arith.extf %w : {element.name} to f32\n"
    a, b = ("%x", "%w") if element is F32 else ("%p", "%q")
    f.ret(f.raw("linalg.generic {indexing_maps = [affine_map<(x, y, f, k, l, c) -> (x + k, y + l, c)>, "
                f"affine_map<(x, y, f, k, l, c) -> ({dims['k'] - 1} - k, {dims['l'] - 1} - l, c, f)>, "
                "affine_map<(x, y, f, k, l, c) -> (k, l)>, affine_map<(x, y, f, k, l, c) -> (x, y, f)>], iterator_types = "
                '["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} '
                f"ins({x.name}, {w.name}, {f.empty(F32, 'kl').name} : {f.value_type(x)}, {f.value_type(w)}, {f.type(F32, 'kl')}) "
                f"outs({out.name} : {f.value_type(out)}) {{\n      ^bb0(%x: {element.name}, %w: {element.name}, %n: f32, %o: f32):\n"
                f"{to_f32}        %m = arith.mulf {a}, {b} : f32\n        %s = arith.addf %o, %m : f32\n        linalg.yield %s : f32\n"
                f"    }} -> {f.value_type(out)}", F32, "xyf"))

    def reference(x, w):
        windows = np.lib.stride_tricks.sliding_window_view(x, (dims["k"], dims["l"]), (0, 1))
        return np.einsum("xyckl,klcf->xyf", windows, w[::-1, ::-1])

    f.case("int", {}, integers(-3, 3), EXACT, reference)
    return f


def other_maps():
    for element in (F32, F16, I8):
        yield other_map(element, "enlarged", {"a": 10, "b": 36, "h": 5, "w": 12}, "hw", "d0 floordiv 2, d1 floordiv 3",
                        lambda x, y: x.repeat(2, 0).repeat(3, 1) + y)
    yield other_map(F32, "flipped", {"a": 7, "b": 30}, "ab", "d0, 29 - d1", lambda x, y: x[:, ::-1] + y)
    yield other_map(F32, "repeated", {"a": 7, "b": 30, "h": 9}, "ah", "d0, (d1 + 4) mod 9",
                    lambda x, y: x[:, (np.arange(30) + 4) % 9] + y)
    yield other_map(F32, "repeated_any", {"a": 7, "b": 30, "H": 8}, "aH", "d0, d1 mod 8",
                    lambda x, y: x[:, np.arange(y.shape[1]) % 8] + y, ({}, {"a": 1, "b": 70}, {"b": 3}, {"a": 0}))
    yield other_map(I8, "backwards_steps", {"a": 6, "b": 5, "h": 30}, "h", "29 - d0 * 5 - d1",
                    lambda x, y: x[::-1].reshape(6, 5) + y)
    yield flipped_filter(F32, {"X": 9, "Y": 10, "c": 5, "k": 3, "l": 2, "f": 7, "x": 7, "y": 9})
    yield flipped_filter(F16, {"X": 18, "Y": 18, "c": 16, "k": 3, "l": 3, "f": 32, "x": 16, "y": 16})


def offset(element, dynamic):
    """Elements from the third row and the fifth column on, by the map of the input."""
    f = Function("relayout", element.name, "offset", {"r": 36, "c": 70, "m": 34, "n": 66}, dynamic)
    x, y = f.arg(element, "rc"), f.arg(element, "mn")
    add = "addf" if element.is_float else "addi"
    f.ret(f.raw("linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + 2, j + 4)>, affine_map<(i, j) -> (i, j)>], "
                f"iterator_types = [\"parallel\", \"parallel\"]}} ins({x.name} : {f.value_type(x)}) "
                f"outs({y.name} : {f.value_type(y)}) {{\n      ^bb0(%a: {element.name}, %b: {element.name}):\n"
                f"        %s = arith.{add} %a, %b : {element.name}\n        linalg.yield %s : {element.name}\n    }} "
                f"-> {f.value_type(y)}", element, "mn"))
    for sizes in ({}, {"r": 9, "c": 5, "m": 7, "n": 1}, {"r": 2, "c": 9, "m": 0, "n": 5}) if dynamic else ({},):
        f.case("x".join(map(str, {**f.sizes, **sizes}.values())), sizes, data(element), EXACT,
               lambda x, y: element.round(y + x[2:2 + y.shape[0], 4:4 + y.shape[1]]))
    return f


def cropped(element, dynamic):
    """A pad of fewer than no elements at two edges."""
    f = Function("relayout", element.name, "cropped", {"m": 35, "n": 20, "r": 34, "c": 21}, dynamic)
    x = f.arg(element, "mn")
    shape = f.arg(element, "rc") if dynamic else None
    f.ret(f.pad(x, "rc", [-3, 2], [2, -1], f.constant(element, 7)))

    def reference(x, *_):
        return np.pad(x[3:, :-1], [(0, 2), (2, 0)], constant_values=7)

    for sizes in ({}, {"m": 3, "n": 1, "r": 2, "c": 2}) if dynamic else ({},):
        f.case("x".join(map(str, {**f.sizes, **sizes}.values())), sizes, data(element), EXACT, reference)
    return f


def diagonal(element, dims, dynamic):
    """Writes x on a diagonal (`aa`, or a batch of them: `baa`) of what is there, beside it what was."""
    sizes = {"a": 37, "b": 5}
    f = Function("diagonal", element.name, dims, {d: sizes[d] for d in sorted(set(dims))}, dynamic)
    loops = "".join(sorted(set(dims)))
    x, before = f.arg(element, loops), f.arg(element, dims)
    f.ret(f.generic(loops, [x], before, lambda lines, x, out: x))

    def reference(x, before):
        before, at = before.copy(), np.arange(len(x))
        if dims == "baa":
            before[:, at, at] = x.T
        else:
            before[(at,) * len(dims)] = x
        return before

    for changed in ({}, {"a": 1}, {"a": 0}) if dynamic else ({},):
        f.case("x".join(map(str, {**f.sizes, **changed}.values())), changed, data(element), EXACT, reference)
    return f


def functions():
    for element in (F32, F16, I8):
        yield diagonal(element, "aa", element is not F16)
    yield diagonal(F32, "aa", False)
    yield diagonal(F32, "baa", True)
    yield diagonal(I64, "aaa", True)
    for element in (F32, I8):
        for dynamic in (False, True):
            yield offset(element, dynamic)
            yield cropped(element, dynamic)
    yield from other_maps()
    for element in (F32, F16, I8):
        for dynamic in (False, True):
            yield pad(element, dynamic, "constant")
    for kind in ("argument", "moved", "added"):
        yield pad(F32, True, kind)
    for element in TYPES:
        for side in (8,) if element.bits == 64 else (8, 16):
            for shift in (0, 1):
                yield turned_in_warp(element, side, shift)
    for element in (*TYPES, I64):
        for permuted in PERMUTATIONS:
            if element is F32 or permuted in ("ba", "cba", "adcb"):
                yield transpose(element, permuted, True)
            if permuted == "ba" and element.name in ("f32", "f16", "i8") or element is F32 and permuted == "cab":
                yield transpose(element, permuted, False)
        yield copy(element, "ab", True)
        yield fill(element, True)
    for kept, result in (("", "ab"), ("a", "ab"), ("b", "ab"), ("b", "abc"), ("ac", "abc")):
        yield broadcast(F32, kept, result, True)
    yield broadcast(F32, "b", "ab", False)
    for dims in ("", "abc"):
        yield copy(F32, dims, False)
    yield copy(F32, "ab", False)
    yield fill(F32, False)
