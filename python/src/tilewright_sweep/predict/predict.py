# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predictions of launches: PTX, how it is launched, and a chip, to a bound.Prediction."""

import pathlib
import re

from tilewright_sweep.predict import bound, chips, counts, events, sass
from tilewright_sweep.predict import ptx as ptxs


def warps_of(block):
    return -(-block[0] * block[1] * block[2] // 32)


def entries_of(ptx):
    return re.findall(r"\.entry\s+([\w$]+)", pathlib.Path(ptx).read_text())


def kernel_of(chip, ptx, entry, mode):
    """The kernel, by ptxas ("sass"), from PTX alone ("ptx"), or as well as it can be had ("auto")."""
    if mode == "auto":
        mode = "sass" if sass.find("ptxas", True) and sass.find("nvdisasm", True) else "ptx"
    return sass.assemble(ptx, target_of(chip, ptx))[entry] if mode == "sass" else ptxs.read(pathlib.Path(ptx), entry)


def target_of(chip, ptx):
    """What ptxas compiles for: the chip's architecture, with the suffix of PTX that is for it alone."""
    found = re.search(r"^\s*\.target\s+sm_(\d+)([af]?)", pathlib.Path(ptx).read_text(), re.M)
    if not found:
        raise sass.ToolError(f"{ptx}: no .target sm_NN; it is no PTX")
    wants, has, suffix = int(found[1]), int(chip.arch[3:]), found[2]
    if wants > has or (suffix and wants != has):
        fits = [key for key in chips.names() if int(chips.Chip(key).arch[3:]) == wants]
        raise sass.ToolError(
            f"{ptx} is for sm_{wants}{suffix}, which {chip.name} ({chip.arch}) does not run; compile it for {chip.arch}"
            + (f", or take --chip={fits[0]}" if fits else "")
        )
    return chip.arch + suffix


#: Forms of the prediction; "auto": by events where there is SASS.
FORMS = ("auto", "events", "closed")


def prediction_of(launch, form):
    """By one of FORMS."""
    has_sass = bound.is_sass(launch.kernel)
    if form == "events" and not has_sass:
        raise sass.ToolError("the event-driven form needs SASS: ptxas and nvdisasm; the closed form does without")
    return (bound.Prediction if form == "closed" or not has_sass else events.Prediction)(launch)


def of_ptx(chip, ptx, entry, grid, block, arguments, runner, shared=0, mode="auto", cluster=(1, 1, 1), form="auto",
           ask=None):  # fmt: skip
    """`arguments`, `shared` (dynamic bytes) and `cluster` as tilewright-run has them; `form`: one of FORMS; `ask`:
    what stands for counts.lines_of."""
    entries = entries_of(ptx)
    if entry is None and len(entries) == 1:
        entry = entries[0]
    if entry not in entries:
        raise sass.ToolError(f"{ptx} has no kernel '{entry}'; it has {', '.join(sorted(entries))}")
    kernel = kernel_of(chip, ptx, entry, mode)
    cache = bound.cache_kib(chip, warps_of(block), kernel.registers, kernel.shared + shared)
    arch = "sm_90" if int(chip.arch[3:]) >= 90 else "sm_80"
    resident = bound.occupancy(chip, warps_of(block), kernel.registers, kernel.shared + shared)
    one_wave = grid[0] * grid[1] * grid[2] <= chip.multiprocessors * resident
    found = counts.run(ptx, entry, grid, block, arguments, runner, shared, cache, arch, cluster, one_wave=one_wave, ask=ask)
    return prediction_of(bound.Launch(chip, found, kernel), form)
