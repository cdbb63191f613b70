# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of maximum pools, stablehlo.select_and_scatter: IREE's compiler lowers those alone whose windows neither overlap nor are
padded, and takes another one of equal elements than the first.

Each element of a window, of which there are few, is a strided slice of the padded image. The largest so far and its number are
selected from one to the next; then what each one gets is put back where its slice was taken, and all of that is added up.
"""

import itertools

from iree.compiler import ir

#: Elements of a window of which that is worth it.
_MOST = 64


def expand(op, build):
    """Replaces the select_and_scatter `op`, where its windows are small and known; `build` makes ops in front of it."""
    source, gradient, start = op.operands
    type_, small = ir.RankedTensorType(source.type), ir.RankedTensorType(gradient.type)
    window, strides, padding = (_numbers(op, name, len(type_.shape)) for name in ("window_dimensions", "window_strides", "padding"))
    count = 1
    for size in window:
        count *= size
    dynamic = any(ir.ShapedType.is_dynamic_size(size) for size in [*type_.shape, *small.shape])
    end = _end(op)
    if dynamic or count > _MOST or end is None or not _adds(op, start):
        return
    low, high = zip(*padding)
    whole = [size + a + b for size, a, b in zip(type_.shape, low, high)]
    image = _pad(build, source, _filled(build, end, type_.element_type), low, high, [0] * len(whole))
    corners = list(itertools.product(*map(range, window)))
    bits = ir.RankedTensorType.get(small.shape, ir.IntegerType.get_signless(1))
    numbers = ir.RankedTensorType.get(small.shape, ir.IntegerType.get_signless(32))
    best, chosen = None, None
    for number, corner in enumerate(corners):
        limits = [at + (size - 1) * step + 1 for at, size, step in zip(corner, small.shape, strides)]
        part = build.make("stablehlo.slice", small, image, start_indices=_array(corner), limit_indices=_array(limits),
                          strides=_array(strides))
        this = _splat(build, numbers, number)
        if best is None:
            best, chosen = part, this
            continue
        keeps = _compare(build, bits, "GE" if end < 0 else "LE", best, part)
        best = build.make("stablehlo.select", small, keeps, best, part)
        chosen = build.make("stablehlo.select", numbers, keeps, chosen, this)
    zero, total = _filled(build, 0.0, type_.element_type), None
    for number, corner in enumerate(corners):
        mine = _compare(build, bits, "EQ", chosen, _splat(build, numbers, number))
        nothing = build.make("stablehlo.broadcast_in_dim", small, zero, broadcast_dimensions=_array([]))
        part = build.make("stablehlo.select", small, mine, gradient, nothing)
        after = [all_ - at - (size - 1) * step - 1 for all_, at, size, step in zip(whole, corner, small.shape, strides)]
        part = _pad(build, part, zero, corner, after, [step - 1 for step in strides])
        total = part if total is None else build.make("stablehlo.add", part.type, total, part)
    result = build.make("stablehlo.slice", type_, total, start_indices=_array(low), strides=_array([1] * len(low)),
                        limit_indices=_array([a + size for a, size in zip(low, type_.shape)]))
    op.results[0].replace_all_uses_with(result)
    op.erase()


def _numbers(op, name, rank):
    """Of each dim: what an attribute says, or what its absence does."""
    if name not in op.attributes:
        return [(0, 0)] * rank if name == "padding" else [1] * rank
    if name == "padding":
        flat = [int(number) for number in ir.DenseIntElementsAttr(op.attributes[name])]
        return list(zip(flat[::2], flat[1::2]))
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _end(op):
    """What loses against all numbers; None where the selection is not that of the largest or the smallest."""
    inner = [each.operation for each in op.regions[0].blocks[0].operations]
    if len(inner) != 2 or inner[0].name != "stablehlo.compare" or list(inner[0].operands) != list(op.regions[0].blocks[0].arguments):
        return None
    direction = str(inner[0].attributes["comparison_direction"]).split()[-1].rstrip(">")
    return {"GE": float("-inf"), "LE": float("inf")}.get(direction) if isinstance(
        ir.RankedTensorType(op.operands[0].type).element_type, ir.FloatType) else None


def _adds(op, start):
    inner = [each.operation for each in op.regions[1].blocks[0].operations]
    owner = start.owner.operation if hasattr(start.owner, "operation") else None
    zero = owner is not None and owner.name == "stablehlo.constant" and "dense<0.0" in str(owner)
    return zero and len(inner) == 2 and inner[0].name == "stablehlo.add"


def _array(values):
    return ir.DenseI64ArrayAttr.get(list(values))


def _splat(build, type_, number):
    value = ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(type_.element_type, number))
    return build.make("stablehlo.constant", type_, value=value)


def _filled(build, number, element):
    scalar = ir.RankedTensorType.get([], element)
    return build.make("stablehlo.constant", scalar, value=ir.DenseElementsAttr.get_splat(scalar, ir.FloatAttr.get(element, number)))


def _compare(build, bits, direction, left, right):
    return build.make("stablehlo.compare", bits, left, right,
                      comparison_direction=ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"))


def _pad(build, value, by, low, high, interior):
    type_ = ir.RankedTensorType(value.type)
    shape = [size + a + b + (size - 1) * i for size, a, b, i in zip(type_.shape, low, high, interior)]
    return build.make("stablehlo.pad", ir.RankedTensorType.get(shape, type_.element_type), value, by, edge_padding_low=_array(low),
                      edge_padding_high=_array(high), interior_padding=_array(interior))
