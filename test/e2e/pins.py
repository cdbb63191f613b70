#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pinned lowering configs: given back as they are listed, and changed at random.

    test/e2e/pins.py --build build            # a sample of what --list-configs prints for each program is accepted,
                                              # by kernel (--config) and on the op in the input file
    test/e2e/pins.py --build build --fuzz 20  # random fields: honoured and right, or refused with the reason

Each program is a family of kernels. Configs that are changed go through `tilewright-compile --config`, those of blocks that share sums stand on the op. What is accepted must be what the
kernel then has. With --fuzz it also runs, on small integers, and must equal the oracle in every element; --first=N begins with
the N-th change, and --devices= chooses where.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile


def contraction(op, a, b, c, zero):
    element = c[c.rindex("x") + 1:]
    return (f"func.func @f(%a: tensor<{a}>, %b: tensor<{b}>, %c: tensor<{c}>) -> tensor<{c}> {{\n"
            f"  %z = arith.constant {zero} : {element}\n"
            f"  %i = linalg.fill ins(%z : {element}) outs(%c : tensor<{c}>) -> tensor<{c}>\n"
            f"  %r = linalg.{op} ins(%a, %b : tensor<{a}>, tensor<{b}>) outs(%i : tensor<{c}>) -> tensor<{c}>\n"
            f"  return %r : tensor<{c}>\n}}\n", [a, b, c])


def reduction(dims, kept, shape):
    kinds = ", ".join('"parallel"' if d in kept else '"reduction"' for d in dims)
    sizes = dict(zip(dims, shape))
    a = "x".join([*map(str, shape), "f32"])
    c = "x".join([*(str(sizes[d]) for d in kept), "f32"])
    return (f"func.func @f(%a: tensor<{a}>, %c: tensor<{c}>) -> tensor<{c}> {{\n"
            f"  %r = linalg.generic {{indexing_maps = [affine_map<({', '.join(dims)}) -> ({', '.join(dims)})>, "
            f"affine_map<({', '.join(dims)}) -> ({', '.join(kept)})>], iterator_types = [{kinds}]}}\n"
            f"      ins(%a : tensor<{a}>) outs(%c : tensor<{c}>) {{\n    ^bb0(%x: f32, %s: f32):\n"
            f"      %t = arith.addf %x, %s : f32\n      linalg.yield %t : f32\n  }} -> tensor<{c}>\n"
            f"  return %r : tensor<{c}>\n}}\n", [a, c])


POOLING = ("""func.func @f(%a: tensor<1x12x12x20xf32>, %w: tensor<3x3xf32>, %c: tensor<1x10x10x20xf32>) -> tensor<1x10x10x20xf32> {
  %r = linalg.pooling_nhwc_sum ins(%a, %w : tensor<1x12x12x20xf32>, tensor<3x3xf32>)
      outs(%c : tensor<1x10x10x20xf32>) -> tensor<1x10x10x20xf32>
  return %r : tensor<1x10x10x20xf32>
}
""", ["1x12x12x20xf32", "3x3xf32", "1x10x10x20xf32"])

CONVOLUTION = ("""func.func @f(%a: tensor<2x9x9x16xf16>, %w: tensor<3x3x16x24xf16>, %c: tensor<2x7x7x24xf32>) -> tensor<2x7x7x24xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %w : tensor<2x9x9x16xf16>, tensor<3x3x16x24xf16>)
      outs(%c : tensor<2x7x7x24xf32>) -> tensor<2x7x7x24xf32>
  return %r : tensor<2x7x7x24xf32>
}
""", ["2x9x9x16xf16", "3x3x16x24xf16", "2x7x7x24xf32"])

TRANSPOSE = ("""func.func @f(%a: tensor<50x70xf32>, %c: tensor<70x50xf32>) -> tensor<70x50xf32> {
  %r = linalg.transpose ins(%a : tensor<50x70xf32>) outs(%c : tensor<70x50xf32>) permutation = [1, 0]
  return %r : tensor<70x50xf32>
}
""", ["50x70xf32", "70x50xf32"])

ELEMENTWISE = ("""func.func @f(%a: tensor<40x72xf32>, %b: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %r = arith.addf %a, %b : tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}
""", ["40x72xf32", "40x72xf32"])

ADD = ("""func.func @f(%a: tensor<40x72xf32>, %b: tensor<40x72xf32>, %c: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %r = linalg.add ins(%a, %b : tensor<40x72xf32>, tensor<40x72xf32>) outs(%c : tensor<40x72xf32>) -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}
""", ["40x72xf32", "40x72xf32", "40x72xf32"])

SCATTER = ("""func.func @f(%u: tensor<40xf32>, %i: tensor<40x1xi32>, %t: tensor<16xf32>) -> tensor<16xf32> {
  %r = tilewright.scatter ins(%u, %i : tensor<40xf32>, tensor<40x1xi32>) outs(%t : tensor<16xf32>) {dims = array<i64: 0>} combine {
  ^bb0(%n: f32, %o: f32):
    %s = arith.addf %o, %n : f32
    tilewright.combined %s : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
""", ["40xf32", "40x1xi32", "16xf32"])

SORT = ("""func.func @f(%x: tensor<3x20xf32>) -> tensor<3x20xf32> {
  %e = tensor.empty() : tensor<3x20xf32>
  %r = tilewright.sort ins(%x : tensor<3x20xf32>) outs(%e : tensor<3x20xf32>) {dim = 1 : i64} -> tensor<3x20xf32>
  return %r : tensor<3x20xf32>
}
""", ["3x20xf32"])

PROGRAMS = {
    "matmul": contraction("matmul", "72x40xf32", "40x96xf32", "72x96xf32", "0.0"),
    "matmul_f16": contraction("matmul", "72x64xf16", "64x96xf16", "72x96xf32", "0.0"),
    "matmul_deep": contraction("matmul", "72x520xf16", "520x96xf16", "72x96xf32", "0.0"),
    "matmul_i8": contraction("matmul", "64x64xi8", "64x64xi8", "64x64xi32", "0"),
    "batch_matmul": contraction("batch_matmul", "3x40x24xf32", "3x24x48xf32", "3x40x48xf32", "0.0"),
    "batch_matmul_f16": contraction("batch_matmul", "3x40x32xf16", "3x32x48xf16", "3x40x48xf32", "0.0"),
    "one_row": contraction("matmul", "1x256xf32", "256x96xf32", "1x96xf32", "0.0"),
    "rows": reduction("ij", "i", [40, 300]),
    "columns": reduction("ij", "j", [300, 40]),
    "whole": reduction("ij", "", [256, 512]),
    "pooling": POOLING,
    "convolution": CONVOLUTION,
    "transpose": TRANSPOSE,
    "elementwise": ELEMENTWISE,
    "add": ADD,
    "scatter": SCATTER,
    "sort": SORT,
}
# The op that a config is put on, and where its attributes stand.
PINNED_OP = re.compile(r"linalg\.(?!fill|generic|transpose|yield)\w+()|permutation = \[1, 0\]()|(?<=f32>\) )()\{\n    \^bb0")

TARGETS = {"cuda:sm_80": "ptxsim@sm_80", "cuda:sm_90a": "ptxsim@sm_90", "vulkan:1.3+subgroup=8": "vulkan", "cpu:x86-64-v3": "cpu"}
# Fields that kernels have whose warps have roles: each is written where it is not the default, which is the other one.
SWITCHES = {"producer": "false", "tma_copy": "false", "persistent": "true", "tma_store": "true"}
# Blocks that share all sums: those and parts of a tile are drawn.
STREAM = "stream_k"
# Of each field, legal values and others.
FIELDS = {
    "block": lambda r: r.choice([0, 1, 2, 3, 4, 8, 16, 24, 32, 64, 128, 256]),
    "warps": lambda r: r.choice([1, 1, 2, 3, 4, 8]),
    "thread": lambda r: r.choice([1, 2, 3, 4, 8]),
    "promote": lambda r: r.choice([0, 1, 1, 2, 3]),
}


class Tools:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def run(self, tool, *arguments, device=""):
        """`device`: as TARGETS has it."""
        environment = {**os.environ, "PTXSIM_ARCH": device.partition("@")[2] or "sm_80"}
        done = subprocess.run([str(self.build / "bin" / tool), *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, env=environment)
        return done.returncode, done.stdout, done.stderr

    def source(self, name):
        path = self.folder / f"{name}.mlir"
        path.write_text(PROGRAMS[name][0])
        return path

    def pinned(self, name, configs):
        """The program with `configs` ({target: config}) on its op; None where it has no structured op."""
        text = PROGRAMS[name][0]
        found = PINNED_OP.search(text)
        if not found:
            return None
        entries = ", ".join(f'"{target}" = {config}' for target, config in configs.items())
        attribute = f"{{tilewright.lowering_config = {{{entries}}}}}"
        at = next(i for i in map(found.end, (1, 2, 3)) if i >= 0)
        path = self.folder / f"{name}-pinned.mlir"
        path.write_text(f"{text[:at]} {'attrs = ' if found[3] is not None else ''}{attribute} {text[at:]}")
        return path

    def listed(self, name, target):
        """The configs of each kernel: {(program, kernel): [text]}."""
        code, text, errors = self.run("tilewright-compile", self.source(name), f"--target={target}", "--list-configs")
        if code:
            sys.exit(f"{name} for {target}: --list-configs: {errors}")
        kernels = {}
        for line in text.splitlines():
            if line.startswith("  "):
                current.append(line.strip())
            else:
                current = kernels.setdefault(tuple(line.split()), [])
        return kernels

    def compile(self, name, targets, pins, *arguments):
        path = self.folder / "configs.json"
        path.write_text(json.dumps(pins))
        return self.run("tilewright-compile", self.source(name), f"--target={targets}", f"--config={path}", *arguments)


def sample(configs, count):
    """The first, the last, and some between; the first that has each of SWITCHES."""
    if len(configs) <= count:
        return configs
    chosen = [configs[i * (len(configs) - 1) // (count - 1)] for i in range(count)]
    for field, value in SWITCHES.items():
        chosen += [c for c in configs if f", {field} = {value}" in c][:1]
    return list(dict.fromkeys(chosen))


def paste(tools, options):
    failures = 0
    for name in options.programs.split(","):
        for target in TARGETS:
            kernels = tools.listed(name, target)
            samples = {kernel: sample(configs, options.samples) for kernel, configs in kernels.items()}
            for round_ in range(max(map(len, samples.values()))):
                pins = {}
                for (program, kernel), chosen in samples.items():
                    pins.setdefault(kernel, {})[program] = chosen[min(round_, len(chosen) - 1)]
                code, text, errors = tools.compile(name, target, pins, "--stop-after=configure", "-o", "-")
                missing = [c for of in pins.values() for c in of.values() if c not in text]
                if code or missing:
                    failures += 1
                    print(f"FAILED {name} for {target}: {pins}: {errors.strip() or 'not what the kernels have'}")
            failures += paste_on_op(tools, options, name, target, kernels)
    return failures


def paste_on_op(tools, options, name, target, kernels):
    """The configs of the first kernel, which is the op's, in the input file."""
    failures = 0
    (program, _), configs = next(iter(kernels.items()))
    for config in sample(configs, options.samples):
        source = tools.pinned(name, {program: config})
        if not source:
            return 0
        code, text, errors = tools.run("tilewright-compile", source, f"--target={target}", "--stop-after=configure", "-o", "-")
        if code or config not in text:
            failures += 1
            print(f"FAILED {name} for {target}: on the op: {config}: {errors.strip() or 'not what the kernel has'}")
    return failures


def switch(config, field):
    """`config` with this field the other way, and without what that cannot have beside it."""
    text = f", {field} = {SWITCHES[field]}"
    if text in config:
        return config.replace(text, "")
    beside = {"producer": "registers", "tma_copy": "cluster"}.get(field)
    if beside:
        config = re.sub(rf", {beside} = \[[\d, ]*\]", "", config)
    return f"{config[:-1]}{text}>"


def share(randomness, config):
    """`config` with sums that blocks share, or without."""
    if f", {STREAM} = " in config:
        return re.sub(rf", (splits|{STREAM}) = \d+", "", config)
    config = re.sub(r", (splits = \d+|persistent = true)", "", config)
    return f"{config[:-1]}, splits = {randomness.choice([2, 4, 9, 9])}, persistent = true, {STREAM} = {randomness.randint(1, 10)}>"


def change(randomness, config):
    """`config` with one to three fields changed."""
    for _ in range(randomness.randint(1, 3)):
        fields = ["block", "block", "warps", "warps", "thread", "stages", "promote", "raster"]
        field = randomness.choice(fields + [*SWITCHES, STREAM] * ("warp_specialized" in config))
        if field == STREAM:
            config = share(randomness, config)
            continue
        if field in SWITCHES:
            config = switch(config, field)
            continue
        if field in ("stages", "raster"):
            config = re.sub(rf", {field} = \d+", "", config)
            config = config[:-1] + f", {field} = {randomness.choice([1, 2, 3, 4, 8])}>"
            continue
        old = re.search(rf", {field} = \[([\d, ]*)\]", config)
        if old:
            values = old[1].split(", ")
            values[randomness.randrange(len(values))] = str(FIELDS[field](randomness))
            config = config.replace(old[0], f", {field} = [{', '.join(values)}]")
        elif randomness.random() < 0.3:
            rank = len(re.search(r"block = \[([\d, ]*)\]", config)[1].split(","))
            config = config[:-1] + f", {field} = [{', '.join(str(FIELDS[field](randomness)) for _ in range(rank))}]>"
    return config


def fuzz(tools, options):
    failures, honoured, refused = 0, 0, 0
    listed = {}
    chosen = options.programs.split(",")
    for number in range(options.first, options.first + options.fuzz):
        randomness = random.Random(number)
        target = randomness.choice([t for t, d in TARGETS.items() if d.partition("@")[0] in options.devices.split(",")])
        name = randomness.choice(chosen)
        if (name, target) not in listed:
            listed[name, target] = tools.listed(name, target)
        (program, kernel), configs = randomness.choice(sorted(listed[name, target].items()))
        config = change(randomness, randomness.choice(configs))
        artifact = tools.folder / "pinned.tw"
        what = f"{number} {name} for {target}: {kernel}: {config}"
        # What is pinned by kernel cannot cut a sum that was not cut.
        source = tools.pinned(name, {program: config}) if STREAM in config else None
        if source:
            code, _, errors = tools.run("tilewright-compile", source, f"--target={target},cpu-reference", "-o", artifact)
        else:
            code, _, errors = tools.compile(name, f"{target},cpu-reference", {kernel: {program: config}}, "-o", artifact)
        if code:
            if code == 1 and ("the pinned" in errors or "has for" in errors):
                refused += 1
            else:
                failures += 1
                print(f"FAILED {what}: exit code {code}: {errors.strip()}")
            continue
        inputs = [f"--input={shape}=int:-3:3" for shape in PROGRAMS[name][1]]
        device = TARGETS[target]
        code, output, errors = tools.run("tilewright-run", artifact, f"--device={device.partition('@')[0]}", *inputs,
                                         "--check=oracle", "--atol=0", "--rtol=0", device=device)
        if code == 1 and "this device runs at most" in errors:
            refused += 1
        elif code:
            failures += 1
            print(f"FAILED {what}: {(output + errors).strip()[:600]}")
        else:
            honoured += 1
    print(f"{honoured} honoured, {refused} refused, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--build", type=pathlib.Path, default=here.parents[1] / "build")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--samples", type=int, default=3, help="configs of each kernel that are given back (%(default)s)")
    parser.add_argument("--fuzz", type=int, default=0, metavar="COUNT", help="changed configs that are tried instead")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--devices", default="cpu,vulkan,ptxsim")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.build.resolve(), pathlib.Path(folder))
        failures = fuzz(tools, options) if options.fuzz else paste(tools, options)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
