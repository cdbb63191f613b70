# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.export knows of sizes, in front of torch-mlir, which would lose it.

    view of (b, t, 64) as (b * t, 64)      prims.collapse of two dims: torch-mlir takes t for 1 where both are unknown
    view of (b * t, 64) as (b, t, 64)      aten.unflatten of one, without questions about negative sizes
    expand of (b, 1, t) to (b, 4, t)       … to (-1, 4, -1): torch-mlir would ask a run which dims are repeated
    what gives no elements                 a constant: torch-mlir would divide by their number
"""

import math

import sympy
import torch

_VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default, torch.ops.aten.reshape.default)


def simplify(graph):
    """In place, of a decomposed program's graph."""
    for node in list(graph.nodes):
        if node.op == "call_function" and _is_empty(node.meta.get("val")):
            _empty(graph, node)
    graph.eliminate_dead_code()
    for node in list(graph.nodes):
        if node.op != "call_function" or not node.args or "val" not in getattr(node.args[0], "meta", {}):
            continue
        if node.target in _VIEWS:
            _reshape(graph, node)
        elif node.target == torch.ops.aten.expand.default:
            _expand(graph, node)


def _is_empty(value):
    """Sizes that are data of the run are not asked, which would be an error."""
    return isinstance(value, torch.Tensor) and not value.is_complex() and all(isinstance(size, int) for size in value.shape) and 0 in value.shape


def _empty(graph, node):
    value = node.meta["val"]
    with graph.inserting_before(node):
        result = graph.call_function(torch.ops.aten.full.default, (list(value.shape), 0), {"dtype": value.dtype, "device": value.device})
    result.meta = node.meta
    _replace(graph, node, result)


def _shape(node):
    return [size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size) for size in node.meta["val"].shape]


def _replace(graph, node, value):
    node.replace_all_uses_with(value)
    graph.erase_node(node)


def _expand(graph, node):
    source, sizes = node.args[:2]
    old, new = _shape(source), _shape(node)
    if old == new:
        return _replace(graph, node, source)
    ahead = len(new) - len(old)
    node.update_arg(1, [*sizes[:ahead], *(-1 if before == after else size for before, after, size in
                                          zip(old, new[ahead:], sizes[ahead:]))])


def _reshape(graph, node):
    source, sizes = node.args[:2]
    old, new = _shape(source), _shape(node)
    if old == new:
        return _replace(graph, node, source)
    pairs = groups(old, new)
    if pairs is None or all(size.is_number for size in old + new):
        return
    sizes = [known if size == -1 and isinstance(known, int) else size for size, known in zip(sizes, node.meta["val"].shape)]
    if any(-1 in [sizes[dim] for dim in after] and len(after) > 1 for _, after in pairs):
        return
    value = source
    with graph.inserting_before(node):
        for before, after in reversed(pairs):
            if len(before) > 1:
                joined = math.prod(value.meta["val"].shape[before[0]:before[-1] + 1])
                value = _insert(graph, torch.ops.prims.collapse.default, (value, before[0], before[-1]), before, [joined])
            if len(after) > 1:
                parts = [sizes[dim] for dim in after]
                known = [part.meta["val"] if isinstance(part, torch.fx.Node) else part for part in parts]
                value = _insert(graph, torch.ops.aten.unflatten.int, (value, before[0], parts), before[:1], known)
    value.meta = {**node.meta, "val": value.meta["val"]} if value is not source else value.meta
    _replace(graph, node, value)


def _insert(graph, target, arguments, dims, sizes):
    """A call whose result has `sizes` in place of `dims` of its first argument. torch-mlir takes the type from "val"."""
    result = graph.call_function(target, arguments)
    old = arguments[0].meta["val"]
    result.meta = {"val": old.new_empty([*old.shape[:dims[0]], *sizes, *old.shape[dims[-1] + 1:]])}
    return result


def groups(old, new):
    """Ranges of dims of two shapes in pairs, the shortest that have as many elements; None where the shapes have not, or a dim
    of one element has no partner."""
    pairs = []
    first = second = 0
    while first < len(old) or second < len(new):
        ends = [(a, b) for a in range(first + 1, len(old) + 1) for b in range(second + 1, len(new) + 1)
                if sympy.expand(sympy.prod(old[first:a]) - sympy.prod(new[second:b])) == 0]
        if not ends:
            return None
        end = min(ends, key=sum)
        pairs.append((range(first, end[0]), range(second, end[1])))
        first, second = end
    return pairs
