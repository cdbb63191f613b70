#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small faults, which `tilewright-run --check=oracle` must find by its own bounds.

For each family and element type there is a right program and versions of it with one small fault. The code of each
version, right or wrong, runs on the cpu against the oracle of the right one (`--oracle=`):

    right.tw   cpu, cpu-reference       relu-for-gelu.tw   cpu       --function=matmul_f16 in both

The right one must be accepted, and each fault found, unless NOT_FOUND says that it cannot be, and why.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from data import BF16, E4M3, E5M2, F16, F32, F64
from functions import Function

FAULTS = ("relu-for-gelu", "bias-element", "scale", "wrong-rows", "dropped-step", "swapped-mask")
SUMMED = (F32, F16, BF16, F64, E4M3, E5M2)
PLAIN = (F32, F16, BF16, F64)
ROW, STEP = 5, 8  # the first of two rows that get their neighbours' values; terms left out

EPILOGUE = ("relu-for-gelu", "bias-element", "scale", "wrong-rows", "dropped-step")
# (family, type, fault) that no sound bound finds: bf16 has a unit roundoff of 0.39 %, so that a few operations in it may
# be off by more than 0.8 %; sums in f16 and bf16 themselves may be off by (K + 8) u Σ|term|, which at K = 512 is more than
# any of these faults. docs/understanding.md says so.
NOT_FOUND = {("elementwise", "bf16", "scale"),
             *(("narrow_matmul", t, fault) for t in ("f16", "bf16") for fault in EPILOGUE),
             *(("short_narrow_matmul", t, "scale") for t in ("f16", "bf16"))}


class Program:
    """One function, in the version with `fault` (None: the right one)."""

    def __init__(self, family, element, fault, dims):
        self.f = Function(family, element.name, "x", dims)
        self.f.symbol = f"{family}_{element.name}"
        self.fault, self.element = fault, element
        self.wide = F64 if element is F64 else F32  # of sums
        # 8-bit floats have products only: what is computed of them is f16.
        self.out = F16 if element.bits == 8 else element

    def cast(self, lines, name, x, source, target):
        if source is target:
            return x
        op = "extf" if source.bits < target.bits else "truncf"
        lines.append(f"{name} = arith.{op} {x} : {source.name} to {target.name}")
        return name

    def sum_of(self, iteration, reduce, factors, dims):
        """The sum along `reduce` of the product of one or two operands; without the last terms where that is the fault."""
        f, wide = self.f, self.wide
        size = f.sizes[reduce]
        if self.fault == "dropped-step":
            f.sizes[reduce] = size - STEP
            factors = [self.slice(x, reduce, size) for x in factors]

        def body(lines, *scalars):
            values = [self.cast(lines, f"%e{i}", s, x.element, wide)
                      for i, (s, x) in enumerate(zip(scalars, factors))]
            term = values[0]
            if len(values) == 2:
                lines.append(f"%p = arith.mulf {values[0]}, {values[1]} : {wide.name}")
                term = "%p"
            lines.append(f"%q = arith.addf {scalars[-1]}, {term} : {wide.name}")
            return "%q"

        result = f.generic(iteration, factors, f.zeros(wide, dims), body, reduce=reduce)
        f.sizes[reduce] = size
        return result

    def slice(self, x, dim, size):
        f = self.f
        if dim not in x.dims:
            return x
        sizes = ", ".join(str(f.sizes[d]) for d in x.dims)
        short = f.type(x.element, x.dims)
        f.sizes[dim] = size
        whole = f.value_type(x)
        f.sizes[dim] = size - STEP
        zeros, ones = ", ".join("0" for _ in x.dims), ", ".join("1" for _ in x.dims)
        return f.raw(f"tensor.extract_slice {x.name}[{zeros}] [{sizes}] [{ones}] : {whole} to {short}",
                     x.element, x.dims)

    def activation(self, lines, x, element):
        """gelu, or relu."""
        t = element.name
        lines.append(f"%zero = arith.constant 0.0 : {t}")
        if self.fault == "relu-for-gelu":
            lines.append(f"%act = arith.maximumf {x}, %zero : {t}")
            return "%act"
        lines += [f"%half = arith.constant 0.5 : {t}", f"%one = arith.constant 1.0 : {t}",
                  f"%root = arith.constant 0.70710678 : {t}", f"%g0 = arith.mulf {x}, %root : {t}",
                  f"%g1 = math.erf %g0 : {t}", f"%g2 = arith.addf %g1, %one : {t}",
                  f"%g3 = arith.mulf {x}, %half : {t}", f"%act = arith.mulf %g3, %g2 : {t}"]
        return "%act"

    def epilogue(self, value, bias, scale, compute):
        """act(value · scale + bias) in `compute`, along the last dim of `value`."""
        f = self.f
        factor = scale * (1.008 if self.fault == "scale" else 1)

        def body(lines, x, b, out):
            t = compute.name
            x = self.cast(lines, "%x", x, value.element, compute)
            b = self.cast(lines, "%b", b, bias.element, compute)
            lines += [f"%f = arith.constant {factor:.9e} : {t}", f"%s = arith.mulf {x}, %f : {t}"]
            if self.fault == "bias-element":
                lines += [f"%j = linalg.index {len(value.dims) - 1} : index", "%c = arith.constant 3 : index",
                          "%here = arith.cmpi eq, %j, %c : index", f"%none = arith.constant 0.0 : {t}",
                          f"%b1 = arith.select %here, %none, {b} : {t}"]
                b = "%b1"
            lines.append(f"%y = arith.addf %s, {b} : {t}")
            y = self.activation(lines, "%y", compute)
            return self.cast(lines, "%r", y, compute, self.out)

        return f.generic(value.dims, [value, bias], f.empty(self.out, value.dims), body)

    def scaled(self, value, factor):
        """value · factor, as the result's type."""
        factor *= 1.008 if self.fault == "scale" else 1

        def body(lines, x, out):
            t = value.element.name
            lines += [f"%f = arith.constant {factor:.9e} : {t}", f"%s = arith.mulf {x}, %f : {t}"]
            return self.cast(lines, "%r", "%s", value.element, self.out)

        return self.f.generic(value.dims, [value], self.f.empty(self.out, value.dims), body)

    def softmax(self, x, masked):
        """Along the last of two dims "ij" of f32 or f64; element (i, j) counts where j <= i."""
        f, t, dims = self.f, x.element.name, x.dims

        def mask(lines, x, out):
            order = "sgt" if self.fault != "swapped-mask" else "sge"
            lines += ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index",
                      f"%off = arith.cmpi {order}, %j, %i : index", f"%low = arith.constant -1.0e4 : {t}",
                      f"%m = arith.select %off, %low, {x} : {t}"]
            return "%m"

        if masked:
            x = f.generic(dims, [x], f.empty(x.element, dims), mask)
        return f.op("linalg.softmax", [x], f.empty(x.element, dims), "dimension(1)")

    def convert(self, x, target):
        if x.element is target:
            return x
        return self.f.generic(x.dims, [x], self.f.empty(target, x.dims),
                              lambda lines, v, out: self.cast(lines, "%r", v, x.element, target))

    def finish(self, result):
        f = self.f
        if self.fault == "wrong-rows":
            rest = result.dims[1:]
            sizes = ", ".join(["2"] + [str(f.sizes[d]) for d in rest])
            type_ = "x".join(["2"] + [str(f.sizes[d]) for d in rest] + [result.element.name])
            zeros, ones = "".join(", 0" for _ in rest), "".join(", 1" for _ in rest)
            row = f.fresh()
            f.emit(f"{row} = tensor.extract_slice {result.name}[{ROW + 2}{zeros}] [{sizes}] [1{ones}] : "
                   f"{f.value_type(result)} to tensor<{type_}>")
            result = f.raw(f"tensor.insert_slice {row} into {result.name}[{ROW}{zeros}] [{sizes}] [1{ones}] : "
                           f"tensor<{type_}> into {f.value_type(result)}", result.element, result.dims)
        f.ret(result)
        return f


def matmul(element, fault):
    """gelu(A · B · s + bias), K = 512."""
    return product("matmul", element, fault, 512)


def narrow_matmul(element, fault):
    """The same, summed and computed in the type of its elements."""
    return product("narrow_matmul", element, fault, 512, wide=element)


def short_narrow_matmul(element, fault):
    """The same with K = 16."""
    return product("short_narrow_matmul", element, fault, 16, wide=element)


def product(family, element, fault, k, wide=None):
    p = Program(family, element, fault, {"m": 32, "n": 32, "k": k})
    p.wide = wide or p.wide
    a, b, bias = p.f.arg(element, "mk"), p.f.arg(element, "kn"), p.f.arg(p.out, "n")
    return p.finish(p.epilogue(p.sum_of("mnk", "k", [a, b], "mn"), bias, 0.0625, p.wide))


def convolution(element, fault):
    """A convolution with a window of 3 x 3 and gelu, then the mean of windows of 2."""
    p = Program("convolution", element, fault, {"h": 18, "w": 18, "y": 16, "x": 16, "r": 3, "s": 3, "c": 16, "f": 16})
    f = p.f
    image, weights, bias = f.arg(element, "hwc"), f.arg(element, "rscf"), f.arg(p.out, "f")
    size = f.sizes["c"]
    if fault == "dropped-step":
        f.sizes["c"] = size - STEP
        image_, weights_ = (p.slice(v, "c", size) for v in (image, weights))
    else:
        image_, weights_ = image, weights
    into = f.zeros(p.wide, "yxf")
    w = p.wide.name
    lines = []
    x = p.cast(lines, "%u", "%a", element, p.wide)
    v = p.cast(lines, "%v", "%b", element, p.wide)
    lines += [f"%m = arith.mulf {x}, {v} : {w}", f"%t = arith.addf %acc, %m : {w}"]
    body = "".join(f"        {line}\n" for line in lines)
    product = f.raw(
        "linalg.generic {indexing_maps = [affine_map<(y, x, f, r, s, c) -> (y + r, x + s, c)>, "
        "affine_map<(y, x, f, r, s, c) -> (r, s, c, f)>, affine_map<(y, x, f, r, s, c) -> (y, x, f)>], "
        'iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} '
        f"ins({image_.name}, {weights_.name} : {f.value_type(image_)}, {f.value_type(weights_)}) "
        f"outs({into.name} : {f.value_type(into)}) {{\n      ^bb0(%a: {element.name}, %b: {element.name}, %acc: {w}):\n"
        f"{body}        linalg.yield %t : {w}\n    }} -> {f.value_type(into)}", p.wide, "yxf")
    f.sizes["c"] = size
    return p.finish(p.epilogue(product, bias, 0.125, p.wide))


def reduction(element, fault):
    """The mean of each row, of 256 terms."""
    p = Program("reduction", element, fault, {"m": 32, "k": 256})
    x = p.f.arg(element, "mk")
    return p.finish(p.scaled(p.sum_of("mk", "k", [x], "m"), 1 / 256))


def norm(element, fault):
    """x / sqrt(mean(x²)) · weight + bias, then gelu."""
    p = Program("norm", element, fault, {"m": 32, "k": 256})
    f, wide = p.f, p.wide
    x, bias = f.arg(element, "mk"), f.arg(p.out, "k")
    squares = p.sum_of("mk", "k", [x, x], "m")

    def body(lines, v, s, out):
        v = p.cast(lines, "%v", v, element, wide)
        lines += [f"%n = arith.constant 3.90625e-3 : {wide.name}", f"%mean = arith.mulf {s}, %n : {wide.name}",
                  f"%rs = math.rsqrt %mean : {wide.name}", f"%r = arith.mulf {v}, %rs : {wide.name}"]
        return "%r"

    return p.finish(p.epilogue(f.generic("mk", [x, squares], f.empty(wide, "mk"), body), bias, 1.25, wide))


def softmax(element, fault):
    """A causal softmax of rows, times a number."""
    p = Program("softmax", element, fault, {"i": 48, "j": 48})
    x = p.f.arg(element, "ij")
    return p.finish(p.scaled(p.softmax(p.convert(x, p.wide), True), 1.5))


def elementwise(element, fault):
    """gelu(x · s + bias), computed in the type itself."""
    p = Program("elementwise", element, fault, {"m": 32, "n": 64})
    x, bias = p.f.arg(element, "mn"), p.f.arg(element, "n")
    return p.finish(p.epilogue(x, bias, 1.25, element))


def attention(element, fault):
    """softmax(Q Kᵀ s, causal) V."""
    p = Program("attention", element, fault, {"i": 48, "j": 48, "d": 32, "e": 32})
    f = p.f
    q, k, v = f.arg(element, "id"), f.arg(element, "jd"), f.arg(element, "je")
    full, p.fault = p.fault, None if fault == "dropped-step" else p.fault
    scores = p.sum_of("ijd", "d", [q, k], "ij")
    p.out, out = p.wide, p.out
    p.fault = "scale" if full == "scale" else None
    scores = p.scaled(scores, 0.17677669)
    p.out, p.fault = out, full
    weights = p.softmax(scores, True)
    if element.bits > 8:
        weights = p.convert(weights, element)
    result = p.sum_of("iej", "j", [weights, v], "ie")
    return p.finish(p.convert(result, p.out))


def attention_op(element, fault):
    """The same as one op, and so as one kernel; the wrong mask is that of the other corner."""
    p = Program("attention_op", element, fault, {"i": 48, "j": 56, "d": 32, "e": 32})
    f = p.f
    q, k, v = f.arg(element, "id"), f.arg(element, "jd"), f.arg(element, "je")
    size = f.sizes["j"]
    if fault == "dropped-step":
        f.sizes["j"] = size - STEP
        k, v = p.slice(k, "j", size), p.slice(v, "j", size)
    out = f.empty(element, "ie")
    maps = ", ".join(f.map("ijde", dims) for dims in ("id", "jd", "je", "ie"))
    corner = "top_left" if fault == "swapped-mask" else "bottom_right"
    scale = 2 * (1.008 if fault == "scale" else 1)
    result = f.raw(f"tilewright.attention ins({q.name}, {k.name}, {v.name} : {f.value_type(q)}, {f.value_type(k)}, "
                   f"{f.value_type(v)}) outs({out.name} : {f.value_type(out)}) {{indexing_maps = [{maps}], "
                   f'scale = {scale:.9e}, causal = "{corner}"}} -> {f.value_type(out)}', element, "ie")
    f.sizes["j"] = size
    return p.finish(result)


FAMILIES = {
    narrow_matmul: ((F16, BF16), EPILOGUE),
    short_narrow_matmul: ((F16, BF16), EPILOGUE),
    matmul: (SUMMED, EPILOGUE),
    convolution: (SUMMED, EPILOGUE),
    reduction: (SUMMED, ("scale", "wrong-rows", "dropped-step")),
    norm: (SUMMED, EPILOGUE),
    softmax: (PLAIN, ("scale", "wrong-rows", "swapped-mask")),
    elementwise: (PLAIN, ("relu-for-gelu", "bias-element", "scale", "wrong-rows")),
    attention: (SUMMED, ("scale", "wrong-rows", "dropped-step", "swapped-mask")),
    attention_op: (PLAIN[:3], ("scale", "wrong-rows", "dropped-step", "swapped-mask")),
}


def write_modules(folder):
    texts = {fault: [] for fault in (None, *FAULTS)}
    cases = []
    for family, (elements, faults) in FAMILIES.items():
        for element in elements:
            for fault in (None, *faults):
                function = family(element, fault)
                texts[fault].append(function.text())
                cases.append((family.__name__, element.name, fault, function))
    for fault, functions in texts.items():
        (folder / f"{fault or 'right'}.mlir").write_text("module {\n" + "\n".join(functions) + "\n}\n")
    return cases


def inputs_of(function):
    return [f"--input={'x'.join(str(function.sizes[d]) for d in a.dims)}x{a.element.name}=random"
            for a in function.args]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--device", default="cpu", help="that runs the programs, right and wrong")
    parser.add_argument("--target", default="cpu", help="that they are compiled for")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    tools = pathlib.Path(options.build).resolve() / "bin"
    with tempfile.TemporaryDirectory(prefix="tilewright-faults-") as folder:
        return run(options, tools, pathlib.Path(folder))


def run(options, tools, folder):
    cases = write_modules(folder)
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)

    def compile_module(fault):
        name = fault or "right"
        targets = options.target + ("" if fault else ",cpu-reference")
        subprocess.run([tools / "tilewright-compile", folder / f"{name}.mlir", "-o", folder / f"{name}.tw",
                        f"--target={targets}"], check=True)

    def check(case):
        family, element, fault, function = case
        result = subprocess.run(
            [tools / "tilewright-run", folder / f"{fault or 'right'}.tw", f"--device={options.device}",
             f"--function={function.symbol}", "--check=oracle", f"--oracle={folder / 'right.tw'}", "--json",
             *inputs_of(function)], capture_output=True, text=True)
        lines = result.stdout.splitlines()
        return case, json.loads(lines[-1]) if lines else {"verdict": "error", "error": result.stderr}

    list(pool.map(compile_module, (None, *FAULTS)))
    wrong, table, found = [], {}, 0
    for (family, element, fault, function), report in pool.map(check, cases):
        name = f"{family} {element} {fault or 'right'}"
        verdict = report["verdict"]
        hidden = (family, element, fault) in NOT_FOUND
        expected = "mismatch" if fault and not hidden else "ok"
        # Devices that compute narrow floats in f32 stay so close that more is found there.
        if hidden and verdict == "mismatch" and options.device != "cpu":
            expected = verdict
        if options.verbose:
            outputs = report.get("outputs") or [{}]
            print(name, verdict, *(f"{k}={outputs[0].get(k)}" for k in ("mismatches", "worst_error", "worst_ulp")))
        if verdict == "error":
            wrong.append(f"{name}: {report.get('error')}")
        elif verdict != expected:
            wrong.append(f"{name}: {verdict}, expected {expected}")
        if fault and verdict == "mismatch":
            found += 1
    print(f"{found} of {sum(1 for c in cases if c[2])} faults found, "
          f"{sum(1 for c in cases if not c[2])} right programs, {len(wrong)} not as expected")
    for line in wrong:
        print("  " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
