# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.export knows of the sizes of arguments is asserted at the start of `main`, which torch-mlir would say nothing of:

    tokens (b, t), keys (b, 4, s, 64), mask (b, s + t)      dim 0 of keys and mask is that of tokens, dim 1 of mask is s + t

The compiler takes sizes that are asserted to be equal for one, and a call with others is an error.
"""

import re

import sympy
import torch


def relations(program, inputs):
    """[(argument, dim, affine expression, [(argument, dim) of each of its symbols])] of the dims of a
    torch.export.ExportedProgram's arguments that those before them decide, in sums of multiples."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    shapes = [(name, list(nodes[name].meta["val"].shape)) for name in inputs if isinstance(nodes[name].meta.get("val"), torch.Tensor)]
    sizes = [(name, dim, size.node.expr) for name, shape in shapes for dim, size in enumerate(shape) if isinstance(size, torch.SymInt)]
    holders = {}
    for name, dim, size in sizes:
        if size.is_symbol:
            holders.setdefault(size, (name, dim))
    found = []
    for name, dim, size in sizes:
        symbols = sorted(size.free_symbols, key=str)
        if holders.get(size) == (name, dim) or any(symbol not in holders for symbol in symbols):
            continue
        spelled = _linear(size, symbols)
        if spelled is not None:
            found.append((name, dim, spelled, [holders[symbol] for symbol in symbols]))
    return found


def forget_ranges_of_sums(program):
    """Of a program that was saved and loaded, where an argument's size is a sum: PyTorch 2.15 loads the range of the sum as that of a
    symbol, and then takes it for no symbol."""
    size = next((size for node in program.graph.nodes for value in [node.meta.get("val")] if isinstance(value, torch.Tensor)
                 for size in value.shape if isinstance(size, torch.SymInt)), None)
    for ranges in (program.range_constraints, size.node.shape_env.var_to_range if size is not None else {}):
        for key in [key for key in ranges if not key.is_symbol]:
            del ranges[key]


def _linear(size, symbols):
    """The affine expression of a size in s0, s1, …; None where it is no sum of multiples of the symbols."""
    try:
        polynomial = sympy.Poly(size, *symbols)
    except sympy.PolynomialError:
        return None
    terms = []
    for powers, factor in polynomial.terms():
        if sum(powers) > 1 or not factor.is_Integer:
            return None
        terms.append(f"s{powers.index(1)} * {factor}" if sum(powers) else str(factor))
    return " + ".join(terms)


def assert_them(text, found):
    """The text of a module with asserts of relations() at the start of `main`."""
    if not found:
        return text
    header = re.search(r"^ *func\.func (?:public )?@main\(.*\{\n", text, re.M)
    types = dict(re.findall(r"(%[\w$.-]+): (tensor<[^<>]*>)", header[0]))
    lines, numbers = [], {}

    def size_of(argument, dim):
        value = "%" + re.sub(r"[^\w$.-]", "_", argument)
        if (argument, dim) not in numbers:
            name = numbers[argument, dim] = f"%size_{len(numbers)}_of_argument"
            lines.append(f"{name}_at = arith.constant {dim} : index")
            lines.append(f"{name} = tensor.dim {value}, {name}_at : {types[value]}")
        return numbers[argument, dim]

    for number, (argument, dim, spelled, holders) in enumerate(found):
        of = ", ".join(size_of(*holder) for holder in holders)
        symbols = ", ".join(f"s{place}" for place in range(len(holders)))
        wanted, same = f"%wanted_size_{number}", f"%same_size_{number}"
        lines.append(f"{wanted} = affine.apply affine_map<()[{symbols}] -> ({spelled})>()[{of}]")
        lines.append(f"{same} = arith.cmpi eq, {wanted}, {size_of(argument, dim)} : index")
        words = spelled.replace(" * 1", "")
        for place, (other, along) in enumerate(holders):
            words = re.sub(rf"\bs{place}\b", f"dim {along} of {other}", words)
        lines.append(f'cf.assert {same}, "dim {dim} of {argument} must be {words}"')
    return text[:header.end()] + "".join(f"    {line}\n" for line in lines) + text[header.end():]
