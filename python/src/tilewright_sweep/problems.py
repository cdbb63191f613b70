# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems: what is to be computed, on which sizes, types and layouts; each becomes a small program.

An entry of a suite has an `op` and lists that are multiplied with each other:

    {"op": "gemm", "m": [512, 4096], "n": [512], "k": [512], "types": ["f16:f32"], "layout": ["nn", "nt"],
     "epilogue": ["none", "bias_relu"], "dynamic": ["", "m"]}

is eight problems. "dynamic" names the dims that the program leaves open; they are measured at the sizes given.
perf/suites/README.md has the schema.
"""

import itertools
import json
import pathlib
import re
import shlex

import tilewright_sweep

#: Per op: the dims it has, with what a suite that does not say gets (None: it must say), and its other choices.
OPS = {
    "gemm": ({"batch": 0, "m": None, "n": None, "k": None}, {"types": "f16:f32", "layout": "nn", "epilogue": "none"}),
    "conv2d": ({"n": 1, "h": None, "w": None, "c": None, "f": None, "r": 3, "s": 3, "stride": 1}, {"types": "f16:f32"}),
    "softmax": ({"rows": None, "columns": None}, {"types": "f32"}),
    "rmsnorm": ({"rows": None, "columns": None}, {"types": "f32"}),
    "layernorm": ({"rows": None, "columns": None}, {"types": "f32"}),
    "attention": (
        {"heads": None, "kv_heads": 0, "queries": None, "keys": 0, "depth": None},
        {"types": "f16", "mask": "none"},
    ),
    "quantized": ({"m": None, "n": None, "k": None, "group": 32}, {"types": "f16:f32", "weights": "i4"}),
    "reduce": ({"rows": None, "columns": None}, {"types": "f32", "along": "columns"}),
    "transpose": ({"rows": None, "columns": None}, {"types": "f32"}),
    "elementwise": ({"rows": None, "columns": None}, {"types": "f32"}),
}

#: Whose results are the same whatever the order of sums, on small integers.
EXACT = {"gemm", "conv2d", "quantized", "reduce", "transpose", "elementwise"}

#: How far two right results of attention are apart at most, of values from -2 to 2. A result is a mean of values,
#: whose weights are rounded to the type and that is rounded again: 4 units of rounding for each of both, and as much
#: for the scores, sums of f32.
ATTENTION_TOLERANCE = {"f16": 16 * 2.0**-11, "bf16": 16 * 2.0**-8, "f32": 16 * 2.0**-18, "f64": 16 * 2.0**-44}

LAYOUTS = ("nn", "nt", "tn", "tt")
EPILOGUES = ("none", "relu", "bias_relu", "narrow")
MASKS = ("none", "causal")

#: Dims that a program can leave open, of ops where not all are.
OPEN = {"conv2d": (), "attention": ("queries", "keys"), "quantized": ("m",), "layernorm": ("rows",), "rmsnorm": ("rows",)}


class ProblemError(ValueError):
    """What a suite or a command line asks for cannot be had."""


class _Function:
    """Text of a function over tensors, made line by line; dims that are open are tensor.dim of an input."""

    def __init__(self, name):
        self.name, self.inputs, self.lines, self.count = name, [], [], 0

    def input(self, dims, dtype):
        self.inputs.append((dims, dtype))
        return f"%in{len(self.inputs) - 1}"

    def line(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def empty(self, dims, dtype):
        """A tensor of open dims is made of the sizes of the input that has them."""
        sizes = []
        for dim in dims:
            if isinstance(dim, Open):
                number, position = next((i, d.index(dim)) for i, (d, _) in enumerate(self.inputs) if dim in d)
                index = self.line(f"arith.constant {position} : index")
                sizes.append(self.line(f"tensor.dim %in{number}, {index} : {tensor(*self.inputs[number])}"))
        return self.line(f"tensor.empty({', '.join(sizes)}) : {tensor(dims, dtype)}")

    def filled(self, dims, dtype, value):
        number = self.line(f"arith.constant {value} : {dtype}")
        into = self.empty(dims, dtype)
        return self.line(
            f"linalg.fill ins({number} : {dtype}) outs({into} : {tensor(dims, dtype)}) -> {tensor(dims, dtype)}"
        )

    def generic(self, maps, kinds, inputs, output, body):
        """linalg.generic; inputs and output are (value, dims, dtype); body is text with {} for nothing."""
        loops = ", ".join(f"d{i}" for i in range(len(kinds)))
        names = {"p": "parallel", "r": "reduction"}
        kinds_text = ", ".join('"' + names[kind] + '"' for kind in kinds)
        maps_text = ", ".join(f"affine_map<({loops}) -> ({', '.join('d%d' % d for d in m)})>" for m in maps)
        arguments = ", ".join([f"%x{i}: {x[2]}" for i, x in enumerate(inputs)] + [f"%o: {output[2]}"])
        ins = ", ".join(x[0] for x in inputs) + " : " + ", ".join(tensor(x[1], x[2]) for x in inputs)
        of = tensor(output[1], output[2])
        text = (
            f"linalg.generic {{indexing_maps = [{maps_text}], iterator_types = [{kinds_text}]}}\n"
            f"      ins({ins}) outs({output[0]} : {of}) {{\n    ^bb0({arguments}):\n"
            + "".join(f"      {line}\n" for line in body)
            + f"  }} -> {of}"
        )
        return self.line(text)

    def text(self, result, dims, dtype):
        arguments = ", ".join(f"%in{i}: {tensor(*x)}" for i, x in enumerate(self.inputs))
        of = tensor(dims, dtype)
        return (
            f"func.func @{self.name}({arguments}) -> {of} {{\n"
            + "\n".join(self.lines)
            + f"\n  return {result} : {of}\n}}\n"
        )


class Open(int):
    """A size that the program leaves open."""

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


def tensor(dims, dtype):
    return "tensor<" + "".join(("?" if isinstance(d, Open) else str(d)) + "x" for d in dims) + dtype + ">"


def _types(entry):
    operand, _, result = entry["types"].partition(":")
    return operand, result or operand


def _is_float(dtype):
    return "f" in dtype


def _extend(source, target, value, name):
    """Lines that bring a value to a wider type; none where it is of it."""
    if source == target:
        return value, []
    op = "extf" if _is_float(source) else "extsi" if not _is_float(target) else "sitofp"
    return name, [f"{name} = arith.{op} {value} : {source} to {target}"]


def _multiply_add(operand, result):
    left, first = _extend(operand, result, "%x0", "%a")
    right, second = _extend(operand, result, "%x1", "%b")
    mul, add = ("mulf", "addf") if _is_float(result) else ("muli", "addi")
    return (
        first
        + second
        + [
            f"%p = arith.{mul} {left}, {right} : {result}",
            f"%s = arith.{add} %o, %p : {result}",
            f"linalg.yield %s : {result}",
        ]
    )


def _zero(dtype):
    return "0.0" if _is_float(dtype) else "0"


def _gemm(f, e, d):
    operand, result = _types(e)
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
    bias = f.input([d["n"]], result) if e["epilogue"] == "bias_relu" else None
    zero = f.filled(out, result, _zero(result))
    value = f.generic(
        maps,
        "p" * (first + 2) + "r",
        [(left, batch + a, operand), (right, batch + b, operand)],
        (zero, out, result),
        _multiply_add(operand, result),
    )
    if e["epilogue"] == "none":
        return f.text(value, out, result)
    all_loops, kinds = list(range(len(out))), "p" * len(out)
    if e["epilogue"] == "narrow":
        into = f.empty(out, operand)
        value = f.generic(
            [all_loops, all_loops],
            kinds,
            [(value, out, result)],
            (into, out, operand),
            [f"%s = arith.truncf %x0 : {result} to {operand}", f"linalg.yield %s : {operand}"],
        )
        return f.text(value, out, operand)
    inputs, maps, body, last = [(value, out, result)], [all_loops], [], "%x0"
    if bias:
        inputs.append((bias, [d["n"]], result))
        maps.append([len(out) - 1])
        body, last = [f"%t = arith.addf %x0, %x1 : {result}"], "%t"
    body = (
        [f"%z = arith.constant 0.0 : {result}"]
        + body
        + [f"%s = arith.maximumf {last}, %z : {result}", f"linalg.yield %s : {result}"]
    )
    value = f.generic(maps + [all_loops], kinds, inputs, (f.empty(out, result), out, result), body)
    return f.text(value, out, result)


def _conv2d(f, e, d):
    operand, result = _types(e)
    stride = d["stride"]
    high, wide = ((d[x] - d[y]) // stride + 1 for x, y in (("h", "r"), ("w", "s")))
    image, weights, out = (
        [d["n"], d["h"], d["w"], d["c"]],
        [d["r"], d["s"], d["c"], d["f"]],
        [d["n"], high, wide, d["f"]],
    )
    x, w = f.input(image, operand), f.input(weights, operand)
    zero = f.filled(out, result, _zero(result))
    value = f.line(
        f"linalg.conv_2d_nhwc_hwcf {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}\n"
        f"      ins({x}, {w} : {tensor(image, operand)}, {tensor(weights, operand)}) "
        f"outs({zero} : {tensor(out, result)}) -> {tensor(out, result)}"
    )
    return f.text(value, out, result)


def _rows(f, e, d):
    dims, (dtype, _) = [d["rows"], d["columns"]], _types(e)
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


def _softmax(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    lowest = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "f64": "0xFFF0000000000000"}[dtype]
    top, rows = _folded(f, x, dims, dtype, lowest, [f"%s = arith.maximumf %x0, %o : {dtype}"])
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
    return f.text(value, dims, dtype)


def _rmsnorm(f, e, d):
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
    return f.text(value, dims, dtype)


def _layernorm(f, e, d):
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
    return f.text(value, dims, dtype)


def _attention(f, e, d):
    """Heads by queries by depth. Where there are fewer heads of keys, those of a group stand behind each other."""
    dtype, _ = _types(e)
    heads, groups = (d["kv_heads"], d["heads"] // d["kv_heads"]) if d["kv_heads"] else (d["heads"], 0)
    queries = d["queries"]
    # Without a number of their own, keys are as many as queries, but a dim of their own.
    keys = d["keys"] if int(d["keys"]) else type(queries)(queries)
    lead, loops = ([heads, groups], "h, g") if groups else ([heads], "h")
    q = f.input([*lead, queries, d["depth"]], dtype)
    k, v = (f.input([heads, keys, d["depth"]], dtype) for _ in "kv")
    out = [*lead, queries, d["depth"]]
    into = f.empty(out, dtype)
    maps = ", ".join(
        f"affine_map<({loops}, i, j, d, e) -> ({of})>"
        for of in (f"{loops}, i, d", "h, j, d", "h, j, e", f"{loops}, i, e")
    )
    mask = ', causal = "bottom_right"' if e["mask"] == "causal" else ""
    types = ", ".join(tensor(*x) for x in f.inputs)
    value = f.line(
        f"tilewright.attention ins({q}, {k}, {v} : {types}) outs({into} : {tensor(out, dtype)}) "
        f"{{indexing_maps = [{maps}]{mask}}} -> {tensor(out, dtype)}"
    )
    return f.text(value, out, dtype)


def _quantized(f, e, d):
    """A product whose right operand is dequantised on its way: a scale for `group` rows of a column."""
    (operand, result), m, n, k, group = _types(e), d["m"], d["n"], d["k"], d["group"]
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
        (f.filled([m, n], result, _zero(result)), [m, n], result),
        _multiply_add(operand, result),
    )
    return f.text(value, [m, n], result)


def _reduce(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    add = "addf" if _is_float(dtype) else "addi"
    value, out = _folded(f, x, dims, dtype, _zero(dtype), [f"%s = arith.{add} %x0, %o : {dtype}"], e["along"])
    return f.text(value, out, dtype)


def _transpose(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    out = dims[::-1]
    value = f.generic(
        [[1, 0], [0, 1]], "pp", [(x, dims, dtype)], (f.empty(out, dtype), out, dtype), [f"linalg.yield %x0 : {dtype}"]
    )
    return f.text(value, out, dtype)


def _elementwise(f, e, d):
    dims, dtype, x = _rows(f, e, d)
    y = f.input(dims, dtype)
    add = "addf" if _is_float(dtype) else "addi"
    value = f.generic(
        [[0, 1]] * 3,
        "pp",
        [(x, dims, dtype), (y, dims, dtype)],
        (f.empty(dims, dtype), dims, dtype),
        [f"%s = arith.{add} %x0, %x1 : {dtype}", f"linalg.yield %s : {dtype}"],
    )
    return f.text(value, dims, dtype)


_MAKE = {
    "gemm": _gemm,
    "conv2d": _conv2d,
    "softmax": _softmax,
    "rmsnorm": _rmsnorm,
    "layernorm": _layernorm,
    "attention": _attention,
    "quantized": _quantized,
    "reduce": _reduce,
    "transpose": _transpose,
    "elementwise": _elementwise,
}


def make_problem(entry):
    """The problem of an entry without lists."""
    op = entry.get("op")
    if op not in OPS:
        raise ProblemError(f"no op '{op}'; there are {', '.join(OPS)}, and 'mlir' for programs of your own")
    sizes, choices = OPS[op]
    unknown = set(entry) - set(sizes) - set(choices) - {"op", "dynamic"}
    if unknown:
        raise ProblemError(f"{op} has no '{min(unknown)}'; it has {', '.join([*sizes, *choices, 'dynamic'])}")
    full = {**choices, **{k: v for k, v in entry.items() if k in choices}}
    dims = {k: entry.get(k, v) for k, v in sizes.items()}
    missing = [k for k, v in dims.items() if v is None]
    if missing:
        raise ProblemError(f"{op} needs '{missing[0]}'")
    if any(not isinstance(v, int) or v < 0 for v in dims.values()):
        raise ProblemError(f"{op}: sizes are whole numbers, not {json.dumps(dims)}")
    # 0 is the default of those that an op may be without.
    nothing = [k for k, v in dims.items() if v == 0 and sizes[k] != 0]
    if nothing:
        raise ProblemError(f"{op}: there is nothing to measure where '{nothing[0]}' is 0")
    if op == "gemm" and (full["layout"] not in LAYOUTS or full["epilogue"] not in EPILOGUES):
        raise ProblemError(f"gemm: layouts are {', '.join(LAYOUTS)}, epilogues {', '.join(EPILOGUES)}")
    if op == "attention":
        if full["mask"] not in MASKS or full["types"] not in ATTENTION_TOLERANCE:
            raise ProblemError(f"attention: masks are {', '.join(MASKS)}, types {', '.join(ATTENTION_TOLERANCE)}")
        if dims["kv_heads"] and dims["heads"] % dims["kv_heads"]:
            raise ProblemError(f"attention: {dims['heads']} heads are no multiple of {dims['kv_heads']} of keys")
    if op == "quantized":
        if full["weights"] not in ("i4", "i8"):
            raise ProblemError("quantized: weights are i4 or i8")
        if not dims["group"] or dims["k"] % dims["group"] or dims["n"] % 2:
            raise ProblemError("quantized: k is a multiple of group, n is even")
    dynamic = [x for x in str(entry.get("dynamic", "")).split("+") if x]
    open_dims = OPEN.get(op, sizes)
    for name in dynamic:
        if name not in open_dims:
            raise ProblemError(f"{op} has no dim '{name}' that a program can leave open")
    shown = "x".join(str(v) + ("?" if k in dynamic else "") for k, v in dims.items() if v or k != "batch")
    tags = [v for k, v in full.items() if v != choices[k] or k == "types"]
    name = re.sub(r"\W", "_", "_".join([op, *tags, shown.replace("?", "d")]))
    function = _Function(name)
    text = _MAKE[op](function, full, {k: Open(v) if k in dynamic else v for k, v in dims.items()})
    return {
        "name": name,
        "op": op,
        "dims": dims,
        **full,
        "dynamic": dynamic,
        "function": name,
        "mlir": text,
        "inputs": ["".join(f"{int(d)}x" for d in x[0]) + x[1] for x in function.inputs],
        "exact": op in EXACT,
        **({"tolerance": ATTENTION_TOLERANCE[full["types"]]} if op == "attention" else {}),
    }


def extract_function(text, name):
    """A function of a module, with the aliases in front, so that a candidate compiles nothing else."""
    found = re.search(r"^func\.func (?:private )?@" + re.escape(name) + r"\(.*?^}$", text, re.M | re.S)
    if not found:
        raise ProblemError(f"there is no function @{name} at the start of a line")
    aliases = re.findall(r"^[#!][\w$.-]+ = .*$", text, re.M)
    return "\n".join(aliases + [found.group(0)]) + "\n"


def own_problem(path, function, inputs, exact=False, tolerance=None):
    """A function of a program that somebody wrote."""
    text = extract_function(pathlib.Path(path).read_text(), function)
    return {
        "name": f"{pathlib.Path(path).stem}_{function}",
        "op": "mlir",
        "dims": {},
        "types": "",
        "dynamic": [],
        "function": function,
        "mlir": text,
        "inputs": list(inputs),
        "exact": bool(exact),
        **({} if tolerance is None else {"tolerance": float(tolerance)}),
    }


def expand(entry, folder="."):
    """All problems of an entry of a suite."""
    if "mlir" in entry:
        return [
            own_problem(
                pathlib.Path(folder) / entry["mlir"],
                entry["function"],
                entry["inputs"],
                entry.get("exact"),
                entry.get("tolerance"),
            )
        ]
    lists = [(k, v if isinstance(v, list) else [v]) for k, v in entry.items()]
    return [
        make_problem(dict(zip([k for k, _ in lists], values))) for values in itertools.product(*[v for _, v in lists])
    ]


def read_lines(folder):
    """The problems of a folder with problems.txt, as perf/bench times them."""
    folder, found = pathlib.Path(folder), []
    for line in (folder / "problems.txt").read_text().splitlines():
        words = [word.partition("=") for word in shlex.split(line, comments=True)]
        inputs = [value.split("=")[0] for key, _, value in words if key == "--input"]
        for key, _, value in words:
            if key == "--function":
                found.append(own_problem(folder / f"{folder.name}.mlir", value, inputs))
    return found


def read_suite(path):
    """The problems of a suite: a file of JSON, or a folder of perf/suites."""
    path = pathlib.Path(path)
    if path.is_dir():
        if not (path / "sweep.json").exists():
            return read_lines(path)
        path = path / "sweep.json"
    suite = json.loads(path.read_text())
    if suite.get("schema") != tilewright_sweep.SCHEMA:
        raise ProblemError(f"{path}: \"schema\" is {suite.get('schema')}, not {tilewright_sweep.SCHEMA}")
    return [problem for entry in suite["problems"] for problem in expand(entry, path.parent)]


def parse_sizes(text):
    """ "64,128:1024:*2,4096" -> [64, 128, 256, 512, 1024, 4096]; steps are *N or +N."""
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?::(\d+):([*+])(\d+))?", part)
        if not match:
            raise ProblemError(f"sizes are 64 or 64:1024:*2 or 64:1024:+64, with commas between them, not '{part}'")
        value, last = int(match[1]), int(match[2] or match[1])
        if match[3] and int(match[4]) < (2 if match[3] == "*" else 1):
            raise ProblemError(f"'{part}' does not end")
        while value <= last:
            sizes.append(value)
            value = value * int(match[4]) if match[3] == "*" else value + int(match[4] or 1)
    return sizes
