# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers of StableHLO where IREE's lowering, which has no unsigned ones, would lose or refuse what is said.

    convert of floats to integers     what is beyond an integer's range becomes its end, and NaN 0, as XLA has it
    products of unsigned numbers      of numbers of the result's type: those of 8 bits would be extended as signed ones
    reverse of unsigned numbers       of signed ones with the same bits
    running sums, … of such           the same; for maxima and minima with the highest bit flipped, which keeps the order
"""

from iree.compiler import ir


def rewrite(op, build):
    """Replaces `op`, of any name, where it is one of these. build: makes ops of StableHLO in front of it."""
    if op.name == "stablehlo.convert":
        _saturate(op, build)
    elif op.name == "stablehlo.reverse" and _unsigned_bits(op.operands[0]):
        _replace(op, _with_bits(build, _same(build, op, [_bits(build, op.operands[0])], op.results[0]), op.results[0].type))
    elif op.name == "stablehlo.reduce_window" and len(op.operands) == 2 and _unsigned_bits(op.operands[0]):
        _window(op, build)


def widen(op, build):
    """The operands of a product, as numbers of the result's type where one is unsigned and that is another type."""
    operands, element = list(op.operands), _element(op.results[0].type)
    if not any(_unsigned_bits(operand) and _element(operand.type) != element for operand in operands):
        return operands
    if op.name == "stablehlo.convolution":
        operands = [_signed(build, operand) for operand in operands]
    return [build.make("stablehlo.convert", _like(operand.type, element), operand) for operand in operands]


def _signed(build, value):
    """The same numbers with a sign: IREE's simplifications take a conversion in front of a convolution for one of signed numbers."""
    width = _unsigned_bits(value)
    if width in (0, 64):
        return value
    wide = ir.IntegerType.get_unsigned(2 * width)
    return _bits(build, build.make("stablehlo.convert", _like(value.type, wide), value))


def _element(type_):
    return ir.RankedTensorType(type_).element_type


def _like(type_, element):
    return ir.RankedTensorType.get(ir.RankedTensorType(type_).shape, element)


def _unsigned_bits(value):
    """How many; 0 for values of another type."""
    element = _element(value.type)
    return element.width if isinstance(element, ir.IntegerType) and element.is_unsigned else 0


def _replace(op, value):
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _constant(build, like, text):
    """A tensor of one number everywhere, of the shape and the type of another, which may be dynamic."""
    return build.make("chlo.constant_like", like.type, like, value=ir.Attribute.parse(f"{text} : {_element(like.type)}"))


def _compare(build, direction, left, right):
    return build.make("stablehlo.compare", _like(left.type, ir.IntegerType.get_signless(1)), left, right,
                      comparison_direction=ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"))


def _saturate(op, build):
    source, result = op.operands[0], op.results[0]
    element = _element(result.type)
    if not isinstance(_element(source.type), ir.FloatType) or not isinstance(element, ir.IntegerType) or element.width == 1:
        return
    if _element(source.type).width == 8:
        source = build.make("stablehlo.convert", _like(source.type, ir.F32Type.get()), source)
    width = element.width - (not element.is_unsigned)
    lowest, highest = 0 if element.is_unsigned else -(1 << width), (1 << width) - 1
    # The first number beyond the range is a power of two; where the float has none so large, infinity is.
    wide = str(_element(source.type)) != "f16" or width < 16
    value = build.make("stablehlo.convert", result.type, source)
    for direction, end, limit in (("GE", highest, float(highest + 1)), ("LE", lowest, float(lowest))):
        limit = limit if wide or limit == 0 else float("inf") if limit > 0 else float("-inf")
        text = {float("inf"): _INFINITIES[0], float("-inf"): _INFINITIES[1]}.get(limit, f"{limit!r}")
        beyond = _compare(build, direction, source, _constant(build, source, text))
        value = build.make("stablehlo.select", value.type, beyond, _constant(build, value, str(end)), value)
    is_nan = _compare(build, "NE", source, source)
    _replace(op, build.make("stablehlo.select", value.type, is_nan, _constant(build, value, "0"), value))


#: Of f16, as MLIR's text has them.
_INFINITIES = ("0x7C00", "0xFC00")


def _bits(build, value):
    """The same bits as numbers with a sign."""
    return _with_bits(build, value, _like(value.type, ir.IntegerType.get_signless(_unsigned_bits(value))))


def _with_bits(build, value, type_):
    return build.make("stablehlo.bitcast_convert", type_, value)


def _flipped(build, value):
    width = _element(value.type).width
    return build.make("stablehlo.xor", value.type, value, _constant(build, value, str(-(1 << (width - 1)))))


def _same(build, op, operands, result):
    """The op, which has no region, on other operands of one type."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    return build.make(op.name, _like(result.type, _element(operands[0].type)), *operands, **attributes)


def _window(op, build):
    block = op.regions[0].blocks[0]
    inner = [each.operation for each in block.operations]
    if len(inner) != 2 or len(block.arguments) != 2 or set(inner[0].operands) != set(block.arguments):
        return
    in_order = inner[0].name in ("stablehlo.maximum", "stablehlo.minimum")
    if not in_order and inner[0].name not in ("stablehlo.add", "stablehlo.multiply", "stablehlo.and", "stablehlo.or", "stablehlo.xor"):
        return
    operands = [_bits(build, operand) for operand in op.operands]
    if in_order:
        operands = [_flipped(build, operand) for operand in operands]
    window = ir.Operation.create(op.name, results=[_like(op.results[0].type, _element(operands[0].type))], operands=operands,
                                 attributes={name: op.attributes[name] for name in op.attributes}, regions=1, ip=build.place)
    scalar = ir.RankedTensorType.get([], _element(operands[0].type))
    body = window.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(body):
        combined = ir.Operation.create(inner[0].name, results=[scalar], operands=list(body.arguments))
        ir.Operation.create("stablehlo.return", operands=combined.results)
    value = _flipped(build, window.results[0]) if in_order else window.results[0]
    _replace(op, _with_bits(build, value, op.results[0].type))
