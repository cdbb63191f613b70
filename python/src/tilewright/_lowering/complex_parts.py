# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of complex numbers in StableHLO become two of real ones, of which Tilewright has kernels.

    %z = stablehlo.complex %a, %b           (%a, %b)
    %p = stablehlo.multiply %z, %z          (a a - b b, a b + b a) of the parts
    %r = stablehlo.real %p                  the first of them

What an op below does not know keeps its complex operands. Arguments and results of a program stay complex, too. left() says which
of both it is.
"""

import re

from iree.compiler import ir

#: Ops that move elements, or choose some: the same for both parts.
_MOVES = {"stablehlo.reshape", "stablehlo.transpose", "stablehlo.slice", "stablehlo.broadcast_in_dim", "stablehlo.concatenate",
          "stablehlo.reverse", "stablehlo.pad", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice", "stablehlo.select",
          "stablehlo.add", "stablehlo.subtract", "stablehlo.negate"}


def split(ops, builder):
    """`ops` in order; builder(op).make(name, type, operands…) makes ops in front of one."""
    parts = {}
    for op in ops:
        if op.name in ("stablehlo.real", "stablehlo.imag") and op.operands[0] in parts:
            op.results[0].replace_all_uses_with(parts[op.operands[0]][op.name == "stablehlo.imag"])
        elif op.name == "stablehlo.abs" and op.operands[0] in parts:
            op.results[0].replace_all_uses_with(_absolute(builder(op), *parts[op.operands[0]]))
        elif len(op.results) == 1 and _real_type(op.results[0].type):
            made = _made(op, parts, builder(op))
            if made:
                parts[op.results[0]] = made
    # The last ones first, so that what they read is of no use any more.
    for op in reversed(ops):
        mine = any(operand in parts for operand in op.operands) or any(result in parts for result in op.results)
        if mine and not any(True for result in op.results for _ in result.uses) and op.results:
            op.erase()


def left(ops):
    """What to say of complex numbers in a program after split(); None where there are none."""
    functions = [op.regions[0].blocks[0] for op in ops if op.name == "func.func"]
    if any(_real_type(argument.type) for block in functions for argument in block.arguments):
        return "a complex argument: pass its real and imaginary parts"
    complex_users = [op for op in ops if any(_real_type(operand.type) for operand in op.operands)]
    if any(op.name == "func.return" for op in complex_users):
        return "a complex result: return its real and imaginary parts"
    for op in complex_users:
        return f"op {op.name} of complex numbers is not lowered: compute its real and imaginary parts"
    return None


def _real_type(type_):
    """The type of a part; None for what is not complex."""
    if not isinstance(type_, ir.RankedTensorType):
        return None
    tensor = ir.RankedTensorType(type_)
    if not isinstance(tensor.element_type, ir.ComplexType):
        return None
    return ir.RankedTensorType.get(tensor.shape, ir.ComplexType(tensor.element_type).element_type)


def _made(op, parts, build):
    """The parts of an op's result, or None."""
    type_ = _real_type(op.results[0].type)
    if op.name == "stablehlo.complex":
        return tuple(op.operands)
    if op.name == "stablehlo.convert" and not _real_type(op.operands[0].type):
        real = op.operands[0] if op.operands[0].type == type_ else build.make("stablehlo.convert", type_, op.operands[0])
        return real, _filled(build, type_, 0.0)
    if op.name == "stablehlo.constant":
        return _constant(op, type_, build)
    known = [parts.get(operand) for operand in op.operands]
    if op.name in _MOVES and all(known[i] or not _real_type(op.operands[i].type) for i in range(len(known))):
        attributes = {name: op.attributes[name] for name in op.attributes}
        return tuple(build.make(op.name, type_, *[pair[i] if pair else operand for pair, operand in zip(known, op.operands)], **attributes)
                     for i in range(2))
    if None in known:
        return None

    def make(name, *operands):
        return build.make(f"stablehlo.{name}", type_, *operands)

    if op.name == "stablehlo.multiply":
        (a, b), (c, d) = known
        return make("subtract", make("multiply", a, c), make("multiply", b, d)), make("add", make("multiply", a, d), make("multiply", b, c))
    if op.name == "stablehlo.divide":
        (a, b), (c, d) = known
        size = make("add", make("multiply", c, c), make("multiply", d, d))
        return (make("divide", make("add", make("multiply", a, c), make("multiply", b, d)), size),
                make("divide", make("subtract", make("multiply", b, c), make("multiply", a, d)), size))
    if op.name == "stablehlo.exponential":
        (a, b), = known
        size = make("exponential", a)
        return make("multiply", size, make("cosine", b)), make("multiply", size, make("sine", b))
    return None


def _filled(build, type_, value):
    scalar = ir.RankedTensorType.get([], type_.element_type)
    zero = build.make("stablehlo.constant", scalar, value=ir.DenseElementsAttr.get_splat(scalar, ir.FloatAttr.get(type_.element_type, value)))
    return build.make("stablehlo.broadcast_in_dim", type_, zero, broadcast_dimensions=ir.DenseI64ArrayAttr.get([]))


def _constant(op, type_, build):
    """A constant with one finite value everywhere; None for others."""
    value = re.search(r"dense<\(([^(),x]*),([^(),x]*)\)>", str(op))
    return value and tuple(_filled(build, type_, float(number)) for number in value.groups())


def _absolute(build, real, imaginary):
    """|z| = m sqrt(1 + (n / m)^2) of the larger and the smaller part, which does not overflow; 0 and infinity are themselves."""
    def make(name, *operands):
        return build.make(f"stablehlo.{name}", real.type, *operands)

    def compare(direction, *operands):
        bits = ir.RankedTensorType.get(ir.RankedTensorType(real.type).shape, ir.IntegerType.get_signless(1))
        return build.make("stablehlo.compare", bits, *operands,
                          comparison_direction=ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"))

    real, imaginary = make("abs", real), make("abs", imaginary)
    large, small = make("maximum", real, imaginary), make("minimum", real, imaginary)
    ratio = make("divide", small, large)
    one = _filled(build, ir.RankedTensorType(real.type), 1.0)
    size = make("multiply", large, make("sqrt", make("add", one, make("multiply", ratio, ratio))))
    # 0 / 0 and infinity / infinity.
    return make("select", compare("EQ", small, large), make("multiply", large, _filled(build, ir.RankedTensorType(real.type), 2.0 ** 0.5)), size)
