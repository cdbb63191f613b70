# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said in StableHLO in front of IREE's lowering, which would lose it.

    stablehlo.composite                 a call of what it is made of; the op itself where it is chlo.top_k
    stablehlo.fft                       tilewright.fft of rows of pairs, of any length
    stablehlo.sort by a total order     … by <, which is our order, where zeros and NaNs are made one first, as JAX does
    stablehlo.scatter to one place      an update of a window (scatter_places.py)
    … of windows at several places      of their elements (scatter_windows.py)
    select_and_scatter                  slices of windows, put back (window_gradients.py)
    dot_general with an algorithm       sums of its type, without: operands are never rounded further than it allows
    other products, convolutions        sums of f32 where the result is a narrower float, as XLA has them
    custom_call @shape_assertion        cf.assert
    optimization_barrier                nothing: what is computed again is for the compiler to say
    dynamic_broadcast_in_dim            of JAX: dims of unknown size are not the ones that are repeated
    complex numbers                     two tensors (complex_parts.py)
    unsigned numbers, casts to integers as XLA has them, where IREE's lowering has not (integers.py)
"""

import re

from iree.compiler import ir

import complex_parts
import integers
import scatter_places
import scatter_windows
import window_gradients
from diagnostics import Refused


def ops(module):
    """All ops, inner ones first."""
    def walk(op):
        for region in op.regions:
            for block in region.blocks:
                for inner in list(block.operations):
                    yield from walk(inner.operation)
                    yield inner.operation
    return list(walk(module.operation))


def expand(module):
    """Composites, in place, before functions are inlined. Needs a current context and location."""
    for op in ops(module):
        if op.name != "stablehlo.composite":
            continue
        of_top_k = ir.StringAttr(op.attributes["name"]).value == "chlo.top_k" and op.attributes["composite_attributes"]
        if of_top_k and "k" in of_top_k and str(of_top_k["largest"] if "largest" in of_top_k else "true") == "true":
            made, attributes = "chlo.top_k", {"k": _i64(ir.IntegerAttr(of_top_k["k"]).value)}
        else:
            made, attributes = "func.call", {"callee": op.attributes["decomposition"]}
        call = ir.Operation.create(made, results=[result.type for result in op.results], operands=list(op.operands),
                                   attributes=attributes, ip=ir.InsertionPoint(op))
        for old, new in zip(op.results, call.results):
            old.replace_all_uses_with(new)
        op.erase()


def prepare(module):
    """The rest, in place, when there are no calls. Needs a current context and location. Returns what to say of complex numbers
    that stay."""
    of_jax = "jax.uses_shape_polymorphism" in module.operation.attributes
    for op in ops(module):
        if op.name == "stablehlo.fft":
            _fft(op)
        elif op.name == "stablehlo.sort":
            _sort(op)
        elif op.name == "stablehlo.scatter":
            if not scatter_places.update(op, _Builder(op)):
                scatter_windows.expand(op, _Builder(op))
        elif op.name in ("stablehlo.dot_general", "stablehlo.convolution"):
            _product(op)
        elif op.name == "stablehlo.custom_call" and ir.StringAttr(op.attributes["call_target_name"]).value == "shape_assertion":
            _assertion(op)
        elif op.name == "stablehlo.select_and_scatter":
            window_gradients.expand(op, _Builder(op))
        elif op.name == "stablehlo.optimization_barrier":
            for operand, result in zip(op.operands, op.results):
                result.replace_all_uses_with(operand)
            op.erase()
        elif op.name == "stablehlo.dynamic_broadcast_in_dim" and of_jax:
            shape = ir.RankedTensorType(op.operands[0].type)
            unknown = [dim for dim in range(shape.rank) if shape.is_dynamic_dim(dim)]
            op.attributes["known_nonexpanding_dimensions"] = ir.DenseI64ArrayAttr.get(unknown)
        else:
            integers.rewrite(op, _Builder(op))
    complex_parts.split(ops(module), _Builder)
    return complex_parts.left(ops(module))


#: Floats in which nobody sums.
_NARROW = ("f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")

#: Ops under names that IREE's simplifications do not know: they would collapse the dims of products, and part them from what
#: follows, and forget how broadcasts to dynamic shapes are meant.
_KEPT = {f"stablehlo.{op}": f"tilewright.{op}" for op in ("dot_general", "dynamic_broadcast_in_dim")}


def hide(module):
    _rename(module, _KEPT)


def show(module):
    _rename(module, {new: old for old, new in _KEPT.items()})


def _rename(module, names):
    for op in ops(module):
        if op.name in names:
            result = ir.Operation.create(names[op.name], results=[op.results[0].type], operands=list(op.operands),
                                         attributes={name: op.attributes[name] for name in op.attributes}, ip=ir.InsertionPoint(op))
            op.results[0].replace_all_uses_with(result.results[0])
            op.erase()


class _Builder:
    """Makes ops of StableHLO in front of an op."""

    def __init__(self, op):
        self.place = ir.InsertionPoint(op)

    def make(self, name, type_, *operands, **attributes):
        return ir.Operation.create(name, results=[type_], operands=list(operands), attributes=attributes, ip=self.place).results[0]

    def slice(self, value, dim, start, limit, stride=1):
        shape = ir.RankedTensorType(value.type).shape
        starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
        starts[dim], limits[dim], strides[dim] = start, limit, stride
        result = list(shape)
        result[dim] = -(-(limit - start) // stride)
        return self.make("stablehlo.slice", _like(value, result), value, start_indices=_array(starts), limit_indices=_array(limits),
                         strides=_array(strides))

    def reshape(self, value, shape):
        return self.make("stablehlo.reshape", _like(value, shape), value)

    def join(self, values, dim):
        shape = list(ir.RankedTensorType(values[0].type).shape)
        shape[dim] = sum(ir.RankedTensorType(value.type).shape[dim] for value in values)
        return self.make("stablehlo.concatenate", _like(values[0], shape), *values, dimension=_i64(dim))

    def swap_with_last(self, value, dim):
        shape = list(ir.RankedTensorType(value.type).shape)
        order = list(range(len(shape)))
        order[dim], order[-1] = order[-1], order[dim]
        return self.make("stablehlo.transpose", _like(value, [shape[i] for i in order]), value, permutation=_array(order))


def _array(values):
    return ir.DenseI64ArrayAttr.get(list(values))


def _i64(value):
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _like(value, shape):
    return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(value.type).element_type)


def _fft(op):
    """Rows of one dim after the other; a real row's transform is half there, the other half is the first one's conjugate."""
    build = _Builder(op)
    kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">").split("<")[-1]
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    operand, result = op.operands[0], op.results[0]
    shape = ir.RankedTensorType(operand.type).shape
    if any(ir.ShapedType.is_dynamic_size(size) for size in shape):
        raise Refused("op stablehlo.fft of rows whose number or length is not known")
    rank, count = len(shape), len(lengths)
    dims = range(rank - count, rank)
    element = ir.RankedTensorType(operand.type).element_type
    if kind == "RFFT":
        zero = build.make("stablehlo.constant", ir.RankedTensorType.get([], element),
                          value=ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get([], element), ir.FloatAttr.get(element, 0.0)))
        parts = [operand, build.make("stablehlo.broadcast_in_dim", operand.type, zero, broadcast_dimensions=_array([]))]
    else:
        element = ir.ComplexType(element).element_type
        real = ir.RankedTensorType.get(shape, element)
        parts = [build.make(f"stablehlo.{part}", real, operand) for part in ("real", "imag")]
    inverse = kind in ("IFFT", "IRFFT")
    for dim in dims[:-1] if kind == "IRFFT" else reversed(dims):
        parts = _transform(build, parts, dim, inverse)
        if kind == "RFFT" and dim == rank - 1:
            parts = [build.slice(part, dim, 0, lengths[-1] // 2 + 1) for part in parts]
    if kind == "IRFFT":
        parts = _transform(build, _whole(build, parts, lengths[-1]), rank - 1, inverse)
        result.replace_all_uses_with(parts[0])
    else:
        result.replace_all_uses_with(build.make("stablehlo.complex", result.type, *parts))
    op.erase()


def _whole(build, parts, length):
    """Rows of `length` numbers of their first half: the others are conjugates, from the end."""
    real, imaginary = parts
    last = ir.RankedTensorType(real.type).rank - 1
    there = ir.RankedTensorType(real.type).shape[last]
    if there != length // 2 + 1:
        raise Refused(f"op stablehlo.fft: {there} numbers of a row of {length}")
    rest = length - there
    if rest == 0:
        return parts
    mirrored = [build.make("stablehlo.reverse", _like(part, ir.RankedTensorType(part.type).shape), part, dimensions=_array([last]))
                for part in (build.slice(part, last, 1, 1 + rest) for part in parts)]
    mirrored[1] = build.make("stablehlo.negate", mirrored[1].type, mirrored[1])
    return [build.join([part, more], last) for part, more in zip((real, imaginary), mirrored)]


def _transform(build, parts, dim, inverse):
    last = ir.RankedTensorType(parts[0].type).rank - 1
    if dim != last:
        moved = _transform(build, [build.swap_with_last(part, dim) for part in parts], last, inverse)
        return [build.swap_with_last(part, dim) for part in moved]
    shape = list(ir.RankedTensorType(parts[0].type).shape)
    pairs = build.join([build.reshape(part, shape + [1]) for part in parts], last + 1)
    empty = build.make("tensor.empty", pairs.type)
    attributes = {"inverse": ir.UnitAttr.get()} if inverse else {}
    done = build.make("tilewright.fft", pairs.type, pairs, empty, **attributes)
    return [build.reshape(build.slice(done, last + 1, part, part + 1), shape) for part in (0, 1)]


def _sort(op):
    """a < b of elements whose zeros and NaNs are one, in total order, is a < b in ours."""
    block = op.regions[0].blocks[0]
    operations = [inner.operation for inner in block.operations]
    compared = operations[-1].operands[0].owner
    if not isinstance(compared, ir.Operation) and not isinstance(compared, ir.OpView):
        return
    compared = compared.operation
    if compared.name != "stablehlo.compare" or "TOTALORDER" not in str(compared.attributes.get("compare_type", "")):
        return
    arguments = [_canonical_of(operand) for operand in compared.operands]
    if any(argument is None for argument in arguments):
        return
    direction = compared.attributes["comparison_direction"]
    less = ir.Operation.create("stablehlo.compare", results=[compared.results[0].type], operands=arguments, attributes={
        "comparison_direction": direction, "compare_type": ir.Attribute.parse("#stablehlo<comparison_type FLOAT>")},
        ip=ir.InsertionPoint(compared))
    compared.results[0].replace_all_uses_with(less.results[0])


def _canonical_of(value):
    """The argument whose zeros and NaNs are made one; None for anything else."""
    asked = set()
    while not isinstance(value, ir.BlockArgument):
        op = value.owner.operation if hasattr(value.owner, "operation") else value.owner
        if op.name != "stablehlo.select":
            return None
        condition = op.operands[0].owner.operation
        if condition.name != "stablehlo.compare":
            return None
        asked.add(str(condition.attributes["comparison_direction"]).split()[-1].rstrip(">"))
        value = op.operands[2]
    return value if asked == {"EQ", "NE"} else None


def _is_grouped(op):
    """IREE's lowering wants one type of depthwise convolutions, whose sums are short."""
    return any(name in op.attributes and ir.IntegerAttr(op.attributes[name]).value != 1
               for name in ("feature_group_count", "batch_group_count"))


def _product(op):
    wanted = re.search(r"accumulation_type = (\w+)", str(op.attributes.get("algorithm", "")))
    shape = ir.RankedTensorType(op.results[0].type)
    sums = shape.element_type
    if wanted:
        sums = sums if wanted[1] == "tf32" else ir.Type.parse(wanted[1])
    elif str(sums) in _NARROW and not _is_grouped(op):
        sums = ir.F32Type.get()
    build = _Builder(op)
    operands = integers.widen(op, build)
    if sums == shape.element_type and "algorithm" not in op.attributes and operands == list(op.operands):
        return
    sums = ir.RankedTensorType.get(shape.shape, sums)
    kept = {name: op.attributes[name] for name in op.attributes if name != "algorithm"}
    product = build.make(op.name, sums, *operands, **kept)
    op.results[0].replace_all_uses_with(product if sums == shape else build.make("stablehlo.convert", shape, product))
    op.erase()


def _assertion(op):
    build = _Builder(op)
    condition = build.make("tensor.extract", ir.IntegerType.get_signless(1), op.operands[0])
    message = op.attributes["error_message"] if "error_message" in op.attributes else ir.StringAttr.get("sizes do not agree")
    ir.Operation.create("cf.assert", operands=[condition], attributes={"msg": message}, ip=build.place)
    op.erase()
