# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program with a value that is computed by 40 ops, each of which takes the result of the one before twice: there are
2^40 paths to its first one. long-bodies.py PROGRAM, a function below."""

import sys

STEPS = 40
made = 0


def chain(value, op="arith.addf", kind="f32"):
    """The text of ops behind `value`, and the last result."""
    global made
    text = ""
    for _ in range(STEPS):
        made += 1
        text += f"    %c{made} = {op} {value}, {value} : {kind}\n"
        value = f"%c{made}"
    return text, value


def reduce(result, shape, ins, out, element, body):
    """Along the last dim of `shape`; `ins` have all of them or, with a name that begins as results' do, all but the last."""
    loops = [f"d{d}" for d in range(len(shape))]
    sizes = "".join(f"{size}x" for size in shape)
    kept = "".join(f"{size}x" for size in shape[:-1])
    whole, rows = (f"affine_map<({', '.join(loops)}) -> ({', '.join(to)})>" for to in (loops, loops[:-1]))
    maps = [whole if name == "%x" else rows for name in ins] + [rows]
    types = [f"tensor<{sizes if name == '%x' else kept}f32>" for name in ins]
    kinds = ['"parallel"'] * (len(shape) - 1) + ['"reduction"']
    arguments = [f"%a{i}: f32" for i in range(len(ins))] + [f"%b: {element}"]
    text, last = body()
    return (f"  {result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(kinds)}]}}\n"
            f"      ins({', '.join(ins)} : {', '.join(types)}) outs({out} : tensor<{kept}{element}>) {{\n"
            f"  ^bb0({', '.join(arguments)}):\n{text}    linalg.yield {last} : {element}\n  }} -> tensor<{kept}{element}>\n")


def filled(name, kept, element, number):
    return (f"  {name}_n = arith.constant {number} : {element}\n  {name}_e = tensor.empty() : tensor<{kept}{element}>\n"
            f"  {name} = linalg.fill ins({name}_n : {element}) outs({name}_e : tensor<{kept}{element}>) -> tensor<{kept}{element}>\n")


def greatest():
    text, last = chain("%a0")
    return text + f"    %m = arith.maximumf {last}, %b : f32\n", "%m"


def argmax():
    """The greatest element that a body computes, and its place."""
    def place():
        text, last = chain("%a0")
        return text + (f"    %q = arith.cmpf oeq, {last}, %a1 : f32\n    %j = linalg.index 0 : index\n    %k = arith.index_cast %j : index to i64\n"
                       "    %h = arith.select %q, %k, %g_n : i64\n    %p = arith.minsi %h, %b : i64\n"), "%p"

    shape = (8388608,)
    return ("func.func @main(%x: tensor<8388608xf32>) -> (tensor<f32>, tensor<i64>) {\n" + filled("%f", "", "f32", "0xFF800000")
            + filled("%g", "", "i64", 2**63 - 1) + reduce("%v", shape, ["%x"], "%f", "f32", greatest)
            + reduce("%r", shape, ["%x", "%v"], "%g", "i64", place) + "  return %v, %r : tensor<f32>, tensor<i64>\n}\n")


def rows(first, second, begin):
    """Two reductions of the rows of a tensor, of which the second reads the first."""
    return ("func.func @main(%x: tensor<64x512xf32>) -> (tensor<64xf32>, tensor<64xf32>) {\n" + filled("%f", "64x", "f32", begin)
            + filled("%g", "64x", "f32", "0.0") + reduce("%v", (64, 512), ["%x"], "%f", "f32", first)
            + reduce("%r", (64, 512), ["%x", "%v"], "%g", "f32", second) + "  return %v, %r : tensor<64xf32>, tensor<64xf32>\n}\n")


def softmax():
    """The sum of exponentials below the greatest of elements that bodies compute."""
    def exponentials():
        text, last = chain("%a0")
        return text + f"    %d = arith.subf {last}, %a1 : f32\n    %e = math.exp %d : f32\n    %s = arith.addf %e, %b : f32\n", "%s"
    return rows(greatest, exponentials, "0xFF800000")


def variance():
    """Squared distances to a number that a body computes of the sum."""
    def squares():
        text, last = chain("%a1")
        return text + f"    %d = arith.subf %a0, {last} : f32\n    %q = arith.mulf %d, %d : f32\n    %s = arith.addf %q, %b : f32\n", "%s"
    return rows(lambda: ("    %s = arith.addf %a0, %b : f32\n", "%s"), squares, "0.0")


def views():
    """One view twice, at offsets that are computed on their own."""
    (text, first), (more, second) = (chain("%at", "arith.addi", "index") for _ in range(2))
    view = "memref<64xf32, strided<[1], offset: ?>>"
    return (f"func.func @main(%x: memref<4096xf32>, %at: index) {{\n{text}{more}"
            f"  %a = memref.subview %x[{first}] [64] [1] : memref<4096xf32> to {view}\n"
            f"  %b = memref.subview %x[{second}] [64] [1] : memref<4096xf32> to {view}\n"
            "  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}\n"
            f"      ins(%a : {view}) outs(%b : {view}) {{\n  ^bb0(%p: f32, %q: f32):\n    %s = arith.addf %p, %p : f32\n"
            "    linalg.yield %s : f32\n  }\n  return\n}\n")


print(globals()[sys.argv[1]](), end="")
