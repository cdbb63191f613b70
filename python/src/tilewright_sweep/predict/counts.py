# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What sampled blocks of one launch do: the lines that ptxsim writes with PTXSIM_TRAFFIC (docs/simulating.md)."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile


class CountError(RuntimeError):
    pass


class Counts:
    """grid, block, shared, blocks (how many ran); by PTX line `issue`, `shared_rows` and `global_rows`; `footprints`."""

    def __init__(self, rows):
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
        neighbours, found = neighbours_of(self.grid), {}
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


def neighbours_of(grid):
    """[(axis, distance)] of the sampled blocks behind the first."""
    middle = middle_of(grid)
    return [
        (axis, 1 << power)
        for axis in range(3)
        for power in range(_MOST_NEIGHBOURS)
        if middle[axis] + (1 << power) < grid[axis]
    ]


def samples(grid):
    """A block from the middle of the grid, then neighbours along each axis: what Counts.sharing expects."""
    middle = middle_of(grid)
    return [middle] + [
        [at + (distance if other == axis else 0) for other, at in enumerate(middle)] for axis, distance in neighbours_of(grid)
    ]


def grow(common, extent):
    """How much more than one block so many neighbours along an axis touch, from what the first has in common with those 1,
    2, 4 … further: twice as many blocks touch what half of them do, and as much again less what both have in common."""
    product, blocks, power = 1.0, 1.0, 0
    while blocks < extent and common:
        share = common[min(power, len(common) - 1)]
        product *= 1 + (min(2.0, extent / blocks) - 1) * (1 - share)
        blocks, power = 2 * blocks, power + 1
    return product


def run(*arguments, **more):
    """Counts of sampled blocks of a launch; arguments are those of `lines_of`."""
    return Counts(map(json.loads, lines_of(*arguments, **more)))


def lines_of(ptx, entry, grid, block, arguments, runner, shared=0, cache_kib=0, arch="sm_80", cluster=(1, 1, 1), timeout=600):
    """What the simulator writes of them, lines of JSON. `arguments` as `tilewright-run --arg` has them; `runner`: that tool."""
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
            PTXSIM_BLOCKS=";".join(",".join(map(str, at)) for at in samples(grid)),
        )
        command = [str(runner), str(ptx), "--device=ptxsim", f"--grid={','.join(map(str, grid))}"]
        command += [f"--block={','.join(map(str, block))}", f"--shared={shared}"]
        command += [f"--cluster={','.join(map(str, cluster))}"]
        command += ([f"--entry={entry}"] if entry else []) + [f"--arg={argument}" for argument in arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise CountError(f"{entry or ptx}: {done.stderr.strip()}")
        return file.read_text().splitlines()
