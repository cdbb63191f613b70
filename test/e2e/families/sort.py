# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tilewright.sort` and `tilewright.top_k`: rows of any length along any dim, alone and with what lies beside the keys."""

import numpy as np

from data import BF16, E4M3, F16, F32, F64, I1, I8, I16, I32, I64, choice, integers, uniform
from functions import EXACT, Function

# Many equal keys, of both signs of zero; a few that are no numbers.
EQUAL, ODD = integers(-3, 3), choice("nan", "inf", "-inf", 0.0, -0.0, 1.0, -1.0, 2.5)
NARROW_ODD = choice("nan", 0.0, -0.0, 1.0, 2.5)


def order(keys, axis, descending):
    """Places of the keys in order: stable, NaN the largest."""
    keys = np.asarray(keys)
    rank = np.unique(keys.ravel() + 0.0 if keys.dtype.kind == "f" else keys.ravel(), return_inverse=True)[1].reshape(keys.shape)
    return np.argsort(-rank if descending else rank, axis=axis, kind="stable")



def listed(f, values):
    return f"{', '.join(v.name for v in values)} : {', '.join(f.value_type(v) for v in values)}"


def several(f, text, outs):
    """One op with a result for each of outs."""
    name = f.fresh()
    kinds = ", ".join(f.value_type(v) for v in outs)
    f.emit(f"{name}{f':{len(outs)}' if len(outs) > 1 else ''} = {text} -> {kinds}")
    return [type(v)(f"{name}#{i}" if len(outs) > 1 else name, v.element, v.dims) for i, v in enumerate(outs)]


def sort(label, element, dims, sizes, along, dynamic, others=(), descending=False, data=EQUAL, more=(), memref=False, compare=None,
         key=None):
    """others: types of what is permuted beside the keys; compare: text of a comparison, `key` of which is NumPy's order."""
    f = Function("sort", element.name, label + (".descending" if descending else "") + (".memref" if memref else ""), sizes, dynamic)
    axis = dims.index(along)
    ins = [f.arg(kind, dims, memref) for kind in (element, *others)]
    outs = [f.arg(kind, dims, True) if memref else f.empty(kind, dims) for kind in (element, *others)]
    text = (f"tilewright.sort ins({listed(f, ins)}) outs({listed(f, outs)}) "
            f"{{dim = {axis} : i64{', descending' if descending else ''}}}")
    if compare:
        block = ", ".join(f"%a{i}: {v.element.name}, %b{i}: {v.element.name}" for i, v in enumerate(ins))
        lines = "".join(f"        {line}\n" for line in compare)
        text += f" compare {{\n      ^bb0({block}):\n{lines}        tilewright.combined %c : i1\n    }}"
    if memref:
        f.emit(text)
        f.ret()
    else:
        f.ret(*several(f, text, outs))

    def reference(*arrays):
        arrays = arrays[:len(ins)]
        places = order(key(*arrays) if key else arrays[0], axis, descending)
        result = [np.take_along_axis(x, places, axis) for x in arrays]
        return result if len(result) > 1 else result[0]

    for own in [{}, *(more if dynamic else [])]:
        fills = [data, *[integers(0, 1 if kind is I1 else 99) for kind in others]]
        f.case("x".join(str({**sizes, **own}[d]) for d in dims), own, fills + (fills if memref else []), EXACT, reference)
    return f


def in_place():
    f = Function("sort", "f32", "in_place.memref", {"m": 3, "n": 90}, True)
    x = f.arg(F32, "mn", True)
    f.emit(f"tilewright.sort ins({listed(f, [x])}) outs({listed(f, [x])}) {{dim = 1 : i64}}")
    f.ret()
    for own in ({}, {"n": 20}):
        f.case("x".join(str({**f.sizes, **own}[d]) for d in "mn"), own, EQUAL, EXACT, lambda x: np.sort(x, axis=1))
    return f


def top_k(label, element, index, dims, sizes, along, dynamic, smallest=False, data=EQUAL, more=(), memref=False):
    """`sizes` has the number of results as K; of a dynamic function, it is that of an argument."""
    f = Function("sort", element.name, "top_k." + label + (".smallest" if smallest else "") + (".memref" if memref else ""), sizes,
                 dynamic)
    axis, few = dims.index(along), dims.replace(along, "k")
    x = f.arg(element, dims, memref)
    if memref or dynamic:
        like = [f.arg(element, few, memref), f.arg(index, few, memref)]
    outs = like if memref else [f.empty(element, few), f.empty(index, few)]
    text = (f"tilewright.top_k ins({listed(f, [x])}) outs({listed(f, outs)}) "
            f"{{dim = {axis} : i64{', smallest' if smallest else ''}}}")
    if memref:
        f.emit(text)
        f.ret()
    else:
        f.ret(*several(f, text, outs))

    for own in [{}, *(more if dynamic else [])]:
        full = {**sizes, **own}

        def reference(x, *_, count=full["k"]):
            places = order(x, axis, not smallest)
            places = np.take(places, range(count), axis)
            return [np.take_along_axis(x, places, axis), places]

        f.case("x".join(str(full[d]) for d in dims) + f".{full['k']}", own, [data] + ([data, integers(0, 9)] if memref or dynamic else []),
               EXACT, reference)
    return f


def functions():
    row = {"m": 3, "n": 37}
    more = [{"n": 0}, {"m": 0}, {"n": 1}, {"n": 2}, {"n": 31}, {"n": 32}, {"n": 33}, {"n": 64}, {"n": 65}, {"n": 97}, {"m": 1, "n": 1000},
            {"m": 70, "n": 130}, {"m": 1, "n": 5000}, {"n": 128}, {"n": 129}, {"n": 511}, {"n": 512}, {"n": 513}, {"n": 1024}, {"n": 1025}]
    for dynamic in (False, True):
        yield sort("keys", F32, "mn", row, "n", dynamic, more=more)
        yield sort("pairs", F32, "mn", row, "n", dynamic, (I32,), more=more)
        yield sort("pairs", F32, "mn", row, "n", dynamic, (I64,), descending=True, more=more)
        yield sort("pairs", I32, "mn", row, "n", dynamic, (I32,), descending=True, more=more)
        yield sort("columns", F32, "nm", {"n": 70, "m": 5}, "n", dynamic, (I32,), more=[{"m": 40}, {"n": 300, "m": 3}, {"n": 0}])
        yield sort("middle", I32, "anb", {"a": 2, "n": 100, "b": 3}, "n", dynamic, (F16,), more=[{"n": 20, "b": 33}, {"a": 0}])
        yield sort("odd", F32, "mn", {"m": 4, "n": 70}, "n", dynamic, (I32,), data=ODD)
        yield sort("odd", F32, "mn", {"m": 4, "n": 70}, "n", dynamic, (I32,), descending=True, data=ODD)
        yield top_k("rows", F32, I64, "mn", {**row, "k": 5}, "n", dynamic,
                    more=[{"k": 37}, {"k": 0}, {"n": 300, "k": 1}, {"n": 40, "k": 40}, {"n": 0, "k": 0}, {"m": 0}, {"n": 130, "k": 33},
                          {"n": 1000, "k": 100}, {"m": 1, "n": 5000}, {"n": 64, "k": 32}, {"n": 65, "k": 64},
                          {"n": 3000, "k": 700}, {"n": 1600, "k": 1024}, {"n": 1025, "k": 512}, {"n": 1030, "k": 513}])
        yield top_k("rows", F32, I32, "mn", {**row, "k": 5}, "n", dynamic, smallest=True, more=[{"n": 300}])
        yield top_k("columns", F16, I64, "nm", {"n": 70, "m": 9, "k": 4}, "n", dynamic, more=[{"n": 4}, {"n": 300}])
    yield top_k("more", F32, I32, "mn", {"m": 2, "n": 500, "k": 70}, "n", False)
    yield top_k("merged", F32, I32, "mn", {"m": 2, "n": 2600, "k": 600}, "n", False)
    yield sort("columns", I16, "nm", {"n": 1300, "m": 5}, "n", False, (I32,))
    yield top_k("most", F32, I32, "mn", {"m": 2, "n": 100, "k": 70}, "n", False)
    for element in (F16, BF16, F64, I8, I16, I64):
        yield sort("pairs", element, "mn", {"m": 2, "n": 90}, "n", False, (I32,))
        yield sort("keys", element, "mn", {"m": 2, "n": 90}, "n", True, descending=True, more=[{"n": 20}, {"n": 300}])
        yield top_k("rows", element, I32, "mn", {"m": 2, "n": 90, "k": 7}, "n", False)
    for element in (F16, BF16, F64, E4M3):
        yield sort("odd", element, "n", {"n": 100}, "n", False, (I32,), data=ODD if element is not E4M3 else NARROW_ODD)
    yield sort("pairs", I1, "mn", {"m": 2, "n": 90}, "n", False, (I32,), data=integers(0, 1))
    yield sort("others", F32, "n", {"n": 150}, "n", True, (I8, F64, I1, BF16), more=[{"n": 3}])
    yield sort("random", F32, "mn", {"m": 2, "n": 700}, "n", True, (I32,), data=uniform(-1, 1), more=[{"n": 5}])
    yield sort("line", I64, "n", {"n": 1000}, "n", True, data=integers(-9e15, 9e15), more=[{"n": 20000}])
    yield sort("pairs", F32, "mn", row, "n", True, (I32,), memref=True, more=[{"n": 300}])
    yield top_k("rows", F32, I64, "mn", {**row, "k": 5}, "n", True, memref=True, more=[{"n": 300}])
    yield in_place()
    # Unsigned numbers; by the second operand, then the first.
    yield sort("unsigned", I32, "mn", {"m": 2, "n": 90}, "n", True, (I32,), compare=["%c = arith.cmpi ult, %a0, %b0 : i32"],
               key=lambda x, _: np.where(x < 0, x + 2**32, x), more=[{"n": 10}])
    yield sort("two_keys", I32, "mn", {"m": 2, "n": 90}, "n", True, (I32,),
               compare=["%l = arith.cmpi slt, %a1, %b1 : i32", "%e = arith.cmpi eq, %a1, %b1 : i32",
                        "%f = arith.cmpi sgt, %a0, %b0 : i32", "%g = arith.andi %e, %f : i1", "%c = arith.ori %l, %g : i1"],
               key=lambda x, y: y * 100 - x, more=[{"n": 10}, {"n": 400}])
