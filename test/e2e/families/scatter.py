# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tilewright.scatter`: rows, slices and elements, put or combined, at places that may be one, or outside."""

import numpy as np

from data import BF16, E4M3, ElementType, F16, F32, F64, I8, I32, I64, integers, uniform
from functions import BOUNDED, EXACT, Function

BIT = ElementType("i1", 1)
SMALL = integers(-9, 9)

# What a combiner makes of a new element and the old one.
COMBINERS = {"add": np.add, "min": np.minimum, "max": np.maximum, "mul": np.multiply}


def combiner(element, how):
    suffix = {"add": "f", "mul": "f", "min": "imumf", "max": "imumf"}[how] if element.is_float else \
        {"add": "i", "mul": "i", "min": "si", "max": "si"}[how]
    op = f"arith.{how}{suffix}"
    return (f" combine {{\n      ^bb0(%new: {element.name}, %old: {element.name}):\n"
            f"        %c = {op} %old, %new : {element.name}\n        tilewright.combined %c : {element.name}\n    }}")


def reference(dims, how):
    def run(updates, indices, dest):
        dest, others = dest.copy(), [d for d in range(dest.ndim) if d not in dims]
        batch = indices.shape[:-1]
        for n in np.ndindex(*batch):
            place = [slice(None)] * dest.ndim
            for k, d in enumerate(dims):
                place[d] = int(indices[n][k])
            if all(0 <= place[d] < dest.shape[d] for d in dims):
                at = tuple(place)
                dest[at] = updates[n] if how is None else COMBINERS[how](dest[at], updates[n])
        assert len(others) == updates.ndim - len(batch)
        return dest
    return run


def scatter(label, element, index, updates, indices, dest, dims, dynamic, how=None, unique=None, data=SMALL, sizes=None,
            check=EXACT, more=(), memref=False, known="T", range_of=None):
    """`indices`: named dims, the last one of which is T; unique: the places that indices have, each once."""
    f = Function("scatter", element.name, label + (f".{how}" if how else "") + (".memref" if memref else ""), sizes, dynamic, known=known)
    u, i, t = f.arg(element, updates, memref), f.arg(index, indices, memref), f.arg(element, dest, memref)
    attributes = f"{{dims = array<i64: {', '.join(map(str, dims))}>{', unique' if unique is not None else ''}}}"
    text = (f"tilewright.scatter ins({u.name}, {i.name} : {f.value_type(u)}, {f.value_type(i)}) "
            f"outs({t.name} : {f.value_type(t)}) {attributes}{combiner(element, how) if how else ''}")
    if memref:
        f.emit(text)
        f.ret()
    else:
        f.ret(f.raw(f"{text} -> {f.value_type(t)}", element, dest))
    for own in [{}, *(more if dynamic else [])]:
        full = {**sizes, **own}
        places = {"fill": "values", "values": list(unique)} if unique is not None and not own else \
            integers(*(range_of or (0 if element is BIT else -2, max(full[dest[d]] for d in dims) + 1)))
        plain = reference(dims, how)
        run = (lambda *x, plain=plain: plain(*map(abs, x))) if element is BIT else plain  # NumPy has -1 for true
        f.case("x".join(map(str, full.values())), own, [data, places, data], check,
               (lambda u, i, t, run=run: [u, i, run(u, i, t)]) if memref else run)
    return f


def permutation(count, size, seed=3):
    return [int(v) for v in np.random.default_rng(seed).permutation(size)[:count]]


def text_of(f, updates, indices, dest, how="add"):
    return (f"tilewright.scatter ins({updates.name}, {indices.name} : {f.value_type(updates)}, {f.value_type(indices)}) "
            f"outs({dest.name} : {f.value_type(dest)}) {{dims = array<i64: 0>}}{combiner(dest.element, how)} -> {f.value_type(dest)}")


def kept():
    """The destination is read by the op and by others behind it."""
    f = Function("scatter", "f32", "kept", {"n": 8, "T": 1, "d": 16})
    t, i = f.arg(F32, "nd"), f.arg(I32, "nT")
    twice = f.raw(f"arith.addf {t.name}, {t.name} : {f.value_type(t)}", F32, "nd")
    s = f.raw(text_of(f, twice, i, twice), F32, "nd")
    f.ret(f.raw(f"arith.subf {s.name}, {twice.name} : {f.value_type(t)}", F32, "nd"), twice)
    f.case("8x16", {}, [SMALL, integers(-1, 8)], EXACT,
           lambda t, i: [reference((0,), "add")(2 * t, i, 2 * t) - 2 * t, 2 * t])
    return f


def windows():
    """Updates and destination are parts of one tensor."""
    f = Function("scatter", "f32", "windows", {"m": 20, "e": 32, "n": 8, "T": 1, "d": 16, "k": 10})
    t, i = f.arg(F32, "me"), f.arg(I32, "nT")
    u = f.raw(f"tensor.extract_slice {t.name}[3, 5] [8, 16] [1, 1] : {f.value_type(t)} to {f.type(F32, 'nd')}", F32, "nd")
    v = f.raw(f"tensor.extract_slice {t.name}[7, 9] [10, 16] [1, 1] : {f.value_type(t)} to {f.type(F32, 'kd')}", F32, "kd")
    s = f.raw(text_of(f, u, i, v), F32, "kd")
    f.ret(f.raw(f"tensor.insert_slice {s.name} into {t.name}[7, 9] [10, 16] [1, 1] : {f.value_type(s)} into {f.value_type(t)}", F32, "me"))

    def run(t, i):
        result = t.copy()
        result[7:17, 9:25] = reference((0,), "add")(t[3:11, 5:21], i, t[7:17, 9:25])
        return result

    f.case("20x32", {}, [SMALL, integers(-1, 10)], EXACT, run)
    return f


def repeated():
    """A loop whose steps each update what the one before left."""
    f = Function("scatter", "f32", "repeated", {"n": 8, "T": 1, "d": 32, "m": 20}, True, known="T")
    u, i, t = f.arg(F32, "nd"), f.arg(I32, "nT"), f.arg(F32, "md")
    zero, one, three = (f.raw(f"arith.constant {v} : index", I32, None).name for v in (0, 1, 3))
    kind = f.value_type(t)
    inner = text_of(f, u, i, t).replace(f"outs({t.name} ", "outs(%carried ")
    result = f.raw(f"scf.for %step = {zero} to {three} step {one} iter_args(%carried = {t.name}) -> ({kind}) {{\n"
                   f"      %put = {inner}\n      scf.yield %put : {kind}\n    }}", F32, "md")
    f.ret(result)

    def run(u, i, t):
        for _ in range(3):
            t = reference((0,), "add")(u, i, t)
        return t

    for sizes in ({}, {"n": 0}, {"n": 50, "m": 7}):
        f.case("x".join(map(str, {**f.sizes, **sizes}.values())), sizes, [SMALL, integers(-1, 10), SMALL], EXACT, run)
    return f


def functions():
    yield kept()
    yield windows()
    yield repeated()
    rows = dict(updates="nd", indices="nT", dest="md", dims=(0,), sizes={"n": 13, "T": 1, "m": 21, "d": 45})
    more = [{"n": 0}, {"n": 200, "m": 5, "d": 64}, {"d": 0}, {"m": 0}, {"n": 300, "m": 700, "d": 1}]
    for dynamic in (False, True):
        yield scatter("rows", F32, I32, dynamic=dynamic, more=more, **rows)
        yield scatter("rows", F32, I64, dynamic=dynamic, how="add", more=more, **rows)
        yield scatter("rows.unique", F16, I32, dynamic=dynamic, unique=permutation(13, 23), **rows)
        yield scatter("rows.unique", F32, I32, dynamic=dynamic, how="add", unique=permutation(13, 21), **rows)
    yield scatter("rows", F32, I32, dynamic=True, memref=True, more=more, **rows)
    yield scatter("rows.unique", BF16, I64, dynamic=True, memref=True, unique=permutation(13, 21), **rows)
    for element, how in ((F64, "add"), (BF16, "max"), (F16, "min"), (I8, "add"), (I32, "mul"), (I64, "max")):
        yield scatter("rows", element, I32, dynamic=False, how=how, data=integers(-2, 2), **rows)
    yield scatter("rows.random", F32, I32, dynamic=False, how="add", data=uniform(-1, 1), check=BOUNDED, **rows)
    for element in (BIT, E4M3):
        yield scatter("rows", element, I32, dynamic=False, data=integers(0, 1), **rows)
    # Coordinates of all dims: elements.
    points = dict(updates="n", indices="nT", dest="md", dims=(0, 1), sizes={"n": 77, "T": 2, "m": 9, "d": 12})
    for dynamic in (False, True):
        yield scatter("points", I8, I64, dynamic=dynamic, more=[{"n": 0}, {"n": 3, "m": 100, "d": 300}], **points)
        yield scatter("points", F32, I32, dynamic=dynamic, how="add", more=[{"n": 900, "m": 40, "d": 33}], **points)
    line = permutation(40, 60)
    yield scatter("line.unique", F32, I32, "n", "nT", "m", (0,), True, unique=line, sizes={"n": 40, "T": 1, "m": 60})
    yield scatter("line", I32, I8, "n", "nT", "m", (0,), True, how="add", sizes={"n": 400, "T": 1, "m": 60})
    # Dims in the middle and last, in another order, batches of updates, one update.
    yield scatter("middle", F32, I32, "nabd", "nT", "ambd", (1,), True, how="add", sizes={"n": 9, "T": 1, "a": 3, "m": 7, "b": 2, "d": 33},
                  more=[{"b": 0}, {"d": 130}])
    yield scatter("last", F16, I32, "nab", "nT", "abm", (2,), False, sizes={"n": 9, "T": 1, "a": 3, "b": 5, "m": 7})
    # So many slices of one element that a block has but one of them, and one thread for it.
    yield scatter("thin", F32, I32, "nad", "nT", "mad", (0,), False, how="add", sizes={"n": 6, "T": 1, "m": 4, "a": 16384, "d": 1})
    yield scatter("swapped", F32, I32, "nb", "nT", "mbk", (2, 0), True, sizes={"n": 30, "T": 2, "m": 5, "b": 9, "k": 6})
    yield scatter("batches", F32, I32, "pqd", "pqT", "md", (0,), True, how="add", sizes={"p": 4, "q": 3, "T": 1, "m": 7, "d": 20})
    yield scatter("one", F32, I32, "d", "T", "md", (0,), True, sizes={"T": 1, "m": 7, "d": 20}, range_of=(3, 3))
    # Rows of a cache, by batch and place.
    yield scatter("cache.unique", F16, I32, "nhd", "nT", "bshd", (0, 1), True, sizes={"n": 4, "T": 2, "b": 4, "s": 16, "h": 2, "d": 32},
                  unique=[0, 3, 1, 15, 2, 0, 3, 16], memref=True)
    yield scatter("large", F32, I32, "nd", "nT", "md", (0,), True, how="add", sizes={"n": 3000, "T": 1, "m": 2000, "d": 40})
