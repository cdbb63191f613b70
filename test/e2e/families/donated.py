# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that are given away for a result (`tf.aliasing_output`): caches that a step updates where they are, and reads. Outputs are
the results that are left, then those in the memory of arguments."""

import numpy as np

from data import BF16, F16, F32, I1, I8, I32, INDEX, choice, integers, uniform
from functions import BOUNDED, EXACT, Function


def slice_at(f, cache, new, at):
    """`cache` with `new` at row `at`."""
    count = f.size_of("n") if f.is_dynamic("n") else f.raw(f"arith.constant {f.sizes['n']} : index", INDEX, None).name
    one = f.raw("arith.constant 1 : index", INDEX, None).name
    last = f.raw(f"arith.subi {count}, {one} : index", INDEX, None).name
    inside = f.raw(f"arith.minui {at.name}, {last} : index", INDEX, None).name
    sizes = [f.size_of(d) if f.is_dynamic(d) else str(f.sizes[d]) for d in new.dims]
    offsets = [inside if d == "n" else "0" for d in cache.dims]
    return f.raw(f"tensor.insert_slice {new.name} into {cache.name}[{', '.join(offsets)}] [{', '.join(sizes)}] [{', '.join('1' * len(sizes))}] : "
                 f"{f.value_type(new)} into {f.value_type(cache)}", cache.element, cache.dims)


def updated(cache, new, at):
    cache = cache.copy()
    at = min(int(at), cache.shape[-2] - 1)
    cache[..., at:at + 1, :] = new
    return cache


def row_sums(f, x):
    out = f.zeros(x.element, x.dims.replace("n", ""))
    add = "addf" if x.element.is_float else "addi"
    return f.generic(x.dims, [x], out, lambda lines, a, b: lines.append(f"%t = arith.{add} {a}, {b} : {x.element.name}") or "%t",
                     reduce="n")


def cache(element, label, dynamic):
    """`update`: the cache alone; `read`: sums of the new one, too; `old`: sums of the old one."""
    f = Function("donated", element.name, label, {"b": 3, "n": 17, "d": 8, "O": 1}, dynamic)
    x, new, at = f.arg(element, "bnd"), f.arg(element, "bOd"), f.scalar_arg(INDEX)
    x.result = 0 if label == "update" else 1
    result = slice_at(f, x, new, at)
    if label == "update":
        f.ret(result)
    else:
        f.ret(row_sums(f, result if label == "read" else x), result)

    def reference(x, new, at):
        after = updated(x, new, at)
        return after if label == "update" else ((after if label == "read" else x).sum(1), after)
    for own, place in [({}, 5), ({}, 16), *([({"n": 1, "b": 1}, 0), ({"n": 300, "d": 65}, 299), ({"b": 0}, 3)] if dynamic else [])]:
        f.case("x".join(str({**f.sizes, **own}[d]) for d in "bnd") + f".{place}", own, [integers(-3, 3), integers(-3, 3), choice(place)],
               EXACT, reference)
    return f


def swap(dynamic):
    """Two arguments change places, one of them with one more."""
    f = Function("donated", F32.name, "swap", {"m": 5, "n": 7}, dynamic)
    x, y = f.arg(F32, "mn"), f.arg(F32, "mn")
    x.result, y.result = 0, 1
    one = f.filled(F32, "mn", 1)
    f.ret(f.op("linalg.add", [y, one], f.empty(F32, "mn")), x)
    f.case("all", {}, integers(-9, 9), EXACT, lambda x, y: (y + 1, x))
    return f


def kept(dynamic):
    """The old cache is a result of its own, and so is a part of it."""
    f = Function("donated", F32.name, "kept", {"b": 2, "n": 9, "d": 4, "O": 1}, dynamic)
    x, new, at = f.arg(F32, "bnd"), f.arg(F32, "bOd"), f.scalar_arg(INDEX)
    x.result = 0
    sizes = [f.size_of(d) if f.is_dynamic(d) else str(f.sizes[d]) for d in "bOd"]
    first = f.raw(f"tensor.extract_slice {x.name}[0, 0, 0] [{', '.join(sizes)}] [1, 1, 1] : {f.value_type(x)} to {f.value_type(new)}", F32, "bOd")
    f.ret(slice_at(f, x, new, at), x, first)
    f.case("all", {}, [integers(-9, 9), integers(-9, 9), choice(0)], EXACT, lambda x, new, at: (x, x[:, :1], updated(x, new, at)))
    return f


def chosen(how, element=F32):
    """The old elements are a result by a branch, a choice, a loop that may not run, or what is folded away."""
    f = Function("donated", element.name, how, {"m": 30, "n": 7})
    a, b, c = f.arg(element, "mn"), f.arg(element, "mn"), f.scalar_arg(I1)
    a.result = 0
    total = f.op("linalg.add", [a, b], f.empty(element, "mn"))
    type_text = f.value_type(a)
    if how == "select":
        old = f.raw(f"arith.select {c.name}, {a.name}, {b.name} : {type_text}", element, "mn")
    elif how == "if":
        old = f.raw(f"scf.if {c.name} -> {type_text} {{\n      scf.yield {a.name} : {type_text}\n    }} else {{\n"
                    f"      scf.yield {b.name} : {type_text}\n    }}", element, "mn")
    elif how == "for":
        from_, step = (f.raw(f"arith.constant {n} : index", INDEX, None).name for n in (0, 1))
        to = f.raw(f"arith.index_castui {c.name} : i1 to index", INDEX, None).name
        old = f.raw(f"scf.for %i = {from_} to {to} step {step} iter_args(%x = {a.name}) -> {type_text} {{\n"
                    f"      %y = linalg.add ins(%x, {b.name} : {type_text}, {type_text}) outs({f.empty(element, 'mn').name} : {type_text}) -> {type_text}\n"
                    f"      scf.yield %y : {type_text}\n    }}", element, "mn")
    else:
        zero = f.raw(f"arith.constant dense<0> : {type_text}", element, "mn")
        old = f.raw(f"arith.addi {a.name}, {zero.name} : {type_text}", element, "mn")
    f.ret(total, old)

    def reference(a, b, c):
        other = {"select": b, "if": b, "for": a + b}.get(how, a)
        return other if (c != 0) == (how == "for") else a, a + b
    for value in (0, 1):
        f.case(str(value), {}, [integers(-9, 9), integers(-9, 9), choice(value)], EXACT, reference)
    return f


def decode(element):
    """A step of a decoder: keys and values get a row, and are attended to."""
    f = Function("donated", element.name, "decode", {"h": 2, "m": 1, "n": 40, "d": 16, "O": 1})
    keys, values, new_key, new_value, query = (f.arg(element, dims) for dims in ("hnd", "hnd", "hOd", "hOd", "hmd"))
    at = f.scalar_arg(INDEX)
    keys.result, values.result = 0, 1
    keys_now, values_now = slice_at(f, keys, new_key, at), slice_at(f, values, new_value, at)

    def product(iteration, a, b, out, over):
        def body(lines, x, y, sum_):
            for name, value, source in (("%xe", x, a), ("%ye", y, b)):
                if source.element is not F32:
                    lines.append(f"{name} = arith.extf {value} : {source.element.name} to f32")
            x, y = ("%xe" if a.element is not F32 else x), ("%ye" if b.element is not F32 else y)
            lines += [f"%p = arith.mulf {x}, {y} : f32", f"%t = arith.addf {sum_}, %p : f32"]
            return "%t"
        return f.generic(iteration, [a, b], out, body, reduce=over)
    scores = product("hmnd", query, keys_now, f.zeros(F32, "hmn"), "d")
    weights = f.raw(f"linalg.softmax dimension(2) ins({scores.name} : {f.value_type(scores)}) outs({f.empty(F32, 'hmn').name} : "
                    f"{f.value_type(scores)}) -> {f.value_type(scores)}", F32, "hmn")
    f.ret(keys_now, values_now, product("hmdn", weights, values_now, f.zeros(F32, "hmd"), "n"))

    def reference(keys, values, new_key, new_value, query, at):
        keys, values = updated(keys, new_key, at), updated(values, new_value, at)
        scores = query @ keys.swapaxes(1, 2)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return (weights / weights.sum(-1, keepdims=True)) @ values, keys, values
    f.case("step", {}, [uniform(-1, 1)] * 5 + [choice(11)], BOUNDED, reference)
    return f


def functions():
    for dynamic in (False, True):
        for label in ("update", "read", "old"):
            yield cache(F32, label, dynamic)
        yield swap(dynamic)
        yield kept(dynamic)
    for how in ("select", "if", "for"):
        yield chosen(how)
    yield chosen("folded", I32)
    yield cache(F16, "read", True)
    yield cache(I8, "update", True)
    yield decode(F32)
    yield decode(BF16)
