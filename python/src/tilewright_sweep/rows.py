# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems without a contraction: softmax, normalisations, reductions, transposes, elementwise."""

from tilewright_sweep.programs import apply, bits, convert, is_float, types_of, zero

LOWEST = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "f64": "0xFFF0000000000000", "i32": "-2147483648", "i8": "-128"}
REDUCTIONS = ("sum", "max", "lse", "variance", "argmax")
ELEMENTWISE = ("add", "mul", "cast", "chain", "relu", "gelu", "silu", "sigmoid", "exp", "tanh", "abs", "neg")


def _rows(f, e, d):
    """Of one type: dims, type, and the input."""
    dims, (dtype, _) = [d["rows"], d["columns"]], types_of(e)
    return dims, dtype, f.input(dims, dtype)


def _folded(f, x, dims, dtype, start, body, along="columns"):
    out, kept = ([dims[0]], 0) if along == "columns" else ([dims[1]], 1)
    into = f.filled(out, dtype, start)
    return (
        f.generic(
            [[0, 1], [kept]],
            "pr" if kept == 0 else "rp",
            [(x, dims, dtype)],
            (into, out, dtype),
            body + [f"linalg.yield %s : {dtype}"],
        ),
        out,
    )


def softmax(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    top, rows = _folded(f, x, dims, dtype, LOWEST[dtype], [f"%s = arith.maximumf %x0, %o : {dtype}"])
    power = f.generic(
        [[0, 1], [0], [0, 1]],
        "pp",
        [(x, dims, dtype), (top, rows, dtype)],
        (f.empty(dims, dtype), dims, dtype),
        [f"%t = arith.subf %x0, %x1 : {dtype}", f"%s = math.exp %t : {dtype}", f"linalg.yield %s : {dtype}"],
    )
    total, _ = _folded(f, power, dims, dtype, "0.0", [f"%s = arith.addf %x0, %o : {dtype}"])
    value = f.generic(
        [[0, 1], [0], [0, 1]],
        "pp",
        [(power, dims, dtype), (total, rows, dtype)],
        (f.empty(dims, dtype), dims, dtype),
        [f"%s = arith.divf %x0, %x1 : {dtype}", f"linalg.yield %s : {dtype}"],
    )
    return f.text((value, dims, dtype))


def rmsnorm(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    weight = f.input([d["columns"]], dtype)
    total, rows = _folded(
        f, x, dims, dtype, "0.0", [f"%t = arith.mulf %x0, %x0 : {dtype}", f"%s = arith.addf %t, %o : {dtype}"]
    )
    value = f.generic(
        [[0, 1], [0], [1], [0, 1]],
        "pp",
        [(x, dims, dtype), (total, rows, dtype), (weight, [d["columns"]], dtype)],
        (f.empty(dims, dtype), dims, dtype),
        [
            f"%n = arith.constant {float(d['columns'])} : {dtype}",
            f"%e = arith.constant 1.0e-5 : {dtype}",
            f"%m = arith.divf %x1, %n : {dtype}",
            f"%t = arith.addf %m, %e : {dtype}",
            f"%r = math.rsqrt %t : {dtype}",
            f"%u = arith.mulf %x0, %r : {dtype}",
            f"%s = arith.mulf %u, %x2 : {dtype}",
            f"linalg.yield %s : {dtype}",
        ],
    )
    return f.text((value, dims, dtype))


def layernorm(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    weight, bias = f.input([d["columns"]], dtype), f.input([d["columns"]], dtype)
    total, rows = _folded(f, x, dims, dtype, "0.0", [f"%s = arith.addf %x0, %o : {dtype}"])
    count = f"%n = arith.constant {float(d['columns'])} : {dtype}"
    center = [count, f"%m = arith.divf %x1, %n : {dtype}", f"%c = arith.subf %x0, %m : {dtype}"]
    squares = f.generic(
        [[0, 1], [0], [0]],
        "pr",
        [(x, dims, dtype), (total, rows, dtype)],
        (f.filled(rows, dtype, "0.0"), rows, dtype),
        center + [f"%q = arith.mulf %c, %c : {dtype}", f"%s = arith.addf %q, %o : {dtype}", f"linalg.yield %s : {dtype}"],
    )
    value = f.generic(
        [[0, 1], [0], [0], [1], [1], [0, 1]],
        "pp",
        [(x, dims, dtype), (total, rows, dtype), (squares, rows, dtype)]
        + [(y, [d["columns"]], dtype) for y in (weight, bias)],
        (f.empty(dims, dtype), dims, dtype),
        center
        + [
            f"%e = arith.constant 1.0e-5 : {dtype}",
            f"%v = arith.divf %x2, %n : {dtype}",
            f"%t = arith.addf %v, %e : {dtype}",
            f"%r = math.rsqrt %t : {dtype}",
            f"%u = arith.mulf %c, %r : {dtype}",
            f"%w = arith.mulf %u, %x3 : {dtype}",
            f"%s = arith.addf %w, %x4 : {dtype}",
            f"linalg.yield %s : {dtype}",
        ],
    )
    return f.text((value, dims, dtype))


def _wide(dtype):
    """The type of sums where those of the type itself would lose too much."""
    return "f32" if is_float(dtype) and bits(dtype) < 32 else dtype


def groupnorm(f, e, d):
    """Images of groups of channels of pixels: mean and variance are of a group. Sums are f32 at least."""
    dtype, _ = types_of(e)
    count, wide = d["c"] // d["groups"], _wide(dtype)
    dims, groups, channels = [d["n"], d["groups"], count, d["pixels"]], [d["n"], d["groups"]], [d["groups"], count]
    image = (f.input(dims, dtype), dims, dtype)
    weights = [(f.input(channels, dtype), channels, dtype) for _ in range(2)]
    every, group, channel = [0, 1, 2, 3], [0, 1], [1, 2]
    x, widen = convert(dtype, wide, "%x0", "%w")
    gain, first = convert(dtype, wide, "%x3", "%g")
    bias, second = convert(dtype, wide, "%x4", "%b")
    last, narrow = convert(wide, dtype, "%s", "%h")

    def summed(inputs, maps, body):
        into = (f.filled(groups, wide, "0.0"), groups, wide)
        return f.generic([*maps, group], "pprr", inputs, into, [*widen, *body, f"linalg.yield %s : {wide}"]), groups, wide

    total = summed([image], [every], [f"%s = arith.addf %o, {x} : {wide}"])
    center = [
        f"%n = arith.constant {float(count * d['pixels'])} : {wide}",
        f"%m = arith.divf %x1, %n : {wide}",
        f"%c = arith.subf {x}, %m : {wide}",
    ]
    square = [f"%q = arith.mulf %c, %c : {wide}", f"%s = arith.addf %o, %q : {wide}"]
    squares = summed([image, total], [every, group], center + square)
    body = [
        *widen,
        *first,
        *second,
        *center,
        f"%e = arith.constant 1.0e-5 : {wide}",
        f"%v = arith.divf %x2, %n : {wide}",
        f"%t = arith.addf %v, %e : {wide}",
        f"%r = math.rsqrt %t : {wide}",
        f"%u = arith.mulf %c, %r : {wide}",
        f"%p = arith.mulf %u, {gain} : {wide}",
        f"%s = arith.addf %p, {bias} : {wide}",
        *narrow,
        f"linalg.yield {last} : {dtype}",
    ]
    maps = [every, group, group, channel, channel, every]
    into = (f.empty(dims, dtype), dims, dtype)
    return f.text((f.generic(maps, "pppp", [image, total, squares, *weights], into, body), dims, dtype))


def reduce(f, e, d):
    """Rows or columns to a number each. Sums of `lse` and `variance` are f32 at least."""
    dims, dtype, x = _rows(f, e, d)
    kind, along = e["kind"], e["along"]
    if kind in ("sum", "max"):
        op = {"sum": "add", "max": "maximum" if is_float(dtype) else "maxs"}[kind] + ("f" if is_float(dtype) else "i")
        start = zero(dtype) if kind == "sum" else LOWEST[dtype]
        value, out = _folded(f, x, dims, dtype, start, [f"%s = arith.{op} %x0, %o : {dtype}"], along)
        return f.text((value, out, dtype))
    kept, kinds = (0, "pr") if along == "columns" else (1, "rp")
    out, every = [dims[kept]], [0, 1]
    if kind == "argmax":
        return _argmax(f, x, dims, dtype, out, kept, kinds)
    wide = _wide(dtype)
    value, widen = convert(dtype, wide, "%x0", "%w")

    def folded(others, start, lines):
        inputs = [(x, dims, dtype)] + [(o, out, wide) for o in others]
        into = (f.filled(out, wide, start), out, wide)
        maps = [every] + [[kept]] * (len(others) + 1)
        return f.generic(maps, kinds, inputs, into, [*widen, *lines, f"linalg.yield %s : {wide}"])

    last, narrow = convert(wide, dtype, "%s", "%h")
    if kind == "variance":
        count = f"%n = arith.constant {float(dims[1 - kept])} : {wide}"
        sums = [folded([], "0.0", [f"%s = arith.addf %o, {value} : {wide}"])]
        center = [count, f"%m = arith.divf %x1, %n : {wide}", f"%c = arith.subf {value}, %m : {wide}"]
        sums = [folded(sums, "0.0", center + [f"%q = arith.mulf %c, %c : {wide}", f"%s = arith.addf %o, %q : {wide}"])]
        lines = [count, f"%s = arith.divf %x0, %n : {wide}"]
    else:
        top = folded([], LOWEST[wide], [f"%s = arith.maximumf {value}, %o : {wide}"])
        powers = [f"%t = arith.subf {value}, %x1 : {wide}", f"%p = math.exp %t : {wide}", f"%s = arith.addf %o, %p : {wide}"]
        sums = [top, folded([top], "0.0", powers)]
        lines = [f"%l = math.log %x1 : {wide}", f"%s = arith.addf %l, %x0 : {wide}"]
    inputs = [(of, out, wide) for of in sums]
    body = [*lines, *narrow, f"linalg.yield {last} : {dtype}"]
    made = f.generic([[0]] * (len(sums) + 1), "p", inputs, (f.empty(out, dtype), out, dtype), body)
    return f.text((made, out, dtype))


def _argmax(f, x, dims, dtype, out, kept, kinds):
    """The first of the largest elements, and where it is."""
    starts = [(f.filled(out, dtype, LOWEST[dtype]), out, dtype), (f.filled(out, "i32", "0"), out, "i32")]
    body = [
        f"%j = linalg.index {1 - kept} : index",
        "%i = arith.index_cast %j : index to i32",
        f"%c = arith.cmpf ogt, %x0, %o0 : {dtype}" if is_float(dtype) else f"%c = arith.cmpi sgt, %x0, %o0 : {dtype}",
        f"%b = arith.select %c, %x0, %o0 : {dtype}",
        "%a = arith.select %c, %i, %o1 : i32",
        f"linalg.yield %b, %a : {dtype}, i32",
    ]
    best, place = f.generic([[0, 1], [kept], [kept]], kinds, [(x, dims, dtype)], starts, body)
    return f.text((best, out, dtype), (place, out, "i32"))


def letters_of(dims):
    """The dims that a transpose has, by their first letters: b, r, c, d."""
    return "".join(name[0] for name in ("batch", "rows", "columns", "depth") if dims[name])


def order_of(entry, dims):
    """The order of a transpose's result; the default exchanges rows and columns."""
    return entry["order"] or letters_of(dims).replace("rc", "cr")


def transpose(f, e, d):
    dtype, _ = types_of(e)
    letters, order = letters_of(d), order_of(e, d)
    by = {name[0]: d[name] for name in ("batch", "rows", "columns", "depth")}
    dims, out = [by[x] for x in letters], [by[x] for x in order]
    x = f.input(dims, dtype)
    maps = [[order.index(letter) for letter in letters], list(range(len(out)))]
    into = (f.empty(out, dtype), out, dtype)
    return f.text((f.generic(maps, "p" * len(out), [(x, dims, dtype)], into, [f"linalg.yield %x0 : {dtype}"]), out, dtype))


def elementwise(f, e, d):
    """A function of each element. Of floats of less than 32 bits it is computed in f32, but for sums and products; the
    result has the second of `types`."""
    operand, result = types_of(e)
    dims, kind = [d["rows"], d["columns"]], e["kind"]
    count = {"add": 2, "mul": 2, "chain": 2}.get(kind, 1)
    inputs, maps = [(f.input(dims, operand), dims, operand) for _ in range(count)], [[0, 1]] * count
    if kind == "chain":
        # A value for each column, and one for each row.
        for number in (1, 0):
            inputs.append((f.input([dims[number]], operand), [dims[number]], operand))
            maps.append([number])
    dtype = operand if kind in ("add", "mul", "cast") else _wide(operand)
    body, values = [], []
    for number in range(len(inputs)):
        value, lines = convert(operand, dtype, f"%x{number}", f"%w{number}")
        values.append(value)
        body += lines
    letter = "f" if is_float(dtype) else "i"
    if kind in ("add", "mul"):
        value = "%s"
        body.append(f"%s = arith.{kind}{letter} {values[0]}, {values[1]} : {dtype}")
    elif kind == "chain":
        body.append(f"%t = arith.addf {values[0]}, {values[2]} : {dtype}")
        active, lines = apply("silu", dtype, "%t", "f")
        value = "%s"
        body += [*lines, f"%v = arith.mulf {active}, {values[3]} : {dtype}", f"%s = arith.mulf %v, {values[1]} : {dtype}"]
    elif kind == "cast":
        value = values[0]
    else:
        value, lines = apply(kind, dtype, values[0], "f")
        body += lines
    last, lines = convert(dtype, result, value, "%h")
    body += [*lines, f"linalg.yield {last} : {result}"]
    into = (f.empty(dims, result), dims, result)
    return f.text((f.generic(maps + [[0, 1]], "pp", inputs, into, body), dims, result))
