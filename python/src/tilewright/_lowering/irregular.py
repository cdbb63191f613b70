# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's dialect tm_tensor, and IREE's linalg_ext, which is written alike, in ops that Tilewright compiles.

    scatter   tilewright.scatter: in place, in order, or all at once where indices are unique
    scan      tilewright.scan: linear work
    sort      tilewright.sort: n log n work; the k largest, of which torch-mlir makes a sort and slices, too
    topk      tilewright.top_k
"""

import re

_OP = re.compile(r"^(?P<indent> *)(?P<result>%[\w$.-]+)(?::(?P<count>\d+))? = (?P<dialect>tm_tensor|iree_linalg_ext)\."
                 r"(?P<op>scatter|scan|sort|topk) (?P<head>.*?)"
                 r"(?:ins\((?P<ins>[^)]*)\) )?outs\((?P<outs>[^)]*)\) \{\n *\^bb0\((?P<args>.*)\):\n"
                 r"(?P<body>(?:.*\n)*?) *(?P=dialect)\.yield (?P<yield>%[\w$.-]+) : (?P<type>[\w]+)\n *\} -> .*\n", re.M)


def rewrite(text):
    several = {match["result"]: match["op"] for match in _OP.finditer(text) if match["count"]}
    text = _OP.sub(lambda match: {"scatter": _scatter, "scan": _scan, "sort": _sort, "topk": _topk}[match["op"]](_Op(match, text)), text)
    for result, op in several.items():
        # A sort or top_k keeps its results; of a scan, one is there.
        text = re.sub(rf"{re.escape(result)}#(\d+)", rf"{_name(result)}{'_' if op == 'scan' else '#'}\1", text)
    return text


def _name(result):
    """The name of a result of several, less its number: one that does not begin with a digit."""
    return "%r" + result[1:]


class _Op:
    """What the text of one op says."""

    def __init__(self, match, text):
        self.name = f"{match['dialect']}.{match['op']}"
        self.indent, self.result, self.head = match["indent"], match["result"], match["head"]
        self.ins, self.outs = _operands(match["ins"] or ""), _operands(match["outs"])
        self.args = [part.split(": ") for part in match["args"].split(", ")]
        self.yielded = match["yield"]
        self.unique = self.result[1:] + "_"  # names of values that are made here begin so
        self.body = self._with_constants(match["body"], text[:match.start()])

    def _with_constants(self, body, before):
        """The body with the constants from outside that it uses."""
        inside = _defined(body) | {name for name, _ in self.args}
        lines = []
        for name in sorted(set(re.findall(r"%[\w$.-]+", body)) - inside):
            made = re.findall(rf"^ *{re.escape(name)} = (arith\.constant .*)$", before, re.M)
            if not made:
                raise ValueError(f"{self.name} with a body that uses {name} from outside, which is no constant")
            own = f"%constant_{self.unique}{name[1:]}"
            lines.append(f"{own} = {made[-1]}\n")
            body = re.sub(rf"{re.escape(name)}(?![\w$.-])", own, body)
        return "".join(lines) + body

    def dim(self):
        return int(re.search(r"dimension\((\d+)\)", self.head)[1])


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


def _defined(body):
    return set(re.findall(r"^ *(%[\w$.-]+) =", body, re.M))


def _combiner(op, arguments):
    """The region of an op of ours; arguments: those of tm_tensor's body, in our order, by position."""
    names = [name for name, _ in op.args]
    block = ", ".join(f"{names[i]}: {op.args[i][1]}" for i in arguments)
    return f" combine {{\n^bb0({block}):\n{op.body}tilewright.combined {op.yielded} : {op.args[0][1]}\n}}"


def _scatter(op):
    (updates, updates_type), (indices, indices_type) = op.ins
    (out, out_type), = op.outs
    mapped = re.search(r"dimension_map = (?:array<i64: |\[)([\d, ]+)[>\]]", op.head)
    if not mapped:
        raise ValueError(f"{op.name} into a tensor without dims")
    mapped = mapped[1]
    dims = [int(dim) for dim in mapped.split(", ")]
    before = ""
    if _rank(updates_type) == 1 + _rank(out_type):
        before, updates, updates_type = _without_windows(op, updates, updates_type, dims)
    if _rank(updates_type) != 1 + _rank(out_type) - len(dims):
        raise ValueError(f"{op.name} of slices that do not span the other dims")
    unique = ", unique" if "unique_indices(true)" in op.head else ""
    combiner = "" if op.yielded == op.args[0][0] else _combiner(op, (0, 1))
    return (f"{before}{op.indent}{op.result} = tilewright.scatter ins({updates}, {indices} : {updates_type}, {indices_type}) "
            f"outs({out} : {out_type}) {{dims = array<i64: {mapped}>{unique}}}{combiner} -> {out_type}\n")


def _without_windows(op, updates, kind, dims):
    """Updates that have the dims of the result that an index has, too: (text, name, type) without them, where they are 1."""
    *sizes, element = kind[len("tensor<"):-1].split("x")
    if any(sizes[1 + dim] != "1" for dim in dims):
        raise ValueError(f"{op.name} of windows of more than one element")
    groups = [[0]]
    for number in range(1, len(sizes)):
        if number - 1 in dims:
            groups[-1].append(number)
        else:
            groups.append([number])
    kept = "x".join([*(sizes[group[0]] for group in groups), element])
    name = f"%updates_{op.unique}"
    return (f"{op.indent}{name} = tensor.collapse_shape {updates} {groups} : {kind} into tensor<{kept}>\n", name, f"tensor<{kept}>")


def _scan(op):
    (source, source_type), = op.ins
    (out, out_type), (start, start_type) = op.outs
    if _element(source_type) != _element(out_type):
        raise ValueError(f"{op.name} that gives another element type than it reads")
    # What torch-mlir initialises with is neutral; its second result, the last value, is read by nobody.
    inclusive = "inclusive(true)" in op.head
    init = "" if inclusive else f"init({start} : {start_type}) "
    return (f"{op.indent}{_name(op.result)}_0 = tilewright.scan ins({source} : {source_type}) {init}outs({out} : {out_type}) "
            f"{{dim = {op.dim()} : i64{'' if inclusive else ', exclusive'}}}{_combiner(op, (0, 1))} -> {out_type}\n")


# Of what a body may compare its first two arguments by: the same without equality, and whether it is our order.
_STRICT = {**{kind: "" for kind in ("olt", "ole", "ult", "ule", "slt", "sle")},
           **{kind: "descending" for kind in ("ogt", "oge", "ugt", "uge", "sgt", "sge")}}


def _sort(op):
    """torch-mlir may compare by <= or >=; an order of ours is strict, and has a place for NaN."""
    names, kinds = zip(*op.outs)
    types = ", ".join(kinds)
    (first, kind), (second, _) = op.args[:2]
    simple = re.fullmatch(rf" *{re.escape(op.yielded)} = arith\.cmp([fi]) (\w+), {re.escape(first)}, {re.escape(second)} : \S+\n", op.body)
    order, comparison = "", ""
    if simple and simple[2] in _STRICT and not (simple[1] == "i" and (simple[2][0] == "u" or kind == "i1")):
        order = _STRICT[simple[2]]
    else:
        comparison = _comparison(op)
    result = f"{_name(op.result)}:{len(names)}" if len(names) > 1 else op.result
    return (f"{op.indent}{result} = tilewright.sort ins({', '.join(names)} : {types}) "
            f"outs({', '.join(names)} : {types}) {{dim = {op.dim()} : i64{', ' + order if order else ''}}}{comparison} -> {types}\n")


def _topk(op):
    """torch-mlir asks whether an element is better than one that was kept. Where its text has NaN as the largest, or says nothing of
    it, that is our order."""
    if len(op.ins) != 1:
        raise ValueError(f"{op.name} of elements with indices of their own")
    (first, kind), (second, _) = op.args[:2]
    compared = re.findall(rf"= arith\.cmp([fi]) (\w+), {re.escape(first)}, {re.escape(second)} : ", op.body)
    checked = re.findall(r"= arith\.(\w+)(?: (\w+),)? (%[\w$.-]+), (%[\w$.-]+) : ", op.body)
    # cmpf une and oeq of one element ask whether it is NaN.
    asks = [line for line in checked if line[0] == "cmpf" and line[2] == line[3] and line[1] in ("une", "uno", "oeq", "ord")]
    known = len(asks) + len(compared) + sum(line[0] in ("andi", "ori") for line in checked) == op.body.count("\n")
    if len(compared) != 1 or not known or compared[0][1] not in _STRICT or (compared[0][0] == "i" and compared[0][1][0] == "u") or kind == "i1":
        raise ValueError(f"{op.name} that compares in another order than that of numbers")
    order = "" if _STRICT[compared[0][1]] else ", smallest"
    (source, source_type), (names, kinds) = op.ins[0], zip(*op.outs)
    types = ", ".join(kinds)
    return (f"{op.indent}{_name(op.result)}:2 = tilewright.top_k ins({source} : {source_type}) outs({', '.join(names)} : {types}) "
            f"{{dim = {op.dim()} : i64{order}}} -> {types}\n")


def _comparison(op):
    """Whether the first goes in front of the second, and not the second in front of the first."""
    names = [name for name, _ in op.args]
    swapped = [names[number ^ 1] for number in range(len(names))]
    renamed = dict(zip(names, swapped))
    for name in _defined(op.body):
        renamed[name] = f"%swapped_{op.unique}{name[1:]}"
    again = re.sub(r"%[\w$.-]+", lambda match: renamed.get(match[0], match[0]), op.body)
    other = renamed.get(op.yielded, op.yielded)
    one, result = f"%one_{op.unique}", f"%before_{op.unique}"
    lines = [f"{one} = arith.constant true", f"{one}not = arith.xori {other}, {one} : i1",
             f"{result} = arith.andi {op.yielded}, {one}not : i1"]
    block = ", ".join(f"{name}: {kind}" for name, kind in op.args)
    return (f" compare {{\n^bb0({block}):\n{op.body}{again}" + "".join(f"{line}\n" for line in lines)
            + f"tilewright.combined {result} : i1\n}}")
