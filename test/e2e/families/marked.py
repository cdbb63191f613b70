# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of several results by a combiner that the program says is associative (`tilewright.associative`): products of
complex numbers, the largest element and how often it is there, means with sums of squares (Welford), log-sum-exp, the
largest element and its first place.
"""

import numpy as np

from data import F32, I32, integers, uniform
from functions import EXACT, Function, relative

WRAP = 2**32


def marked(*identity):
    return f"tilewright.associative = [{', '.join(identity)}]"


def cases(f, dims, more, data, check, reference):
    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, data, check, reference)
    return f


def complex_product(label, dims, dynamic=False, more=(), named=False):
    """Of integers that wrap, in any order the same."""
    f = Function("marked", "i32", label, dims, dynamic)
    iteration = "".join(dims)
    kept = iteration[:-1]
    re, im = f.arg(I32, iteration), f.arg(I32, iteration)
    lines = ["%a = arith.muli {0}, {2} : i32", "%b = arith.muli {1}, {3} : i32", "%c = arith.muli {0}, {3} : i32",
             "%d = arith.muli {1}, {2} : i32", "%r = arith.subi %a, %b : i32", "%i = arith.addi %c, %d : i32"]
    outs = [f.filled(I32, kept, 1), f.filled(I32, kept, 3)]
    mark = marked("1 : i32", "0 : i32")
    if named:
        types = [f.value_type(v) for v in (re, im, *outs)]
        body = "\n".join("        " + line.format("%p", "%q", "%s", "%t") for line in lines)
        name = f.fresh()
        f.emit(f"{name}:2 = linalg.reduce ins({re.name}, {im.name} : {types[0]}, {types[1]}) "
               f"outs({outs[0].name}, {outs[1].name} : {types[2]}, {types[3]}) dimensions = [{len(dims) - 1}] {{{mark}}}\n"
               f"      (%p: i32, %q: i32, %s: i32, %t: i32) {{\n{body}\n        linalg.yield %r, %i : i32, i32\n      }}")
        results = [type(re)(f"{name}#{n}", I32, kept) for n in (0, 1)]
    else:
        def body(out, *scalars):
            out += [line.format(*scalars) for line in lines]
            return ["%r", "%i"]
        results = f.generic(iteration, [re, im], outs, body, reduce=iteration[-1], attributes=mark)
    f.ret(*results)

    def reference(re, im):
        a, b = np.full(re.shape[:-1], 1, np.int64), np.full(re.shape[:-1], 3, np.int64)
        for n in range(re.shape[-1]):
            x, y = re[..., n], im[..., n]
            a, b = (a * x - b * y) % WRAP, (a * y + b * x) % WRAP
        return [I32.round(a), I32.round(b)]
    return cases(f, dims, more, integers(-3, 3), EXACT, reference)


def lifted(f, x, iteration, elements, lift):
    return f.generic(iteration, [x], [f.empty(e, iteration) for e in elements], lift)


def largest_and_count(label, dims, dynamic=False, more=()):
    f = Function("marked", "f32", label, dims, dynamic)
    x = f.arg(F32, "mn")

    def lift(lines, x, *outs):
        lines.append("%one = arith.constant 1 : i32")
        return [x, "%one"]

    def merge(lines, v, c, best, count):
        lines += [f"%g = arith.cmpf ogt, {v}, {best} : f32", f"%e = arith.cmpf oeq, {v}, {best} : f32",
                  f"%n = arith.addi {c}, {count} : i32", f"%b = arith.select %g, {v}, {best} : f32",
                  f"%k = arith.select %g, {c}, {count} : i32", "%t = arith.select %e, %n, %k : i32"]
        return ["%b", "%t"]

    outs = [f.filled(F32, "m", -np.inf), f.filled(I32, "m", 0)]
    f.ret(*f.generic("mn", lifted(f, x, "mn", (F32, I32), lift), outs, merge, reduce="n",
                     attributes=marked("0xFF800000 : f32", "0 : i32")))

    def reference(x):
        best = x.max(axis=1, initial=-np.inf)
        return [best, (x == best[:, None]).sum(axis=1)]
    return cases(f, dims, more, integers(-4, 4), EXACT, reference)


def largest_and_place(label, dims, dynamic=False, more=()):
    """The place is computed in front, of the loop's index."""
    f = Function("marked", "f32", label, dims, dynamic)
    iteration = "".join(dims)
    kept = iteration[:-1]
    x = f.arg(F32, iteration)

    def lift(lines, x, *outs):
        lines += [f"%i = linalg.index {len(dims) - 1} : index", "%j = arith.index_cast %i : index to i32"]
        return [x, "%j"]

    def merge(lines, v, p, best, place):
        lines += [f"%g = arith.cmpf ogt, {v}, {best} : f32", f"%e = arith.cmpf oeq, {v}, {best} : f32",
                  f"%l = arith.cmpi slt, {p}, {place} : i32", "%f = arith.andi %e, %l : i1", "%c = arith.ori %g, %f : i1",
                  f"%b = arith.select %c, {v}, {best} : f32", f"%q = arith.select %c, {p}, {place} : i32"]
        return ["%b", "%q"]

    outs = [f.filled(F32, kept, -np.inf), f.filled(I32, kept, 2**31 - 1)]
    f.ret(*f.generic(iteration, lifted(f, x, iteration, (F32, I32), lift), outs, merge, reduce=iteration[-1],
                     attributes=marked("0xFF800000 : f32", f"{2**31 - 1} : i32")))

    def reference(x):
        return [x.max(axis=-1), x.argmax(axis=-1)]
    return cases(f, dims, more, integers(-40, 40), EXACT, reference)


def welford(label, dims, dynamic=False, more=()):
    """Counts, means and sums of squared distances of two sets are those of both."""
    f = Function("marked", "f32", label, dims, dynamic)
    iteration = "".join(dims)
    kept = iteration[:-1]
    x = f.arg(F32, iteration)

    def lift(lines, x, *outs):
        lines += ["%one = arith.constant 1.0 : f32", "%zero = arith.constant 0.0 : f32"]
        return ["%one", x, "%zero"]

    def merge(lines, n, mean, square, count, average, squares):
        lines += ["%none = arith.constant 0.0 : f32", "%least = arith.constant 1.0 : f32",
                  f"%n = arith.addf {n}, {count} : f32", "%m = arith.maximumf %n, %least : f32",
                  f"%d = arith.subf {mean}, {average} : f32", f"%w = arith.divf {n}, %m : f32",
                  "%dw = arith.mulf %d, %w : f32", f"%a = arith.addf {average}, %dw : f32",
                  f"%dd = arith.mulf %d, %dw : f32", f"%q = arith.mulf %dd, {count} : f32",
                  f"%s = arith.addf {square}, {squares} : f32", "%t = arith.addf %s, %q : f32"]
        return ["%n", "%a", "%t"]

    outs = [f.zeros(F32, kept) for _ in range(3)]
    f.ret(*f.generic(iteration, lifted(f, x, iteration, (F32, F32, F32), lift), outs, merge, reduce=iteration[-1],
                     attributes=marked(*["0.0 : f32"] * 3)))

    def reference(x):
        n = x.shape[-1]
        mean = x.sum(axis=-1) / max(n, 1)
        return [np.full(x.shape[:-1], n), mean, ((x - mean[..., None]) ** 2).sum(axis=-1)]
    longest = max({**dims, **s}[iteration[-1]] for s in ({}, *more))
    return cases(f, dims, more, uniform(1, 3), relative((longest + 40) * 2 * F32.eps), reference)


def log_sum_exp(label, dims):
    """Of columns: the maximum, and the sum of exponentials below it."""
    f = Function("marked", "f32", label, dims)
    x = f.arg(F32, "nm")

    def lift(lines, x, *outs):
        lines.append("%one = arith.constant 1.0 : f32")
        return [x, "%one"]

    def merge(lines, v, s, top, total):
        lines += ["%low = arith.constant -1.0e30 : f32", f"%n = arith.maximumf {v}, {top} : f32",
                  "%n0 = arith.maximumf %n, %low : f32"]
        for letter, value, sum_ in (("a", v, s), ("b", top, total)):
            lines += [f"%{letter}d = arith.subf {value}, %n0 : f32", f"%{letter}e = math.exp %{letter}d : f32",
                      f"%{letter}t = arith.mulf {sum_}, %{letter}e : f32"]
        lines.append("%t = arith.addf %at, %bt : f32")
        return ["%n", "%t"]

    outs = [f.filled(F32, "m", -np.inf), f.zeros(F32, "m")]
    f.ret(*f.generic("nm", lifted(f, x, "nm", (F32, F32), lift), outs, merge, reduce="n",
                     attributes=marked("0xFF800000 : f32", "0.0 : f32")))

    def reference(x):
        top = x.max(axis=0)
        return [top, np.exp(x - top).sum(axis=0)]
    return cases(f, dims, (), uniform(-4, 4), relative((dims["n"] + 40) * 2 * F32.eps), reference)


def functions():
    yield complex_product("complex_vector", {"k": 4096})
    yield complex_product("complex_rows", {"m": 5, "n": 997}, True, [{"m": 1, "n": 1}, {"n": 0}, {"m": 300, "n": 70}])
    yield complex_product("complex_reduce", {"m": 3, "n": 640}, named=True)
    yield largest_and_count("largest_and_count", {"m": 7, "n": 1000})
    yield largest_and_count("largest_and_count", {"m": 7, "n": 1000}, True, [{"m": 2, "n": 4099}, {"m": 4, "n": 3}])
    yield largest_and_place("largest_and_place", {"n": 20011}, True, [{"n": 65}, {"n": 2}])
    yield welford("welford_rows", {"m": 6, "n": 1536})
    yield welford("welford_vector", {"n": 9973}, True, [{"n": 40}])
    yield log_sum_exp("log_sum_exp_columns", {"n": 701, "m": 9})
