#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs planted into our own kernels of asynchronous copies, one at a time, which the simulator must report.

    mutations.py [--all] [--kernels ring,split-k] [--build build] [--orders 200] [--list]

Each kernel of `kernels()` is compiled up to the thread form, the last one in which waits, arrivals, fences, phases and
commits are ops of ours (docs/ir.md). mutants() removes or weakens each of them there, mechanically; the rest of the
compiler makes PTX of each mutant, which takes the kernel's place in the artifact:

    kernel ──tilewright-compile──▶ artifact ─────────────────────────────┐
                    │                                                    ▼
                    └─▶ 13-distribute.mlir ─▶ mutants ──tilewright-opt─▶ artifact of a mutant ─▶ ptxsim@sm_90

The wait of a kernel for those in front of it comes in later (tilewright-dependent-launch): it is taken from the PTX, of each
kernel of a program that has several.

A mutant is reported if a check of the simulator, a hang or a wrong result says so, in the first order of delivery or in
one of the next few. Those that are not stand in mutations.txt, each with a proof that the kernel is right without it,
and are right in every order that is tried. The test fails where a mutant is neither reported nor listed, or a line of the
list has become stale: reported now, or there is no such mutant any more. Without --all it takes a sample.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import artifact
from data import BF16, E4M3, E5M2, F16, F32, F64, I32, I4, I8, integers
from families import (attention, attention_pages, chained, cluster_sums, clusters, dual, filling, images, kept_rows, matrix_unit, ringed, scan,
                      streams)
from families.contraction import sizes
from families.matrix_unit import product
from families.warpgroups import TWO_LEVELS, config, dequantised, in_registers, product_float8, residual, swapped, text

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "mutations.txt"
TARGET = "cuda:sm_90a"
CONFIG = "tilewright.lowering_config = #tilewright.lowering_config"
# So few that persistent blocks have several tiles, one cluster of two more than one pair of them.
MULTIPROCESSORS = 2
# Orders of delivery in which a mutant may show itself.
FEW_ORDERS = 4
# The same where nothing says that it is right without what it lacks.
MORE_ORDERS = 64
# Of the kernels that fillings() has, so many are in a sample.
FEW_FILLED = 3
# Mutants that each sample has.
ALWAYS = ("split-k: launch_wait 2 removed",)
# Of all mutants, so many are reported.
LEAST = 0.95
# Far more than any kernel here runs: a kernel in which warps poll for ever has hung.
INSTRUCTIONS = 3_000_000


def kernels():
    """Name and function of each. Tiles hang over both edges; sums go so often round the ring that a stage that waits for
    one arrival too few of N, and so is a bit earlier in each round, comes a whole round too early (N rounds)."""
    def gemm(name, dims, form, pinned, a=BF16, c=F32):
        return name, product(a, c, "mutation", name, sizes(*dims), form, pinned)

    ring = dict(stages=2, groups=1)
    left, right = (lambda pinned, kept=kept: pinned.replace("promote = [0, 1]", f"promote = [{kept}]") for kept in (1, 0))
    yield gemm("ring", (72, 40, 776), "nn", config(BF16, F32, 64, 32, **ring))
    yield gemm("ring-of-3", (72, 32, 1160), "tab", config(BF16, F32, 64, 32, 3, 1))
    yield gemm("two-warpgroups", (136, 32, 1288), "tb", config(F16, F32, 128, 32, 2, 2), F16)
    yield gemm("persistent", (200, 40, 392), "nn", config(BF16, F32, 64, 32, **ring, techniques=text(True, [], False)))
    yield gemm("cluster-rows", (200, 32, 1288), "tb", config(BF16, F32, 64, 32, **ring, techniques=text(False, [2, 1, 1], False)))
    yield gemm("cluster-columns", (72, 72, 1288), "tb", config(BF16, F32, 64, 32, **ring, techniques=text(False, [1, 2, 1], False)))
    yield gemm("cluster-persistent", (200, 72, 392), "tb",
               config(BF16, F32, 64, 32, **ring, techniques=text(True, [2, 1, 1], False)))
    yield gemm("tma-store", (72, 96, 776), "nn", config(BF16, F32, 64, 96, **ring, techniques=text(False, [], True)))
    yield gemm("every-technique", (264, 72, 584), "nn", config(F16, F32, 128, 64, 2, 2, techniques=text(True, [2, 1, 1], True)), F16)
    yield "float8", product_float8(E4M3, E5M2, "float8", sizes(72, 48, 1552),
                                   config(E4M3, F32, 64, 32, b=E5M2, **ring, techniques=TWO_LEVELS))
    yield gemm("f16-sums", (200, 72, 392), "nn", config(F16, F16, 64, 64, **ring, techniques=text(True, [], True)), F16, F16)
    yield gemm("swapped", (16, 136, 776), "nn", swapped(BF16, F32, 16, 64, 2))
    yield gemm("split-k", (16, 72, 2312), "nn", swapped(BF16, F32, 16, 64, 2).replace(", mma =", ", splits = 3, mma ="))
    yield gemm("stream-k", (72, 40, 776), "nn", streams.stream(config(BF16, F32, 64, 32, **ring), 3, 2))
    yield gemm("stream-k-cluster", (136, 40, 1032), "tb",
               streams.stream(config(BF16, F32, 64, 32, **ring), 6, 3, ", cluster = [2, 1, 1], tma_store = true"))
    # Parts of a sum in a cluster, and blocks that share an operand beside them.
    yield gemm("cluster-sum", (72, 40, 1288), "nn", cluster_sums.parts(config(BF16, F32, 64, 32, **ring), 2))
    yield gemm("cluster-sum-pairs", (128, 32, 1288), "tb", cluster_sums.parts(config(BF16, F32, 64, 32, **ring), 2, (2, 1)))
    yield gemm("cluster-sum-alone", (16, 72, 1288), "nn", cluster_sums.parts(swapped(BF16, F32, 16, 64, 2), 4, more=", producer = false"))
    yield "registers", in_registers("mutation", "tb", None, I8, sizes(16, 72, 784), right(swapped(F16, F32, 16, 64, 2)))
    yield "registers-left", in_registers("mutation", "nn", I8, None, sizes(136, 40, 1296), left(config(F16, F32, 128, 32, 3)))
    yield "dequantised", dequantised("mutation", I4, False, 13, 32, 16, 96, right(swapped(F16, F32, 16, 64, 2)).replace(
        "block = [16, 64, 64], warps = [1, 4, 1]", "block = [16, 64, 1, 32], warps = [1, 4, 1, 1]"))
    yield gemm("across", (72, 144, 1552), "nn", right(swapped(I8, I32, 64, 64, 2, techniques=text(True, [1, 2, 1], False))), I8, I32)
    yield "images", images.convolution(
        "mutated", images.Images(9, [7, 6], 72, 40, [3, 3], pads=[(1, 1), (1, 0)]), BF16,
        pinned=images.config(BF16, F32, 64, 32, 64, 2, stages=2, techniques=text(True, [2, 1, 1, 1, 1], True)))
    # Tiles beside the sums, through the memory of the results: three pieces a tile, two of them in one turn.
    yield "residual", residual("mutation", "residual", (BF16, BF16), BF16, sizes(264, 176, 136),
                               config(F16, F32, 64, 192, **ring, techniques=text(True, [], True)))
    yield "residual-f32", residual("mutation", "residual_f32", (F32,), F32, sizes(136, 112, 136),
                                   config(F16, F32, 64, 96, **ring, techniques=text(True, [], True)))
    # Two products: B of the second one comes once for all tiles of a block, or, of a batch, for each.
    yield "chained", chained.chained(BF16, "mutation", chained.sizes(264, 392, 64, 56),
                                     chained.config(BF16, 64, 64, 64, 3, techniques=chained.EVERY), random=False)
    yield "chained-cluster-batch", chained.chained(F16, "mutation", {"b": 5, **chained.sizes(200, 136, 64, 64)}, chained.config(
        F16, 64, 64, 64, 3, techniques=", persistent = true, cluster = [1, 2, 1, 1], tma_store = true", batch=True), random=False)
    # Two products of one operand: a stage has a tile of it and one of each other operand.
    yield "dual", dual.Dual("mutated", BF16, F32, sizes(72, 72, 2056)).cases(most=1)
    # Instructions of warps, which read the stages into registers.
    yield gemm("warps", (72, 40, 776), "nn", ringed.config(BF16, F32, (64, 32, 64), (2, 1), 2))
    yield gemm("warps-every-technique", (200, 72, 584), "tb",
               ringed.config(F16, F32, (64, 64, 64), (2, 2), 2, text(True, [2, 1, 1], False)), F16)
    # Rings that all threads fill, and a result that leaves where the ring was.
    for stages in (2, 3, 4):
        yield gemm(f"copies-{stages}", (136, 80, 264), "nn", matrix_unit.config(F16, F16, (64, 64, 32), (2, 2), stages), F16, F16)
    yield gemm("copies-columns", (136, 80, 264), "tb", matrix_unit.config(BF16, F32, (32, 64, 16), (1, 2), 3))
    yield from fillings()
    for name, case in attentions():
        yield name, case.f
    yield from shared_rows()
    yield from rows_in_shared_memory()
    yield from paged()
    yield from look_back()


def fillings():
    """Rings that one of those that multiply fills, that threads fill, and both."""
    def gemm(name, dims, form, pinned, how, a=BF16, c=F32):
        return name, product(a, c, "mutation", name, sizes(*dims), form, filling.filled(pinned, how))

    ring = dict(stages=2, groups=1)
    for name, how in filling.WAYS.items():
        yield gemm(f"filled-{name}", (72, 40, 776), "nn", config(BF16, F32, 64, 32, **ring), how)
        yield gemm(f"filled-{name}-two-warpgroups", (136, 32, 1288), "tb", config(F16, F32, 128, 32, 2, 2), how, F16)
        yield gemm(f"filled-{name}-persistent", (200, 40, 392), "nn",
                   config(BF16, F32, 64, 32, **ring, techniques=text(True, [], name != "threads")), how)
        yield f"filled-{name}-registers", in_registers("mutation", "tb", None, I8, sizes(16, 72, 784), filling.filled(
            swapped(F16, F32, 16, 64, 3 if name == "threads" else 2).replace("promote = [0, 1]", "promote = [0]"), how))
    yield gemm("filled-alone-cluster", (200, 72, 392), "tb",
               config(BF16, F32, 64, 32, **ring, techniques=text(True, [2, 1, 1], False)), filling.ALONE)
    yield gemm("filled-alone-warps", (72, 40, 776), "nn", ringed.config(BF16, F32, (64, 32, 64), (2, 1), 2), filling.ALONE)
    yield gemm("filled-alone-one-warp", (40, 40, 776), "tb", ringed.config(BF16, F32, (32, 32, 64), (1, 1), 2), filling.ALONE)


def attentions():
    """One warpgroup; two, with all that a kernel can have; blocks whose rows see no keys, and boxes of 64 along the depth. The loops of
    steps without a mask go an odd number of times there: of two rounds, two arrivals at each other's stage come to the same."""
    every = ", registers = [40, 232], tma_store = true"
    yield "attention", attention.Case(F16, "mutation", attention.sizes(1, 72, 328, 32), pinned=attention.by_warpgroups([64, 32], 1, F16))
    yield "attention-two-warpgroups", attention.Case(BF16, "mutation", attention.sizes(1, 136, 648, 32), causal="bottom_right",
                                                     pinned=attention.by_warpgroups([128, 32], 2, BF16, every))
    # Blocks that compute several tiles, every second one of no step: who copies queries has waited for those two tiles before.
    yield "attention-persistent", attention.Case(F16, "mutation", attention.sizes(6, 200, 136, 32), causal="bottom_right",
                                                 pinned=attention.by_warpgroups([64, 32], 1, F16, ", persistent = true, tma_store = true"))
    yield "attention-without-keys", attention.Case(F16, "mutation_none", attention.sizes(1, 224, 136, 128), causal="bottom_right",
                                                   lse=True, pinned=attention.by_warpgroups([64, 16], 1, F16, ", tma_store = true"))


def shared_rows():
    """Rows that the blocks of a cluster share: one and several of them, two and three results that are exchanged."""
    yield "rows-softmax", clusters.softmax(F32, "mutation", {"m": 2, "n": 500}, clusters.config([1, 128], 2, 4))
    yield "rows-softmax-together", clusters.softmax(F16, "mutation_together", {"m": 5, "n": 256}, clusters.config([4, 128], 2, 2))
    yield "rows-layer-norm", clusters.layer_norm(F32, "mutation", {"m": 2, "n": 200}, clusters.config([1, 64], 1, 4))
    yield "rows-sums", clusters.sum_into("mutation", {"m": 3, "n": 700}, clusters.config([1, 128], 2, 6))


def rows_in_shared_memory():
    """Rows that a block keeps: read where they were written, and by other threads, of which one reads columns."""
    yield "kept-softmax", kept_rows.softmax(F32, "mutation", {"m": 5, "n": 500}, kept_rows.config([2, 128], 2), how="kept")
    yield "kept-layer-norm", kept_rows.layer_norm(F16, "mutation", {"m": 3, "n": 333}, kept_rows.config([1, 128], 2), how="kept")
    yield "kept-columns", kept_rows.columns("mutation", {"n": 100, "m": 70}, kept_rows.config([64, 16], 2))


# Pages of a sequence in the kernels of paged() that have pages, and sequences.
PAGES, SEQUENCES = 32, 2


def paged():
    """Keys in pages, or up to a length: one query of each of four heads, and many queries of one. By warps keys are of equal weight,
    so that each one that is another, or one more or less, is seen. By warpgroups the steps that hide keys, on the diagonal and at
    the length, go once round the ring, those that hide none often; a sequence ends within a page or a step, or has no keys."""
    def case(name, dims, lengths, **more):
        return name, attention_pages.Pages(F16, f"mutation_{name.replace('-', '_')}", {"b": len(lengths), **dims}, lengths, **more).f

    def pages(h, g, i):
        return {"h": h, "g": g, "i": i, "D": 32, "p": 2 * PAGES + 2, "m": PAGES}

    equal = dict(data=integers(0, 0), values=integers(-8, 8), exact=True)
    warps = ('{"cuda:sm_90a" = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stages = 2, '
             'promote = [1], mma = "mma.m16n8k16.f16.f32">}')
    yield case("pages-decode", pages(1, 4, 1), [128, 32], **equal)
    yield case("pages-queries", pages(1, 1, 40), [128, 32], layout="phs", pinned=warps, **equal)
    yield case("pages-warpgroups", pages(1, 1, 104), [472, 8], layout="phs", causal="bottom_right", pinned=attention.by_warpgroups([64, 32], 1, F16))
    yield case("lengths-warpgroups", {"h": 1, "g": 1, "i": 72, "j": 300, "D": 32}, [264, 40, 0], page=0, causal="bottom_right",
               pinned=attention.by_warpgroups([64, 16], 1, F16, ", tma_store = true"))


def look_back():
    """Blocks that wait for what others publish: tiles in three groups."""
    yield "scan-groups", scan.scan("mutation_groups", F64, "last", "n", {"n": 2048 * 65 + 5}, "n", False, exclusive=True)


# ---------------------------------------------------------------------------
# Mutants: texts of the kernel in thread form
# ---------------------------------------------------------------------------

@dataclasses.dataclass
class Mutant:
    kernel: str
    place: str  # "mbarrier_wait 2": the second of the kernel's, in the order of the text
    change: str
    line: str   # of the IR, as it was
    lines: list = dataclasses.field(repr=False)
    # PTX by section, where the mutant is not one of the thread form.
    codes: dict = dataclasses.field(default=None, repr=False)

    @property
    def name(self):
        return f"{self.kernel}: {self.place} {self.change}"

    @property
    def kind(self):
        return f"{self.place.split()[0]} {self.change}"


OP = re.compile(r"(?:(%\w+)(?::\d+)? = )?(?:tilewright|gpu)\.(mbarrier_\w+|mma_fence|mma_commit|mma_wait|proxy_fence|"
                r"group_barrier|warp_barrier|store_commit|store_wait|cluster_(?:barrier|arrive|wait|store|load)|barrier|tensor_copy|async_wait|async_commit)\b(.*)")


def without(lines, at, match):
    """The kernel without the op in line `at`; values go past it. Names are of its region: others have them again."""
    result = match[1]
    if not result:
        return lines[:at] + lines[at + 1:]
    operands = [v.strip() for v in re.search(r"\((.*?) :", match[3])[1].split(",")]

    def past(use):
        return operands[int(use[2] or 0)] if use[1] == result else use[0]
    indent = match.start()
    end = next(i for i in range(at, len(lines)) if len(lines[i]) - len(lines[i].lstrip()) < indent)
    return (lines[:at] + [re.sub(r"(%\w+)(?:#(\d+))?", past, line) if result in line else line for line in lines[at + 1:end]] +
            lines[end:])


def changes(op, rest):
    """(what is changed, the op's new text or None: without it, ops in front of it) for each change of an op."""
    number = re.search(r"\b(\d+)", re.sub(r"%\w+", lambda m: "%" + "_" * (len(m[0]) - 1), rest))

    def plus(by):
        return rest[:number.start()] + str(int(number[1]) + by) + rest[number.end():]

    def swap(pattern, kind):
        """The operand that `pattern` has as its second group, with its last bit the other way."""
        found = re.search(pattern, rest)
        return (rest[:found.start(2)] + "%mutant" + rest[found.end(2):],
                ["%mutant_one = arith.constant 1 : index", f"%mutant = arith.{kind} {found[2]}, %mutant_one : index"])

    other_barrier = ("of another barrier", *swap(r"(%\w+\[)(%[\w#]+)\]", "xori")) if op in ("mbarrier_arrive", "mbarrier_wait") else None
    if op == "cluster_load":
        yield "of its own block", re.sub(r" block %[\w#]+", " block %mutant", rest), ["%mutant = tilewright.cluster_rank"]
        return
    yield "removed", None, []
    if op == "mbarrier_init":
        if int(number[1]) > 1:
            yield "one arrival fewer", plus(-1), []
        yield "one arrival more", plus(1), []
    elif op == "mbarrier_arrive":
        yield other_barrier
        if "expect" in rest:
            yield "16 bytes fewer", plus(-16), []
            yield "16 bytes more", plus(16), []
            yield "no bytes", re.sub(r" expect \d+", "", rest), []
        if " block %" in rest:
            yield "at its own block", re.sub(r" block %[\w#]+", "", rest), []
    elif op == "mbarrier_wait":
        yield ("of the other phase", *swap(r"(parity )(%[\w#]+)", "xori"))
        yield other_barrier
    elif op in ("mma_wait", "store_wait", "async_wait"):
        yield "one more under way", plus(1), []
    elif op == "cluster_barrier":
        yield "of its own block", "gpu.barrier", []
    elif op == "cluster_store":
        yield "to its own block", re.sub(r" block %[\w#]+", " block %mutant", rest), ["%mutant = tilewright.cluster_rank"]


LOAD = re.compile(r"(%\w+) = memref\.load (%arg[34])\[(%\w+)\] : memref<\?xi32>")


def wrong_pages(kernel, lines):
    """Of each entry of a table: the page beside it, or that of the next sequence; of each length: one key fewer, one more."""
    counts = collections.Counter()
    for at, line in enumerate(lines):
        match = LOAD.search(line)
        if not match:
            continue
        value, memory, index = match.groups()
        what = "table" if memory == "%arg3" and kernel.startswith("pages-") else "length"
        counts[what] += 1
        loaded = line.replace(value, "%mutant_loaded", 1)

        def mutant(change, new):
            return Mutant(kernel, f"{what} {counts[what]}", change, line.strip(), lines[:at] + new + lines[at + 1:])
        one = "%mutant_one = arith.constant 1 : i32"
        for change, op in {"table": [("of the page beside it", "xori")],
                           "length": [("one key fewer", "subi"), ("one key more", "addi")]}[what]:
            yield mutant(change, [loaded, one, f"{value} = arith.{op} %mutant_loaded, %mutant_one : i32"])
        if what == "table":
            yield mutant("of another sequence", [
                f"%mutant_pages = arith.constant {PAGES} : index",
                f"%mutant_all = arith.constant {PAGES * SEQUENCES} : index",
                f"%mutant_next = arith.addi {index}, %mutant_pages : index",
                "%mutant_index = arith.remui %mutant_next, %mutant_all : index",
                line.replace(f"[{index}]", "[%mutant_index]", 1)])


#: Of an op between blocks: the same without its order, or without being one access among others'.
BETWEEN_BLOCKS = {
    "publish": ("without release", r"tilewright\.publish (%[\w#]+), (%\w+)\[(%[\w#]+)\]", r"memref.store \1, \2[\3]"),
    "observe": ("without acquire", r"tilewright\.observe (%\w+)\[(%[\w#]+)\]", r"memref.load \1[\2]"),
}


def weak_accesses(kernel, lines):
    """Each access by which blocks wait for each other as a plain one, and each state a step early: in front of its value."""
    counts = collections.Counter()
    for at, line in enumerate(lines):
        for op, (change, pattern, plain) in BETWEEN_BLOCKS.items():
            if not re.search(pattern, line):
                continue
            counts[op] += 1
            place = f"{op} {counts[op]}"
            yield Mutant(kernel, place, change, line.strip(), lines[:at] + [re.sub(pattern, plain, line)] + lines[at + 1:])
            if op == "publish":
                stored = next(i for i in range(at - 1, 0, -1) if "memref.store" in lines[i])
                yield Mutant(kernel, place, "before its value", line.strip(),
                             lines[:stored] + lines[stored + 1:at + 1] + [lines[stored]] + lines[at + 1:])


def mutants(kernel, lines):
    if kernel.startswith("scan-"):
        yield from weak_accesses(kernel, lines)
    if kernel.startswith(("pages-", "lengths-")):
        yield from wrong_pages(kernel, lines)
    counts = collections.Counter()
    for at, line in enumerate(lines):
        match = OP.search(line)
        if not match:
            continue
        op, rest = match[2], match[3]
        if op == "tensor_copy":
            if " blocks %" not in rest:
                continue
            counts[op] += 1
            mutated = lines[:at] + [re.sub(r" blocks %[\w#]+", "", line)] + lines[at + 1:]
            yield Mutant(kernel, f"{op} {counts[op]}", "to its own block", line.strip(), mutated)
            continue
        counts[op] += 1
        for change, new, front in changes(op, rest):
            if new is None:
                mutated = without(lines, at, match)
            elif new.startswith("gpu."):
                mutated = lines[:at] + [new] + lines[at + 1:]
            else:
                mutated = lines[:at] + front + [line[:match.start(3)] + new] + lines[at + 1:]
            yield Mutant(kernel, f"{op} {counts[op]}", change, line.strip(), mutated)


LAUNCH_WAIT = re.compile(r"^\s*griddepcontrol\.wait;\n", re.MULTILINE)


def early_launches(kernel):
    """Of each kernel of a program that has several: without its wait for those in front of it, in all its variants."""
    [program] = [p for p in kernel.manifest["programs"] if p["target"] == TARGET]
    for number, dispatch in enumerate(program["dispatches"] if len(program["dispatches"]) > 1 else [], 1):
        codes = {v["section"]: kernel.text(v["section"]) for v in dispatch["variants"]}
        without_waits = {section: LAUNCH_WAIT.sub("", code) for section, code in codes.items()}
        if without_waits != codes:
            yield Mutant(kernel.name, f"launch_wait {number}", "removed", f"griddepcontrol.wait of {dispatch['name']}", None,
                         without_waits)


# ---------------------------------------------------------------------------
# From a kernel to artifacts of its mutants
# ---------------------------------------------------------------------------

class Kernel:
    """A kernel, compiled; its thread form as text."""

    def __init__(self, name, function, build, folder):
        self.name, self.function, self.build, self.folder = name, function, build, folder
        folder.mkdir(parents=True)
        source, stages = folder / "kernel.mlir", folder / "stages"
        source.write_text("module {\n" + function.text() + "\n}\n")
        self.artifact = folder / "kernel.tw"
        self.call("tilewright-compile", source, "-o", self.artifact, f"--target={TARGET},cpu-reference", f"--dump-stages={stages}")
        thread_form = next(stages.glob("*distribute.mlir")).read_text().splitlines()
        self.sections = artifact.sections(self.artifact.read_bytes())
        self.manifest = json.loads(self.sections["manifest"])
        self.split(thread_form)
        self.cases = [{"name": case.name, "function": function.symbol, "inputs": case.inputs, "check": case.check,
                       "devices": ["ptxsim"]} for case in function.cases]

    def call(self, program, *arguments):
        done = subprocess.run([self.build / "bin" / program, *arguments], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{self.name}: {program} failed: {(done.stderr or done.stdout)[-2000:]}")
        return done.stdout

    def split(self, lines):
        """What stands around the kernel, and the kernel: the one function that has matrix instructions, or that reduces, or scans."""
        starts = [i for i, line in enumerate(lines) if re.match(r"\s*func\.func", line)]
        start = next(i for strategies in ("warp_specialized|attention", "matrix_unit", "reduction", "irregular") for i in starts
                     if re.search(f"{CONFIG}<strategy = ({strategies})", lines[i]))
        end = next(i for i in range(start, len(lines)) if lines[i] == re.match(r"\s*", lines[start])[0] + "}")
        program = max(i for i, line in enumerate(lines[:start]) if re.match(r"\s*module", line))
        self.aliases = [line for line in lines if line.startswith("#")]
        self.module, self.lines = lines[program], lines[start:end + 1]
        self.entry = re.search(r"@(\w+)", lines[start])[1]

    def codes(self, texts):
        """The PTX of each text."""
        path = self.folder / "mutants.mlir"
        functions = []
        for number, text in enumerate(texts):
            functions += [re.sub(rf"@{self.entry}\b", f"@mutant_{number}", text[0]), *text[1:]]
        path.write_text("\n".join([*self.aliases, self.module, *functions, "}"]) + "\n")
        printed = self.call("tilewright-opt", path, "-tilewright-print-code", "-o", "/dev/null")
        parts = re.split(r"^// kernel mutant_\d+: .*\n", printed, flags=re.MULTILINE)[1:]
        assert len(parts) == len(texts), f"{len(parts)} codes of {len(texts)} mutants"
        return [re.sub(rf"\bmutant_{number}(?!\d)", self.entry, part) for number, part in enumerate(parts)]

    def code(self):
        """The kernel's section of the artifact, and what is in it."""
        [name] = [name for name, data in self.sections.items()
                  if name.endswith(".ptx") and re.search(rf"\.entry {self.entry}\(".encode(), data)]
        return name, self.text(name)

    def text(self, section):
        return self.sections[section].rstrip(b"\0").decode()

    def codes_of(self, mutants_):
        """Of each mutant, PTX by section."""
        texts = [m.lines for m in mutants_ if m.codes is None]
        printed = iter(self.codes(texts) if texts else [])
        return [{self.code()[0]: next(printed)} if m.codes is None else m.codes for m in mutants_]

    def write(self, number, codes):
        path = self.folder / f"{number}.tw"
        changed = dict(self.sections)
        for name, ptx in codes.items():
            old = self.sections[name]
            changed[name] = ptx.encode() + old[len(old.rstrip(b"\0")):]
        path.write_bytes(artifact.write(changed))
        return path


# ---------------------------------------------------------------------------
# Runs
# ---------------------------------------------------------------------------

def simulate(kernel, number, path, order):
    """What reports the program in this order of delivery: the finding, or what is wrong of the results; "": nothing."""
    cases, journal = kernel.folder / f"{number}.json", kernel.folder / f"{number}.jsonl"
    cases.write_text(json.dumps({"schema": 1, "programs": [{"artifact": path.name, "cases": kernel.cases}]}))
    journal.unlink(missing_ok=True)
    environment = {"PTXSIM_ARCH": "sm_90", "PTXSIM_CHECKS": "on", "PTXSIM_SEED": str(order),
                   "PTXSIM_MULTIPROCESSORS": str(MULTIPROCESSORS), "PTXSIM_INSTRUCTION_LIMIT": str(INSTRUCTIONS)}
    done = subprocess.run([kernel.build / "bin/tilewright-e2e", cases, journal, "ptxsim"], capture_output=True, text=True,
                          errors="replace", timeout=600, env={**os.environ, **environment})
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    reasons = [e["reason"] for e in entries if e.get("verdict") == "failed"]
    if done.returncode not in (0, 2, 3) or (not reasons and len([e for e in entries if "case" in e]) < len(kernel.cases)):
        sys.exit(f"{kernel.name}: tilewright-e2e ended with {done.returncode}: {done.stderr[-2000:]}")
    # A warning is one, too: no kernel of ours has any.
    finding = re.search(r"^ptxsim: (.*)", done.stderr, re.MULTILINE)
    return finding[1] if finding else reasons[0] if reasons else ""


def first_report(kernel, number, path, orders):
    """(order, what it said) of the first order in which the mutant is reported; None: in none of them."""
    for order in orders:
        said = simulate(kernel, number, path, order)
        if said:
            return order, said
    return None


@dataclasses.dataclass
class Entry:
    name: str
    proof: str
    line: int


def read_list():
    """The mutants that are known not to be reported: KERNEL: PLACE CHANGE | proof."""
    entries = []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            name, _, proof = line.partition("|")
            if not proof.strip():
                sys.exit(f"{LIST.name}:{number}: has no proof")
            entries.append(Entry(name.strip(), proof.strip(), number))
    return entries


def listed(entries, mutant):
    return next((e for e in entries if fnmatch.fnmatchcase(mutant.name, e.name)), None)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--out", type=pathlib.Path, help="folder for everything written (BUILD/mutations)")
    parser.add_argument("--all", action="store_true", help="every mutant; else --sample of them")
    parser.add_argument("--sample", type=int, default=60, help="how many mutants, of all kernels (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (%(default)s)")
    parser.add_argument("--kernels", default="*", help="comma list of patterns")
    parser.add_argument("--orders", type=int, help="orders in which those that are listed must be right (3; with --all 200)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--report", type=pathlib.Path, help="where the report goes (OUT/report.json)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "mutations").resolve()
    options.orders = options.orders or (200 if options.all else 3)
    return options


def sampled_kernels(names, entries, seed):
    """All, but of the rings that are filled in several ways a few, and those that have an entry."""
    filled = [name for name in names if name.startswith("filled-")]
    kept = random.Random(seed).sample(filled, FEW_FILLED)
    return [name for name in names if name not in filled or name in kept or any(e.name.startswith(name + ":") for e in entries)]


def sample(mutants_, size, seed):
    """As many of them as `size`: every change of every op, every kernel about as often, otherwise at random."""
    order = sorted(mutants_, key=lambda m: m.name)
    random.Random(seed).shuffle(order)
    taken, kinds, kernels_ = [], collections.Counter(), collections.Counter()
    while order and len(taken) < size:
        best = min(order, key=lambda m: (kinds[m.kind], kernels_[m.kernel]))
        order.remove(best)
        kinds[best.kind] += 1
        kernels_[best.kernel] += 1
        taken.append(best)
    return taken


class Verdicts:
    def __init__(self):
        self.cases, self.kinds = [], collections.defaultdict(collections.Counter)
        self.late = 0

    def add(self, name, verdict, reason=""):
        self.cases.append({"name": name, "verdict": verdict, "reason": reason})
        if verdict == "failed":
            print(f"FAILED {name}: {reason}", flush=True)


def check_kernel(kernel):
    """What is wrong with the kernel as it is, or with the way that mutants take."""
    if kernel.codes([kernel.lines])[0] != kernel.code()[1]:
        return "tilewright-opt makes other code of the thread form than tilewright-compile"
    said = simulate(kernel, "kernel", kernel.artifact, 1)
    return f"is reported without a mutation: {said}" if said else ""


def check_mutant(kernel, number, mutant, codes, entry, options, verdicts):
    path = kernel.write(number, codes)
    found = first_report(kernel, number, path, range(1, 1 + (FEW_ORDERS if entry else MORE_ORDERS)))
    verdicts.kinds[mutant.kind]["reported" if found else "unreported"] += 1
    verdicts.late += bool(found and found[0] > 1)
    if found and entry:
        verdicts.add(mutant.name, "failed", f"is reported now ({found[1]}): remove line {entry.line} of {LIST.name}")
    elif found:
        verdicts.add(mutant.name, "passed", f"order {found[0]}: {found[1]}")
    elif not entry:
        verdicts.add(mutant.name, "failed", f"is not reported, and not in {LIST.name}; it is '{mutant.line}'")
    elif (more := first_report(kernel, number, path, range(1 + FEW_ORDERS, 1 + options.orders))):
        verdicts.add(mutant.name, "failed", f"is wrong in order {more[0]}: {more[1]}; line {entry.line} of {LIST.name} says that "
                     "it is right")
    else:
        verdicts.add(mutant.name, "passed", f"right in {max(options.orders, FEW_ORDERS)} orders: {entry.proof}")
    path.unlink()


def stale(entries, names, verdicts):
    for entry in entries:
        if not any(fnmatch.fnmatchcase(name, entry.name) for name in names):
            verdicts.add(f"{LIST.name}:{entry.line}", "failed", f"there is no mutant '{entry.name}'")


def print_kinds(verdicts):
    print(f"\n{'op, change':44}{'reported':>10}{'of':>6}")
    for kind, counts in sorted(verdicts.kinds.items()):
        print(f"{kind:44}{counts['reported']:>10}{sum(counts.values()):>6}")
    reported = sum(c["reported"] for c in verdicts.kinds.values())
    total = sum(sum(c.values()) for c in verdicts.kinds.values())
    print(f"{reported} of {total} mutants are reported ({100 * reported / max(total, 1):.1f} %), {verdicts.late} of them not in the "
          "first order")
    return reported, total


def main():
    options = arguments()
    start = time.monotonic()
    shutil.rmtree(options.out, ignore_errors=True)
    verdicts, entries = Verdicts(), read_list()
    chosen = {name: f for name, f in kernels() if any(fnmatch.fnmatchcase(name, p) for p in options.kernels.split(","))}
    if not options.all and options.kernels == "*":
        chosen = {name: chosen[name] for name in sampled_kernels(chosen, entries, options.seed)}
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    compiled = list(pool.map(lambda item: Kernel(*item, options.build, options.out / item[0]), chosen.items()))
    every = [m for kernel in compiled for m in (*mutants(kernel.name, kernel.lines), *early_launches(kernel))]
    if options.list:
        print("\n".join(f"{m.name} | {m.line}" for m in every))
        print(f"{len(every)} mutants of {len(compiled)} kernels")
        return 0
    if options.kernels == "*":
        stale(entries, [m.name for m in every], verdicts)
        for name in set(ALWAYS) - {m.name for m in every}:
            verdicts.add(name, "failed", "there is no such mutant, which each sample has")
    taken = every
    if not options.all and options.kernels == "*":
        known = [m for m in every if listed(entries, m) or m.name in ALWAYS]
        taken = known + sample([m for m in every if m not in known], options.sample, options.seed)
    print(f"{len(taken)} of {len(every)} mutants of {len(compiled)} kernels", flush=True)

    def work(kernel):
        problem = check_kernel(kernel)
        verdicts.add(kernel.name, "failed" if problem else "passed", problem)
        own = [m for m in taken if m.kernel == kernel.name]
        codes = kernel.codes_of(own) if own and not problem else []
        return [(kernel, number, mutant, changed) for number, (mutant, changed) in enumerate(zip(own, codes))]

    jobs = [job for jobs in pool.map(work, compiled) for job in jobs]
    print(f"compiled: {time.monotonic() - start:.0f} s", flush=True)
    list(pool.map(lambda job: check_mutant(*job, listed(entries, job[2]), options, verdicts), jobs))
    reported, total = print_kinds(verdicts)
    if options.all and options.kernels == "*" and reported < LEAST * total:
        verdicts.add("share of reported mutants", "failed", f"is less than {100 * LEAST:.0f} %")
    failed = sum(c["verdict"] == "failed" for c in verdicts.cases)
    report = options.report or options.out / "report.json"
    report.write_text(json.dumps({"schema": 1, "cases": sorted(verdicts.cases, key=lambda c: c["name"])}, indent=1))
    print(f"mutations: {len(verdicts.cases) - failed} passed, {failed} failed, {time.monotonic() - start:.0f} s; {report}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
