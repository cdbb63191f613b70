# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A scatter of windows, as jax.vmap makes one of dynamic_update_slice, is one of their elements, or of whole rows of them:

    x: 3x8x4, windows of 2x4 at (p, 0) of each of the 3
    rows of 4 at p and p + 1 of each of the 3

A window is inside of the tensor or outside as a whole. Of one that is outside, all elements go outside, where they are ignored.
"""

from iree.compiler import ir

from scatter_places import dims_of


def expand(op, build):
    """Replaces the scatter `op` where a window begins at an index; `build` makes ops in front of it."""
    if len(op.operands) != 3:
        return
    source, places, updates = op.operands
    numbers = str(op.attributes["scatter_dimension_numbers"])
    shape, places_shape, updates_shape = (list(ir.RankedTensorType(value.type).shape) for value in (source, places, updates))
    if any(ir.ShapedType.is_dynamic_size(size) for size in [*shape, *places_shape, *updates_shape]):
        return
    batching = dims_of(numbers, "input_batching_dims")
    gone = dims_of(numbers, "inserted_window_dims") + batching
    kept = [dim for dim in range(len(shape)) if dim not in gone]
    window = dict(zip(kept, dims_of(numbers, "update_window_dims")))  # dims of the updates
    size = {dim: updates_shape[number] for dim, number in window.items()}
    indexed = dims_of(numbers, "scatter_dims_to_operand_dims")
    # Rows of the last dims are written as a whole where no window begins in their middle.
    placed = [dim for dim in indexed if dim not in window or size[dim] < shape[dim]]
    if not placed or all(dim not in window for dim in indexed):
        return
    spelled = [dim for dim in range(max(placed + batching) + 1) if dim not in batching]
    parts = [dim for dim in spelled if dim in window]
    index_dim = _number(numbers, "index_vector_dim")
    batch = [dim for dim in range(len(places_shape)) if dim != index_dim]
    new_shape = [places_shape[dim] for dim in batch] + [size[dim] for dim in parts]
    # Of which any dim's size is a number.
    element = ir.IntegerType.get_signless(64 if str(ir.RankedTensorType(places.type).element_type) in ("ui32", "i64", "ui64") else 32)
    places = build.make("stablehlo.convert", ir.RankedTensorType.get(places_shape, element), places)
    type_ = ir.RankedTensorType.get(new_shape, element)
    columns, inside = dict.fromkeys(spelled, _filled(build, type_, 0)), None
    for number, dim in enumerate(indexed):
        start = build.slice(places, index_dim, number, number + 1) if index_dim < len(places_shape) else places
        start = _spread(build, type_, build.reshape(start, [places_shape[d] for d in batch]), list(range(len(batch))))
        columns[dim] = start
        if dim in window:
            is_inside = _between(build, start, 0, shape[dim] - size[dim])
            inside = is_inside if inside is None else build.make("stablehlo.and", is_inside.type, inside, is_inside)
    columns = {dim: columns[dim] for dim in spelled}
    for number, dim in enumerate(parts):
        along = build.make("stablehlo.iota", type_, iota_dimension=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(batch) + number))
        columns[dim] = build.make("stablehlo.add", type_, columns[dim], along)
    first = spelled[0]
    columns[first] = build.make("stablehlo.select", type_, inside, columns[first], _filled(build, type_, shape[first]))
    new_places = build.join([build.reshape(column, new_shape + [1]) for column in columns.values()], len(new_shape))
    rest = [dim for dim in kept if dim not in parts]
    order = [dim for dim in range(len(updates_shape)) if dim not in window.values()] + [window[dim] for dim in parts + rest]
    new_updates = build.make("stablehlo.transpose", ir.RankedTensorType.get(
        [updates_shape[dim] for dim in order], ir.RankedTensorType(updates.type).element_type), updates,
        permutation=ir.DenseI64ArrayAttr.get(order))
    places_batching = [dim - (dim > index_dim) for dim in dims_of(numbers, "scatter_indices_batching_dims")]
    text = {"update_window_dims": list(range(len(new_shape), len(order))),
            "inserted_window_dims": sorted(dims_of(numbers, "inserted_window_dims") + parts),
            "input_batching_dims": batching, "scatter_indices_batching_dims": places_batching,
            "scatter_dims_to_operand_dims": spelled, "index_vector_dim": len(new_shape)}
    _replace(op, [source, new_places, new_updates], ", ".join(f"{name} = {value}" for name, value in text.items() if value != []), build)


def _replace(op, operands, numbers, build):
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["scatter_dimension_numbers"] = ir.Attribute.parse(f"#stablehlo.scatter<{numbers}>")
    attributes.pop("indices_are_sorted", None)
    scatter = ir.Operation.create(op.name, results=[op.results[0].type], operands=operands, attributes=attributes, regions=1, ip=build.place)
    op.regions[0].blocks[0].append_to(scatter.regions[0])
    op.results[0].replace_all_uses_with(scatter.results[0])
    op.erase()


def _number(numbers, name):
    found = numbers.split(f"{name} = ")
    return int(found[1].split(",")[0].rstrip("> ")) if len(found) > 1 else 0


def _spread(build, type_, value, dims):
    return build.make("stablehlo.broadcast_in_dim", type_, value, broadcast_dimensions=ir.DenseI64ArrayAttr.get(dims))


def _filled(build, type_, number):
    value = ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(type_.element_type, number))
    return build.make("stablehlo.constant", type_, value=value)


def _between(build, value, low, high):
    type_ = ir.RankedTensorType(value.type)
    bits = ir.RankedTensorType.get(type_.shape, ir.IntegerType.get_signless(1))

    def compare(direction, number):
        return build.make("stablehlo.compare", bits, value, _filled(build, type_, number),
                          comparison_direction=ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"))
    return build.make("stablehlo.and", bits, compare("GE", low), compare("LE", high))
