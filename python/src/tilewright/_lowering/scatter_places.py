# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A scatter to one place, as x.at[:, 1].set(y) and x.at[2:5].add(y) are, is an update of a window:

    %w = stablehlo.dynamic_slice %x, at
    %r = stablehlo.dynamic_update_slice %x, combined(%w, %y), at

A window of one element along the dims that are indexed is either inside of the tensor or outside as a whole: outside, it stays
as it is. Larger windows are taken where their place is constant and inside.
"""

import re

from iree.compiler import ir

#: What combines two tensors as the body of a scatter does two elements.
_COMBINERS = {"stablehlo.add", "stablehlo.multiply", "stablehlo.minimum", "stablehlo.maximum", "stablehlo.subtract"}


def update(op, build):
    """Replaces the scatter `op`, where it is to one place, and says whether it was; `build` makes ops in front of it."""
    combine = _combiner(op)
    if len(op.operands) != 3 or combine is None:
        return False
    source, places, updates = op.operands
    shape = ir.RankedTensorType(source.type).shape
    numbers = str(op.attributes["scatter_dimension_numbers"])
    # Without dims of its own, a place is all of the indices.
    if ir.RankedTensorType(places.type).rank != 1 or dims_of(numbers, "input_batching_dims"):
        return False
    inserted, indexed = dims_of(numbers, "inserted_window_dims"), dims_of(numbers, "scatter_dims_to_operand_dims")
    if len(dims_of(numbers, "update_window_dims")) != ir.RankedTensorType(updates.type).rank:
        return False
    sizes = iter(ir.RankedTensorType(updates.type).shape)
    window = [1 if dim in inserted else next(sizes) for dim in range(len(shape))]
    known = _constants(places, len(indexed))
    if any(ir.ShapedType.is_dynamic_size(size) for size in [*shape, *window]) or not all(
            window[dim] == 1 or known and 0 <= known[i] <= shape[dim] - window[dim] for i, dim in enumerate(indexed)):
        return False
    scalar = ir.RankedTensorType.get([], ir.RankedTensorType(places.type).element_type)
    zero = build.make("stablehlo.constant", scalar, value=ir.DenseElementsAttr.get_splat(scalar, ir.IntegerAttr.get(scalar.element_type, 0)))
    starts, inside = [zero] * len(shape), None
    for i, dim in enumerate(indexed):
        starts[dim] = build.reshape(build.slice(places, 0, i, i + 1), [])
        if not known:
            inside = _both(build, inside, _is_inside(build, starts[dim], zero, shape[dim] - window[dim]))
    old = build.make("stablehlo.dynamic_slice", _type(source, window), source, *starts, slice_sizes=ir.DenseI64ArrayAttr.get(window))
    new = combine(build, old, build.reshape(updates, window))
    if inside is not None:
        new = build.make("stablehlo.select", new.type, inside, new, old)
    op.results[0].replace_all_uses_with(build.make("stablehlo.dynamic_update_slice", source.type, source, new, *starts))
    op.erase()
    return True


def dims_of(numbers, name):
    found = re.search(rf"{name} = \[([\d, ]*)\]", numbers)
    return [int(number) for number in found[1].split(",")] if found and found[1] else []


def _type(value, shape):
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)


def _combiner(op):
    """A function that combines tensors; None for a body of another form."""
    block = op.regions[0].blocks[0]
    *inner, end = [each.operation for each in block.operations]
    if len(block.arguments) != 2 or len(end.operands) != 1:
        return None
    old, new = block.arguments
    if not inner and end.operands[0] == new:
        return lambda build, before, update: update
    if len(inner) == 1 and inner[0].name in _COMBINERS and list(inner[0].operands) in ([old, new], [new, old]):
        swapped = inner[0].operands[0] == new
        return lambda build, before, update: build.make(inner[0].name, before.type, *((update, before) if swapped else (before, update)))
    return None


def _constants(value, count):
    """The numbers of a constant; None for anything else."""
    owner = value.owner.operation if hasattr(value.owner, "operation") else None
    if owner is not None and owner.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
        return _constants(owner.operands[0], count)
    text = re.search(r"dense<(\[[-\d, ]*\]|-?\d+)>", str(owner)) if owner is not None and owner.name == "stablehlo.constant" else None
    if not text:
        return None
    numbers = [int(number) for number in text[1].strip("[]").split(",")]
    return numbers * count if len(numbers) == 1 else numbers


def _is_inside(build, place, zero, last):
    bit = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    element = ir.RankedTensorType(place.type).element_type
    end = build.make("stablehlo.constant", place.type, value=ir.DenseElementsAttr.get_splat(place.type, ir.IntegerAttr.get(element, last)))

    def compare(direction, left, right):
        return build.make("stablehlo.compare", bit, left, right,
                          comparison_direction=ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"))
    return _both(build, compare("GE", place, zero), compare("LE", place, end))


def _both(build, first, second):
    return second if first is None else build.make("stablehlo.and", first.type, first, second)
