# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that say they are parallel, as tilers write them: scf.forall over tiles of tensors and over memrefs, scf.parallel with
and without sums, affine.parallel, likewise."""

import numpy as np

from data import F16, F32, integers
from functions import EXACT, Function

FAMILY = "parallel_loop"

# A tile has 16 rows, the last one what is left of them.
TILED = """
%r = scf.forall (%i, %j) = (0, 0) to ({m}, {n}) step (16, 32) shared_outs(%o = %e) -> ({2}) {{
  %h = affine.min affine_map<(i)[s] -> (16, s - i)>(%i)[{m}]
  %w = affine.min affine_map<(i)[s] -> (32, s - i)>(%j)[{n}]
  %x = tensor.extract_slice %arg0[%i, 0] [%h, {k}] [1, 1] : {0} to tensor<?x{k_}x{e}>
  %y = tensor.extract_slice %arg1[0, %j] [{k}, %w] [1, 1] : {1} to tensor<{k_}x?x{e}>
  %t = tensor.extract_slice %o[%i, %j] [%h, %w] [1, 1] : {2} to tensor<?x?x{e}>
  %z = linalg.fill ins(%zero : {e}) outs(%t : tensor<?x?x{e}>) -> tensor<?x?x{e}>
  %s = linalg.matmul ins(%x, %y : tensor<?x{k_}x{e}>, tensor<{k_}x?x{e}>) outs(%z : tensor<?x?x{e}>) -> tensor<?x?x{e}>
  scf.forall.in_parallel {{
    tensor.parallel_insert_slice %s into %o[%i, %j] [%h, %w] [1, 1] : tensor<?x?x{e}> into {2}
  }}
}}
"""

# Rows move on by one: each iteration reads what was there before the loop; and a second result.
MOVED = """
%r, %d = scf.forall (%i) in (%last) shared_outs(%o = %arg0, %p = %arg1) -> ({0}, {1}) {{
  %next = arith.addi %i, %c1 : index
  %x = tensor.extract_slice %arg0[%next, 0] [1, {n}] [1, 1] : {0} to tensor<{n_}x{e}>
  %y = tensor.extract_slice %p[%i, 0] [1, {n}] [1, 1] : {1} to tensor<{n_}x{e}>
  %s = linalg.add ins(%x, %y : tensor<{n_}x{e}>, tensor<{n_}x{e}>) outs(%y : tensor<{n_}x{e}>) -> tensor<{n_}x{e}>
  scf.forall.in_parallel {{
    tensor.parallel_insert_slice %x into %o[%i, 0] [1, {n}] [1, 1] : tensor<{n_}x{e}> into {0}
    tensor.parallel_insert_slice %s into %p[%i, 0] [1, {n}] [1, 1] : tensor<{n_}x{e}> into {1}
  }}
}}
"""

MEMREFS = """
scf.forall (%i, %j) in ({m}, {n}) {{
  %x = memref.load %arg0[%i, %j] : {0}
  %y = arith.addf %x, %x : {e}
  memref.store %y, %arg1[%j, %i] : {1}
}}
scf.parallel (%i) = (%c1) to (%last) step (%c2) {{
  %s = scf.parallel (%j) = (%c0) to ({n}) step (%c1) init (%zero) -> {e} {{
    %x = memref.load %arg0[%i, %j] : {0}
    scf.reduce(%x : {e}) {{
    ^bb0(%p: {e}, %q: {e}):
      %t = arith.addf %p, %q : {e}
      scf.reduce.return %t : {e}
    }}
  }}
  memref.store %s, %arg2[%i] : {2}
}}
affine.parallel (%i) = (0) to (5) {{
  %x = affine.load %arg0[%i, 0] : {0}
  affine.store %x, %arg3[%i + 1] : {3}
}}
"""


def begin(element, label, dims, args, dynamic, memref):
    f = Function(FAMILY, element.name, label, dims, dynamic)
    values = [f.arg(element, d, memref) for d in args]
    for number in range(3):
        f.emit(f"%c{number} = arith.constant {number} : index")
    f.emit(f"%zero = arith.constant 0.0 : {element.name}")
    words = {"e": element.name}
    for d in dims:
        if f.is_dynamic(d):
            f.emit(f"%{d} = arith.addi {f.size_of(d)}, %c0 : index")
        else:
            f.emit(f"%{d} = arith.constant {dims[d]} : index")
        words[d], words[d + "_"] = f"%{d}", "?"
    return f, values, words


def write(f, text, types, words):
    for line in text.format(*types, **words).strip().split("\n"):
        f.emit(line)


def tiled(element, dynamic):
    dims = {"m": 37, "n": 70, "k": 24}
    f, values, words = begin(element, "tiled", dims, ("mk", "kn"), dynamic, False)
    out = f.empty(element, "mn")
    f.emit(f"%e = tensor.cast {out.name} : {f.value_type(out)} to {f.value_type(out)}")
    write(f, TILED, [*map(f.value_type, values), f.value_type(out)], words)
    out.name = "%r"
    f.ret(out)
    for sizes in ({}, {"m": 1, "n": 1}, {"m": 0}, {"m": 16, "n": 32, "k": 0}) if dynamic else ({},):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-3, 3), EXACT, lambda a, b: a @ b)
    return f


def moved(element, dynamic):
    dims = {"m": 7, "n": 45}
    f, values, words = begin(element, "moved", dims, ("mn", "mn"), dynamic, False)
    f.emit("%last = arith.subi %m, %c1 : index")
    write(f, MOVED, map(f.value_type, values), words)
    for value, name in zip(values, ("%r", "%d")):
        f.ret(*f.returned, type(value)(name, element, "mn"))
    f.case("7x45", {}, integers(-9, 9), EXACT,
           lambda x, y: [np.concatenate([x[1:], x[-1:]]), np.concatenate([x[1:] + y[:-1], y[-1:]])])
    return f


def memrefs(element, dynamic):
    dims = {"m": 18, "n": 45}
    f, values, words = begin(element, "memrefs", dims, ("mn", "nm", "m", "m"), dynamic, True)
    f.emit("%last = arith.subi %m, %c1 : index")
    write(f, MEMREFS, map(f.value_type, values), words)

    def reference(x, y, z, v):
        z, v = z.copy(), v.copy()
        z[1:-1:2] = x[1:-1:2].sum(axis=1)
        v[1:6] = x[:5, 0]
        return [2 * x.T, z, v]

    f.case("18x45", {}, integers(-3, 3), EXACT, reference)
    return f


SUMS = """
affine.parallel (%i) = (0) to ({m}) {{
  %s = affine.parallel (%j, %p) = (0, 0) to ({n}, {k}) reduce ("addf") -> {e} {{
    %x = affine.load %arg0[%i, %j, %p] : {0}
    affine.yield %x : {e}
  }}
  affine.store %s, %arg1[%i] : {1}
  %l:2 = affine.parallel (%j) = (0) to ({n}) reduce ("maximumf", "minimumf") -> ({e}, {e}) {{
    %x = affine.load %arg0[%i, %j, 0] : {0}
    affine.yield %x, %x : {e}, {e}
  }}
  affine.store %l#0, %arg2[%i] : {2}
  affine.store %l#1, %arg3[%i] : {3}
}}
"""


def sums(element, dynamic):
    dims = {"m": 18, "n": 7, "k": 45}
    f, values, words = begin(element, "affine_sums", dims, ("mnk", "m", "m", "m"), dynamic, True)
    write(f, SUMS, map(f.value_type, values), words)
    f.case("18x7x45", {}, integers(-3, 3), EXACT,
           lambda x, *_: [x.sum(axis=(1, 2)), x[:, :, 0].max(axis=1), x[:, :, 0].min(axis=1)])
    return f


def functions():
    for dynamic in (False, True):
        for element in (F32, F16):
            yield tiled(element, dynamic)
        yield moved(F32, dynamic)
        yield memrefs(F32, dynamic)
        yield sums(F32, dynamic)
