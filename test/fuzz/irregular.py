# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorts, the k largest, scans and scatters. Keys and what is combined is exact, so that rounding never decides anything."""

import numpy as np

from data import I32, I64
from graph import BIT, Fact, whole


def numbered(graph, text, outs):
    """One op with a result for each of outs."""
    f = graph.function
    kinds = ", ".join(f.value_type(v) for v in outs)
    if len(outs) == 1:
        return [f.raw(f"{text} -> {kinds}", outs[0].element, outs[0].dims)]
    name = f.fresh()
    f.emit(f"{name}:{len(outs)} = {text} -> {kinds}")
    return [type(v)(f"{name}#{i}", v.element, v.dims) for i, v in enumerate(outs)]


def listed(graph, values):
    return f"{', '.join(v.name for v in values)} : {', '.join(graph.function.value_type(v) for v in values)}"


def places_of(keys, axis, descending):
    rank = np.unique(np.asarray(keys).ravel() + 0, return_inverse=True)[1].reshape(np.shape(keys))
    return np.argsort(-rank if descending else rank, axis=axis, kind="stable")


def key_of(graph):
    return graph.old(lambda v: v.dims and graph.fact(v).exact and graph.most(v.dims) <= graph.largest)


def sort(graph):
    random = graph.random
    x = key_of(graph)
    if not x:
        return False
    axis, descending = random.randrange(len(x.dims)), random.random() < 0.4
    ins = [x]
    for _ in range(random.choice([0, 1, 1, 2])):
        ins.append(graph.old(lambda v: v.dims == x.dims) if random.random() < 0.4 else
                   graph.take(graph.argument(graph.random_element(), x.dims)))
    outs = [graph.output(v.element, v.dims) for v in ins]
    flag = ", descending" if descending else ""
    text = f"tilewright.sort ins({listed(graph, ins)}) outs({listed(graph, outs)}) {{dim = {axis} : i64{flag}}}"
    for made, source in zip(numbered(graph, text, outs), ins):
        graph.add(made, graph.fact(source),
                  lambda env, source=source: np.take_along_axis(env[source.name], places_of(env[x.name], axis, descending), axis))
    return True


def top_k(graph):
    random = graph.random
    x = key_of(graph)
    if not x:
        return False
    axis, smallest = random.randrange(len(x.dims)), random.random() < 0.4
    most = graph.least(x.dims[axis])
    k = random.randint(0, most) if random.random() < 0.3 else min(most, random.randint(1, 5))
    dims = x.dims[:axis] + graph.letter([k] * graph.case_count, known=True) + x.dims[axis + 1:]
    outs = [graph.output(x.element, dims), graph.output(random.choice([I32, I64]), dims)]
    flag = ", smallest" if smallest else ""
    text = f"tilewright.top_k ins({listed(graph, [x])}) outs({listed(graph, outs)}) {{dim = {axis} : i64{flag}}}"
    values, indices = numbered(graph, text, outs)
    first = lambda env: np.take(places_of(env[x.name], axis, not smallest), range(k), axis)
    graph.add(values, graph.fact(x), lambda env: np.take_along_axis(env[x.name], first(env), axis))
    graph.add(indices, Fact(True, graph.most(x.dims[axis])), first)
    return True


def combined(element, how):
    """The text of an op that combines %a and %b."""
    suffix = {"add": "f", "max": "imumf"} if element.is_float else {"add": "i", "max": "ui" if element is BIT else "si"}
    return f"arith.{how}{suffix[how]} %a, %b : {element.name}"


def region(element, how, order):
    block = ", ".join(f"{name}: {element.name}" for name in order)
    return (f" combine {{\n      ^bb0({block}):\n        %c = {combined(element, how)}\n"
            f"        tilewright.combined %c : {element.name}\n    }}")


def can_add(graph, fact, element, times):
    return not element.is_float or (element.bits > 8 and fact.bound * (times + 1) <= whole(element))


def scan(graph):
    random = graph.random
    x = key_of(graph)
    if not x or (x.element.is_float and x.element.bits == 8):
        return False
    axis, fact = random.randrange(len(x.dims)), graph.fact(x)
    along = x.dims[axis]
    how = "add" if random.random() < 0.7 and can_add(graph, fact, x.element, graph.most(along)) else "max"
    reverse, exclusive = random.random() < 0.3, random.random() < 0.4
    start = graph.filled(x.element, x.dims.replace(along, ""), 1) if exclusive else None
    out = graph.output(x.element, x.dims)
    flags = "".join(f", {name}" for name, on in (("exclusive", exclusive), ("reverse", reverse)) if on)
    text = (f"tilewright.scan ins({listed(graph, [x])}) " + (f"init({listed(graph, [start])}) " if start else "")
            + f"outs({listed(graph, [out])}) {{dim = {axis} : i64{flags}}}" + region(x.element, how, ("%a", "%b")))
    made, = numbered(graph, text, [out])

    def compute(env):
        array = np.moveaxis(env[x.name], axis, 0)
        array = array[::-1] if reverse else array
        if exclusive:
            array = np.concatenate([np.ones_like(array[:1], shape=(1, *array.shape[1:])), array])
        if len(array):
            array = (np.add if how == "add" else np.maximum).accumulate(array, axis=0)
        array = array[:-1] if exclusive else array
        return x.element.round(np.moveaxis(array[::-1] if reverse else array, 0, axis))

    bound = (fact.bound + 1) * (graph.most(along) + 1) if how == "add" else max(fact.bound, 1)
    graph.add(made, Fact(True, min(bound, whole(x.element))), compute)
    return True


def scatter(graph):
    """Rows of one dim, put or combined; places may be one, or outside."""
    random = graph.random
    dest = key_of(graph)
    if not dest:
        return False
    axis = random.randrange(len(dest.dims))
    count = graph.base_dim()
    rest = dest.dims[:axis] + dest.dims[axis + 1:]
    if graph.most(count + rest) > graph.largest:
        return False
    one = graph.letter([1] * graph.case_count, known=True)
    updates = graph.take(graph.argument(dest.element, count + rest, exact=True))
    indices = graph.take(graph.argument(random.choice([I32, I64]), count + one, low=-2, high=graph.most(dest.dims[axis])))
    fact, new = graph.fact(dest), graph.fact(updates)
    how = random.choice([None, "add", "max"])
    if dest.element.is_float and dest.element.bits == 8:
        how = None
    if how == "add" and not can_add(graph, Fact(True, max(fact.bound, new.bound)), dest.element, graph.most(count)):
        how = "max"
    text = (f"tilewright.scatter ins({listed(graph, [updates, indices])}) outs({listed(graph, [dest])}) {{dims = array<i64: {axis}>}}"
            + (region(dest.element, how, ("%a", "%b")) if how else ""))
    made, = numbered(graph, text, [dest])

    def compute(env):
        result = np.moveaxis(np.array(env[dest.name]), axis, 0)
        for row, place in zip(env[updates.name], env[indices.name][:, 0]):
            if 0 <= place < len(result):
                result[place] = row if how is None else (np.add if how == "add" else np.maximum)(result[place], row)
                result[place] = dest.element.round(result[place])
        return np.moveaxis(result, 0, axis)

    bound = max(fact.bound, new.bound) * (graph.most(count) + 1 if how == "add" else 1)
    graph.add(made, Fact(True, min(bound, whole(dest.element))), compute)
    return True


# How often each is taken.
WEIGHTS = {sort: 6, top_k: 4, scan: 5, scatter: 5}
