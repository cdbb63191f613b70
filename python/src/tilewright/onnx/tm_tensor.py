# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's dialect tm_tensor as linalg.generic: each element of a result looks at all operands that may belong to it.

    scatter   out[d] = the last updates[n] with indices[n] == d, or what accumulates them
    scan      out[i] = in[0] + ... + in[i]
    sort      rank[i] = how many elements go in front of i; out[p] = the element of rank p

That is work of (elements of the result) x (updates, or elements along the dim), in parallel and in a fixed order; right for any
sizes, fast for dims of up to some thousands.
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


def _scatter(op):
    (updates, updates_type), (indices, indices_type) = op.ins
    (out, out_type), = op.outs
    rank = _rank(out_type)
    mapped = [int(n) for n in re.search(r"dimension_map = array<i64: ([\d, ]*)>", op.head)[1].split(", ")]
    n, index_type = f"d{rank}", _element(indices_type)
    slices = [f"d{d}" for d in range(rank) if d not in mapped]
    if _rank(updates_type) != 1 + len(slices):
        raise ValueError("tm_tensor.scatter of slices that do not span the other dims")
    maps = [_map(rank + 1, [n, *slices])] + [_map(rank + 1, [n, k]) for k in range(len(mapped))]
    maps.append(_map(rank + 1, [f"d{d}" for d in range(rank)]))
    (update, _), (before, _) = op.args
    body, value = op.copy_of_body("", (update, before))
    lines, hit = [body.rstrip("\n")] if body else [], None
    p = "%" + "s" + op.unique
    for k, dim in enumerate(mapped):
        lines += [f"{p}i{k} = linalg.index {dim} : index", f"{p}c{k} = arith.index_cast {p}i{k} : index to {index_type}",
                  f"{p}e{k} = arith.cmpi eq, {p}c{k}, {p}k{k} : {index_type}"]
        if hit:
            lines.append(f"{p}a{k} = arith.andi {hit}, {p}e{k} : i1")
        hit = f"{p}a{k}" if hit else f"{p}e{k}"
    lines.append(f"{p}v = arith.select {hit}, {value}, {before} : {op.args[1][1]}")
    ins = [(updates, updates_type, update), *((indices, indices_type, f"{p}k{k}") for k in range(len(mapped)))]
    return op.generic(op.result, maps, ["parallel"] * rank + ["reduction"], ins, (out, out_type, before), lines, f"{p}v")


def _scan(op):
    (source, source_type), = op.ins
    (out, out_type), (_, _) = op.outs
    rank, dim, p = _rank(out_type), op.dim(), "%" + "s" + op.unique
    along = [f"d{rank}" if d == dim else f"d{d}" for d in range(rank)]
    maps = [_map(rank + 1, along), _map(rank + 1, [f"d{d}" for d in range(rank)])]
    kind = op.args[0][1]
    body, value = op.copy_of_body("", (f"{p}acc", f"{p}in"))
    inclusive = "inclusive(true)" in op.head
    lines = [*([body.rstrip("\n")] if body else []),
             f"{p}i = linalg.index {dim} : index", f"{p}j = linalg.index {rank} : index",
             f"{p}le = arith.cmpi {'ule' if inclusive else 'ult'}, {p}j, {p}i : index",
             f"{p}v = arith.select {p}le, {value}, {p}acc : {kind}"]
    # The first result alone: what torch-mlir initialises it with is neutral, and nothing reads the second.
    return op.generic(_name(op.result) + "_0", maps, ["parallel"] * rank + ["reduction"], [(source, source_type, f"{p}in")],
                      (out, out_type, f"{p}acc"), lines, f"{p}v")


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
