#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far attention is from the answer in f64, beside an attention made of separate steps.

The steps are in f32: scores, their powers, sums, one term after another. The powers are rounded to the type of the values
before the second contraction, and the result to its own type. The error of a kernel, root mean square and largest, is
at most 1.25 times theirs, on random normal data and where scores have a deviation of 8 (the largest are beyond 30).
Log-sum-exps are held to the same, beside the largest score plus the logarithm of the sum.

The largest is the mean of each head's: a single element is a matter of luck. Of f32, 6 times 32 heads of 32 queries by 96 keys, the
largest of all heads is up to 1.07 times that of the steps on CPUs and as CUDA, 0.82 to 0.98 times in the mean. On Mesa's CPU device it
was once 1.76 times: the steps have that very error if a multiplication and an addition round one after the other, which the `Fma` of
SPIR-V may do, and does there. The mean of each head's is 0.77 to 1.01 times that of the steps everywhere.

Attentions with a small fault must exceed that: programs whose scale is slightly off, steps that round scores or sums
to the type of the inputs.

    build/venv/bin/python test/e2e/numerics.py                    # what scripts/test runs
    build/venv/bin/python test/e2e/numerics.py --all              # every type, depth and mask on every device
    build/venv/bin/python test/e2e/numerics.py --all --filter 'f32_*' --devices cpu
    build/venv/bin/python test/e2e/numerics.py --devices vulkan-newer@coopmat --coopmat TARGET    # of scripts/newer-vulkan
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import subprocess
import sys

import numpy as np

from batches import Compiler
from data import BF16, F16, F32
from families.attention import Case, numpy_attention, sizes, visible

MOST = 1.25
# Devices, and what is compiled for them.
COOPMAT = "vulkan-newer@coopmat"
TARGETS = {"cpu": "cpu", "vulkan": "vulkan", "ptxsim@sm_80": "cuda:sm_80", "ptxsim@sm_90": "cuda:sm_90a"}
# Factors of the queries, whose scores have a deviation of 1 without.
DATA = {"normal": 1, "extreme": 8}


@dataclasses.dataclass
class Kernel:
    name: str
    element: object
    out: object  # element type of the result
    dims: dict
    mask: dict  # how it is causal or capped: arguments of a Case
    devices: tuple
    sampled: bool  # in the run without --all
    off: float = 0  # of the scale, relative: the fault of this program

    def __post_init__(self):
        scale = self.dims["D"] ** -0.5 * (1 + self.off) if self.off else None
        self.case = Case(self.element, self.name, self.dims, out=self.out, scale=scale, **self.mask)
        self.function = self.case.f

    @property
    def has_sums(self):
        return bool(self.mask.get("lse"))

    def files(self, data):
        """The arguments of a call; numbers of their types."""
        random = np.random.default_rng(11)
        normal = lambda dims: random.standard_normal([self.dims[d] for d in dims])
        q, k, v = (normal(self.case.dims[name]) for name in "qkv")
        arrays = [(self.element.round(x), self.element) for x in (q * DATA[data], k, v)]
        if mask := self.mask.get("mask"):
            arrays.append((mask[0].round(normal(mask[1])), mask[0]))
        return arrays

    def inputs(self, data):
        """Queries, keys and values as heads, rows, columns, each head with its own; and the mask, or none."""
        (q, _), (k, _), (v, _), *mask = self.files(data)
        shared = self.dims.get("g", 1)
        flat = lambda x: x.reshape(-1, *x.shape[-2:])
        return flat(q), np.repeat(k, shared, axis=0), np.repeat(v, shared, axis=0), mask[0][0] if mask else None

    def hidden(self, scores):
        return ~visible(self.mask.get("causal"), self.mask.get("window"), *scores.shape[1:])

    def exact(self, inputs):
        """Results, and log-sum-exps as columns."""
        result, sums = numpy_attention(*inputs, self.dims["D"] ** -0.5, self.mask.get("causal"), self.mask.get("window"),
                                       self.mask.get("softcap"))
        return result, sums[..., None]


def kernels():
    everywhere = ("cpu", "ptxsim@sm_80", "ptxsim@sm_90")
    for element in (F16, BF16, F32):
        def kernel(name, dims, devices=everywhere, sampled=False, out=element, off=0, **mask):
            return Kernel(f"{element.name}_{name}", element, out, dims, mask, devices, sampled, off)

        for depth in (64, 128):
            for causal in (None, "bottom_right"):
                dims, name = sizes(4, 128, 320, depth), f"{depth}_causal" if causal else f"{depth}"
                sampled = depth == (128 if element is BF16 else 64) and bool(causal) == (element is F16)
                yield kernel(name, dims, causal=causal, sampled=sampled and element is not BF16)
                if element is not F32:  # with what rounding the results hides
                    yield kernel(f"{name}_f32_out", dims, causal=causal, out=F32, sampled=sampled)
        yield kernel("few_queries", sizes(8, 1, 2048, 64))  # keys in parts
        yield kernel("softcap", sizes(8, 64, 320, 64), softcap=30.0)
        yield kernel("small", sizes(4, 32, 96, 32), (*everywhere, "vulkan", *((COOPMAT,) if element is F16 else ())),
                     element is not BF16)
        yield kernel("256", sizes(4, 64, 160, 256), sampled=element is F32)
        yield kernel("window", sizes(4, 64, 160, 64), window=(40, 0), causal="bottom_right", lse=True, sampled=element is BF16)
        yield kernel("mask", sizes(4, 64, 160, 64), mask=(element, "ij"), lse=True, sampled=element is F32)
        yield kernel("groups", {"g": 4, **sizes(2, 16, 160, 64)}, group="g", causal="bottom_right", lse=True, sampled=element is F16)
        off = 2.0 ** -20 if element is F32 else element.eps / 2
        yield kernel("scale_off", sizes(4, 32, 96, 32), ("cpu",), True, off=off)


def contract(left, right):
    """Rows by columns, in f32 by fused multiply-adds, one term after another."""
    total = np.zeros((*left.shape[:2], right.shape[2]), np.float32)
    left, right = left.astype(np.float64), right.astype(np.float64)
    for term in range(left.shape[2]):
        total = (total + left[:, :, term, None] * right[:, None, term]).astype(np.float32)
    return total


def by_steps(kernel, q, k, v, mask, store=lambda x: x, total=lambda x: x):
    """Results, and log-sum-exps as columns. `store` and `total` make faults: what happens to scores and to the sums of
    their powers."""
    single = np.float32
    scores = contract(q, k.transpose(0, 2, 1)) * single(kernel.dims["D"] ** -0.5)
    if cap := kernel.mask.get("softcap"):
        scores = single(cap) * np.tanh(scores / single(cap))
    scores = store(scores).astype(single)
    if mask is not None:
        scores = scores + mask.astype(single)
    scores = np.where(kernel.hidden(scores), single(-np.inf), scores)
    largest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - largest)
    sums = total(np.cumsum(powers, axis=-1, dtype=single)[..., -1:]).astype(single)
    return kernel.out.round(contract(kernel.element.round(powers), v) / sums), (largest + np.log(sums)).astype(single)


def errors(result, exact):
    """Root mean square, and the largest: the mean of each head's."""
    error = np.abs(result - exact)
    return np.array([np.sqrt(np.mean(error * error)), error.max(axis=(1, 2)).mean()])


def encode(path, array, element):
    """A file for a run; bf16 as words of its bits."""
    array = array.astype(np.float16 if element is F16 else np.float32)
    np.save(path, (array.view(np.uint32) >> 16).astype(np.uint16) if element is BF16 else array)


def decode(path, element):
    array = np.load(path)
    if element is BF16:
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


class Tools:
    def __init__(self, build, out, targets):
        self.build, self.out, self.targets = build, out, targets

    def compile(self, device, functions):
        compiler = Compiler(str(self.build / "bin/tilewright-compile"), self.out)
        source, _ = compiler.write(device.replace("@", "-"), functions)
        artifact = source.with_suffix(".tw")
        code, said = compiler.run(source, artifact, [self.targets[device]])
        if code != 0:
            sys.exit(f"{source}: {said}")
        return artifact

    def run(self, artifact, kernel, device, data):
        name, _, arch = device.partition("@")
        command = [self.build / "bin/tilewright-run"]
        if device == COOPMAT:
            name, command = "vulkan", [self.build / "newer-vulkan/run", "--validate", *command]
        path = lambda which: self.out / f"{kernel.name}-{device}-{data}-{which}.npy"
        inputs = [path(f"input{n}") for n, _ in enumerate(kernel.files(data))]
        outputs = [path("result"), *([path("sums")] if kernel.has_sums else [])]
        for file, (array, element) in zip(inputs, kernel.files(data)):
            encode(file, array, element)
        done = subprocess.run(
            [*command, artifact, f"--device={name}", f"--function={kernel.function.symbol}",
             *(f"--input=@{file}" for file in inputs), *(f"--output=@{file}" for file in outputs)],
            capture_output=True, text=True, env={**os.environ, "PTXSIM_ARCH": arch or "sm_80"})
        if done.returncode != 0:
            sys.exit(f"{kernel.name} on {device}: {done.stdout}{done.stderr}")
        heads = kernel.dims["h"] * kernel.dims.get("g", 1)
        shape = (heads, kernel.dims["i"], -1)
        return [decode(file, element).reshape(shape) for file, element in zip(outputs, (kernel.out, F32))]


class Table:
    def __init__(self):
        self.failed = 0
        self.steps = {}  # errors by steps
        print(f"{'kernel':24} {'data':8} {'device':20} {'by steps: rms':>13} {'largest':>9} {'ratio: rms':>11} {'largest':>8}")

    def add(self, kernel, data, device, results, faulty):
        """`results`: that of the kernel, and its log-sum-exps where it has them. Faults have to be seen in the result."""
        inputs = kernel.inputs(data)
        exact = kernel.exact(inputs)
        if (kernel.name, data) not in self.steps:
            steps = by_steps(kernel, *inputs)
            self.steps[kernel.name, data] = [errors(step, right) for step, right in zip(steps, exact)]
        names = [kernel.name, f"{kernel.name} sums"]
        for name, result, right, steps in zip(names, results, exact, self.steps[kernel.name, data]):
            ratios = errors(result, right) / steps
            good = (ratios <= MOST).all() != faulty  # NaN is no good result
            self.failed += not good
            print(f"{name:24} {data:8} {device:20} {steps[0]:13.3g} {steps[1]:9.3g} {ratios[0]:11.3f} {ratios[1]:8.3f}"
                  f"{' fault' if faulty else ''}{'' if good else ' NOT FOUND' if faulty else ' FAILED'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--out", type=pathlib.Path, help="default: BUILD/numerics")
    parser.add_argument("--devices", default=",".join(TARGETS))
    parser.add_argument("--coopmat", metavar="TARGET", help="what to compile for cooperative matrices")
    parser.add_argument("--filter", default="*", help="names of kernels")
    parser.add_argument("--all", action="store_true", help="all kernels")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    named = options.devices.split(",")
    if unknown := set(named) - {*TARGETS, COOPMAT}:
        parser.error(f"no device {', '.join(sorted(unknown))}; there are {', '.join([*TARGETS, COOPMAT])}")
    if COOPMAT in named and not options.coopmat:
        parser.error(f"{COOPMAT} needs --coopmat, the target that its --list-devices names")
    tools = Tools(options.build.resolve(), (options.out or options.build / "numerics").resolve(),
                  {**TARGETS, COOPMAT: options.coopmat})
    chosen = [k for k in kernels() if (options.all or k.sampled) and fnmatch.fnmatchcase(k.name, options.filter)]
    devices = {d: [k for k in chosen if d in k.devices] for d in named}
    devices = {d: own for d, own in devices.items() if own}
    runs = [(kernel, device, data) for device, own in devices.items() for kernel in own for data in DATA
            if not (kernel.off and data == "extreme")]  # there, what scores lose by rounding hides the fault
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        compiled = pool.map(lambda d: tools.compile(d, [k.function for k in devices[d]]), devices)
        artifacts = dict(zip(devices, compiled))
        results = list(pool.map(lambda run: tools.run(artifacts[run[1]], *run), runs))
    table = Table()
    for (kernel, device, data), result in zip(runs, results):
        table.add(kernel, data, device, result, faulty=kernel.off != 0)
    for kernel in chosen:
        rounds = (F16 if kernel.element is F32 else kernel.element).round
        for name, fault in (("scores rounded", {"store": rounds}), ("sums rounded", {"total": rounds})):
            if kernel.out is F32 and not kernel.off:
                result, _ = by_steps(kernel, *kernel.inputs("normal"), **fault)
                table.add(kernel, "normal", name, [result], faulty=True)
    return 1 if table.failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
