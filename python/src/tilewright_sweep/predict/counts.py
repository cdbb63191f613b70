# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What sampled blocks of one launch do: the lines that ptxsim writes with PTXSIM_TRAFFIC (docs/simulating.md)."""

import collections
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile


class CountError(RuntimeError):
    pass


class Counts:
    """grid, block, shared, blocks (how many ran); by PTX line `issue`, `shared_rows` and `global_rows`; `footprints`.

    `first`: the block whose neighbours `footprints` are of, in the middle of the grid if None; `sizes`: bytes of the buffers."""

    def __init__(self, rows, first=None, sizes=None):
        self.sizes = sizes or {}
        self.issue, self.shared_rows, self.global_rows = {}, {}, collections.defaultdict(list)
        self.footprints, self.stages = [], []
        self.blocks = 0
        for row in rows:
            kind = row["memory"]
            if kind == "launch":
                if self.blocks:
                    raise CountError("these are counts of several launches")
                self.grid, self.block, self.shared, self.blocks = row["grid"], row["block"], row["shared"], row["blocks"]
            elif kind == "issue":
                self.issue[row["line"]] = row
            elif kind == "shared":
                self.shared_rows[row["line"]] = row
            elif kind == "global":
                self.global_rows[row["line"]].append(row)
            elif kind == "footprint":
                self.footprints.append(row)
            elif kind == "stages":
                self.stages.append(row)
        if not self.blocks:
            raise CountError("no block has run")
        self.first = first or middle_of(self.grid)

    def fills_stages(self, line, row):
        """Whether a row of global memory is of copies that arrive in shared memory."""
        return row["way"] == "read" and row["instruction"].startswith("cp.async.bulk") and line in self.shared_rows

    @property
    def grid_blocks(self):
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warps(self):
        """Of a block."""
        return -(-self.block[0] * self.block[1] * self.block[2] // 32)

    def sharing(self):
        """{(buffer, way): (sectors of the first block, for each axis the shares that it has in common with the blocks
        1, 2, 4 … further along that axis)}."""
        neighbours, found = neighbours_of(self.grid, self.first), {}
        for buffer, way in {(row["buffer"], row["way"]) for row in self.footprints}:
            of = [row for row in self.footprints if (row["buffer"], row["way"]) == (buffer, way)]
            first = sum(row["sectors"] for row in of if row["blocks"] & 1)
            common = [[], [], []]
            for number, (axis, _) in enumerate(neighbours, 1):
                both = sum(row["sectors"] for row in of if row["blocks"] & 1 and row["blocks"] >> number & 1)
                common[axis].append(both / first if first else 0.0)
            found[buffer, way] = (first, common)
        return found


#: Neighbours along an axis, each twice as far as the one before.
_MOST_NEIGHBOURS = 10


def middle_of(grid):
    return [extent // 2 if extent > 2 else 0 for extent in grid]


def neighbours_of(grid, first):
    """[(axis, distance)] of the sampled blocks behind the first."""
    return [
        (axis, 1 << power) for axis in range(3) for power in range(_MOST_NEIGHBOURS) if first[axis] + (1 << power) < grid[axis]
    ]


def samples(grid, first=None):
    """A block, one from the middle of the grid if none is named, then neighbours along each axis: what Counts.sharing expects."""
    first = first or middle_of(grid)
    return [first] + [[at + (distance if other == axis else 0) for other, at in enumerate(first)] for axis, distance in neighbours_of(grid, first)]


#: Blocks that stand for a grid whose blocks do different work.
_SPREAD = 8


def spread(grid):
    """Blocks from the first to the last, equally far from each other: of any power of two that the work may repeat after they meet
    all parts, and where it grows from block to block their mean is that of all."""
    last, found = grid[0] * grid[1] * grid[2] - 1, []
    for i in range(_SPREAD):
        number = (2 * i * last + _SPREAD - 1) // (2 * (_SPREAD - 1))
        found.append([number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])])
    return found


def grow(common, extent):
    """How much more than one block so many neighbours along an axis touch, from what the first has in common with those 1,
    2, 4 … further: twice as many blocks touch what half of them do, and as much again less what both have in common."""
    product, blocks, power = 1.0, 1.0, 0
    while blocks < extent and common:
        share = common[min(power, len(common) - 1)]
        product *= 1 + (min(2.0, extent / blocks) - 1) * (1 - share)
        blocks, power = 2 * blocks, power + 1
    return product


def sizes_of(arguments):
    """{buffer: bytes} of arguments of tilewright-run: the simulator numbers those in memory from one on."""
    found = {}
    for argument in arguments:
        dims = argument.split("=undefined")[0].split(":")[-1].split("x")
        if "=undefined" in argument and (bits := re.match(r"[a-z]+(\d+)", dims[-1])):
            found[len(found) + 1] = math.prod(map(int, dims[:-1])) * int(bits[1]) / 8
    return found


def _issued(rows):
    """Instructions of a block."""
    blocks = next(row["blocks"] for row in rows if row["memory"] == "launch")
    return sum(row["executed"] for row in rows if row["memory"] == "issue") / blocks


#: Blocks that run so much more or less than others are not like them.
_UNLIKE = 0.02


def run(ptx, entry, grid, block, arguments, *more, one_wave=False, ask=None, **named):
    """Counts of sampled blocks of a launch; arguments are those of `lines_of`, which `ask` stands for. Of a launch in one wave the
    first blocks count: where blocks take tiles in turns they have one more than others have. Of others those in the middle, if
    they are like all; if not, the mean over the grid."""
    ask, first = ask or lines_of, [0, 0, 0] if one_wave else middle_of(grid)

    def rows(blocks):
        return [json.loads(line) for line in ask(ptx, entry, grid, block, arguments, *more, blocks=blocks, **named)]

    near = rows(samples(grid, first))
    if not one_wave and grid[0] * grid[1] * grid[2] > 2 * _SPREAD:
        far = rows(spread(grid))
        if abs(_issued(far) / _issued(near) - 1) > _UNLIKE:
            near = [row for row in far if row["memory"] != "footprint"] + [row for row in near if row["memory"] == "footprint"]
    return Counts(near, first, sizes_of(arguments))


def lines_of(ptx, entry, grid, block, arguments, runner, shared=0, cache_kib=0, arch="sm_80", cluster=(1, 1, 1), blocks=(), timeout=600):
    """What the simulator writes of some blocks, lines of JSON. `arguments` as `tilewright-run --arg` has them; `runner`: that tool."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "counts.jsonl"
        environment = dict(
            os.environ,
            PTXSIM_ARCH=arch,
            PTXSIM_CHECKS="off",
            PTXSIM_WORKERS="1",
            PTXSIM_MEMORY_MIB="65536",
            PTXSIM_TRAFFIC=str(file),
            PTXSIM_CACHE_KIB=str(cache_kib),
            PTXSIM_WGMMA="skip",
            PTXSIM_BLOCKS=";".join(",".join(map(str, at)) for at in blocks),
        )
        command = [str(runner), str(ptx), "--device=ptxsim", f"--grid={','.join(map(str, grid))}"]
        command += [f"--block={','.join(map(str, block))}", f"--shared={shared}"]
        command += [f"--cluster={','.join(map(str, cluster))}"]
        command += ([f"--entry={entry}"] if entry else []) + [f"--arg={argument}" for argument in arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise CountError(f"{entry or ptx}: {done.stderr.strip()}")
        return file.read_text().splitlines()
