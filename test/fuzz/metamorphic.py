# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One computation in two ways, on whole numbers: the program returns the second result and how many elements of the two
differ, which has to be 0 whatever the inputs are. No reference is needed to see that it is not."""

import numpy as np

import ops
from data import F16, F32, F64, I8, I16, I32
from graph import Fact, Graph, Impossible

ELEMENTS = ((F32, F32, F32), (F16, F16, F32), (F64, F64, F64), (I8, I8, I32), (I16, I16, I32), (I32, I32, I32))


class Product:
    """Two operands, with the dims of rows, columns and sum in any order."""

    def __init__(self, graph):
        self.graph = graph
        graph.largest = 4000
        left, right, self.element = graph.random.choice(ELEMENTS)
        self.rows, self.columns, self.sums = (graph.base_dim() for _ in range(3))

        def shuffled(dims):
            return "".join(graph.random.sample(dims, 2))

        self.a = graph.argument(left, shuffled(self.rows + self.sums), exact=True, low=-9, high=9)
        self.b = graph.argument(right, shuffled(self.sums + self.columns), exact=True, low=-9, high=9)
        self.dims = shuffled(self.rows + self.columns)

    def of(self, a=None, b=None, dims=None, start=None, loops=None):
        made = ops.contract(self.graph, a or self.a, b or self.b, dims or self.dims, self.element, start, loops)
        if not made:
            raise Impossible
        return made


def under(graph, value, dims):
    """The value with other letters for its dims, which have the same sizes."""
    return type(value)(value.name, value.element, dims, type_text=graph.function.value_type(value))


def letter_of(value, dims, place):
    """What stands in `value` where `dims` has `place`."""
    return value.dims[dims.index(place)]


def differences(graph, a, b):
    """The number of elements in which two values of the same dims differ."""
    kind = "cmpf une" if a.element.is_float else "cmpi ne"
    lines = [f"%c = arith.{kind}, %s0, %s1 : {a.element.name}", "%i = arith.extui %c : i1 to i32", "%r = arith.addi %s2, %i : i32"]
    made, = ops.generic(graph, a.dims, [a, b], [graph.filled(I32, "", 0)], lines, ["%r"], reduce=a.dims)
    return graph.add(made, Fact(True, 0), lambda env: np.int64(0))


def cut(graph, value, dim, at):
    """The first `at` of a dim, and the rest."""
    f = graph.function
    letter = graph.letter([at] * graph.case_count, known=True)
    dims = value.dims.replace(dim, letter)
    sizes = ", ".join(ops.size_text(graph, d) for d in dims)
    rest, _, _ = ops.slice_of(graph, value, dim, at)
    head = f.raw(f"tensor.extract_slice {value.name}[{', '.join('0' * len(dims))}] [{sizes}] [{', '.join('1' * len(dims))}] : "
                 f"{f.value_type(value)} to {f.type(value.element, dims)}", value.element, dims)
    axis = value.dims.index(dim)
    return graph.add(head, graph.fact(value), lambda env: np.take(env[value.name], np.arange(at), axis=axis)), rest


def transposed(graph, p):
    """The transposed product, transposed three times."""
    other = p.of(dims=p.dims[::-1])
    for dims in (p.dims, p.dims[::-1], p.dims):
        other = ops.turned(graph, other, dims)
    return other


def split(graph, p):
    """The sum in two parts."""
    if graph.least(p.sums) < 1:
        raise Impossible
    at = graph.random.randint(1, graph.least(p.sums))
    total = None
    for a, b in zip(cut(graph, p.a, p.sums, at), cut(graph, p.b, p.sums, at)):
        b = under(graph, b, b.dims.replace(letter_of(b, p.b.dims, p.sums), letter_of(a, p.a.dims, p.sums)))
        total = p.of(a, b, start=total)
    return total


def padded(graph, p):
    """A part of the product of operands with zeros around."""
    low, high, more = (graph.random.randint(0, 5) for _ in range(3))
    a = ops.pad_of(graph, ops.pad_of(graph, p.a, p.sums, 0, more, 0), p.rows, low, high, 0)
    b = ops.pad_of(graph, p.b, p.sums, 0, more, 0)
    b = under(graph, b, b.dims.replace(letter_of(b, p.b.dims, p.sums), letter_of(a, p.a.dims, p.sums)))
    rows = letter_of(a, p.a.dims, p.rows)
    part, _, _ = ops.slice_of(graph, p.of(a, b, p.dims.replace(p.rows, rows)), rows, low, 1, high)
    return under(graph, part, p.dims)


def permuted(graph, p):
    """The same maps with the loops in another order."""
    return p.of(loops="".join(graph.random.sample(p.dims + p.sums, 3)))


def joined(graph, p):
    """The products of some rows and of the others, behind each other."""
    if graph.least(p.rows) < 1:
        raise Impossible
    parts = [p.of(a, dims=p.dims.replace(p.rows, letter_of(a, p.a.dims, p.rows)))
             for a in cut(graph, p.a, p.rows, graph.random.randint(1, graph.least(p.rows)))]
    return under(graph, ops.concat_of(graph, parts, p.dims.index(p.rows)), p.dims)


RULES = (transposed, split, padded, permuted, joined)


def program(number, dynamic, pinned):
    graph = Graph("metamorphic", number, dynamic, pinned)
    product = Product(graph)
    other = graph.random.choice(RULES)(graph, product)
    plain = product.of()
    return graph.finish([other, differences(graph, plain, other)])
