# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loop nests over memrefs, of affine and of scf: products, windows, sums that loops carry, stores one after the other,
updates in place; and loops that depend on each other, which stay on the host."""

import numpy as np

from data import F16, F32, I32, integers
from functions import EXACT, Function


def program(element, label, dims, args, text, reference, dynamic=False, cases=({},), values=(-5, 5)):
    """`text` has {0} for the type of the first argument; of dynamic programs %m is the size of dim m."""
    f = Function("loops", element.name, label, dims, dynamic)
    values_ = [f.arg(element, d, True) for d in args]
    for number in range(9):
        f.emit(f"%c{number} = arith.constant {number} : index")
    for d in dims:
        if f.is_dynamic(d):
            f.emit(f"%{d} = arith.addi {f.size_of(d)}, %c0 : index")
        else:
            f.emit(f"%{d} = arith.constant {dims[d]} : index")
    zero = "0.0" if element.is_float else "0"
    f.emit(f"%zero = arith.constant {zero} : {element.name}")
    types = [f.value_type(v) for v in values_]
    for line in text.format(*types, e=element.name).strip().split("\n"):
        f.emit(line)
    for sizes in cases:
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(*values), EXACT, reference)
    return f


AFFINE_PRODUCT = """
affine.for %i = 0 to 37 {{
  affine.for %j = 0 to 41 {{
    affine.for %l = 0 to 29 {{
      %x = affine.load %arg0[%i, %l] : {0}
      %y = affine.load %arg1[%l, %j] : {1}
      %z = affine.load %arg2[%i, %j] : {2}
      %p = arith.mulf %x, %y : {e}
      %s = arith.addf %z, %p : {e}
      affine.store %s, %arg2[%i, %j] : {2}
    }}
  }}
}}
"""

CARRIED_PRODUCT = """
scf.for %i = %c0 to %m step %c1 {{
  scf.for %j = %c0 to %n step %c1 {{
    %r = scf.for %l = %c0 to %k step %c1 iter_args(%acc = %zero) -> {e} {{
      %x = memref.load %arg0[%i, %l] : {0}
      %y = memref.load %arg1[%l, %j] : {1}
      %p = arith.mulf %x, %y : {e}
      %s = arith.addf %acc, %p : {e}
      scf.yield %s : {e}
    }}
    %q = arith.addf %r, %r : {e}
    memref.store %q, %arg2[%i, %j] : {2}
  }}
}}
"""

WINDOWS = """
affine.for %i = 0 to 32 {{
  affine.store %zero, %arg2[%i] : {2}
  affine.for %l = 0 to 3 {{
    %x = affine.load %arg0[%i * 2 + %l + 1] : {0}
    %y = affine.load %arg1[%l] : {1}
    %z = affine.load %arg2[%i] : {2}
    %p = arith.muli %x, %y : {e}
    %s = arith.addi %z, %p : {e}
    affine.store %s, %arg2[%i] : {2}
  }}
  %v = affine.load %arg2[%i] : {2}
  %u = arith.maxsi %v, %zero : {e}
  affine.store %u, %arg2[%i] : {2}
}}
"""

# What stands behind an element moves into its place, but for the last one.
SHIFT = """
affine.for %i = 0 to 63 {{
  %x = affine.load %arg0[%i + 1] : {0}
  affine.store %x, %arg0[%i] : {0}
}}
"""

# Each element of the second is computed from one of the first that an earlier iteration stored.
FORWARD = """
affine.for %i = 1 to 70 {{
  %x = affine.load %arg0[%i] : {0}
  %t = arith.addf %x, %x : {e}
  affine.store %t, %arg1[%i] : {1}
  %y = affine.load %arg1[%i - 1] : {1}
  %u = arith.addf %y, %x : {e}
  affine.store %u, %arg2[%i] : {2}
}}
"""

PLACES = """
affine.for %i = 4 to 36 step 2 {{
  affine.for %j = 0 to 9 {{
    %x = affine.load %arg0[%j, %i] : {0}
    %w = arith.index_cast %i : index to i32
    %g = arith.sitofp %w : i32 to {e}
    %y = arith.addf %x, %g : {e}
    affine.store %y, %arg1[%i floordiv 2 - 2, %j + 1] : {1}
  }}
}}
"""

# Sweeps of a stencil, there and back, in a loop of the host; edges stay.
STENCIL = """
scf.for %t = %c0 to %c3 step %c1 {{
  affine.for %i = 1 to 22 {{
    affine.for %j = 1 to 39 {{
      %a = affine.load %arg0[%i - 1, %j] : {0}
      %b = affine.load %arg0[%i, %j + 1] : {0}
      %s = arith.addi %a, %b : {e}
      affine.store %s, %arg1[%i, %j] : {1}
    }}
  }}
  affine.for %i = 1 to 22 {{
    affine.for %j = 1 to 39 {{
      %a = affine.load %arg1[%i, %j] : {1}
      affine.store %a, %arg0[%i, %j] : {0}
    }}
  }}
}}
"""

ROWS = """
scf.for %i = %c0 to %m step %c1 {{
  %first = memref.load %arg0[%i, %c0] : {0}
  %big, %sum = scf.for %j = %c0 to %n step %c1 iter_args(%b = %first, %s = %zero) -> ({e}, {e}) {{
    %x = memref.load %arg0[%i, %j] : {0}
    %b1 = arith.maximumf %b, %x : {e}
    %s1 = arith.addf %s, %x : {e}
    scf.yield %b1, %s1 : {e}, {e}
  }}
  memref.store %big, %arg1[%i] : {1}
  memref.store %sum, %arg2[%i] : {2}
}}
"""

# Terms are taken one by one: no sum.
HORNER = """
affine.for %i = 0 to 21 {{
  affine.for %l = 0 to 8 {{
    %v = affine.load %arg1[%i] : {1}
    %x = affine.load %arg0[%i, %l] : {0}
    %w = arith.addi %v, %v : {e}
    %s = arith.subi %w, %x : {e}
    affine.store %s, %arg1[%i] : {1}
  }}
}}
"""

# Each element needs the one in front of it: the host's.
PREFIX = """
scf.for %i = %c1 to %m step %c1 {{
  %before = arith.subi %i, %c1 : index
  %x = memref.load %arg0[%before] : {0}
  %y = memref.load %arg0[%i] : {0}
  %s = arith.addi %x, %y : {e}
  memref.store %s, %arg0[%i] : {0}
}}
"""

# No iteration where there is no more than one element.
BEHIND = """
scf.for %i = %c1 to %m step %c2 {{
  %x = memref.load %arg0[%i] : {0}
  %y = arith.addi %x, %x : {e}
  memref.store %y, %arg1[%i] : {1}
}}
"""

# A product with what is below the diagonal.
TRIANGLE = """
scf.for %i = %c0 to %m step %c1 {{
  scf.for %j = %c0 to %n step %c1 {{
    %end = arith.addi %i, %c1 : index
    scf.for %l = %c0 to %end step %c1 {{
      %x = memref.load %arg0[%i, %l] : {0}
      %y = memref.load %arg1[%l, %j] : {1}
      %z = memref.load %arg2[%i, %j] : {2}
      %p = arith.mulf %x, %y : {e}
      %s = arith.addf %z, %p : {e}
      memref.store %s, %arg2[%i, %j] : {2}
    }}
  }}
}}
"""

# The elimination of three columns: a loop of the host, whose counter is in all places.
ELIMINATION = """
scf.for %t = %c0 to %c3 step %c1 {{
  %next = arith.addi %t, %c1 : index
  scf.for %i = %next to %m step %c1 {{
    scf.for %j = %next to %m step %c1 {{
      %x = memref.load %arg0[%i, %t] : {0}
      %y = memref.load %arg0[%t, %j] : {0}
      %z = memref.load %arg0[%i, %j] : {0}
      %p = arith.mulf %x, %y : {e}
      %s = arith.subf %z, %p : {e}
      memref.store %s, %arg0[%i, %j] : {0}
    }}
  }}
}}
"""

# Zeros along an edge, a choice of what is stored elsewhere, and what is stored for some elements only.
CONDITIONS = """
scf.for %i = %c0 to %m step %c1 {{
  scf.for %j = %c0 to %n step %c1 {{
    %edge = arith.cmpi eq, %j, %c0 : index
    %v = memref.load %arg0[%i, %j] : {0}
    %less = arith.cmpi slt, %v, %zero : {e}
    scf.if %edge {{
      memref.store %zero, %arg1[%i, %j] : {1}
    }} else {{
      %before = arith.subi %j, %c1 : index
      %x = memref.load %arg0[%i, %before] : {0}
      %w = scf.if %less -> ({e}) {{
        scf.yield %x : {e}
      }} else {{
        %d = arith.addi %x, %v : {e}
        scf.yield %d : {e}
      }}
      memref.store %w, %arg1[%i, %j] : {1}
    }}
    scf.if %less {{
      memref.store %v, %arg2[%i, %j] : {2}
    }}
  }}
}}
"""

# Elements divide, and the counter is an integer that is used as one.
DIVISIONS = """
%from = arith.constant 0 : i32
%by = arith.constant 1 : i32
%to = arith.index_cast %m : index to i32
scf.for %n = %from to %to step %by : i32 {{
  %i = arith.index_cast %n : i32 to index
  %x = memref.load %arg0[%i] : {0}
  %y = memref.load %arg1[%i] : {1}
  %s = arith.addi %x, %n : {e}
  %q = arith.divsi %s, %y : {e}
  %r = arith.remsi %x, %y : {e}
  %t = arith.addi %q, %r : {e}
  memref.store %t, %arg0[%i] : {0}
}}
"""

# Which one is the largest so far decides a branch on the host.
LARGEST = """
affine.for %i = 0 to 60 {{
  %x = memref.load %arg0[%i] : {0}
  %y = memref.load %arg1[%c1] : {1}
  %more = arith.cmpi sgt, %x, %y : {e}
  scf.if %more {{
    memref.store %x, %arg1[%c1] : {1}
  }}
}}
"""

TOTAL = """
%r = affine.for %i = 0 to 300 iter_args(%acc = %zero) -> {e} {{
  %x = affine.load %arg0[%i] : {0}
  %s = arith.addi %acc, %x : {e}
  affine.yield %s : {e}
}}
affine.store %r, %arg1[1] : {1}
"""

# A sum over two loops, a sum of its own in front of the inner one, and one that goes on behind them.
WEIGHTED = """
affine.for %i = 0 to %m {{
  %r = affine.for %j = 0 to %n iter_args(%acc = %zero) -> {e} {{
    %w = affine.for %l = 0 to %k iter_args(%u = %zero) -> {e} {{
      %x = affine.load %arg1[%j, %l] : {1}
      %s = arith.addi %u, %x : {e}
      affine.yield %s : {e}
    }}
    %t = affine.for %l = 0 to %k iter_args(%v = %acc) -> {e} {{
      %x = affine.load %arg0[%i, %j, %l] : {0}
      %y = arith.muli %x, %w : {e}
      %s = arith.addi %v, %y : {e}
      affine.yield %s : {e}
    }}
    affine.yield %t : {e}
  }}
  %b = affine.for %j = 0 to %n iter_args(%acc = %r) -> {e} {{
    %x = affine.load %arg0[%i, %j, %j] : {0}
    %s = arith.addi %acc, %x : {e}
    affine.yield %s : {e}
  }}
  affine.store %b, %arg2[%i] : {2}
}}
"""


# Steps of time, each of which needs the one before.
STEPS = """
affine.for %t = 0 to 3 {{
  affine.for %i = 1 to affine_map<(d0) -> (d0 - 1)>(%m) {{
    affine.for %j = 1 to affine_map<(d0) -> (d0 - 1)>(%n) {{
      %u = affine.load %arg0[%i - 1, %j] : {0}
      %v = affine.load %arg0[%i + 1, %j] : {0}
      %w = affine.load %arg0[%i, %j - 1] : {0}
      %x = affine.load %arg0[%i, %j + 1] : {0}
      %p = arith.addi %u, %v : {e}
      %q = arith.subi %p, %w : {e}
      %s = arith.addi %q, %x : {e}
      affine.store %s, %arg1[%i, %j] : {1}
    }}
  }}
  affine.for %i = 1 to affine_map<(d0) -> (d0 - 1)>(%m) {{
    affine.for %j = 1 to affine_map<(d0) -> (d0 - 1)>(%n) {{
      %x = affine.load %arg1[%i, %j] : {1}
      affine.store %x, %arg0[%i, %j] : {0}
    }}
  }}
}}
"""


def steps(x, y):
    for _ in range(3):
        y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] - x[1:-1, :-2] + x[1:-1, 2:]
        x[1:-1, 1:-1] = y[1:-1, 1:-1]
    return [x, y]


def weighted(x, w, y):
    return [np.einsum("mnk,nk->m", x, np.broadcast_to(w.sum(axis=1, keepdims=True), w.shape)) + np.einsum("mnn->m", x[:, :, :x.shape[1]])]


def windows(x, w, y):
    total = sum(w[l] * x[1 + l:1 + l + 64:2][:32] for l in range(3))
    return [np.maximum(total, 0)]


def forward(x, y, z):
    y, z = y.copy(), z.copy()
    y[1:70] = 2 * x[1:70]
    z[1:70] = y[0:69] + x[1:70]
    return [y, z]


def places(x, y):
    y = y.copy()
    y[0:16, 1:10] = x[0:9, 4:36:2].T + np.arange(4, 36, 2)[:, None]
    return [y]


def stencil(x, y):
    x, y = x.copy(), y.copy()
    for _ in range(3):
        y[1:22, 1:39] = x[0:21, 1:39] + x[1:22, 2:40]
        x[1:22, 1:39] = y[1:22, 1:39]
    return [x, y]


def horner(x, y):
    y = y.copy()
    for l in range(8):
        y = 2 * y - x[:, l]
    return [y]


def behind(x, y):
    y = y.copy()
    y[1::2] = 2 * x[1::2]
    return [y]


def triangle(x, y, z):
    z = z.copy()
    for i in range(x.shape[0]):
        z[i] += x[i, :i + 1] @ y[:i + 1]
    return [z]


def elimination(x):
    x = x.copy()
    for t in range(min(3, len(x))):
        x[t + 1:, t + 1:] -= np.outer(x[t + 1:, t], x[t, t + 1:])
    return [x]


def conditions(x, y, z):
    y = np.zeros_like(y)
    y[:, 1:] = np.where(x[:, 1:] < 0, x[:, :-1], x[:, :-1] + x[:, 1:])
    return [y, np.where(x < 0, x, z)]


def divisions(x, y):
    divide = lambda a: np.where(y == 0, 0, np.sign(a) * np.sign(y) * (np.abs(a) // np.abs(y)))
    return [divide(x + np.arange(len(x))) + x - divide(x) * y, y]


def largest(x, y):
    y = y.copy()
    y[1] = max(y[1], x.max())
    return [y]


def total(x, y):
    y = y.copy()
    y[1] = x.sum()
    return [y]


def functions():
    product = {"m": 37, "n": 41, "k": 29}
    yield program(F32, "product", product, ("mk", "kn", "mn"), AFFINE_PRODUCT, lambda a, b, c: [c + a @ b])
    for element in (F32, F16):
        for dynamic in (False, True):
            more = ({"m": 1}, {"m": 70, "k": 0}, {"m": 0}, {"n": 1, "k": 65}) if dynamic else ()
            values = (-2, 2) if element is F16 else (-5, 5)
            yield program(element, "carried", product, ("mk", "kn", "mn"), CARRIED_PRODUCT, lambda a, b, c: [2 * (a @ b)],
                          dynamic, ({}, *more), values)
    yield program(I32, "windows", {"m": 67, "k": 3, "n": 32}, ("m", "k", "n"), WINDOWS, windows)
    yield program(F32, "shift", {"m": 64}, ("m",), SHIFT, lambda x: [np.append(x[1:], x[-1])])
    yield program(F32, "forward", {"m": 70}, ("m", "m", "m"), FORWARD, forward)
    yield program(F32, "places", {"m": 9, "n": 40, "k": 17, "l": 10}, ("mn", "kl"), PLACES, places)
    yield program(I32, "stencil", {"m": 23, "n": 40}, ("mn", "mn"), STENCIL, stencil)
    for dynamic in (False, True):
        yield program(F32, "rows", {"m": 33, "n": 50}, ("mn", "m", "m"), ROWS,
                      lambda x, y, z: [x.max(axis=1, initial=-99), x.sum(axis=1)], dynamic,
                      ({}, {"m": 0}, {"n": 1}) if dynamic else ({},))
        sizes = ({}, {"m": 1}, {"m": 0}, {"n": 1}) if dynamic else ({},)
        yield program(F32, "triangle", {"m": 37, "n": 20}, ("mm", "mn", "mn"), TRIANGLE, triangle, dynamic, sizes)
        yield program(F32, "elimination", {"m": 34}, ("mm",), ELIMINATION, elimination, dynamic,
                      ({}, {"m": 3}, {"m": 4}) if dynamic else ({},), (-1, 1))
        yield program(I32, "steps", {"m": 23, "n": 40}, ("mn", "mn"), STEPS, steps, dynamic,
                      ({}, {"m": 3, "n": 3}, {"m": 2}, {"n": 1}) if dynamic else ({},))
        yield program(I32, "weighted", {"m": 21, "n": 9, "k": 13}, ("mnk", "nk", "m"), WEIGHTED, weighted, dynamic,
                      ({}, {"m": 1}, {"m": 0}, {"n": 1}, {"n": 0}) if dynamic else ({},))
        yield program(I32, "conditions", {"m": 19, "n": 45}, ("mn", "mn", "mn"), CONDITIONS, conditions, dynamic, sizes)
    yield program(I32, "horner", {"m": 21, "n": 8}, ("mn", "m"), HORNER, horner)
    yield program(I32, "prefix", {"m": 60}, ("m",), PREFIX, lambda x: [np.cumsum(x)], True, ({}, {"m": 1}))
    yield program(I32, "behind", {"m": 60}, ("m", "m"), BEHIND, behind, True, ({}, {"m": 2}, {"m": 1}, {"m": 0}))
    yield program(I32, "total", {"m": 300, "n": 3}, ("m", "n"), TOTAL, total)
    yield program(I32, "divisions", {"m": 60}, ("m", "m"), DIVISIONS, divisions, True, ({}, {"m": 1}, {"m": 0}, {"m": 300}), (1, 30))
    yield program(I32, "largest", {"m": 60, "n": 3}, ("m", "n"), LARGEST, largest)
