# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems that are contractions: products of matrices, also of quantised weights, convolutions, attention; and what is
done with their results on the way out."""

from tilewright_sweep.programs import apply, convert, is_float, multiply_add, tensor, types_of, zero

#: Steps of an epilogue, with "+" between them, and earlier names of some.
EPILOGUES = ("none", "bias", "residual", "relu", "gelu", "silu", "narrow", "quantize")
_ALIASES = {"none": [], "bias_relu": ["bias", "relu"]}


def steps_of(epilogue):
    """ "bias+gelu+narrow" -> its steps; None where there is one that is none."""
    steps = _ALIASES.get(epilogue, epilogue.split("+"))
    return steps if all(step in EPILOGUES[1:] for step in steps) else None


def why_not(epilogue, result):
    """Why there is no such epilogue of sums of type `result`; "" where there is."""
    steps = steps_of(epilogue)
    if steps is None:
        return f"no epilogue '{epilogue}'; its steps, with + between them, are {', '.join(EPILOGUES[1:])}"
    last = [i for i, step in enumerate(steps) if step in ("narrow", "quantize")]
    if last and last != [len(steps) - 1]:
        return f"'{epilogue}': narrow or quantize is the last step"
    if not is_float(result) and set(steps) - {"bias", "residual", "relu"}:
        return f"'{epilogue}': of sums of {result} there are bias, residual and relu"
    return ""


def _epilogue(f, e, value, out, operand, result, channel):
    """The result with the steps of an epilogue, as (value, dims, type); `channel` is the loop that biases and scales have."""
    steps = steps_of(e["epilogue"])
    if not steps:
        return value, out, result
    loops = list(range(len(out)))
    inputs, maps, body, last, dtype = [(value, out, result)], [loops], [], "%x0", result
    for number, step in enumerate(steps):
        name = f"%e{number}"
        if step in ("bias", "residual", "quantize"):
            dims = out if step == "residual" else [out[channel]]
            inputs.append((f.input(dims, result), dims, result))
            maps.append(loops if step == "residual" else [channel])
            other = f"%x{len(inputs) - 1}"
        if step in ("bias", "residual"):
            body.append(f"{name} = arith.add{'f' if is_float(result) else 'i'} {last}, {other} : {result}")
        elif step == "narrow":
            dtype = operand
            name, lines = convert(result, operand, last, name)
            body += lines
        elif step == "quantize":
            dtype = "i8"
            body += [
                f"{name}m = arith.mulf {last}, {other} : {result}",
                f"{name}r = math.roundeven {name}m : {result}",
                f"{name}l = arith.constant -128.0 : {result}",
                f"{name}h = arith.constant 127.0 : {result}",
                f"{name}a = arith.maximumf {name}r, {name}l : {result}",
                f"{name}b = arith.minimumf {name}a, {name}h : {result}",
                f"{name} = arith.fptosi {name}b : {result} to i8",
            ]
        elif is_float(result):
            name, lines = apply(step, result, last, f"e{number}")
            body += lines
        else:
            body += [f"{name}z = arith.constant 0 : {result}", f"{name} = arith.maxsi {last}, {name}z : {result}"]
        last = name
    body.append(f"linalg.yield {last} : {dtype}")
    value = f.generic(maps + [loops], "p" * len(out), inputs, (f.empty(out, dtype), out, dtype), body)
    return value, out, dtype


def gemm(f, e, d):
    operand, result = types_of(e)
    batch = [d["batch"]] if d["batch"] else []
    a = [d["m"], d["k"]] if e["layout"][0] == "n" else [d["k"], d["m"]]
    b = [d["k"], d["n"]] if e["layout"][1] == "n" else [d["n"], d["k"]]
    out, first = batch + [d["m"], d["n"]], len(batch)
    loops = {"m": first, "n": first + 1, "k": first + 2}
    lead = list(range(first))
    maps = [
        lead + [loops[x] for x in ("mk" if e["layout"][0] == "n" else "km")],
        lead + [loops[x] for x in ("kn" if e["layout"][1] == "n" else "nk")],
        lead + [loops["m"], loops["n"]],
    ]
    left, right = f.input(batch + a, operand), f.input(batch + b, operand)
    sums = f.filled(out, result, zero(result))
    value = f.generic(
        maps,
        "p" * (first + 2) + "r",
        [(left, batch + a, operand), (right, batch + b, operand)],
        (sums, out, result),
        multiply_add(operand, result),
    )
    return f.text(_epilogue(f, e, value, out, operand, result, len(out) - 1))


def conv2d(f, e, d):
    """Images by filters; `pad` rows and columns of zeros around each image are read where there are none."""
    operand, result = types_of(e)
    stride, pad, last = d["stride"], d["pad"], e["layout"] == "nhwc"
    place = {"n": 0, "h": 1, "w": 2, "c": 3} if last else {"n": 0, "c": 1, "h": 2, "w": 3}
    image = [d[x] for x in sorted(place, key=place.get)]
    weights = [d["r"], d["s"], d["c"], d["f"]] if last else [d["f"], d["c"], d["r"], d["s"]]
    x, w = f.input(image, operand), f.input(weights, operand)
    sides = []
    for side, window in (("h", "r"), ("w", "s")):
        whole = d[side] + 2 * pad
        steps = [("addi", 2 * pad - d[window] + stride), ("divui", stride)]
        padded_side = f.derive(whole, d[side], ("addi", 2 * pad)) if pad else d[side]
        sides.append((padded_side, f.derive((whole - d[window]) // stride + 1, d[side], *steps)))
    if pad:
        around = ["0" if axis in "nc" else str(pad) for axis in sorted(place, key=place.get)]
        padded = list(image)
        padded[place["h"]], padded[place["w"]] = sides[0][0], sides[1][0]
        outside = f.line(f"arith.constant {zero(operand)} : {operand}")
        x = f.line(
            f"tensor.pad {x} low[{', '.join(around)}] high[{', '.join(around)}] {{\n"
            f"  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n    tensor.yield {outside} : {operand}\n"
            f"  }} : {tensor(image, operand)} to {tensor(padded, operand)}"
        )
        image = padded
    out = [d["n"], sides[0][1], sides[1][1], d["f"]] if last else [d["n"], d["f"], sides[0][1], sides[1][1]]
    sums = f.filled(out, result, zero(result))
    value = f.line(
        f"linalg.conv_2d_{'nhwc_hwcf' if last else 'nchw_fchw'} "
        f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}\n"
        f"      ins({x}, {w} : {tensor(image, operand)}, {tensor(weights, operand)}) "
        f"outs({sums} : {tensor(out, result)}) -> {tensor(out, result)}"
    )
    return f.text(_epilogue(f, e, value, out, operand, result, 3 if last else 1))


def attention(f, e, d):
    """Sequences by heads by queries by depth. Where there are fewer heads of keys, those of a group stand behind each other."""
    dtype, _ = types_of(e)
    heads, groups = (d["kv_heads"], d["heads"] // d["kv_heads"]) if d["kv_heads"] else (d["heads"], 0)
    queries, page = d["queries"], d["page"]
    # Without a number of their own, keys are as many as queries, but a dim of their own.
    keys = d["keys"] if int(d["keys"]) else type(queries)(queries)
    batch, loops = ([d["batch"]], "b, h") if d["batch"] else ([], "h")
    lead, outer = ([*batch, heads, groups], f"{loops}, g") if groups else ([*batch, heads], loops)
    q = f.input([*lead, queries, d["depth"]], dtype)
    pool = [batch[0] * (keys // page) if page else 0, page, heads, d["depth"]]
    k, v = (f.input(pool if page else [*batch, heads, keys, d["depth"]], dtype) for _ in "kv")
    given, of = "", [f"{outer}, i, d"]
    of += [f"j floordiv {page}, j mod {page}, h, {x}" if page else f"{loops}, j, {x}" for x in "de"]
    types = ", ".join(tensor(*x) for x in f.inputs)
    if page:
        table = [batch[0], keys // page]
        given += f"\n      table({f.input(table, 'i32', (0, pool[0] - 1))} : {tensor(table, 'i32')}) "
        of.append(f"b, j floordiv {page}")
    if e["lengths"] == "some":
        given += f"\n      lengths({f.input(batch, 'i32', (max(1, keys // 4), int(keys)))} : {tensor(batch, 'i32')}) "
        of.append("b")
    outs, more = [([*lead, queries, d["depth"]], dtype)], ""
    of.append(f"{outer}, i, e")
    if e["results"] == "out+lse":
        outs.append(([*lead, queries], "f64" if dtype == "f64" else "f32"))
        of.append(f"{outer}, i")
    maps = ", ".join(f"affine_map<({outer}, i, j, d, e) -> ({x})>" for x in of)
    if e["mask"] == "causal":
        more += ', causal = "bottom_right"'
    if d["window"]:
        # Of a causal one the last keys, else as many on both sides.
        more += f", window = array<i64: {d['window'] - 1}, {-1 if e['mask'] == 'causal' else d['window'] - 1}>"
    if d["softcap"]:
        more += f", softcap = {float(d['softcap'])} : f64"
    into, result = ", ".join(f.empty(*x) for x in outs), ", ".join(tensor(*x) for x in outs)
    value = f.line(
        f"tilewright.attention ins({q}, {k}, {v} : {types}) {given}outs({into} : {result}) "
        f"{{indexing_maps = [{maps}]{more}}} -> {result}",
        len(outs),
    )
    names = [value] if len(outs) == 1 else [f"{value}#{i}" for i in range(len(outs))]
    return f.text(*[(name, *x) for name, x in zip(names, outs)])


def quantized(f, e, d):
    """A product whose right operand is dequantised on its way: a scale for `group` rows of a column."""
    (operand, result), m, n, k, group = types_of(e), d["m"], d["n"], d["k"], d["group"]
    x, w, scales = f.input([m, k], operand), f.input([k, n], e["weights"]), f.input([k // group, n], operand)
    whole, parts = [k, n], [k // group, group, n]
    cut = f.line(
        f"tensor.expand_shape {w} [[0, 1], [2]] output_shape [{', '.join(map(str, parts))}] : "
        f"{tensor(whole, e['weights'])} into {tensor(parts, e['weights'])}"
    )
    wide = f.generic(
        [[0, 1, 2], [0, 2], [0, 1, 2]],
        "ppp",
        [(cut, parts, e["weights"]), (scales, [k // group, n], operand)],
        (f.empty(parts, operand), parts, operand),
        [
            f"%q = arith.sitofp %x0 : {e['weights']} to {operand}",
            f"%s = arith.mulf %q, %x1 : {operand}",
            f"linalg.yield %s : {operand}",
        ],
    )
    weights = f.line(f"tensor.collapse_shape {wide} [[0, 1], [2]] : {tensor(parts, operand)} into {tensor(whole, operand)}")
    value = f.generic(
        [[0, 2], [2, 1], [0, 1]],
        "ppr",
        [(x, [m, k], operand), (weights, whole, operand)],
        (f.filled([m, n], result, zero(result)), [m, n], result),
        multiply_add(operand, result),
    )
    return f.text(_epilogue(f, e, value, [m, n], operand, result, 1))
