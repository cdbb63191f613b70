# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements at computed coordinates, tensor ops that structured ops say, and bodies
as front ends write them: gathers, packing, reshapes by a tensor, branches, maps
with constants, arithmetic on floats of 8 bits, reductions of several results.
"""

import numpy as np

from data import BF16, E4M3, E5M2, ElementType, F16, F32, I8, I32, I64, INDEX, integers, uniform
from functions import BOUNDED, EXACT, Function

BIT = ElementType("i1", 1)
SMALL = integers(-9, 9)


def embedding(element, index, dynamic, summed=False):
    """Rows of a table by number; summed: those of a bag added up."""
    dims = {"v": 50, "d": 33, "n": 70, "b": 9}
    f = Function("gather", element.name, f"embedding.{index.name}" + (".summed" if summed else ""), dims, dynamic)
    table, rows = f.arg(element, "vd"), f.arg(index, "nb" if summed else "n")
    where, loops = f.value_type(table), "nbd" if summed else "nd"

    def body(lines, row, out):
        lines += [f"%i = arith.index_cast {row} : {index.name} to index", f"%j = linalg.index {len(loops) - 1} : index",
                  f"%v = tensor.extract {table.name}[%i, %j] : {where}"]
        if summed:
            lines.append(f"%t = arith.addf {out}, %v : {element.name}")
        return "%t" if summed else "%v"

    out = f.zeros(element, "nd") if summed else f.empty(element, "nd")
    f.ret(f.generic(loops, [rows], out, body, reduce="b" if summed else ""))
    more = [{"v": 1, "d": 1, "n": 1, "b": 3}, {"v": 300, "d": 64, "n": 5, "b": 1}, {"n": 0}] if dynamic else []
    for sizes in [{}, *more]:
        full = {**dims, **sizes}
        f.case("x".join(map(str, full.values())), sizes,
               [integers(0, 1) if element is BIT else SMALL, integers(0, full["v"] - 1)], EXACT,
               lambda table, rows: table[rows].sum(axis=1) if summed else
               abs(table[rows]) if element is BIT else table[rows])
    return f


def one_element(element):
    """One element of a tensor that may have none."""
    f = Function("gather", element.name, "one_element", {"v": 50}, True)
    table, row = f.arg(element, "v"), f.arg(I64, "")

    def body(lines, row, out):
        lines += [f"%i = arith.index_cast {row} : i64 to index", f"%v = tensor.extract {table.name}[%i] : {f.value_type(table)}"]
        return "%v"

    f.ret(f.generic("", [row], f.empty(element, ""), body))
    for size in (50, 1):
        f.case(f"v={size}", {"v": size}, [integers(0, 1) if element is BIT else SMALL, integers(size - 1, size - 1)], EXACT,
               lambda table, row: abs(table[-1]) if element is BIT else table[-1])
    return f


def reverse(dynamic, computed):
    """Each element and its opposite, of what a kernel has to compute first."""
    dims = {"m": 9, "n": 45}
    f = Function("gather", "f32", "reverse.computed" if computed else "reverse", dims, dynamic)
    x = f.arg(F32, "mn")
    y = x
    if computed:
        y = f.raw(f"arith.addf {x.name}, {x.name} : {f.value_type(x)}", F32, "mn")
    last = f.raw("arith.constant 44 : index", I32, None)
    if dynamic:
        one = f.raw("arith.constant 1 : index", I32, None)
        last = f.raw(f"arith.subi {f.size_of('n')}, {one.name} : index", I32, None)

    def body(lines, v, out):
        lines += ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index",
                  f"%k = arith.subi {last.name}, %j : index",
                  f"%w = tensor.extract {y.name}[%i, %k] : {f.value_type(y)}", f"%t = arith.addf {v}, %w : f32"]
        return "%t"

    f.ret(f.generic("mn", [y], f.empty(F32, "mn"), body))
    for sizes in [{}] + ([{"m": 70, "n": 300}] if dynamic else []):
        scale = 2 if computed else 1
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, SMALL, EXACT,
               lambda x, scale=scale: scale * (x + x[:, ::-1]))
    return f


def pack(element, dynamic, padded):
    sizes = {"m": 30 if padded else 32, "n": 21 if padded else 24, "P": 4, "Q": 6, "A": 8, "B": 4}
    f = Function("pack", element.name, "pack.padded" if padded else "pack", sizes, dynamic)
    x = f.arg(element, "mn")
    value = f"padding_value({f.constant(element, 3).name} : {element.name}) " if padded else ""
    if dynamic:
        tiles = [f.raw(f"arith.constant {t} : index", I32, None).name for t in (8, 4)]
        counts = [f.raw(f"arith.ceildivui {f.size_of(d)}, {t} : index", I32, None).name
                  for d, t in zip("nm", reversed(tiles))]
        out = f.raw(f"tensor.empty({counts[0]}, {counts[1]}) : tensor<?x?x8x4x{element.name}>", element, None)
        kind = f"tensor<?x?x8x4x{element.name}>"
    else:
        out = f.empty(element, "QPAB")
        kind = f.value_type(out)
    r = f.raw(f"linalg.pack {x.name} {value}outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] "
              f"into {out.name} : {f.value_type(x)} -> {kind}", element, "QPAB")
    r.type_text = kind
    f.ret(r)

    def reference(x):
        m, n = -(-x.shape[0] // 8), -(-x.shape[1] // 4)
        whole = np.pad(x, ((0, 8 * m - x.shape[0]), (0, 4 * n - x.shape[1])), constant_values=3)
        return whole.reshape(m, 8, n, 4).transpose(2, 0, 1, 3)

    f.case("x".join(str(sizes[d]) for d in "mn"), {}, SMALL, EXACT, reference)
    return f


def unpack(element, cut):
    f = Function("pack", element.name, "unpack.cut" if cut else "unpack",
                 {"P": 4, "Q": 3, "A": 8, "M": 30 if cut else 32, "N": 21 if cut else 24})
    x, out = f.arg(element, "PQAA"), f.empty(element, "MN")
    f.ret(f.raw(f"linalg.unpack {x.name} inner_dims_pos = [0, 1] inner_tiles = [8, 8] into {out.name} : "
                f"{f.value_type(x)} -> {f.value_type(out)}", element, "MN"))
    f.case("4x3", {}, SMALL, EXACT,
           lambda x: x.transpose(0, 2, 1, 3).reshape(32, 24)[:f.sizes["M"], :f.sizes["N"]])
    return f


def given(*values):
    return [{"fill": "values", "values": [value]} for value in values]


def pack_by_run(element, padded):
    """Tiles whose sizes are arguments."""
    f = Function("pack", element.name, "by_run.padded" if padded else "by_run", {"m": 30, "n": 20}, True)
    tiles, x = [f.scalar_arg(INDEX) for _ in "mn"], f.arg(element, "mn")
    value = f"padding_value({f.constant(element, 3).name} : {element.name}) " if padded else ""
    counts = [f.raw(f"arith.ceildivui {f.size_of(d)}, {t.name} : index", I32, None).name for d, t in zip("mn", tiles)]
    kind = f"tensor<?x?x?x?x{element.name}>"
    out = f.raw(f"tensor.empty({counts[1]}, {counts[0]}, {tiles[0].name}, {tiles[1].name}) : {kind}", element, None)
    r = f.raw(f"linalg.pack {x.name} {value}outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [{tiles[0].name}, {tiles[1].name}] "
              f"into {out.name} : {f.value_type(x)} -> {kind}", element, "QPAB")
    r.type_text = kind
    f.ret(r)

    def reference(a, b, x):
        a, b = int(a), int(b)
        m, n = -(-x.shape[0] // a), -(-x.shape[1] // b)
        whole = np.pad(x, ((0, a * m - x.shape[0]), (0, b * n - x.shape[1])), constant_values=3)
        return whole.reshape(m, a, n, b).transpose(2, 0, 1, 3)

    for a, b in ((6, 10), (1, 1), (30, 20)):
        f.case(f"{a}x{b}", {}, [*given(a, b), SMALL], EXACT, reference)
    for a, b in ((7, 16), (50, 3)):
        error = {} if padded else {"error": "tiles are not full"}
        f.case(f"{a}x{b}", {}, [*given(a, b), SMALL], EXACT, reference if padded else None, **error)
    return f


def unpack_by_run(element):
    sizes = {"q": 3, "p": 4, "a": 8, "b": 7}
    f = Function("pack", element.name, "unpack.by_run", sizes, True)
    scalars, x = [f.scalar_arg(INDEX) for _ in range(4)], f.arg(element, "qpab")
    a, b, m, n = (s.name for s in scalars)
    kind = f"tensor<?x?x{element.name}>"
    out = f.raw(f"tensor.empty({m}, {n}) : {kind}", element, None)
    r = f.raw(f"linalg.unpack {x.name} outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [{a}, {b}] into {out.name} : "
              f"{f.value_type(x)} -> {kind}", element, "mn")
    r.type_text = kind
    f.ret(r)
    for a, b, m, n, error in ((8, 7, 32, 21, None), (8, 7, 26, 15, None), (8, 7, 0, 21, None), (7, 7, 4, 4, "another size"),
                              (8, 7, 33, 21, "more elements than the tiles")):
        f.case(f"{a}x{b}x{m}x{n}", {}, [*given(a, b, m, n), SMALL], EXACT,
               None if error else lambda a, b, m, n, x: x.transpose(1, 2, 0, 3).reshape(32, 21)[:int(m), :int(n)], error=error)
    return f


def packed_matmul():
    """What a data-tiled program does: pack, mmt4d, unpack."""
    f = Function("pack", "f32", "mmt4d", {"M": 30, "K": 20, "N": 45, "P": 4, "Q": 3, "A": 8, "B": 16, "U": 1})
    a, b = f.arg(F32, "MK"), f.arg(F32, "KN")
    zero = f.constant(F32, 0)

    def packed(x, dims, tiles, perm, pos):
        out = f.empty(F32, dims)
        return f.raw(f"linalg.pack {x.name} padding_value({zero.name} : f32) outer_dims_perm = {perm} "
                     f"inner_dims_pos = {pos} inner_tiles = {tiles} into {out.name} : {f.value_type(x)} -> "
                     f"{f.value_type(out)}", F32, dims)

    p = packed(a, "PKAU", "[8, 1]", "[0, 1]", "[0, 1]")
    q = packed(b, "QKBU", "[16, 1]", "[1, 0]", "[1, 0]")
    c = f.op("linalg.mmt4d", [p, q], f.zeros(F32, "PQAB"))
    out = f.empty(F32, "MN")
    f.ret(f.raw(f"linalg.unpack {c.name} inner_dims_pos = [0, 1] inner_tiles = [8, 16] into {out.name} : "
                f"{f.value_type(c)} -> {f.value_type(out)}", F32, "MN"))
    f.case("30x45x20", {}, SMALL, EXACT, lambda a, b: a @ b)
    return f


def reshape():
    """The new shape is a tensor; a wrong one is an error."""
    f = Function("reshape", "f32", "by_tensor", {"m": 6, "n": 8, "a": 4, "b": 3, "c": 4, "R": 3}, True)
    x, shape = f.arg(F32, "mn"), f.arg(I64, "R")
    y = f.raw(f"arith.addf {x.name}, {x.name} : {f.value_type(x)}", F32, "mn")
    f.ret(f.raw(f"tensor.reshape {y.name}({shape.name}) : ({f.value_type(y)}, {f.value_type(shape)}) -> "
                "tensor<?x?x?xf32>", F32, "abc"))
    for values, error in (((4, 3, 4), None), ((1, 48, 1), None), ((5, 3, 4), "another number of elements")):
        f.case("x".join(map(str, values)), {}, [SMALL, {"fill": "values", "values": list(values)}], EXACT,
               None if error else lambda x, shape: (2 * x).reshape([int(v) for v in shape]), error=error)
    return f


def gather_op(keeps):
    f = Function("gather", "f32", "tensor.gather" + (".keeps" if keeps else ""),
                 {"a": 7, "b": 5, "c": 6, "p": 4, "q": 3, "U": 1, "T": 2})
    x, at = f.arg(F32, "abc"), f.arg(I32, "pqT")
    dims = "pqUbU" if keeps else "pqb"
    f.ret(f.raw(f"tensor.gather {x.name}[{at.name}] gather_dims([0, 2]) : ({f.value_type(x)}, {f.value_type(at)}) -> "
                f"{f.type(F32, dims)}", F32, dims))

    def reference(x, at):
        picked = x[at[..., 0], :, at[..., 1]]
        return picked[:, :, None, :, None] if keeps else picked

    f.case("7x5x6", {}, [SMALL, integers(0, 5)], EXACT, reference)
    return f


def scatter_op():
    f = Function("scatter", "f32", "tensor.scatter", {"n": 4, "U": 1, "m": 7, "d": 33})
    s, x, at = f.arg(F32, "nUd"), f.arg(F32, "md"), f.arg(I32, "nU")
    f.ret(f.raw(f"tensor.scatter {s.name} into {x.name}[{at.name}] scatter_dims([0]) unique : ({f.value_type(s)}, "
                f"{f.value_type(x)}, {f.value_type(at)}) -> {f.value_type(x)}", F32, "md"))

    def reference(s, x, at):
        x = x.copy()
        x[at[:, 0]] = s[:, 0]
        return x

    f.case("7x33", {}, [SMALL, SMALL, {"fill": "values", "values": [3, 1, 6, 0]}], EXACT, reference)
    return f


def pad_edge():
    """tensor.pad that repeats the nearest element."""
    f = Function("pad", "f32", "edge", {"M": 7, "N": 5, "P": 10, "Q": 9})
    x = f.arg(F32, "MN")
    numbers = {n: f.raw(f"arith.constant {n} : index", I32, None).name for n in (0, 1, 2, 4, 6)}
    f.ret(f.raw(f"tensor.pad {x.name} low[1, 2] high[2, 2] {{\n      ^bb0(%i: index, %j: index):\n"
                f"        %a = arith.subi %i, {numbers[1]} : index\n        %b = arith.maxsi %a, {numbers[0]} : index\n"
                f"        %c = arith.minsi %b, {numbers[6]} : index\n        %d = arith.subi %j, {numbers[2]} : index\n"
                f"        %e = arith.maxsi %d, {numbers[0]} : index\n"
                f"        %g = arith.minsi %e, {numbers[4]} : index\n"
                f"        %v = tensor.extract {x.name}[%c, %g] : {f.value_type(x)}\n"
                f"        tensor.yield %v : f32\n    }} : {f.value_type(x)} to {f.type(F32, 'PQ')}", F32, "PQ"))
    f.case("7x5", {}, SMALL, EXACT, lambda x: np.pad(x, ((1, 2), (2, 2)), mode="edge"))
    return f


def branch(element):
    """scf.if in a body, with a division that must not happen."""
    f = Function("body", element.name, "branch", {"m": 13, "n": 45})
    x, y = f.arg(element, "mn"), f.arg(element, "mn")
    zero = f.constant(element, 0)

    def body(lines, a, b, out):
        t = element.name
        lines += [f"%c = arith.cmpi ne, {b}, {zero.name} : {t}", f"%r = scf.if %c -> {t} {{",
                  f"  %q = arith.divsi {a}, {b} : {t}", f"  scf.yield %q : {t}", "} else {",
                  f"  scf.yield {a} : {t}", "}"]
        return "%r"

    f.ret(f.generic("mn", [x, y], f.empty(element, "mn"), body))
    f.case("13x45", {}, [SMALL, integers(-2, 2)], EXACT,
           lambda x, y: np.where(y == 0, x, np.trunc(x / np.where(y == 0, 1, y)).astype(np.int64)))
    return f


def lower_triangle(element, by):
    """What lies in or below a diagonal of matrices of one row; its places are compared with a constant, in 64 bits."""
    f = Function("body", element.name, f"lower_triangle.{'m' * (by < 0)}{abs(by)}", {"m": 9, "n": 45})
    x = f.arg(element, "mn")
    zero, most = f.constant(element, 0), f.constant(I64, by)

    def body(lines, value, out):
        lines += ["%j = linalg.index 1 : index", "%k = arith.index_cast %j : index to i64",
                  f"%c = arith.cmpi sle, %k, {most.name} : i64", f"%r = arith.select %c, {value}, {zero.name} : {element.name}"]
        return "%r"

    f.ret(f.generic("mn", [x], f.empty(element, "mn"), body))
    f.case("9x45", {}, SMALL, EXACT, lambda x: np.where(np.arange(45) <= by, x, 0))
    return f


def constant_map(dynamic, row):
    """A row of a matrix, by number in the map."""
    f = Function("body", "f32", f"constant_map.row{row}", {"m": 5, "n": 45, "k": 9}, dynamic)
    x, y = f.arg(F32, "mn"), f.arg(F32, "kn")
    out = f.empty(F32, "kn")
    r = f.raw(f"linalg.generic {{indexing_maps = [affine_map<(i, j) -> ({row}, j)>, affine_map<(i, j) -> (i, j)>, "
              f"affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} "
              f"ins({x.name}, {y.name} : {f.value_type(x)}, {f.value_type(y)}) "
              f"outs({out.name} : {f.value_type(out)}) {{\n"
              "      ^bb0(%a: f32, %b: f32, %o: f32):\n        %s = arith.addf %a, %b : f32\n"
              f"        linalg.yield %s : f32\n    }} -> {f.value_type(out)}", F32, "kn")
    f.ret(r)
    f.case("5x45", {}, SMALL, EXACT, lambda x, y: y + x[row])
    return f


def float8(element, op, numpy):
    f = Function("body", element.name, op, {"m": 13, "n": 45})
    x, y = f.arg(element, "mn"), f.arg(element, "mn")
    f.ret(f.raw(f"arith.{op} {x.name}, {y.name} : {f.value_type(x)}", element, "mn"))
    f.case("13x45", {}, uniform(-4, 4), EXACT, lambda x, y: element.round(numpy(x, y)))
    return f


def checked_gather(dynamic):
    """An index that is asserted to be one, negative ones counted from the end, as front ends write it."""
    f = Function("gather", "f32", "asserted", {"v": 50, "d": 33, "n": 70}, dynamic)
    table, rows = f.arg(F32, "vd"), f.arg(I64, "n")
    count = f.constant(I64, 50)
    if dynamic:
        count = f.raw(f"arith.index_cast {f.size_of('v')} : index to i64", I64, None)
    zero = f.constant(I64, 0)

    def body(lines, row, out):
        lines += [f"%c = arith.cmpi slt, {row}, {zero.name} : i64", f"%e = arith.addi {row}, {count.name} : i64",
                  f"%r = arith.select %c, %e, {row} : i64", f"%a = arith.cmpi slt, %r, {count.name} : i64",
                  'cf.assert %a, "index must be smaller than dim size"', f"%b = arith.cmpi sge, %r, {zero.name} : i64",
                  'cf.assert %b, "index must be larger or equal to 0"', "%i = arith.index_cast %r : i64 to index",
                  "%j = linalg.index 1 : index", f"%v = tensor.extract {table.name}[%i, %j] : {f.value_type(table)}"]
        return "%v"

    f.ret(f.generic("nd", [rows], f.empty(F32, "nd"), body))
    for label, low, high, error in (("inside", -50, 49, None), ("above", 40, 60, "index must be smaller than dim size"),
                                    ("below", -60, -40, "index must be larger or equal to 0")):
        f.case(label, {}, [SMALL, integers(low, high)], EXACT, None if error else lambda table, rows: table[rows],
               error=error)
    return f


def argmax(element, layout, dynamic, scaled=False):
    """The largest element and where it is, the first of several; scaled: of what is computed first."""
    dims, loops, kept = {"rows": ({"m": 21, "n": 37}, "mn", "m"), "columns": ({"m": 21, "n": 37}, "mn", "n"),
                         "all": ({"n": 101}, "n", ""), "middle": ({"a": 3, "m": 9, "n": 20}, "amn", "an")}[layout]
    f = Function("combiner", element.name, f"argmax.{layout}" + (".scaled" if scaled else ""), dims, dynamic)
    reduced = next(d for d in loops if d not in kept)
    x = f.arg(element, loops)
    y = f.raw(f"arith.addf {x.name}, {x.name} : {f.value_type(x)}", element, loops) if scaled else x
    lowest = -np.inf if element.is_float else -(1 << (element.bits - 1))
    compare, larger = ("cmpf ogt,", "maximumf") if element.is_float else ("cmpi sgt,", "maxsi")

    def body(lines, v, best, at):
        lines += [f"%j = linalg.index {loops.index(reduced)} : index", "%k = arith.index_cast %j : index to i64",
                  f"%g = arith.{compare} {v}, {best} : {element.name}",
                  f"%s = arith.{larger} {v}, {best} : {element.name}",
                  f"%q = arith.select %g, %k, {at} : i64"]
        return ["%s", "%q"]

    outs = [f.filled(element, kept, lowest), f.filled(I64, kept, 0)]
    f.ret(*f.generic(loops, [y], outs, body, reduce=reduced))
    axis = loops.index(reduced)
    more = [{"m": 1, "n": 1}, {"m": 130, "n": 3}, {"m": 0, "n": 5}] if layout == "rows" else []
    for sizes in [{}, *(more if dynamic else [])]:
        f.case("x".join(str({**dims, **sizes}[d]) for d in loops), sizes, integers(-4, 4), EXACT,
               lambda x: [(2 if scaled else 1) * x.max(axis=axis), x.argmax(axis=axis)])
    return f


# How a combiner decides that an element is better, and what it keeps: comparison of element (v) and best (b), further
# condition, combiner of values, the element's place first.
CHOICES = {
    "passed_over": ("ogt", None, None), "passed_over.least": ("olt", None, "minnumf"), "wins": ("ugt", "ord", None),
    "wins.least": ("ult", "ord", "minimumf"), "ends": ("ogt", None, "maximumf"), "ends.least": ("olt", None, "minimumf"),
    "last": ("oge", None, None), "last.least": ("ole", None, None), "swapped": ("swapped", None, None)}


def better_of(how, x, best):
    """Of two elements: whether x is taken, and the value that goes on."""
    compare, ordered, combiner = CHOICES[how]
    least = compare in ("olt", "ult", "ole")
    equal = compare in ("oge", "ole") and x == best
    taken = (x < best if least else x > best) or equal
    if ordered:
        taken = not np.isnan(best) and (taken or np.isnan(x))
    value = x if taken else best
    if combiner in ("maximumf", "minimumf") and (np.isnan(x) or np.isnan(best)):
        value = np.nan
    return taken, value


def best_and_place(element, place, how, sizes, dynamic, nans=True, begin=None):
    """The best element and where it is, of rows with many equal ones and some NaNs, also as the first and the last."""
    dims = {"m": sizes[0], "n": sizes[1]}
    # Without rows: one result of all elements.
    loops, kept = ("mn", "m") if sizes[0] else ("n", "")
    label = f"best.{how}.{place.name}.{sizes[0]}x{sizes[1]}" + ("" if nans else ".plain") + ("" if begin is None else f".from{begin}")
    f = Function("combiner", element.name, label, {d: dims[d] for d in loops}, dynamic)
    compare, ordered, combiner = CHOICES[how]
    least = compare in ("olt", "ult", "ole")
    x = f.arg(element, loops)
    nan = f.raw(f"arith.constant {dict(f32='0x7FC00000', f16='0x7E00', f64='0x7FF8000000000000')[element.name]} : {element.name}",
                element, None)
    three = f.constant(element, 3)
    start = (np.inf if least else -np.inf) if begin is None else begin

    def body(lines, v, best, at):
        t = element.name
        if nans:
            lines += [f"%three = arith.cmpf oeq, {v}, {three.name} : {t}", f"%v = arith.select %three, {nan.name}, {v} : {t}"]
            v = "%v"
        test = f"olt, {best}, {v}" if compare == "swapped" else f"{compare}, {v}, {best}"
        lines += [f"%j = linalg.index {loops.index('n')} : index", f"%k = arith.index_cast %j : index to {place.name}",
                  f"%g = arith.cmpf {test} : {t}"]
        taken = "%g"
        if ordered:
            lines += [f"%o = arith.cmpf ord, {best}, {best} : {t}", "%h = arith.andi %g, %o : i1"]
            taken = "%h"
        lines += [f"%s = arith.{combiner} {v}, {best} : {t}" if combiner else f"%s = arith.select {taken}, {v}, {best} : {t}",
                  f"%q = arith.select {taken}, %k, {at} : {place.name}"]
        return ["%s", "%q"]

    f.ret(*f.generic(loops, [x], [f.filled(element, kept, start), f.filled(place, kept, 7)], body, reduce="n"))

    def reference(x):
        rows = np.where(x == 3, np.nan, x) if nans else x
        values, places = [], []
        for row in rows.reshape(-1, x.shape[-1]):
            best, at = start, 7
            for i, v in enumerate(row):
                taken, best = better_of(how, v, best)
                at = i if taken else at
            values.append(best)
            places.append(at)
        shape = x.shape[:-1]
        return [np.array(values).reshape(shape), np.array(places).reshape(shape)]

    many = {"m": 130, "n": 3} if sizes[0] else {"n": 1}
    for own in [{}, *([many] if dynamic else [])]:
        f.case("x".join(str({**dims, **own}[d]) for d in loops), own, integers(-3, 3), EXACT, reference)
    return f


def log_sum_exp():
    """The maximum and the sum of exponentials below it, in one pass."""
    f = Function("combiner", "f32", "log_sum_exp", {"m": 21, "n": 37}, True)
    x = f.arg(F32, "mn")

    def body(lines, v, top, total):
        lines += [f"%n = arith.maximumf {v}, {top} : f32", f"%d = arith.subf {top}, %n : f32", "%e = math.exp %d : f32",
                  f"%t = arith.mulf {total}, %e : f32", f"%u = arith.subf {v}, %n : f32", "%w = math.exp %u : f32",
                  "%s = arith.addf %t, %w : f32"]
        return ["%n", "%s"]

    f.ret(*f.generic("mn", [x], [f.filled(F32, "m", -np.inf), f.zeros(F32, "m")], body, reduce="n"))
    f.case("21x37", {}, uniform(-4, 4), BOUNDED)
    return f


def high_rank(element, dynamic):
    """Ten dims, permuted and added; one of them summed."""
    dims = dict(zip("abcdefghij", (2, 1, 3, 2, 2, 2, 3, 2, 1, 5)))
    f = Function("body", element.name, "rank10", dims, dynamic)
    x, y = f.arg(element, "abcdefghij"), f.arg(element, "jdfacegihb")

    def body(lines, a, b, acc):
        add = "addf" if element.is_float else "addi"
        lines += [f"%t = arith.{add} {a}, {b} : {element.name}", f"%u = arith.{add} {acc}, %t : {element.name}"]
        return "%u"

    f.ret(f.generic("abcdefghij", [x, y], f.zeros(element, "cabdefghi"), body, reduce="j"))
    for sizes in [{}] + ([{"a": 5, "d": 3, "j": 33}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, SMALL, EXACT,
               lambda x, y: np.einsum("abcdefghij->cabdefghi", x + np.einsum("jdfacegihb->abcdefghij", y)))
    return f


def functions():
    yield high_rank(F32, False)
    yield high_rank(I32, True)
    for layout in ("rows", "columns", "all", "middle"):
        yield argmax(F32, layout, layout == "rows")
    yield argmax(I32, "rows", False)
    yield argmax(I8, "columns", True)
    yield argmax(F16, "rows", False)
    yield argmax(F32, "rows", False, scaled=True)
    for how in CHOICES:
        yield best_and_place(F32, I64, how, (23, 45), False)
        yield best_and_place(F32, I32, how, (9, 19), True)
    for how in ("passed_over", "wins", "ends", "last"):
        yield best_and_place(F16, I32, how, (5, 300), False)
        yield best_and_place(F32, I32, how, (0, 5000), how == "wins")
        yield best_and_place(F32, I64, how, (7, 40), False, nans=False, begin=2)
    yield log_sum_exp()
    for element in (F32, F16, BF16, I8, BIT):
        yield embedding(element, I64, True)
    yield embedding(F32, I32, False)
    yield embedding(E4M3, I32, False)
    yield embedding(F32, I32, True, summed=True)
    for element in (F32, I8, BF16, E4M3, BIT):
        yield one_element(element)
    yield checked_gather(False)
    yield checked_gather(True)
    yield reverse(False, False)
    yield reverse(True, True)
    for element in (F32, I8):
        yield pack(element, False, False)
        yield pack(element, True, True)
        yield unpack(element, False)
        yield unpack(element, True)
        yield pack_by_run(element, False)
        yield pack_by_run(element, True)
        yield unpack_by_run(element)
    yield packed_matmul()
    yield reshape()
    yield gather_op(False)
    yield gather_op(True)
    yield scatter_op()
    yield pad_edge()
    yield branch(I32)
    yield branch(I8)
    yield lower_triangle(I64, 17)
    yield lower_triangle(F32, -3)
    yield constant_map(False, 0)
    yield constant_map(True, 2)
    yield float8(E4M3, "addf", np.add)
    yield float8(E5M2, "mulf", np.multiply)
