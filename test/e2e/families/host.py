# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host programs around kernels: several kernels in a function, calls between
functions, constants, scalars, and scf control flow that carries tensors; and the
run-time errors of sizes that disagree.
"""

import numpy as np

from data import ElementType, F16, F32, I8, I16, I32, I64, INDEX, choice, integers, uniform
from functions import EXACT, Function, Value, relative

BIT = ElementType("i1", 1)


def add_one(f, x, dims, amount=1):
    one = f.constant(F32, amount)

    def body(lines, x, out):
        lines.append(f"%t = arith.addf {x}, {one.name} : f32")
        return "%t"

    return f.generic(dims, [x], f.empty(F32, dims), body)


def chain(dynamic):
    """Two matmuls, a transpose between them, and a reduction of the result."""
    dims = {"m": 12, "n": 20, "k": 15, "p": 9}
    f = Function("host_chain", "f32", "matmul_transpose_matmul", dims, dynamic)
    a, b, c = f.arg(F32, "mk"), f.arg(F32, "kn"), f.arg(F32, "mp")
    first = f.op("linalg.matmul", [a, b], f.zeros(F32, "mn"))
    turned = f.op("linalg.transpose", [first], f.empty(F32, "nm"), suffix=" permutation = [1, 0]")
    second = f.op("linalg.matmul", [turned, c], f.zeros(F32, "np"))

    def add(lines, x, acc):
        lines.append(f"%t = arith.addf {x}, {acc} : f32")
        return "%t"

    f.ret(second, f.generic("np", [second], f.zeros(F32, "n"), add, reduce="p"))

    def reference(a, b, c):
        r = (a @ b).T @ c
        return [r, r.sum(axis=1)]

    for sizes in [{}] + ([{"m": 1, "n": 1, "k": 1, "p": 1}, {"m": 65, "n": 3, "k": 33, "p": 70}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-3, 3), EXACT, reference)
    return f


def conditional(dynamic):
    """scf.if on a scalar argument; a tensor on each way."""
    dims = {"a": 130}
    f = Function("host_if", "f32", "scalar_condition", dims, dynamic)
    n, x = f.scalar_arg(I32), f.arg(F32, "a")
    zero = f.constant(I32, 0)
    condition = f.raw(f"arith.cmpi sgt, {n.name}, {zero.name} : i32", I32, None)
    type_ = f.value_type(x)
    outer = f.lines
    branches = []
    for amount in (10, -1):
        f.lines = []
        y = add_one(f, x, "a", amount)
        f.emit(f"scf.yield {y.name} : {type_}")
        branches.append("\n".join("  " + line for line in f.lines))
        f.lines = outer
        f.sized = {}
    r = f.raw(f"scf.if {condition.name} -> ({type_}) {{\n{branches[0]}\n    }} else {{\n{branches[1]}\n    }}", F32, "a")
    f.ret(r)
    for value, amount in ((1, 10), (0, -1), (-7, -1)):
        f.case(f"n={value}", {}, [{"fill": "values", "values": [value]}, integers(-9, 9)], EXACT,
               lambda n, x, amount=amount: x + amount)
    return f


def loop(dynamic):
    """scf.for carries a tensor; the trip count is an argument."""
    dims = {"m": 16}
    f = Function("host_for", "f32", "power", dims, dynamic)
    n, x = f.scalar_arg(INDEX), f.arg(F32, "mm")
    type_ = f.value_type(x)
    zero = f.raw("arith.constant 0 : index", INDEX, None)
    one = f.raw("arith.constant 1 : index", INDEX, None)
    start = f.filled(F32, "mm", 1)
    outer, f.lines = f.lines, []
    carried = Value("%carried", F32, "mm")
    p = f.op("linalg.matmul", [x, carried], f.zeros(F32, "mm"))
    f.emit(f"scf.yield {p.name} : {type_}")
    inside = "\n".join("  " + line for line in f.lines)
    f.lines = outer
    f.ret(f.raw(f"scf.for %i = {zero.name} to {n.name} step {one.name} iter_args(%carried = {start.name}) -> "
                f"({type_}) {{\n{inside}\n    }}", F32, "mm"))

    def reference(n, x):
        r = np.ones_like(x)
        for _ in range(int(n)):
            r = x @ r
        return r

    for count in (0, 1, 3):
        f.case(f"n={count}", {}, [{"fill": "values", "values": [count]}, choice(0, 1, 0, -1)], EXACT, reference)
    return f


def loop_to_greatest(element):
    """scf.for whose next number would not exist: how often it runs, and the sum of its numbers."""
    f = Function("host_for", element.name, "to_greatest", {})
    first, last, step = (f.scalar_arg(element) for _ in range(3))
    t = element.name
    zero, one = f.constant(element, 0), f.constant(element, 1)
    name = f.fresh()
    f.emit(f"{name}:2 = scf.for %i = {first.name} to {last.name} step {step.name} iter_args(%c = {zero.name}, %d = {zero.name}) -> "
           f"({t}, {t}) : {t} {{\n      %n = arith.addi %c, {one.name} : {t}\n      %m = arith.addi %d, %i : {t}\n"
           f"      scf.yield %n, %m : {t}, {t}\n    }}")
    f.ret(Value(f"{name}#0", element, None), Value(f"{name}#1", element, None))
    least, most = -(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1

    def reference(first, last, step):
        numbers = range(int(first), int(last), int(step))
        return [np.array(len(numbers)), np.array((sum(numbers) - least) % 2**element.bits + least)]

    for label, numbers in (("near", (most - 7, most, 3)), ("at", (most - 9, most, 5)), ("across", (least, most, most)),
                           ("none", (5, 5, 2)), ("back", (9, 2, 2)), ("small", (-3, 9, 2))):
        f.case(label, {}, [{"fill": "values", "values": [value]} for value in numbers], EXACT, reference)
    return f


def far_loop(element):
    """scf.for between constants whose distance has no number of the type: how often it runs, and the sum of its numbers."""
    f = Function("host_for", element.name, "far", {})
    t, bits = element.name, element.bits
    low, high, step = -(3 * 2 ** (bits - 3)), 3 * 2 ** (bits - 3), 2 ** (bits - 3)
    addend = f.scalar_arg(element)
    first, last, by, one = (f.constant(element, value) for value in (low, high, step, 1))
    name = f.fresh()
    f.emit(f"{name}:2 = scf.for %i = {first.name} to {last.name} step {by.name} iter_args(%c = {addend.name}, %d = {addend.name}) -> "
           f"({t}, {t}) : {t} {{\n      %n = arith.addi %c, {one.name} : {t}\n      %m = arith.addi %d, %i : {t}\n"
           f"      scf.yield %n, %m : {t}, {t}\n    }}")
    f.ret(Value(f"{name}#0", element, None), Value(f"{name}#1", element, None))
    numbers = range(low, high, step)
    f.case("scalar", {}, [{"fill": "values", "values": [3]}], EXACT,
           lambda x: [np.array(int(x) + len(numbers)), np.array(int(x) + sum(numbers))])
    return f


def call():
    """A function of the module called twice."""
    f = Function("host_call", "f32", "helper_twice", {"a": 75})
    helper = f"{f.symbol}_helper"
    inner = Function("host_call", "f32", "inner", {"a": 75})
    y = inner.arg(F32, "a")
    inner.ret(add_one(inner, y, "a", 3))
    inner.symbol = helper
    f.globals.append(inner.text().replace("func.func @", "func.func private @"))
    x = f.arg(F32, "a")
    t = f.value_type(x)
    once = f.raw(f"func.call @{helper}({x.name}) : ({t}) -> {t}", F32, "a")
    f.ret(f.raw(f"func.call @{helper}({once.name}) : ({t}) -> {t}", F32, "a"))
    f.case("75", {}, integers(-9, 9), EXACT, lambda x: x + 6)
    return f


def called_helper(f, amount):
    """A private function beside `f` that adds `amount`."""
    inner = Function("host_call", "f32", f"plus{amount}", f.sizes, f.dynamic)
    y = inner.arg(F32, "a")
    inner.ret(add_one(inner, y, "a", amount))
    inner.symbol = f"{f.symbol}_plus{amount}"
    f.globals.append(inner.text().replace("func.func @", "func.func private @"))
    return inner.symbol


def function_values(dynamic):
    """Calls of a constant and of one of two functions."""
    f = Function("host_call", "f32", "function_values", {"a": 75}, dynamic)
    n, x = f.scalar_arg(I32), f.arg(F32, "a")
    t = f.value_type(x)
    kind = f"({t}) -> {t}"
    one, two = (f.raw(f"func.constant @{called_helper(f, amount)} : {kind}", F32, None) for amount in (1, 20))
    zero = f.constant(I32, 0)
    condition = f.raw(f"arith.cmpi sgt, {n.name}, {zero.name} : i32", I32, None)
    chosen = f.raw(f"arith.select {condition.name}, {one.name}, {two.name} : {kind}", F32, None)
    first = f.raw(f"func.call_indirect {chosen.name}({x.name}) : {kind}", F32, "a")
    f.ret(f.raw(f"func.call_indirect {two.name}({first.name}) : {kind}", F32, "a"))
    for value, amount in ((1, 21), (0, 40)):
        f.case(f"n={value}", {}, [{"fill": "values", "values": [value]}, integers(-9, 9)], EXACT,
               lambda n, x, amount=amount: x + amount)
    return f


def switch(dynamic):
    """scf.index_switch and scf.execute_region that give tensors."""
    f = Function("host_if", "f32", "index_switch", {"a": 130}, dynamic)
    n, x = f.scalar_arg(INDEX), f.arg(F32, "a")
    t = f.value_type(x)
    cases = "".join(f"      {case} {{\n        %r = arith.{op} {x.name}, {x.name} : {t}\n        scf.yield %r : {t}\n      }}\n"
                    for case, op in (("case 2", "addf"), ("case 7", "mulf"), ("default", "subf")))
    y = f.raw(f"scf.index_switch {n.name} -> {t}\n{cases}", F32, "a")
    f.ret(f.raw(f"scf.execute_region -> {t} {{\n      %s = arith.addf {y.name}, {x.name} : {t}\n"
                f"      scf.yield %s : {t}\n    }}", F32, "a"))
    for value, change in ((2, lambda x: 3 * x), (7, lambda x: x * x + x), (3, lambda x: x)):
        f.case(f"n={value}", {}, [{"fill": "values", "values": [value]}, integers(-9, 9)], EXACT,
               lambda n, x, change=change: change(x))
    return f


def memref_helper(dynamic):
    """A function that writes a memref, called for two of them and twice for one."""
    f = Function("host_call", "f32", "memref_helper", {"a": 75}, dynamic)
    x, y = f.arg(F32, "a", memref=True), f.arg(F32, "a", memref=True)
    t = f.value_type(x)
    f.globals.append(f"""  func.func private @{f.symbol}_double(%x: {t}) {{
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : {t}
    affine.for %i = 0 to %n {{
      %a = affine.load %x[%i] : {t}
      %b = arith.addf %a, %a : f32
      affine.store %b, %x[%i] : {t}
    }}
    return
  }}""")
    for value in (x, y, x):
        f.emit(f"func.call @{f.symbol}_double({value.name}) : ({t}) -> ()")
    f.ret()
    f.case("75", {}, integers(-9, 9), EXACT, lambda x, y: [4 * x, 2 * y])
    return f


def constants():
    """Dense constants, splat and not, beside an argument."""
    f = Function("host_constants", "f32", "weights", {"m": 5, "k": 3, "n": 4})
    x = f.arg(F32, "mk")
    w = f.raw("arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [-1.0, 0.0, 1.0, 2.0]]> : "
              "tensor<3x4xf32>", F32, "kn")
    splat = f.raw("arith.constant dense<0.5> : tensor<5x4xf32>", F32, "mn")
    f.ret(f.op("linalg.matmul", [x, w], splat))
    weights = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [-1, 0, 1, 2]], np.float64)
    f.case("5x3x4", {}, integers(-9, 9), EXACT, lambda x: x @ weights + 0.5)
    return f


def typed_constants(element):
    """A dense constant per type, and a mask."""
    f = Function("host_constants", element.name, "dense_and_mask", {"a": 8})
    x = f.arg(element, "a")
    values = [3, -1, 0, 2, -4, 1, 7, -2]
    literal = ", ".join(f"{v:.1f}" if element.is_float else str(v) for v in values)
    c = f.raw(f"arith.constant dense<[{literal}]> : tensor<8x{element.name}>", element, "a")
    mask = Value("%mask", BIT, "a")
    f.emit("%mask = arith.constant dense<[true, false, true, true, false, false, true, false]> : tensor<8xi1>")

    def body(lines, x, c, m, out):
        op = "addf" if element.is_float else "addi"
        lines += [f"%t = arith.{op} {x}, {c} : {element.name}", f"%u = arith.select {m}, %t, {x} : {element.name}"]
        return "%u"

    f.ret(f.generic("a", [x, c, mask], f.empty(element, "a"), body))
    chosen = np.array([1, 0, 1, 1, 0, 0, 1, 0], bool)
    f.case("8", {}, integers(-9, 9), EXACT, lambda x: np.where(chosen, x + np.array(values), x))
    return f


def branches(dynamic, biased):
    """Products of one operand by three constants, of different widths: one product; its parts are read in place."""
    f = Function("host_constants", "f32", "branches_biased" if biased else "branches", {"m": 9, "k": 12, "c": 16, "v": 8, "n": 5}, dynamic,
                 known="kcvn")
    x, z = f.arg(F32, "mk"), f.arg(F32, "vn")
    random = np.random.default_rng(5)
    weights = [random.integers(-2, 3, (width, 12)) for width in (16, 16, 8)]
    biases = [random.integers(-3, 4, width) if biased else np.zeros(width, int) for width in (16, 16, 8)]
    parts = []
    for dim, w, b in zip("ccv", weights, biases):
        spelt = ", ".join("[" + ", ".join(f"{number:.1f}" for number in row) + "]" for row in w)
        matrix = f.raw(f"arith.constant dense<[{spelt}]> : tensor<{len(w)}x12xf32>", F32, dim + "k")
        part = f.generic("m" + dim + "k", [x, matrix], f.zeros(F32, "m" + dim), multiply_add, reduce="k")
        if biased:
            spelt = ", ".join(f"{number:.1f}" for number in b)
            bias = f.raw(f"arith.constant dense<[{spelt}]> : tensor<{len(w)}xf32>", F32, dim)
            part = f.generic("m" + dim, [part, bias], f.empty(F32, "m" + dim), add)
        parts.append(part)
    q, k, v = parts
    f.ret(f.generic("mc", [q, k], f.zeros(F32, "m"), multiply_add, reduce="c"),
          f.generic("mvn", [v, z], f.zeros(F32, "mn"), multiply_add, reduce="v"))

    def reference(x, z):
        q, k, v = (x @ w.T + b for w, b in zip(weights, biases))
        return (q * k).sum(axis=1), v @ z

    for rows in (9, 1, 70, 0) if dynamic else (9,):
        f.case(f"{rows}x12", {"m": rows}, integers(-3, 3), EXACT, reference)
    return f


def multiply_add(lines, left, right, total):
    lines += [f"%p = arith.mulf {left}, {right} : f32", f"%t = arith.addf {total}, %p : f32"]
    return "%t"


def add(lines, left, right, out):
    lines.append(f"%t = arith.addf {left}, {right} : f32")
    return "%t"


def scalars(dynamic):
    """A scalar that a kernel reads, and one that is returned."""
    dims = {"a": 210}
    f = Function("host_scalars", "f32", "scale", dims, dynamic)
    s, n, x = f.scalar_arg(F32), f.scalar_arg(I32), f.arg(F32, "a")

    def body(lines, x, out):
        lines.append(f"%t = arith.mulf {x}, {s.name} : f32")
        return "%t"

    y = f.generic("a", [x], f.empty(F32, "a"), body)
    f.ret(y, f.raw(f"arith.addi {n.name}, {n.name} : i32", I32, None))
    f.case("210", {}, [{"fill": "values", "values": [-2.5]}, {"fill": "values", "values": [21]}, integers(-9, 9)],
           EXACT, lambda s, n, x: [x * s, n + n])
    return f


def many_scalars(dynamic):
    """More scalars than fit the push constants of Vulkan: 40 of 4 bytes."""
    f = Function("host_scalars", "f32", "forty", {"a": 70}, dynamic)
    scalars_, x = [f.scalar_arg(F32) for _ in range(40)], f.arg(F32, "a")

    def body(lines, x, out):
        total = x
        for i, s in enumerate(scalars_):
            lines.append(f"%t{i} = arith.addf {total}, {s.name} : f32")
            total = f"%t{i}"
        return total

    f.ret(f.generic("a", [x], f.empty(F32, "a"), body))
    values = [{"fill": "values", "values": [i - 7]} for i in range(40)]
    f.case("70", {}, values + [integers(-9, 9)], EXACT, lambda *args: args[-1] + sum(args[:-1]))
    return f


def narrow_scalars(dynamic):
    """Scalars of less than 32 bits, between wider ones."""
    f = Function("host_scalars", "f32", "narrow", {"a": 33}, dynamic)
    h, i, s, w, x = f.scalar_arg(F16), f.scalar_arg(I8), f.scalar_arg(F32), f.scalar_arg(I16), f.arg(F32, "a")

    def body(lines, x, out):
        lines += [f"%h = arith.extf {h.name} : f16 to f32", f"%i = arith.sitofp {i.name} : i8 to f32",
                  f"%w = arith.sitofp {w.name} : i16 to f32", f"%t = arith.mulf {x}, %h : f32",
                  "%u = arith.addf %t, %i : f32", f"%v = arith.addf %u, {s.name} : f32",
                  "%y = arith.addf %v, %w : f32"]
        return "%y"

    f.ret(f.generic("a", [x], f.empty(F32, "a"), body))
    fills = [{"fill": "values", "values": [v]} for v in (-1.5, -100, 0.25, -3000)]
    f.case("33", {}, fills + [integers(-8, 8)], EXACT, lambda h, i, s, w, x: x * h + i + s + w)
    return f


def while_loop(dynamic):
    """scf.while carries a tensor and a counter; data ends it: an element of the tensor."""
    dims = {"a": 50}
    f = Function("host_while", "f32", "doubling", dims, dynamic)
    x = f.arg(F32, "a")
    type_ = f.value_type(x)
    zero = f.raw("arith.constant 0 : index", INDEX, None)
    one = f.raw("arith.constant 1 : i32", I32, None)
    none = f.raw("arith.constant 0 : i32", I32, None)
    limit = f.constant(F32, 100)
    if dynamic:
        f.size_of("a")
    outer, f.lines = f.lines, []
    carried = Value("%t", F32, "a")

    def body(lines, x, out):
        lines.append(f"%d = arith.addf {x}, {x} : f32")
        return "%d"

    doubled = f.generic("a", [carried], f.empty(F32, "a"), body)
    f.emit(f"%m = arith.addi %k, {one.name} : i32")
    f.emit(f"scf.yield {doubled.name}, %m : {type_}, i32")
    inside = "\n".join("  " + line for line in f.lines)
    f.lines = outer
    f.emit(f"%end:2 = scf.while (%t = {x.name}, %k = {none.name}) : ({type_}, i32) -> ({type_}, i32) {{\n"
           f"      %first = tensor.extract %t[{zero.name}] : {type_}\n"
           f"      %go = arith.cmpf olt, %first, {limit.name} : f32\n"
           f"      scf.condition(%go) %t, %k : {type_}, i32\n    }} do {{\n"
           f"    ^bb0(%t: {type_}, %k: i32):\n{inside}\n    }}")
    f.ret(Value("%end#0", F32, "a"), Value("%end#1", I32, None))

    def reference(x):
        x, k = x.copy(), 0
        while x[0] < 100:
            x, k = x + x, k + 1
        return [x, np.array(k)]

    for first in (3, 200):
        values = [first] + [i % 7 - 3 for i in range(49)]
        f.case(f"from_{first}", {}, {"fill": "values", "values": values}, EXACT, reference)
    return f


def branch_in_loop(dynamic):
    """scf.if in scf.for: even steps square, odd ones add; both results are carried."""
    dims = {"a": 77}
    f = Function("host_for", "f32", "branch_in_loop", dims, dynamic)
    n, x = f.scalar_arg(INDEX), f.arg(F32, "a")
    type_ = f.value_type(x)
    zero, one, two = (f.raw(f"arith.constant {v} : index", INDEX, None) for v in (0, 1, 2))
    if dynamic:
        f.size_of("a")
    outer, branches = f.lines, []
    for op in ("mulf", "addf"):
        f.lines = []

        def body(lines, t, x, out, op=op):
            lines.append(f"%r = arith.{op} {t}, {x} : f32")
            return "%r"

        y = f.generic("a", [Value("%carried", F32, "a"), x], f.empty(F32, "a"), body)
        f.emit(f"scf.yield {y.name} : {type_}")
        branches.append("\n".join("    " + line for line in f.lines))
    f.lines = outer
    f.ret(f.raw(f"scf.for %i = {zero.name} to {n.name} step {one.name} iter_args(%carried = {x.name}) -> ({type_}) {{\n"
                f"      %rest = arith.remui %i, {two.name} : index\n"
                f"      %even = arith.cmpi eq, %rest, {zero.name} : index\n"
                f"      %next = scf.if %even -> ({type_}) {{\n{branches[0]}\n      }} else {{\n{branches[1]}\n      }}\n"
                f"      scf.yield %next : {type_}\n    }}", F32, "a"))

    def reference(n, x):
        t = x
        for i in range(int(n)):
            t = t + x if i % 2 else t * x
        return t

    for count in (0, 1, 4):
        f.case(f"n={count}", {}, [{"fill": "values", "values": [count]}, integers(-5, 5)], EXACT, reference)
    return f


def passthrough():
    """No kernel at all: arguments returned in another order, one twice."""
    f = Function("host_chain", "f32", "passthrough", {"a": 7, "b": 3})
    x, y = f.arg(F32, "a"), f.arg(F32, "ab")
    f.ret(y, x, y)
    f.case("7x3", {}, integers(-9, 9), EXACT, lambda x, y: [y, x, y])
    return f


def slices(dynamic):
    """tensor.extract_slice and insert_slice around a kernel."""
    dims = {"m": 20, "n": 30}
    f = Function("host_slices", "f32", "window", dims, dynamic)
    x = f.arg(F32, "mn")
    f.sizes.update({"P": 8, "Q": 10})
    part = f.raw(f"tensor.extract_slice {x.name}[2, 5] [8, 10] [1, 2] : {f.value_type(x)} to tensor<8x10xf32>",
                 F32, "PQ")
    changed = add_one(f, part, "PQ", 100)
    f.ret(f.raw(f"tensor.insert_slice {changed.name} into {x.name}[2, 5] [8, 10] [1, 2] : tensor<8x10xf32> into "
                f"{f.value_type(x)}", F32, "mn"))

    def reference(x):
        y = x.copy()
        y[2:10, 5:25:2] += 100
        return y

    f.case("20x30", {}, integers(-9, 9), EXACT, reference)
    return f


def moving_window(dynamic):
    """A window at an offset that is an argument, read with a step."""
    dims = {"m": 20, "n": 31}
    f = Function("host_slices", "f32", "moving_window", dims, dynamic)
    at, x = f.scalar_arg(INDEX), f.arg(F32, "mn")
    f.sizes.update({"P": 6, "Q": 9})
    part = f.raw(f"tensor.extract_slice {x.name}[{at.name}, 1] [6, 9] [2, 3] : {f.value_type(x)} to tensor<6x9xf32>",
                 F32, "PQ")
    f.ret(add_one(f, part, "PQ", 5), part)

    def reference(at, x):
        window = x[int(at):int(at) + 11:2, 1:26:3]
        return [window + 5, window]

    for value in (0, 3, 9):
        f.case(f"at={value}", {}, [{"fill": "values", "values": [value]}, integers(-9, 9)], EXACT, reference)
    for value in (10, -1):
        f.case(f"at={value}", {}, [{"fill": "values", "values": [value]}, integers(-9, 9)], EXACT, error="window")
    return f


def matmul_of_windows(dynamic):
    """Operands and result of a matmul are windows; one of them begins at an aligned address."""
    dims = {"m": 40, "n": 48, "k": 64}
    f = Function("host_slices", "f32", "matmul_windows", dims, dynamic)
    a, b, c = f.arg(F32, "mk"), f.arg(F32, "kn"), f.arg(F32, "mn")
    f.sizes.update({"P": 17, "Q": 20, "R": 24})

    def window(value, offsets, sizes, letters):
        type_ = f"tensor<{sizes[0]}x{sizes[1]}xf32>"
        return f.raw(f"tensor.extract_slice {value.name}[{offsets[0]}, {offsets[1]}] [{sizes[0]}, {sizes[1]}] [1, 1] : "
                     f"{f.value_type(value)} to {type_}", F32, letters)

    wa, wb = window(a, (3, 8), (17, 24), "PR"), window(b, (16, 4), (24, 20), "RQ")
    product = f.op("linalg.matmul", [wa, wb], f.zeros(F32, "PQ"))
    f.ret(f.raw(f"tensor.insert_slice {product.name} into {c.name}[1, 5] [17, 20] [1, 1] : tensor<17x20xf32> into "
                f"{f.value_type(c)}", F32, "mn"))

    def reference(a, b, c):
        c = c.copy()
        c[1:18, 5:25] = a[3:20, 8:32] @ b[16:40, 4:24]
        return c

    f.case("40x48x64", {}, integers(-3, 3), EXACT, reference)
    return f


def rows(dynamic):
    """A loop that adds each row of a carried matrix to the next: rank-reducing windows, updated in place."""
    dims = {"m": 7, "n": 45}
    f = Function("host_slices", "f32", "running_rows", dims, dynamic)
    x = f.arg(F32, "mn")
    type_, row = f.value_type(x), f.type(F32, "n")
    zero = f.raw("arith.constant 0 : index", INDEX, None)
    one = f.raw("arith.constant 1 : index", INDEX, None)
    rows, columns = (f.size_of(d) if dynamic else str(dims[d]) for d in "mn")
    bound = rows if dynamic else f.raw(f"arith.constant {dims['m']} : index", INDEX, None).name
    outer, f.lines = f.lines, []
    f.emit(f"%before = arith.subi %i, {one.name} : index")
    above, here = (f.raw(f"tensor.extract_slice %carried[{at}, 0] [1, {columns}] [1, 1] : {type_} to {row}", F32, "n")
                   for at in ("%before", "%i"))

    def add(lines, x, y, out):
        lines.append(f"%t = arith.addf {x}, {y} : f32")
        return "%t"

    both = f.generic("n", [above, here], f.empty(F32, "n"), add)
    f.emit(f"%next = tensor.insert_slice {both.name} into %carried[%i, 0] [1, {columns}] [1, 1] : {row} into {type_}")
    f.emit(f"scf.yield %next : {type_}")
    inside = "\n".join("  " + line for line in f.lines)
    f.lines = outer
    f.ret(f.raw(f"scf.for %i = {one.name} to {bound} step {one.name} iter_args(%carried = {x.name}) -> ({type_}) {{\n"
                f"{inside}\n    }}", F32, "mn"))
    for sizes in [{}] + ([{"m": 1}, {"n": 1}, {"m": 3, "n": 0}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-9, 9), EXACT,
               lambda x: np.cumsum(x, axis=0))
    return f


def halves(dynamic):
    """Two kernels fill the two halves of a new tensor; a third reads across them."""
    dims = {"m": 12, "n": 16}
    f = Function("host_slices", "f32", "halves", dims, dynamic)
    x, y = f.arg(F32, "mn"), f.arg(F32, "mn")
    f.sizes.update({"W": 32, "C": 20})
    rows, columns = (f.size_of(d) if dynamic else str(dims[d]) for d in "mn")
    wide = f.raw(f"tensor.empty({rows if dynamic else ''}) : {f.type(F32, 'mW')}", F32, "mW")
    left, right = add_one(f, x, "mn", 1), add_one(f, y, "mn", 2)
    one = f.raw(f"tensor.insert_slice {left.name} into {wide.name}[0, 0] [{rows}, {columns}] [1, 1] : "
                f"{f.value_type(left)} into {f.value_type(wide)}", F32, "mW")
    two = f.raw(f"tensor.insert_slice {right.name} into {one.name}[0, 16] [{rows}, {columns}] [1, 1] : "
                f"{f.value_type(right)} into {f.value_type(wide)}", F32, "mW")
    middle = f.raw(f"tensor.extract_slice {two.name}[0, 6] [{rows}, 20] [1, 1] : {f.value_type(wide)} to "
                   f"{f.type(F32, 'mC')}", F32, "mC")
    f.ret(two, add_one(f, middle, "mC", -3))

    def reference(x, y):
        both = np.concatenate([x + 1, y + 2], axis=1)
        return [both, both[:, 6:26] - 3]

    f.case("12x16", {}, integers(-9, 9), EXACT, reference)
    return f


def concatenation(dynamic):
    """tensor.concat of an argument and a computed tensor, along both dims."""
    dims = {"m": 11, "n": 21}
    f = Function("host_slices", "f32", "concat", dims, dynamic)
    x, y = f.arg(F32, "mn"), f.arg(F32, "mn")
    t = f.value_type(x)
    wide = "tensor<?x?xf32>" if dynamic else "tensor<11x42xf32>"
    tall = "tensor<?x?xf32>" if dynamic else "tensor<22x42xf32>"
    z = add_one(f, y, "mn", 4)
    beside = f.raw(f"tensor.concat dim(1) {x.name}, {z.name} : ({t}, {t}) -> {wide}", F32, "mn")
    below = f.raw(f"tensor.concat dim(0) {beside.name}, {beside.name} : ({wide}, {wide}) -> {tall}", F32, "mn")
    below.type_text = tall
    f.ret(below)

    def reference(x, y):
        row = np.concatenate([x, y + 4], axis=1)
        return np.concatenate([row, row], axis=0)

    f.case("11x21", {}, integers(-9, 9), EXACT, reference)
    return f


def old_and_new(dynamic):
    """A window of a tensor is overwritten while the old tensor lives on."""
    dims = {"m": 9, "n": 14}
    f = Function("host_slices", "f32", "old_and_new", dims, dynamic)
    x = f.arg(F32, "mn")
    f.sizes.update({"P": 4, "Q": 5})
    old = add_one(f, x, "mn", 1)
    part = f.raw(f"tensor.extract_slice {old.name}[0, 0] [4, 5] [1, 1] : {f.value_type(old)} to tensor<4x5xf32>",
                 F32, "PQ")
    new = f.raw(f"tensor.insert_slice {add_one(f, part, 'PQ', 50).name} into {old.name}[5, 9] [4, 5] [1, 1] : "
                f"tensor<4x5xf32> into {f.value_type(old)}", F32, "mn")
    f.ret(new, old, part)

    def reference(x):
        old = x + 1
        new = old.copy()
        new[5:9, 9:14] = old[:4, :5] + 50
        return [new, old, old[:4, :5]]

    f.case("9x14", {}, integers(-9, 9), EXACT, reference)
    return f


def reshapes():
    """collapse_shape and expand_shape around a kernel."""
    f = Function("host_slices", "f32", "reshapes", {"a": 6, "b": 4, "c": 5, "D": 24})
    x = f.arg(F32, "abc")
    flat = f.raw(f"tensor.collapse_shape {x.name} [[0, 1], [2]] : {f.value_type(x)} into tensor<24x5xf32>", F32, "Dc")
    y = add_one(f, flat, "Dc", 2)
    f.ret(f.raw(f"tensor.expand_shape {y.name} [[0, 1], [2]] output_shape [6, 4, 5] : tensor<24x5xf32> into "
                f"tensor<6x4x5xf32>", F32, "abc"))
    f.case("6x4x5", {}, integers(-9, 9), EXACT, lambda x: x + 2)
    return f


def disagreement():
    """Sizes that must be equal and are not: an error that names both."""
    f = Function("host_errors", "f32", "k_differs", {"m": 4, "n": 5, "k": 6, "j": 7}, True)
    a, b = f.arg(F32, "mk"), f.arg(F32, "jn")
    f.ret(f.op("linalg.matmul", [a, b], f.zeros(F32, "mn")))
    f.case("6_and_7", {}, integers(-3, 3), EXACT, error="7")
    f.case("equal", {"j": 6}, integers(-3, 3), EXACT, lambda a, b: a @ b)
    return f


def perceptron(dynamic):
    """Two fully connected layers with relu, then a row softmax."""
    dims = {"m": 33, "k": 24, "h": 40, "n": 10}
    f = Function("host_mlp", "f32", "two_layers_softmax", dims, dynamic)
    x, w1, b1, w2, b2 = (f.arg(F32, d) for d in ("mk", "kh", "h", "hn", "n"))
    zero = f.constant(F32, 0)

    def layer(x, w, b, dims):
        product = f.op("linalg.matmul", [x, w], f.zeros(F32, dims))

        def body(lines, p, b, out):
            lines += [f"%t = arith.addf {p}, {b} : f32", f"%u = arith.maximumf %t, {zero.name} : f32"]
            return "%u"

        return f.generic(dims, [product, b], f.empty(F32, dims), body)

    y = layer(layer(x, w1, b1, "mh"), w2, b2, "mn")
    out = f.empty(F32, "mn")
    f.ret(f.raw(f"linalg.softmax dimension(1) ins({y.name} : {f.value_type(y)}) outs({out.name} : "
                f"{f.value_type(out)}) -> {f.value_type(out)}", F32, "mn"))

    def reference(x, w1, b1, w2, b2):
        y = np.maximum(np.maximum(x @ w1 + b1, 0) @ w2 + b2, 0)
        e = np.exp(y - y.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    # The argument of exp is off by at most (24 + 40 + 24) · eps · 24 · 40: the
    # magnitude of a second-layer sum of products of values up to 1.
    for sizes in [{}] + ([{"m": 1}, {"m": 129}, {"m": 0}] if dynamic else []):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, uniform(-0.5, 0.5),
               relative(88 * 24 * 40 / 8 * F32.eps, 1e-30), reference)
    return f


def functions():
    for dynamic in (False, True):
        for make in (chain, conditional, loop, scalars, slices, moving_window, matmul_of_windows, rows, halves,
                     concatenation, old_and_new, many_scalars, narrow_scalars, while_loop, branch_in_loop, perceptron,
                     function_values, switch, memref_helper):
            yield make(dynamic)
    yield call()
    for element in (I8, I32, I64):
        yield loop_to_greatest(element)
        yield far_loop(element)
    yield constants()
    for dynamic in (False, True):
        for biased in (False, True):
            yield branches(dynamic, biased)
    for element in (F16, I32, I8):
        yield typed_constants(element)
    yield passthrough()
    yield reshapes()
    yield disagreement()
