# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rings that no warp of its own fills (`producer = false`), and that threads fill (`tma_copy = false`), each alone and both: one
consumer and several, sums shorter than the ring and many times as long, no sum, edges, and every technique beside them.
"""

import itertools

from data import BF16, E4M3, E5M2, F16, F32, I32, I8
from families import matrix_unit, ringed, streams, warpgroups
from families.contraction import sizes
from families.matrix_unit import FORMS
from families.warpgroups import TWO_LEVELS, text

ALONE, BY_THREADS = ", producer = false", ", tma_copy = false"
WAYS = {"alone": ALONE, "threads": BY_THREADS, "both": ALONE + BY_THREADS}


def filled(pinned, how):
    """A config whose ring is filled as `how` says; without a producer nobody gives registers away."""
    for registers in (", registers = [40, 232]", ", registers = [32, 160]"):
        pinned = pinned.replace(registers, "") if ALONE in how else pinned
    return pinned.replace(">}", how + ">}").replace(">, \"cuda", how + ">, \"cuda")


def product(label, types, dims, form, pinned, how, *more):
    return matrix_unit.product(*types, "filling", label, sizes(*dims), form, filled(pinned, how), *more)


def depths():
    """No step that is whole, as many steps as are filled in front of the loop, one more, one less, twice round the ring."""
    for (name, how), stages in itertools.product(WAYS.items(), (2, 4)):
        for k in (8, 64 * (stages - 1), 64 * stages, 64 * stages + 8, 1000):
            yield product(f"depth_{name}_{stages}_{k}", (BF16, F32), (64, 64, k), "nn",
                          warpgroups.config(BF16, F32, 64, 64, stages, 1), how)


def tiles():
    """One to four consumers, every order of operands, steps of 32, 64 and 128 bytes, tiles that hang over the edge."""
    for number, ((name, how), (m, n, groups)) in enumerate(itertools.product(
            WAYS.items(), ((64, 96, 1), (128, 128, 2), (256, 64, 2), (128, 192, 2), (256, 32, 4)))):
        form = tuple(FORMS)[number % 4]
        yield product(f"tile_{name}_{form}_{m}x{n}_{groups}", (F16, F32), (2 * m + 72, n + 8, 328), form,
                      warpgroups.config(F16, F32, m, n, 2 + number % 3, groups), how)
    for step, (name, how) in itertools.product((16, 32), WAYS.items()):
        yield product(f"step_{name}_{step}", (F16, F32), (136, 64, 200), "tb", warpgroups.config(F16, F32, 128, 64, 4, 2, step), how)
    yield product("three_groups", (F16, F32), (200, 64, 200), "nn", warpgroups.config(F16, F32, 192, 64, 3, 3), ALONE)
    for name, how in WAYS.items():
        yield product(f"bytes_{name}", (I8, I32), (200, 136, 272), "tb", warpgroups.config(I8, I32, 128, 128), how)
        yield product(f"sums_{name}", (F16, F16), (200, 136, 136), "nn", warpgroups.config(F16, F16, 128, 128, 3), how)
        yield product(f"swapped_{name}", (BF16, F32), (16, 136, 328), "nn", warpgroups.swapped(BF16, F32, 16, 128, groups=2), how)
        yield product(f"any_{name}", (F16, F32), (1, 1, 1), "nn", warpgroups.config(F16, F32, 128, 128, 3), how, True,
                      [sizes(136, 136, 72), sizes(136, 135, 72), sizes(64, 8, 9), sizes(8, 200, 0), sizes(0, 8, 8), sizes(264, 136, 520)])
        yield warpgroups.product_float8(E4M3, E5M2, f"filling_{name}", sizes(136, 144, 656),
                                        filled(warpgroups.config(E4M3, F32, 128, 128, 3, b=E5M2, techniques=TWO_LEVELS), how), out=BF16)


def techniques():
    """Persistent blocks, clusters (of copy engines), stores by copy engines, parts of sums, stream-K; an operand in registers."""
    for name, how in WAYS.items():
        clusters = ([], [2, 1, 1], [1, 2, 1]) if name == "alone" else ([],)
        for number, (cluster, persistent, tma) in enumerate(itertools.product(clusters, (False, True), (False, True))):
            form = tuple(FORMS)[number % 4]
            yield product(f"technique_{name}_{number}_{form}", (BF16, F32), (456, 136, 200), form,
                          warpgroups.config(BF16, F32, 128, 64, 2 + number % 3, 2, techniques=text(persistent, cluster, tma)), how)
        yield product(f"parts_{name}", (F16, F32), (64, 72, 1104), "nn",
                      warpgroups.config(F16, F32, 64, 64, 3, 1).replace(", mma =", ", splits = 3, mma ="), how)
        yield product(f"stream_{name}", (F16, F32), (200, 72, 520), "tb",
                      streams.stream(warpgroups.config(F16, F32, 64, 64, 3, 1), 5, 3), how)
        yield warpgroups.in_registers(f"filling_{name}", "tb", None, I8, sizes(24, 264, 336), filled(
            warpgroups.swapped(F16, F32, 32, 128, groups=2).replace("promote = [0, 1]", "promote = [0]"), how))


def warps():
    """Instructions of warps, one of which copies beside."""
    for number, form in enumerate(FORMS):
        more = text(number % 2 == 1, [2, 1, 1] if number == 3 else [], False)
        yield product(f"warps_{form}", (BF16, F32), (200, 136, (72, 64, 264, 520)[number]), form,
                      ringed.config(BF16, F32, (64, 64, 64), (2, 2), 2 + number % 3, more), ALONE)
    yield product("warps_one", (F16, F32), (72, 40, 200), "nn", ringed.config(F16, F32, (32, 32, 64), (1, 1), 2), ALONE)


def functions():
    for part in (depths, tiles, techniques, warps):
        yield from part()
