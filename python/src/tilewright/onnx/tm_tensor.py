# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's dialect tm_tensor in ops that Tilewright compiles.

    scatter   tilewright.scatter: in place, in order, or all at once where indices are unique
    scan      tilewright.scan: linear work
    sort      linalg.generic: rank[i] = how many elements go in front of i; out[p] = the element of rank p

The sort is work of (elements) x (elements along the dim), in parallel; right for any sizes, fast for dims of up to some
thousands.
"""

import re

_OP = re.compile(r"^(?P<indent> *)(?P<result>%[\w$.-]+)(?::(?P<count>\d+))? = tm_tensor\.(?P<op>scatter|scan|sort) (?P<head>.*?)"
                 r"(?:ins\((?P<ins>[^)]*)\) )?outs\((?P<outs>[^)]*)\) \{\n *\^bb0\((?P<args>.*)\):\n"
                 r"(?P<body>(?:.*\n)*?) *tm_tensor\.yield (?P<yield>%[\w$.-]+) : (?P<type>[\w]+)\n *\} -> .*\n", re.M)


def rewrite(text):
    several = [match["result"] for match in _OP.finditer(text) if match["count"]]
    text = _OP.sub(lambda match: {"scatter": _scatter, "scan": _scan, "sort": _sort}[match["op"]](_Op(match)), text)
    for result in several:
        text = re.sub(rf"{re.escape(result)}#(\d+)", rf"{_name(result)}_\1", text)
    return text


def _name(result):
    """The name of a result of several, less its number: one that does not begin with a digit."""
    return "%r" + result[1:]


class _Op:
    """What the text of one op says."""

    def __init__(self, match):
        self.indent, self.result, self.head, self.body = match["indent"], match["result"], match["head"], match["body"]
        self.ins, self.outs = _operands(match["ins"] or ""), _operands(match["outs"])
        self.args = [part.split(": ") for part in match["args"].split(", ")]
        self.yielded = match["yield"]
        self.unique = self.result[1:] + "_"  # names of values that are made here begin so

    def copy_of_body(self, suffix, arguments):
        """(the body's text with other arguments, what it yields)"""
        names = dict(zip((name for name, _ in self.args), arguments))
        for name in re.findall(r"^ *(%[\w$.-]+) =", self.body, re.M):
            names[name] = f"%b{self.unique}{name[1:]}{suffix}"
        replace = lambda match: names.get(match[0], match[0])
        return re.sub(r"%[\w$.-]+", replace, self.body), names.get(self.yielded, self.yielded)

    def dim(self):
        return int(re.search(r"dimension\((\d+)\)", self.head)[1])

    def generic(self, result, maps, iterators, ins, out, lines, yielded):
        """One linalg.generic; ins: [(name, type, name in the body)], out alike."""
        arguments = ", ".join(f"{inner}: {_element(kind)}" for _, kind, inner in [*ins, out])
        operands = f"ins({', '.join(n for n, _, _ in ins)} : {', '.join(k for _, k, _ in ins)}) " if ins else ""
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        body = "".join(f"{line}\n" for line in lines)
        return (f"{self.indent}{result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
                f"{operands}outs({out[0]} : {out[1]}) {{\n^bb0({arguments}):\n{body}"
                f"linalg.yield {yielded} : {_element(out[1])}\n}} -> {out[1]}\n")


def _operands(text):
    """[(name, type)] of `%a, %b : tensor<4xf32>, tensor<f32>`"""
    if not text:
        return []
    names, kinds = text.split(" : ")
    return list(zip(names.split(", "), kinds.split(", ")))


def _rank(kind):
    return len(re.findall(r"(?:\d+|\?)x", kind))


def _element(kind):
    """f32 of tensor<4x?xf32>"""
    return re.fullmatch(r"tensor<(?:(?:\d+|\?)x)*(\w+)>", kind)[1]


def _map(loops, results):
    return f"affine_map<({', '.join(f'd{i}' for i in range(loops))}) -> ({', '.join(map(str, results))})>"


def _combiner(op, arguments):
    """The region of an op of ours; arguments: those of tm_tensor's body, in our order, by position."""
    names = [name for name, _ in op.args]
    defined = set(re.findall(r"^ *(%[\w$.-]+) =", op.body, re.M)) | set(names)
    outside = set(re.findall(r"%[\w$.-]+", op.body)) - defined
    if outside:
        raise ValueError(f"a body of tm_tensor that uses values from outside: {', '.join(sorted(outside))}")
    block = ", ".join(f"{names[i]}: {op.args[i][1]}" for i in arguments)
    return f" combine {{\n^bb0({block}):\n{op.body}tilewright.combined {op.yielded} : {op.args[0][1]}\n}}"


def _scatter(op):
    (updates, updates_type), (indices, indices_type) = op.ins
    (out, out_type), = op.outs
    mapped = re.search(r"dimension_map = array<i64: ([\d, ]*)>", op.head)[1]
    slices = _rank(out_type) - len(mapped.split(", "))
    if _rank(updates_type) != 1 + slices:
        raise ValueError("tm_tensor.scatter of slices that do not span the other dims")
    unique = ", unique" if "unique_indices(true)" in op.head else ""
    combiner = "" if op.yielded == op.args[0][0] else _combiner(op, (0, 1))
    return (f"{op.indent}{op.result} = tilewright.scatter ins({updates}, {indices} : {updates_type}, {indices_type}) "
            f"outs({out} : {out_type}) {{dims = array<i64: {mapped}>{unique}}}{combiner} -> {out_type}\n")


def _scan(op):
    (source, source_type), = op.ins
    (out, out_type), (start, start_type) = op.outs
    if _element(source_type) != _element(out_type):
        raise ValueError("tm_tensor.scan that gives another element type than it reads")
    # What torch-mlir initialises with is neutral; its second result, the last value, is read by nobody.
    inclusive = "inclusive(true)" in op.head
    init = "" if inclusive else f"init({start} : {start_type}) "
    return (f"{op.indent}{_name(op.result)}_0 = tilewright.scan ins({source} : {source_type}) {init}outs({out} : {out_type}) "
            f"{{dim = {op.dim()} : i64{'' if inclusive else ', exclusive'}}}{_combiner(op, (0, 1))} -> {out_type}\n")


def _sort(op):
    out_type = op.outs[0][1]
    rank, dim, p = _rank(out_type), op.dim(), "%" + "s" + op.unique
    own = [f"d{d}" for d in range(rank)]
    other = [f"d{rank}" if d == dim else f"d{d}" for d in range(rank)]
    rank_type = out_type.replace(_element(out_type) + ">", "i64>")
    loops = ["parallel"] * rank + ["reduction"]
    # Element j (the reduced loop) against element i.
    ins, i_args, j_args = [], [], []
    for number, (name, kind) in enumerate(op.outs):
        ins += [(name, kind, f"{p}i{number}"), (name, kind, f"{p}j{number}")]
        i_args.append(f"{p}i{number}")
        j_args.append(f"{p}j{number}")
    pairs = lambda a, b: [name for pair in zip(a, b) for name in pair]
    first, j_first = op.copy_of_body("j", pairs(j_args, i_args))
    second, i_first = op.copy_of_body("i", pairs(i_args, j_args))
    lines = [*(text.rstrip("\n") for text in (first, second) if text),
             f"{p}pi = linalg.index {dim} : index", f"{p}pj = linalg.index {rank} : index",
             f"{p}lt = arith.cmpi ult, {p}pj, {p}pi : index",
             f"{p}ne = arith.xori {j_first}, {i_first} : i1",
             f"{p}be = arith.select {p}ne, {j_first}, {p}lt : i1",
             f"{p}n = arith.extui {p}be : i1 to i64", f"{p}v = arith.addi {p}acc, {p}n : i64"]
    maps = [_map(rank + 1, m) for _ in op.outs for m in (own, other)] + [_map(rank + 1, own)]
    zero = op.indent + f"{p}zero = arith.constant 0 : i64\n"
    text, sizes = zero, []
    for d, size in enumerate(re.findall(r"(\d+|\?)x", out_type)):
        if size == "?":
            text += (f"{op.indent}{p}c{d} = arith.constant {d} : index\n"
                     f"{op.indent}{p}d{d} = tensor.dim {op.outs[0][0]}, {p}c{d} : {out_type}\n")
            sizes.append(f"{p}d{d}")
    text += f"{op.indent}{p}empty = tensor.empty({', '.join(sizes)}) : {rank_type}\n"
    text += f"{op.indent}{p}init = linalg.fill ins({p}zero : i64) outs({p}empty : {rank_type}) -> {rank_type}\n"
    text += op.generic(f"{p}rank", maps, loops, ins, (f"{p}init", rank_type, f"{p}acc"), lines, f"{p}v")
    for number, (name, kind) in enumerate(op.outs):
        lines = [f"{p}pi = linalg.index {dim} : index", f"{p}pc = arith.index_cast {p}pi : index to i64",
                 f"{p}eq = arith.cmpi eq, {p}pc, {p}r : i64", f"{p}v = arith.select {p}eq, {p}x, {p}acc : {_element(kind)}"]
        text += op.generic(f"{_name(op.result)}_{number}", [_map(rank + 1, other), _map(rank + 1, other), _map(rank + 1, own)], loops,
                           [(f"{p}rank", rank_type, f"{p}r"), (name, kind, f"{p}x")], (name, kind, f"{p}acc"), lines, f"{p}v")
    return text
