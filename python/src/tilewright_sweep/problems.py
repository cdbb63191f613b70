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
import math
import pathlib
import re
import shlex

import tilewright_sweep
from tilewright_sweep import contractions, rows, values
from tilewright_sweep.programs import EXACT_FUNCTIONS, Function, Open, bits, is_float, types_of

#: Per op: the dims it has, with what a suite that does not say gets (None: it must say), and its other choices.
OPS = {
    "gemm": ({"batch": 0, "m": None, "n": None, "k": None}, {"types": "f16:f32", "layout": "nn", "epilogue": "none"}),
    "conv2d": (
        {"n": 1, "h": None, "w": None, "c": None, "f": None, "r": 3, "s": 3, "stride": 1, "pad": 0},
        {"types": "f16:f32", "layout": "nhwc", "epilogue": "none"},
    ),
    "softmax": ({"rows": None, "columns": None}, {"types": "f32"}),
    "rmsnorm": ({"rows": None, "columns": None}, {"types": "f32"}),
    "layernorm": ({"rows": None, "columns": None}, {"types": "f32"}),
    "groupnorm": ({"n": 1, "groups": 32, "c": None, "pixels": None}, {"types": "f16"}),
    "attention": (
        {"heads": None, "kv_heads": 0, "queries": None, "keys": 0, "depth": None, "batch": 0, "window": 0, "softcap": 0, "page": 0},
        {"types": "f16", "mask": "none", "lengths": "none", "results": "out"},
    ),
    "quantized": (
        {"m": None, "n": None, "k": None, "group": 32},
        {"types": "f16:f32", "weights": "i4", "epilogue": "none"},
    ),
    "reduce": ({"rows": None, "columns": None}, {"types": "f32", "along": "columns", "kind": "sum"}),
    "transpose": ({"rows": None, "columns": None, "batch": 0, "depth": 0}, {"types": "f32", "order": ""}),
    "elementwise": ({"rows": None, "columns": None}, {"types": "f32", "kind": "add"}),
}

#: What a choice may be, where that is one of few. Of epilogues, types and orders there are more: see _refuse.
CHOICES = {
    ("gemm", "layout"): ("nn", "nt", "tn", "tt"),
    ("conv2d", "layout"): ("nhwc", "nchw"),
    ("attention", "mask"): ("none", "causal"),
    ("attention", "lengths"): ("none", "some"),
    ("attention", "results"): ("out", "out+lse"),
    ("quantized", "weights"): ("i4", "i8"),
    ("reduce", "along"): ("columns", "rows"),
    ("reduce", "kind"): rows.REDUCTIONS,
    ("elementwise", "kind"): rows.ELEMENTWISE,
}

#: What help says of sizes and choices that are not plain from their names.
HELP = {
    "epilogue": "steps with + between them: " + ", ".join(contractions.EPILOGUES[1:]),
    "pad": "rows and columns of zeros around each image",
    "page": "keys and values in pages of so many rows, found by a table; 0: in one piece",
    "window": "a query sees the last so many keys up to its own, of masks but causal as many behind it; 0: all",
    "softcap": "scores go through softcap * tanh(score / softcap); 0: as they are",
    "results": "out+lse: the log-sum-exps, too",
    "lengths": "some: each sequence has its own number of keys, from a quarter of them to all",
    "order": "of a transpose's result: letters of batch, rows, columns, depth, as bdrc; rows and columns exchanged",
    "kind": "what is computed",
    "groups": "of channels",
}

#: How far two right results of attention are apart at most, of values from -2 to 2. A result is a mean of values,
#: whose weights are rounded to the type and that is rounded again: 4 units of rounding for each of both, and as much
#: for the scores, sums of f32.
ATTENTION_TOLERANCE = {"f16": 16 * 2.0**-11, "bf16": 16 * 2.0**-8, "f32": 16 * 2.0**-18, "f64": 16 * 2.0**-44}

#: Bits of the significand, with the hidden one.
PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "f8E4M3FN": 4, "f8E5M2": 3}

FLOATS = ("f64", "f32", "f16", "bf16")

#: Dims that a program can leave open, of ops where not all are.
OPEN = {
    "conv2d": ("n", "h", "w"),
    "attention": ("batch", "queries", "keys"),
    "quantized": ("m",),
    "layernorm": ("rows",),
    "rmsnorm": ("rows",),
    "groupnorm": ("n",),
}


#: Sizes that an op may be without, which names of problems have by their names.
NAMED = {"conv2d": ("pad",), "attention": ("batch", "window", "softcap", "page"), "transpose": ("batch", "depth")}


class ProblemError(ValueError):
    """What a suite or a command line asks for cannot be had."""


_MAKE = {
    **{name: getattr(contractions, name) for name in ("gemm", "conv2d", "attention", "quantized")},
    **{name: getattr(rows, name) for name in ("softmax", "rmsnorm", "layernorm", "groupnorm", "reduce", "transpose", "elementwise")},
}


def _refuse_contraction(op, full, dims, dynamic):
    """Why there is no such contraction; "" where there is."""
    operand, result = types_of(full)
    if op == "attention":
        if full["types"] not in ATTENTION_TOLERANCE:
            return f"types are {', '.join(ATTENTION_TOLERANCE)}"
        if dims["kv_heads"] and dims["heads"] % dims["kv_heads"]:
            return f"{dims['heads']} heads are no multiple of {dims['kv_heads']} of keys"
        keys = dims["keys"] or dims["queries"]
        if not dims["batch"] and (dims["page"] or full["lengths"] == "some"):
            return "pages and lengths are those of sequences: say how many by 'batch', 1 for one"
        if dims["page"] and keys % dims["page"]:
            return f"{keys} keys are no multiple of a page of {dims['page']}"
        if "keys" in dynamic and (dims["page"] or full["lengths"] == "some"):
            return "keys in pages, and those of lengths, are not open: lengths are what varies; leave 'batch' or 'queries' open"
        return ""
    if op == "conv2d" and any(dims[x] + 2 * dims["pad"] < dims[y] for x, y in (("h", "r"), ("w", "s"))):
        return f"a window of {dims['r']}x{dims['s']} is larger than the image; 'pad' makes that larger"
    if op == "quantized" and (not dims["group"] or dims["k"] % dims["group"] or dims["n"] % 2):
        return "k is a multiple of group, n is even"
    why = contractions.why_not(full["epilogue"], result)
    if not why and contractions.steps_of(full["epilogue"])[-1:] == ["narrow"] and not (is_float(operand) and bits(operand) < bits(result)):
        return f"'narrow' rounds to the operands' type; {operand} is not narrower than {result}"
    return why


def _refuse_rows(op, full, dims, dynamic):
    """The same of other ops."""
    operand, result = types_of(full)
    floats = op in ("softmax", "rmsnorm", "layernorm", "groupnorm") or full.get("kind") in ("lse", "variance", "chain")
    if op == "elementwise" and full["kind"] not in ("add", "mul", "cast"):
        floats = True
    if floats and (operand not in FLOATS or result not in (*FLOATS, *(["i8", "i32", "f8E4M3FN", "f8E5M2"] if op == "elementwise" else []))):
        return f"types are {', '.join(FLOATS)}, not {full['types']}"
    if op in ("reduce", "transpose", "softmax", "rmsnorm", "layernorm", "groupnorm") and operand != result:
        return f"operands and results are of one type, not of {full['types']}; elementwise with kind cast converts"
    if op == "reduce" and full["kind"] in ("max", "argmax") and operand not in rows.LOWEST:
        return f"types of {full['kind']} are {', '.join(rows.LOWEST)}"
    if op == "reduce" and full["kind"] == "variance" and full["along"] in dynamic:
        return f"'{full['along']}', which a variance is of, is not open"
    if op == "groupnorm" and dims["c"] % dims["groups"]:
        return f"{dims['c']} channels are no multiple of {dims['groups']} groups"
    if op == "transpose" and sorted(rows.order_of(full, dims)) != sorted(rows.letters_of(dims)):
        return f"order '{full['order']}' has not each of {', '.join(rows.letters_of(dims))} once"
    return ""


def _verdicts_of(op, full, dims):
    """What results are held against: `exact`: right ones are the same bits, of whole numbers; `whole`: inputs are whole
    numbers, too; `tolerance`: how far right ones are apart at most, where the reference program is too slow."""
    kind = full.get("kind")
    if op == "attention":
        return {"exact": False, "tolerance": ATTENTION_TOLERANCE[full["types"]]}
    activations = {"gelu", "silu"} & set(contractions.steps_of(full.get("epilogue", "none")))
    if activations:
        # Sums of whole numbers are exact, and hardly beyond eight standard deviations, 2 for each product. Activations
        # are off by four units of rounding of the last step each.
        sums = dims["k"] if "k" in dims else dims["r"] * dims["s"] * dims["c"]
        narrow, (operand, result) = full["epilogue"].endswith("narrow"), types_of(full)
        unit = 1.0 if full["epilogue"].endswith("quantize") else 16 * math.sqrt(sums) * 2.0 ** -PRECISION[operand if narrow else result]
        return {"exact": False, "whole": True, "tolerance": unit if unit == 1.0 else 4 * unit}
    exact = op in ("gemm", "conv2d", "quantized", "transpose") or kind in ("sum", "max", "argmax", "add", "mul", "cast")
    return {"exact": exact or kind in EXACT_FUNCTIONS}


def _flops(op, dims):
    """{"flops"} of a contraction, for artifacts that do not state theirs, as where sizes of images are open."""
    if op not in ("gemm", "conv2d", "quantized"):
        return {}
    if op != "conv2d":
        return {"flops": 2 * max(1, dims.get("batch", 0)) * dims["m"] * dims["n"] * dims["k"]}
    places = [(dims[x] + 2 * dims["pad"] - dims[y]) // dims["stride"] + 1 for x, y in (("h", "r"), ("w", "s"))]
    return {"flops": 2 * math.prod([dims[x] for x in "ncfrs"] + places)}


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
    for choice, value in full.items():
        known = CHOICES.get((op, choice))
        if known and value not in known:
            raise ProblemError(f"{op}: no {choice} '{value}'; there are {', '.join(known)}, or a program of your own ('mlir')")
    for dtype in types_of(full):
        if dtype not in values.SIZES:
            raise ProblemError(f"{op}: no type '{dtype}'; there are {', '.join(values.SIZES)}")
    dynamic = [x for x in str(entry.get("dynamic", "")).split("+") if x]
    for name in dynamic:
        if name not in OPEN.get(op, sizes) or name not in sizes:
            raise ProblemError(
                f"{op} has no dim '{name}' that a program can leave open; there are {', '.join(OPEN.get(op, sizes))}"
            )
    without = [k for k in dynamic if k in ("batch", "depth") and not dims[k]]
    if without:
        raise ProblemError(f"{op}: '{without[0]}' is open, but 0: say at which size it is measured")
    why = (_refuse_contraction if op in ("gemm", "conv2d", "attention", "quantized") else _refuse_rows)(op, full, dims, dynamic)
    if why:
        raise ProblemError(f"{op}: {why}")
    name = _name(op, full, dims, dynamic)
    function = Function(name)
    text = _MAKE[op](function, full, {k: Open(v) if k in dynamic else v for k, v in dims.items()})
    return {
        "name": name,
        "op": op,
        "dims": dims,
        **full,
        "dynamic": dynamic,
        "function": name,
        "mlir": text,
        "inputs": function.input_texts(),
        **_verdicts_of(op, full, dims),
        **_flops(op, dims),
    }


def _name(op, full, dims, dynamic):
    """Of an op, its choices that are not the default, and its sizes; those that it may be without stand with their names."""
    sizes, choices = OPS[op]
    named = [k for k in dims if k in NAMED.get(op, ())]
    shown = "x".join(str(v) + ("?" if k in dynamic else "") for k, v in dims.items() if k not in named and (v or k != "batch"))
    tags = [v for k, v in full.items() if v != choices[k] or k == "types"]
    tags += [f"{k}{dims[k]}" + ("?" if k in dynamic else "") for k in named if dims[k] != sizes[k]]
    return re.sub(r"\W", "_", "_".join([op, *tags, shown]).replace("?", "d"))


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
        make_problem(dict(zip([k for k, _ in lists], chosen))) for chosen in itertools.product(*[v for _, v in lists])
    ]


def read_lines(folder):
    """The problems of a folder with problems.txt, as perf/bench times them."""
    folder, found = pathlib.Path(folder), []
    for line in (folder / "problems.txt").read_text().splitlines():
        words = [word.partition("=") for word in shlex.split(line, comments=True)]
        inputs = [re.sub(r"=random:.*|(=int:-?\d+:-?\d+):.*", r"\1", value) for key, _, value in words if key == "--input"]
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
