# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on memrefs: arguments written in place, and strided views of them."""

from data import F16, F32, I32, integers, uniform
from families import softmax
from functions import EXACT, Function


def matmul(element, result, dynamic):
    dims = {"m": 21, "n": 34, "k": 13}
    f = Function("memref_matmul", element.name, "accumulate", dims, dynamic)
    a, b, c = f.arg(element, "mk", True), f.arg(element, "kn", True), f.arg(result, "mn", True)
    f.op("linalg.matmul", [a, b], c)
    for sizes in [{}] + ([{"m": 1, "n": 1, "k": 1}, {"m": 65, "n": 64, "k": 32}, {"m": 4, "n": 4, "k": 0}]
                         if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-3, 3), EXACT,
               lambda a, b, c: c + a @ b)
    return f


def fill_then_add(element, dynamic):
    """The output is overwritten: what it held before does not matter."""
    dims = {"a": 19, "b": 66}
    f = Function("memref_elementwise", element.name, "add", dims, dynamic)
    x, y, z = (f.arg(element, "ab", True) for _ in range(3))
    op = "addf" if element.is_float else "addi"

    def body(lines, x, y, out):
        lines.append(f"%t = arith.{op} {x}, {y} : {element.name}")
        return "%t"

    f.generic("ab", [x, y], z, body)
    for sizes in [{}] + ([{"a": 1, "b": 1}, {"a": 0, "b": 5}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-99, 99), EXACT,
               lambda x, y, z: x + y)
    return f


def in_place(dynamic):
    """x := x · x + 1 where reads and writes have the same map."""
    dims = {"a": 400}
    f = Function("memref_elementwise", "f32", "in_place", dims, dynamic)
    x = f.arg(F32, "a", True)
    one = f.constant(F32, 1)

    def body(lines, x):
        lines += [f"%t = arith.mulf {x}, {x} : f32", f"%u = arith.addf %t, {one.name} : f32"]
        return "%u"

    f.generic("a", [], x, body)
    f.case("400", {}, integers(-9, 9), EXACT, lambda x: x * x + 1)
    return f


def subview(dynamic):
    """A strided window of each argument: rows 2 to 9, every third column."""
    dims = {"m": 24, "n": 40}
    f = Function("memref_subview", "f32", "window", dims, dynamic)
    x, y = f.arg(F32, "mn", True), f.arg(F32, "mn", True)
    width = "?" if dynamic else str(dims["n"])
    offset = 2 * dims["n"]
    views = []
    for value in (x, y):
        layout = f"strided<[{width}, 3], offset: {'?' if dynamic else offset}>"
        view = f.fresh()
        f.emit(f"{view} = memref.subview {value.name}[2, 0] [8, 12] [1, 3] : {f.value_type(value)} to "
               f"memref<8x12xf32, {layout}>")
        views.append((view, f"memref<8x12xf32, {layout}>"))
    (a, t), (b, _) = views
    f.emit("linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
           f"iterator_types = [\"parallel\", \"parallel\"]}} ins({a} : {t}) outs({b} : {t}) {{\n"
           "      ^bb0(%s0: f32, %s1: f32):\n        %t = arith.addf %s0, %s1 : f32\n"
           "        linalg.yield %t : f32\n    }")

    def reference(x, y):
        y = y.copy()
        y[2:10, 0:36:3] += x[2:10, 0:36:3]
        return [x, y]

    f.case("24x40", {}, integers(-99, 99), EXACT, reference)
    return f


ADD = ("linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({a} : {ta}) outs({b} : {tb}) {{\n"
       "      ^bb0(%s0: f32, %s1: f32):\n        %t = arith.addf %s0, %s1 : f32\n"
       "        linalg.yield %t : f32\n    }}")


def add_into(f, a, ta, b, tb, rank):
    """b += a, as text."""
    names = ", ".join(f"d{i}" for i in range(rank))
    map_ = f"affine_map<({names}) -> ({names})>"
    f.emit(ADD.format(maps=f"{map_}, {map_}", kinds=", ".join(['"parallel"'] * rank), a=a, ta=ta, b=b, tb=tb))


def strided(dynamic):
    """Arguments with strides: one with dense rows, one with gaps between all elements."""
    dims = {"m": 19, "n": 40}
    f = Function("memref_strided", "f32", "add", dims, dynamic)
    shape = "?x?" if dynamic else "19x40"
    types = [f"memref<{shape}xf32, strided<[{s}], offset: ?>>"
             for s in (("?, 1", "?, ?") if dynamic else ("64, 1", "97, 2"))]
    x, y = (f.arg(F32, "mn", True, type_text=t) for t in types)
    add_into(f, x.name, types[0], y.name, types[1], 2)
    for sizes in [{}] + ([{"m": 1, "n": 1}, {"m": 0, "n": 5}, {"m": 33, "n": 64}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-99, 99), EXACT,
               lambda x, y: y + x)
    return f


def strided_matmul(element, result, dynamic):
    dims = {"m": 33, "n": 40, "k": 24}
    f = Function("memref_strided", element.name, "matmul", dims, dynamic)

    def arg(element, letters, stride):
        shape = "x".join("?" if dynamic else str(dims[d]) for d in letters)
        return f.arg(element, letters, True,
                     type_text=f"memref<{shape}x{element.name}, strided<[{'?' if dynamic else stride}, 1], offset: ?>>")

    a, b, c = arg(element, "mk", 64), arg(element, "kn", 43), arg(result, "mn", 64)
    f.op("linalg.matmul", [a, b], c)
    for sizes in [{}] + ([{"m": 1, "n": 1, "k": 1}, {"m": 65, "n": 64, "k": 32}, {"m": 4, "n": 4, "k": 0}]
                         if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-3, 3), EXACT,
               lambda a, b, c: c + a @ b)
    return f


def views(dynamic):
    """The left half of a matrix goes to its right half: a subview of a subview, a transposed view and a row."""
    dims = {"m": 16, "n": 16}
    f = Function("memref_subview", "f32", "views_of_views", dims, dynamic)
    x = f.arg(F32, "mn", True)
    t, width = f.value_type(x), "?" if dynamic else "16"
    offset = (lambda n: "?") if dynamic else str
    lower = f"memref<8x16xf32, strided<[{width}, 1], offset: {offset(128)}>>"
    f.emit(f"%lower = memref.subview {x.name}[8, 0] [8, 16] [1, 1] : {t} to {lower}")
    left = f"memref<8x8xf32, strided<[{width}, 1], offset: {offset(128)}>>"
    right = f"memref<8x8xf32, strided<[{width}, 1], offset: {offset(136)}>>"
    turned = f"memref<8x8xf32, strided<[1, {width}], offset: {offset(128)}>>"
    row = f"memref<16xf32, strided<[1], offset: {offset(48)}>>"
    f.emit(f"%left = memref.subview %lower[0, 0] [8, 8] [1, 1] : {lower} to {left}")
    f.emit(f"%right = memref.subview %lower[0, 8] [8, 8] [1, 1] : {lower} to {right}")
    f.emit(f"%turned = memref.transpose %left (i, j) -> (j, i) : {left} to {turned}")
    add_into(f, "%turned", turned, "%right", right, 2)
    f.emit(f"%row = memref.subview {x.name}[3, 0] [1, 16] [1, 1] : {t} to {row}")
    f.emit(f"linalg.fill ins({f.constant(F32, 7).name} : f32) outs(%row : {row})")

    def reference(x):
        x = x.copy()
        x[8:, 8:] += x[8:, :8].T
        x[3] = 7
        return x

    f.case("16x16", {}, integers(-99, 99), EXACT, reference)
    return f


def local_buffer(dynamic):
    """A temporary memref between two ops."""
    dims = {"m": 17, "n": 33, "k": 9}
    f = Function("memref_matmul", "f32", "through_temporary", dims, dynamic)
    a, b, c = f.arg(F32, "mk", True), f.arg(F32, "kn", True), f.arg(F32, "mn", True)
    sizes = ", ".join(f.size_of(d) for d in "mn") if dynamic else ""
    t = f.raw(f"memref.alloc({sizes}) : {f.value_type(c)}", F32, "mn", True)
    f.op("linalg.fill", [f.constant(F32, 0)], t)
    f.op("linalg.matmul", [a, b], t)

    def body(lines, x, out):
        lines.append(f"%t = arith.addf {x}, {out} : f32")
        return "%t"

    f.generic("mn", [t], c, body)
    f.emit(f"memref.dealloc {t.name} : {f.value_type(t)}")
    f.case("17x33x9", {}, integers(-3, 3), EXACT, lambda a, b, c: c + a @ b)
    return f


def rows_by_number(dynamic):
    """A gather as bufferization leaves it, with a constant memref and an allocation on the stack."""
    dims = {"r": 11, "k": 6, "n": 20}
    f = Function("memref_load", "f32", "rows", dims, dynamic)
    table, places, out = f.arg(F32, "rn", True), f.arg(I32, "k", True), f.arg(F32, "kn", True)
    f.globals.append(f'memref.global "private" constant @memref_load_scale_{int(dynamic)} : memref<1xf32> = dense<2.0>')
    scale = f.raw(f"memref.get_global @memref_load_scale_{int(dynamic)} : memref<1xf32>", F32, "1", True).name
    stack = f.raw("memref.alloca() : memref<1xf32>", F32, "1", True).name
    f.emit(f"memref.copy {scale}, {stack} : memref<1xf32> to memref<1xf32>")
    f.emit(f"linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (0)>, affine_map<(i, j) -> (i, j)>], "
           f"iterator_types = [\"parallel\", \"parallel\"]}} ins({places.name}, {stack} : {f.value_type(places)}, memref<1xf32>) "
           f"outs({out.name} : {f.value_type(out)}) {{\n    ^bb0(%p: i32, %s: f32, %o: f32):\n"
           "        %j = linalg.index 1 : index\n        %i = arith.index_cast %p : i32 to index\n"
           f"        %v = memref.load {table.name}[%i, %j] : {f.value_type(table)}\n"
           "        %t = arith.mulf %v, %s : f32\n        linalg.yield %t : f32\n    }")
    for sizes in [{}] + ([{"r": 10, "k": 1, "n": 1}, {"r": 12, "k": 70, "n": 33}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, [integers(-9, 9), integers(0, 9), integers(-9, 9)], EXACT,
               lambda table, places, out: 2 * table[places])
    return f


def row_softmax(element, axis, in_place, dynamic):
    """linalg.softmax from one argument into another, or into its own."""
    dims = {"m": 13, "n": 37}
    f = Function("memref_softmax", element.name, f"{'in_place' if in_place else 'rows'}_{axis}", dims, dynamic)
    x = f.arg(element, "mn", True)
    y = x if in_place else f.arg(element, "mn", True)
    f.emit(f"linalg.softmax dimension({axis}) ins({x.name} : {f.value_type(x)}) outs({y.name} : {f.value_type(y)})")
    for sizes in [{}] + ([{"m": 1, "n": 1}, {"m": 70, "n": 64}] if dynamic else []):
        full = {**dims, **sizes}
        reference = softmax.reference_for(element, axis)
        f.case("x".join(map(str, full.values())), sizes, uniform(-softmax.RANGE, softmax.RANGE),
               softmax.check(element, full["mn"[axis]]), reference if in_place else lambda x, y, of=reference: of(x))
    return f


def functions():
    for dynamic in (False, True):
        for element, result in ((F32, F32), (F16, F32), (I32, I32)):
            yield matmul(element, result, dynamic)
        for element in (F32, F16, I32):
            yield fill_then_add(element, dynamic)
        yield in_place(dynamic)
        yield subview(dynamic)
        yield strided(dynamic)
        for element, result in ((F32, F32), (F16, F32)):
            yield strided_matmul(element, result, dynamic)
        yield views(dynamic)
        yield local_buffer(dynamic)
        yield rows_by_number(dynamic)
    for element, axis, is_own, dynamic in ((F32, 0, False, True), (F16, 1, False, False), (F32, 1, True, True)):
        yield row_softmax(element, axis, is_own, dynamic)

