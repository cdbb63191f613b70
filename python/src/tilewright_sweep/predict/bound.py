# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The closed form. All times are cycles of one multiprocessor.

    demand[r]   cycles that one block keeps resource r busy
    latency     cycles that one block needs alone, the slowest of its warps: per phase between two barriers, the longer of
                what the warp waits for (stall counts, scoreboards, results of loads) and of what the phase's busiest
                resource takes for all warps
    wave(b)     b blocks side by side: max(b * demand[r] over r, latency)

A multiprocessor that gets m blocks, B at a time, takes m // B * wave(B) + wave(m % B); the chip as long as the one that
gets the most. The resource that decides is named; "latency" where none does.

    issue        slots of the four schedulers: one instruction a cycle each
    registers    read ports of the register files, less what the reuse caches serve
    fma, imad, alu, xu, fp16, fp64, tensor    lanes of the units
    shared/L1    one request at a time: cycles of the load/store units, wavefronts of the banks, lines looked up
    L2, memory   bytes, of the chip's bandwidth a share for each multiprocessor
    L2 port      bytes that come into a multiprocessor

Roles of warps run beside each other, the slowest counts; what copy engines and wgmma do meanwhile is in roles.py.

L1 has what shared memory leaves of the unified memory. Device memory gives each byte once to a wave of neighbouring
blocks, all of which are taken to be equally far; or once to the launch, where all of it fits L2. What a block reads again it has from
L2 as far as that has room for all that the wave touches.
"""

import re

from tilewright_sweep.predict import blocks as execution
from tilewright_sweep.predict import roles, schedule
from tilewright_sweep.predict.counts import grow
from tilewright_sweep.predict.pieces import macs, share_of, width_of

#: A resource that is busy for so much of the time decides, though it has to be waited for now and then.
DECIDES = 0.9
SHARED = {"LDS", "STS", "LDSM", "STSM", "ATOMS"}
GLOBAL = {"LDG", "STG", "LDGSTS", "RED", "ATOMG", "ATOM", "LD", "ST"}
#: What goes through the load/store units.
MEETING = SHARED | GLOBAL | {"SHFL"}
ALU = {"IADD3", "LOP3", "SHF", "ISETP", "FSETP", "SEL", "FSEL", "PRMT", "MOV", "LEA", "IMNMX", "FMNMX", "VIADD", "PLOP3", "IABS",
        "VIMNMX", "SGXT", "BMSK", "R2P", "P2R", "IADD", "CS2R", "HMNMX2", "VABSDIFF", "DSETP", "F2FP", "I2FP"}
FMA = {"FFMA", "FMUL", "FADD", "FFMA32I", "FMUL32I", "FADD32I"}
FP16 = {"HFMA2", "HADD2", "HMUL2", "HSETP2"}
XU = {"MUFU", "F2I", "I2F", "F2F", "POPC", "FLO", "FRND"}
FP64 = {"DFMA", "DADD", "DMUL"}


def tensor_operations(opcode):
    """(kind of chips.json, multiplications and additions of one instruction); None for other instructions."""
    parts = opcode.split(".")
    if parts[0] in roles.GROUP_PRODUCTS:
        m, n, k = map(int, re.search(r"(\d+)x(\d+)x(\d+)", opcode).groups())
        if "SP" in parts:
            k //= 2  # half of A is stored, and multiplied
        kind = {"IGMMA": "s8", "QGMMA": "f8"}.get(parts[0], "tf32" if k == 8 else "f16_f32")
        return kind, m * n * k
    if parts[0] in ("HMMA", "IMMA"):
        operations = macs(opcode)
        if parts[0] == "IMMA":
            return "s8", operations
        return "tf32" if "TF32" in parts else "f16_f16" if parts[2] == "F16" else "f16_f32", operations
    if parts[0] == "DMMA":
        return "f64", 8 * 8 * 4
    return None


class UnknownRate(ValueError):
    """The message says of what."""


class Launch:
    """One kernel of one launch on one chip: counts (counts.Counts), kernel (sass.Kernel)."""

    def __init__(self, chip, counts, kernel):
        self.chip, self.counts, self.kernel = chip, counts, kernel
        self.runs = execution.execution_counts(kernel, counts.issue, counts.blocks * counts.warps)
        self.resident = occupancy(chip, counts.warps, kernel.registers, counts.shared)
        self.active = self._active()
        self.l2_share = self._traffic()

    def _active(self):
        """{line of the PTX: in which share of the times that its predicated instructions are issued they do something}"""
        issued, predicated = {}, set()
        for block, runs in zip(self.kernel.code, self.runs):
            for item in block:
                row = self.counts.issue.get(item.line)
                if row and execution.is_made_of(row["instruction"], item.root):
                    issued[item.line] = issued.get(item.line, 0.0) + runs * self.share_of(item)
                    if item.predicated:
                        predicated.add(item.line)
        return {line: min(1.0, self.counts.issue[line]["executed"] / issued[line]) for line in predicated if issued[line]}

    def _traffic(self):
        """Bytes of L2 and of device memory that a block asks for; the share of L2's reads that goes on to memory."""
        chip, counts = self.chip, self.counts
        rows = [row for of in counts.global_rows.values() for row in of]
        read = sum(32 * row["missed"] for row in rows if row["way"] != "write") / counts.blocks
        written = sum(32 * row["sectors"] for row in rows if row["way"] != "read") / counts.blocks
        self.l2_bytes = read + written
        wave = min(counts.grid_blocks, chip.multiprocessors * self.resident)
        total = sum(self._footprint(key, counts.grid) for key in counts.sharing())
        read_once = total <= chip.l2_bytes
        extent, left = [], counts.grid_blocks if read_once else wave
        for axis in range(3):
            extent.append(min(counts.grid[axis], left))
            left = max(1.0, left / counts.grid[axis])
        blocks = extent[0] * extent[1] * extent[2]
        reads = sum(self._footprint(key, extent) for key in counts.sharing() if key[1] != "write") / blocks
        writes = sum(self._footprint(key, extent) for key in counts.sharing() if key[1] == "write") / blocks
        # What a block comes back to is in L2 as far as L2 has room for all that a wave touches, as if lines were replaced in no
        # order; of what is not, blocks that share it bring it once for all of them.
        own = sum(32.0 * first for key, (first, _) in counts.sharing().items() if key[1] != "write")
        lost = max(0.0, 1 - chip.l2_bytes / max(1.0, blocks * (reads + writes)))
        reads += max(0.0, read - own) * lost * min(1.0, reads / own) if own else 0.0
        self.memory_bytes = min(reads, read) + min(writes, written)
        # A multicast leaves L2 once, and comes in at the port of each block.
        copied = sum(row["bytes"] for row in counts.stages) / counts.blocks
        asked = sum(32 * row["missed"] for line, of in counts.global_rows.items() for row in of if counts.fills_stages(line, row))
        self.port_bytes = read + copied - asked / counts.blocks
        return min(1.0, reads / read) if read else 0.0

    def _footprint(self, key, extent):
        first, common = self.counts.sharing()[key]
        product = 32.0 * first
        for axis in range(3):
            product *= grow(common[axis], extent[axis])
        return min(product, self.counts.sizes.get(key[0], product))

    def memory_cost(self, item):
        """(cycles that the request occupies shared memory and L1, cycles until its result is there) of an instruction."""
        chip, counts = self.chip, self.counts
        if item.root in roles.BULK or item.root in roles.GROUP_PRODUCTS:
            return self.moved_beside(item), chip.cycles_shared
        if item.root == "SHFL":
            return chip.lsu_cycles, chip.cycles_shared
        if item.root in SHARED:
            row = counts.shared_rows.get(item.line)
            if not row or not execution.is_made_of(row["instruction"], item.root):
                return chip.lsu_cycles, chip.cycles_shared
            member = {8: "as8", 16: "as16"}.get(width_of(item.opcode)) if item.root in ("LDS", "STS") else None
            wavefronts = row[member or "wavefronts"] / row["executed"] * share_of(row["instruction"], item.opcode)
            return max(chip.lsu_cycles, wavefronts), chip.cycles_shared + wavefronts - 1
        rows = counts.global_rows.get(item.line, [])
        requests = sum(row["requests"] for row in rows)
        if not requests:
            return chip.lsu_cycles, chip.cycles_l1
        lines, wavefronts, sectors, missed = (
            sum(row[member] for row in rows) / requests for member in ("lines", "wavefronts", "sectors", "missed")
        )
        lines, wavefronts = (part * self.share_of(item) for part in (lines, wavefronts))
        busy = max(chip.lsu_cycles, wavefronts, lines / chip.lines_per_clock)
        hit = 1 - missed / sectors if sectors else 0
        beyond = chip.cycles_l2 + self.l2_share * (chip.cycles_memory - chip.cycles_l2)
        return busy, (chip.cycles_l1 if hit > 0.999 else beyond) + busy - 1

    def share_of(self, item):
        """Of the PTX instruction of its line."""
        row = self.counts.issue.get(item.line)
        return share_of(row["instruction"], item.opcode) if row else 1.0

    def moved_beside(self, item):
        """Wavefronts of shared memory per instruction of a warp: operands of wgmma, copies where they arrive."""
        row = self.counts.shared_rows.get(item.line)
        if not row or not execution.is_made_of(row["instruction"], item.root):
            return 0.0
        return row["wavefronts"] / self.counts.issue[item.line]["executed"]

    def product_cycles(self, item):
        """Of all tensor cores of a multiprocessor, for the whole instruction; 0 for other instructions."""
        operations = tensor_operations(item.opcode)
        if not operations:
            return 0.0
        if operations[0] not in self.chip.tensor:
            raise UnknownRate(f"{self.chip.name}: no rate of {item.opcode} is known (chips.json, tensor, {operations[0]})")
        share = self.chip.mma_sync_share if item.root in ("HMMA", "IMMA") else 1
        return operations[1] / (share * self.chip.tensor[operations[0]])

    def demands(self, block):
        """Cycles of each resource, of one warp that runs a list of instructions once."""
        chip = self.chip
        found = dict.fromkeys(("issue", "fma", "imad", "alu", "xu", "fp16", "fp64", "tensor", "shared/L1"), 0.0)
        ports, cache = [0, 0], {}
        lanes = {name: chip.warp / count for name, count in chip.lanes.items()}
        for item in block:
            root = item.root
            found["issue"] += 1 / chip.schedulers
            if root in FMA:
                found["fma"] += lanes["fp32"]
            elif root == "IMAD":
                found["imad"] += lanes["imad"]
                found["fma"] += lanes["fp32"]
            elif root in ALU:
                found["alu"] += lanes["alu"]
            elif root in XU:
                found["xu"] += lanes["xu"]
            elif root in FP16:
                found["fp16"] += lanes["fp16"]
            elif root in FP64:
                found["fp64"] += lanes["fp64"]
            elif root in MEETING or root in roles.BULK:
                found["shared/L1"] += self.memory_cost(item)[0] * (self.active.get(item.line, 1.0) if item.predicated else 1.0)
            elif root in roles.GROUP_PRODUCTS:
                found["shared/L1"] += self.memory_cost(item)[0]
                found["tensor"] += self.product_cycles(item) / roles.WARPS_OF_GROUP
            else:
                found["tensor"] += self.product_cycles(item)
            kept = {}
            for slot, register, reuse in item.registers():
                if cache.get(slot) != register:
                    ports[register % 2] += 1
                if reuse:
                    kept[slot] = register
            cache = kept
        if chip.register_ports:
            found["registers"] = max(ports) / chip.register_ports / chip.schedulers
        return found

    def result_cycles(self, item):
        """Until the barrier of an instruction of variable latency is released."""
        if item.root == "SYNCS":  # mbarriers lie in shared memory
            return self.chip.cycles_shared
        return self.memory_cost(item)[1] if item.root in MEETING else self.chip.cycles_other

    def dependence_cycles(self, item):
        """Until an instruction can be issued that reads a result."""
        if item.root in MEETING or item.root in XU:
            return self.result_cycles(item)
        return self.chip.cycles_matrix if tensor_operations(item.opcode) else self.chip.cycles_arithmetic

    def phases(self, block, repeats=6):
        """[(instructions, cycles that one warp alone takes for them)] of a basic block that runs again and again, cut at
        barriers. The last half of `repeats` runs is averaged."""
        bounds = [0] + [i + 1 for i, item in enumerate(block) if item.root == "BAR"] + [len(block)]
        spent = [0.0] * (len(bounds) - 1)
        now, free, groups, begun, products = 0.0, [0.0] * 6, [], 0.0, roles.Products()
        for repeat in range(repeats):
            for phase in range(len(spent)):
                start = now
                for item in block[bounds[phase] : bounds[phase + 1]]:
                    now = max([now] + [free[i] for i in range(6) if item.waits >> i & 1])
                    if item.root == "LDGSTS":
                        begun = max(begun, now + self.result_cycles(item))
                    elif item.root == "LDGDEPBAR":
                        groups.append(begun)
                        begun = 0.0
                    elif item.root == "DEPBAR":
                        left = int(item.operands[1], 0) if len(item.operands) > 1 else 0
                        now = max([now] + groups[: len(groups) - left if left else None])
                    elif item.root == "BAR":
                        now += self.chip.cycles_barrier
                    elif item.root in roles.GROUP_PRODUCTS:
                        products.take(item, now, self.product_cycles(item), self.chip.cycles_matrix)
                    elif item.opcode.startswith("WARPGROUP.DEPBAR"):
                        now = products.wait(item, now)
                    if item.write_barrier < 6:
                        free[item.write_barrier] = max(free[item.write_barrier], now + self.result_cycles(item))
                    if item.read_barrier < 6:
                        free[item.read_barrier] = max(free[item.read_barrier], now + self.chip.cycles_other)
                    now += max(item.stall, 1)
                if repeat >= repeats // 2:
                    spent[phase] += (now - start) / (repeats - repeats // 2)
        return [(block[bounds[i] : bounds[i + 1]], spent[i]) for i in range(len(spent))]

    def _ways(self):
        """How often each different warp of a block runs the basic blocks; barriers wait for the slowest."""
        counts, warps = self.counts, self.counts.warps
        rows = counts.issue.values()
        names = {tuple(row["by_warp"][warp] for row in rows if "by_warp" in row): warp for warp in range(warps)}
        ways = []
        for warp in names.values():
            of = {
                row["line"]: {**row, "executed": row["by_warp"][warp] if "by_warp" in row else row["executed"] / warps}
                for row in rows
            }
            if len(names) > 1:
                runs = execution.execution_counts(self.kernel, of, counts.blocks)
            else:
                runs = [count / warps for count in self.runs]
            ways.append([count / counts.blocks for count in runs])
        return ways

    def per_block(self):
        """(demand of each resource, latency) of one block of the grid."""
        total = {}
        ways = self._ways()
        latencies, average = [0.0] * len(ways), 0.0
        loops = {}
        scheduled = None if is_sass(self.kernel) else schedule.Schedule(self)
        for index, (block, runs) in enumerate(zip(self.kernel.code, self.runs)):
            if runs <= 0:
                continue
            runs /= self.counts.blocks
            for instructions, alone in scheduled.phases(index) if scheduled else self.phases(block):
                demand = self.demands(instructions)
                for name, cycles in demand.items():
                    total[name] = total.get(name, 0.0) + cycles * runs
                # A phase lasts until its busiest resource has served all warps that are there.
                together = max(demand.values()) * runs
                loop = loops.setdefault(tuple(float(f"{way[index]:.2g}") for way in ways), roles.Loop(len(ways)))
                loop.add([way[index] * alone for way in ways], self.demands([x for x in instructions if x.root not in roles.BULK]), runs)
                average += max(runs / self.counts.warps * alone, together)
                for number, way in enumerate(ways):
                    if way[index] > 0:
                        latencies[number] += max(way[index] * alone, together)
        # Warps that go different ways meet at barriers: the average of all, where the work of one alone is less.
        latency = max(average, *latencies)
        chip = self.chip
        # A multiprocessor has to share with the others that have work.
        sharing = min(chip.multiprocessors, self.counts.grid_blocks)
        total["L2"] = self.l2_bytes * sharing / chip.l2_bytes_per_clock
        total["memory"] = self.memory_bytes * sharing / chip.bytes_per_cycle()
        total["L2 port"] = self.port_bytes / chip.l2_port_bytes
        if self.counts.stages:
            latency = max(roles.latencies(loops.values(), len(ways)))
            beyond = chip.cycles_l2 + self.l2_share * (chip.cycles_memory - chip.cycles_l2)
            latency = roles.latency_with_stages(chip, [roles.Stages(row) for row in self.counts.stages], latency, beyond)
        return total, latency


def is_sass(kernel):
    """Or a kernel that predict.ptx has read."""
    return not hasattr(kernel.code[0][0], "reads")


def occupancy(chip, warps, registers, shared):
    """Blocks that a multiprocessor holds at once; at least one."""
    limits = chip.limits
    held = min(limits["blocks"], limits["threads"] // (chip.warp * warps))
    if registers:
        # Registers are handed out by warp; warps in fours, one to each scheduler.
        per_warp = -(-registers // chip.register_step) * chip.register_step * chip.warp
        held = min(held, limits["registers"] // per_warp // chip.schedulers * chip.schedulers // warps)
    if shared:
        held = min(held, limits["shared"] // (shared + chip.reserved_shared))
    return max(1, int(held))


def cache_kib(chip, warps, registers, shared):
    """What shared memory leaves of the unified memory, for one of the blocks that are resident."""
    resident = occupancy(chip, warps, registers, shared)
    used = resident * (shared + chip.reserved_shared) if shared else 0
    return max(0, chip.limits["unified"] - used) // 1024 // resident


class Prediction:
    """cycles, seconds, resource that decides; `demand` and `latency` of a block, `stages`, `resident` blocks, `waves`."""

    def __init__(self, launch):
        chip, counts = launch.chip, launch.counts
        self.chip, self.resident, self.stages = chip, launch.resident, counts.stages
        self.registers, self.spills = launch.kernel.registers, launch.kernel.spills
        self.source = "ptxas" if is_sass(launch.kernel) else "estimated from PTX"
        self.demand, self.latency = launch.per_block()
        self.most = -(-counts.grid_blocks // chip.multiprocessors)
        self.waves = counts.grid_blocks / (chip.multiprocessors * self.resident)
        self.cycles = self._total(launch)
        self.megahertz, self.seconds = self._seconds(self.cycles)
        self.closed_seconds = self._seconds(self._closed())[1]
        busiest = max(self.demand, key=self.demand.get)
        self.resource = busiest if self._decides(busiest) else "latency"

    def _seconds(self, cycles):
        """(clock, seconds)"""
        busy = min(1.0, self.most * self.demand["tensor"] / cycles)
        return self.chip.clock_under(busy), self.chip.seconds(cycles, busy)

    def _decides(self, resource):
        return min(self.resident, self.most) * self.demand[resource] >= DECIDES * self.latency

    def _total(self, launch):
        return self._closed()

    def _closed(self):
        """Cycles of the multiprocessor that gets the most blocks."""
        full, rest = divmod(self.most, self.resident)
        return full * self._wave(self.resident) + (self._wave(rest) if rest else 0)

    def _wave(self, blocks):
        return max(blocks * max(self.demand.values()), self.latency)

    def _of_a_block(self):
        """Cycles that a multiprocessor has for each of its blocks."""
        return max(max(self.demand.values()), self.latency / self.resident)

    def lines(self):
        yield f"predicted: {self.seconds * 1e6:.1f} µs on {self.chip.name} ({self.cycles:.0f} cycles at {self.megahertz:.0f} MHz)"
        yield f"predicted bound: {self.resource}"
        shares = sorted(self.demand.items(), key=lambda x: -x[1])
        whole = self._of_a_block()
        yield "predicted shares: " + ", ".join(f"{name} {cycles / whole:.0%}" for name, cycles in shares if cycles > 0.02 * whole)
        yield (
            f"{self.resident} blocks a multiprocessor, {self.waves:.2f} waves, {self.registers} registers, "
            f"{self.spills} bytes spilled ({self.source})"
        )
