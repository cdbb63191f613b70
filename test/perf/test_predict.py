# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of predicted times, on kernels of which it can be said on paper what bounds them.

python test/perf/test_predict.py BUILD

What needs ptxas and nvdisasm runs where they are, and in the coarser mode, from PTX alone, everywhere.
"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python/src")]

from tilewright_sweep import predictions, report
from tilewright_sweep.predict import (
    artifact, blocks, bound, chips, counts, machine, operations, order, pieces, predict, ptx, rings, roles, sass, schedule,
    score,
)  # fmt: skip

MICRO = HERE / "predict/micro.ptx"
#: From PTX alone; from SASS by events; from SASS in the closed form.
MODES = ["ptx"] + (["sass", "closed"] if sass.find("ptxas", True) and sass.find("nvdisasm", True) else [])


def options_of(mode):
    return {"mode": "sass", "form": "closed"} if mode == "closed" else {"mode": mode}


def predicted(chip, entry, grid, block, arguments, mode):
    runner = BUILD / "bin/tilewright-run"
    return predict.of_ptx(chips.Chip(chip), MICRO, entry, grid, block, arguments, runner, **options_of(mode))


class Bounds(unittest.TestCase):
    """On two chips and in every mode; expected times are from the chips' facts, not from the model."""

    def each(self):
        return [(mode, chips.Chip(chip)) for mode in MODES for chip in ("a6000", "h100")]

    def test_a_copy_takes_its_bytes(self):
        for mode, chip in self.each():
            with self.subTest(mode=mode, chip=chip.key):
                blocks_ = 1 << 16
                made = predicted(chip.key, "copies", [blocks_, 1, 1], [256, 1, 1], [f"{blocks_ * 256 * 4}xf32=undefined"] * 2, mode)
                bytes_ = 2 * 16 * 256 * blocks_
                self.assertEqual(made.resource, "memory")
                self.assertAlmostEqual(made.seconds * chip.memory_gbps * 1e9 / bytes_, 1, delta=0.02)

    def test_a_chain_waits(self):
        """One warp: four cycles for each of 4096 sums, and little else."""
        for mode, chip in self.each():
            with self.subTest(mode=mode, chip=chip.key):
                made = predicted(chip.key, "chained", [1, 1, 1], [32, 1, 1], ["32xf32=undefined", "f32=1"], mode)
                self.assertEqual(made.resource, "latency")
                self.assertGreater(made.cycles, 4 * 4096)
                self.assertLess(made.cycles, 1.35 * 4 * 4096 + 2000)

    def test_banks_take_turns(self):
        """32 warps read the same bank: a wavefront for each lane."""
        for mode, chip in self.each():
            with self.subTest(mode=mode, chip=chip.key):
                arguments = ["1024xi32=undefined", "i32=32"]
                made = predicted(chip.key, "strided", [1, 1, 1], [1024, 1, 1], arguments, mode)
                self.assertEqual(made.resource, "shared/L1")
                self.assertAlmostEqual(made.cycles / (32 * 1024 * 4 * 32), 1, delta=0.05)
                free = predicted(chip.key, "strided", [1, 1, 1], [1024, 1, 1], ["1024xi32=undefined", "i32=1"], mode)
                self.assertAlmostEqual(free.demand["shared/L1"] / (32 * 1024 * 4 * chip.lsu_cycles), 1, delta=0.05)

    def test_tensor_cores_take_their_operations(self):
        for mode, chip in self.each():
            with self.subTest(mode=mode, chip=chip.key):
                grid = chip.multiprocessors * 4
                made = predicted(chip.key, "products", [grid, 1, 1], [512, 1, 1], ["4096xf32=undefined"], mode)
                operations = 2 * 16 * 8 * 16 * 2 * 1024 * 16 * grid
                rate = chip.flops_per_second("f16_f32") * chip.mma_sync_share  # mma.sync, which Hopper runs slower than wgmma
                self.assertEqual(made.resource, "tensor")
                self.assertAlmostEqual(made.seconds * rate / operations, 1, delta=0.1)

    def test_a_wave_and_a_bit_take_two(self):
        for mode, chip in self.each():
            with self.subTest(mode=mode, chip=chip.key):
                arguments = ["4096xf32=undefined"]
                one = predicted(chip.key, "products", [chip.multiprocessors, 1, 1], [1024, 1, 1], arguments, mode)
                more = predicted(chip.key, "products", [chip.multiprocessors + 1, 1, 1], [1024, 1, 1], arguments, mode)
                self.assertAlmostEqual(more.cycles / one.cycles, 2, delta=0.1)


HOPPER = HERE / "predict/hopper.ptx"
SPECIALISED = ROOT / "gpu-runtime/ptxsim/test/programs/specialised.ptx"


class Hopper(unittest.TestCase):
    """What copy engines and warpgroups do beside the warps that asked for it."""

    def setUp(self):
        self.chip = chips.Chip("h100")

    def predicted(self, file, entry, grid, block, arguments, mode, **more):
        return predict.of_ptx(self.chip, file, entry, grid, block, arguments, BUILD / "bin/tilewright-run", **options_of(mode), **more)

    def test_warpgroups_take_their_operations(self):
        """Two of them: 64 cycles a product of 64 x 128 x 16; shared memory gives 16 + 32 wavefronts for it."""
        for mode in MODES:
            with self.subTest(mode=mode):
                grid = self.chip.multiprocessors
                made = self.predicted(HOPPER, "groups", [grid, 1, 1], [256, 1, 1], ["256xf32=undefined", "i32=64"], mode)
                self.assertEqual(made.resource, "tensor")
                products = 2 * 64 * 4
                self.assertAlmostEqual(made.demand["tensor"], products * 64, delta=1)
                self.assertAlmostEqual(made.demand["shared/L1"] / (products * 48), 1, delta=0.01)
                self.assertAlmostEqual(made.cycles / (products * 64), 1, delta=0.1)

    def test_one_warpgroup_waits(self):
        """A group of four products, then the wait for it: the depth of the pipeline each time."""
        for mode in MODES:
            with self.subTest(mode=mode):
                made = self.predicted(HOPPER, "groups", [1, 1, 1], [128, 1, 1], ["128xf32=undefined", "i32=64"], mode)
                self.assertEqual(made.resource, "latency")
                self.assertGreater(made.cycles, 64 * (4 * 64 + self.chip.cycles_matrix))
                self.assertLess(made.cycles, 64 * (4 * 64 + self.chip.cycles_matrix + 60) + 3000)

    def test_stages_hide_the_way(self):
        for mode in MODES:
            cycles = {}
            for stages in (1, 4, 8):
                made = self.predicted(
                    HOPPER, "pipeline", [1, 1, 1], [32, 1, 1], [f"{(128 + 16) * 4096 // 4}xf32=undefined", f"i32={stages}"], mode
                )
                cycles[stages] = made.cycles
            with self.subTest(mode=mode):
                chip = self.chip
                self.assertGreater(cycles[1], 128 * (chip.cycles_l2 + 4096 / chip.l2_port_bytes + 2 * chip.cycles_shared))
                self.assertLess(cycles[1], 130 * (chip.cycles_memory + 4096 / chip.l2_port_bytes + 200))
                self.assertAlmostEqual(cycles[1] / cycles[4], 4, delta=0.5)
                self.assertGreaterEqual(cycles[8], 128 * 4096 / chip.l2_port_bytes)

    def test_a_multicast_leaves_l2_once(self):
        """Tiles of 128 rows of A and 64 of B, 128 bytes a row and step; in a cluster of two each block asks for half of B's."""
        bytes_ = {}
        for entry, cluster, rows in (("gemm", (1, 1, 1), 64), ("gemmOfTwo", (1, 2, 1), 32)):
            arguments = [
                "tensormap:box=128x64:swizzle=128:1024x1024xf16=undefined",
                f"tensormap:box={rows}x64:swizzle=128:1024x1024xf16=undefined",
                "1024x1024xf32=undefined",
                "i32=1024",
                "i32=1024",
            ]
            made = self.predicted(SPECIALISED, entry, [16, 8, 1], [384, 1, 1], arguments, MODES[-1], shared=3 * 192 * 128, cluster=cluster)
            # A store of 32 bits of eight columns leaves half of a sector to the next one: twice the bytes.
            steps, written = 1024 // 64, 2 * 128 * 64 * 4
            bytes_[entry] = made.demand["L2"] * self.chip.l2_bytes_per_clock / 128 - written
            self.assertAlmostEqual(made.demand["L2 port"], steps * 192 * 128 / self.chip.l2_port_bytes, delta=1)
            # 32 turns of a warpgroup's product of 64 x 64 x 16, by two of them.
            self.assertAlmostEqual(made.demand["tensor"], 2 * 4 * steps * 32, delta=1)
            self.assertEqual([row["mbarriers"] for row in made.stages], [3, 3])
        self.assertAlmostEqual(bytes_["gemm"], 16 * 192 * 128, delta=1)
        self.assertAlmostEqual(bytes_["gemmOfTwo"], 16 * (128 + 32) * 128, delta=1)

    def test_waits_that_fail_are_not_taken(self):
        """ptxas puts another copy of a polling loop behind the kernel; nothing of it runs."""
        if "sass" not in MODES:
            self.skipTest("needs ptxas and nvdisasm")
        kernel = sass.assemble(HOPPER, "sm_90a")["pipeline"]
        copies = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        lines = [number for number, line in enumerate(HOPPER.read_text().splitlines(), 1) if copies in line]
        issue = {lines[0]: {"instruction": copies, "executed": 4}, lines[1]: {"instruction": copies, "executed": 128}}
        runs = blocks.execution_counts(kernel, issue, 1)
        for index, block in enumerate(kernel.code):
            if any("TRYWAIT" in item.opcode for item in block):
                self.assertIn(round(runs[index]), (0, 128))
        self.assertEqual(sum(round(runs[i]) for i, b in enumerate(kernel.code) if any("TRYWAIT" in x.opcode for x in b)), 128)

    def test_a_tensor_map_in_memory(self):
        """Some kernels get the address of a map; of 8 rows of 64 halves four sectors each."""
        argument = "tensormap:box=8x64:swizzle=128:by=address:16x128xf16=undefined"
        found = counts.run(HOPPER, "mapped", [1, 1, 1], [32, 1, 1], [argument], BUILD / "bin/tilewright-run", arch="sm_90")
        self.assertEqual([row["sectors"] for of in found.global_rows.values() for row in of], [8 * 4])

    def test_a_chip_that_does_not_run_it(self):
        with self.assertRaisesRegex(sass.ToolError, r"is for sm_90a, which NVIDIA A100.*--chip=h100"):
            predict.target_of(chips.Chip("a100"), HOPPER)
        with self.assertRaisesRegex(sass.ToolError, "does not run"):
            predict.target_of(chips.Chip("rtx5090"), HOPPER)
        self.assertEqual(predict.target_of(self.chip, HOPPER), "sm_90a")
        self.assertEqual(predict.target_of(self.chip, MICRO), "sm_90")

    def test_an_unknown_rate_is_named(self):
        launch = object.__new__(bound.Launch)
        launch.chip = chips.Chip("t4")
        with self.assertRaisesRegex(bound.UnknownRate, "T4.*HMMA.1688.F32.TF32.*tf32"):
            launch.product_cycles(sass.Instruction("HMMA.1688.F32.TF32", [], 0, 0, None, None))


class Occupancy(unittest.TestCase):
    def test_limits(self):
        a6000, a100 = chips.Chip("a6000"), chips.Chip("a100")
        self.assertEqual(bound.occupancy(a6000, 8, 32, 0), 6)  # 1536 threads
        self.assertEqual(bound.occupancy(a100, 8, 32, 0), 8)  # 2048 threads
        self.assertEqual(bound.occupancy(a100, 8, 128, 0), 2)  # 65536 registers
        self.assertEqual(bound.occupancy(a6000, 4, 32, 40960), 2)  # 100 KiB of shared memory
        self.assertEqual(bound.occupancy(a100, 1, 16, 0), 32)  # blocks
        self.assertEqual(bound.cache_kib(a100, 8, 128, 16384), (196608 - 2 * 17408) // 1024 // 2)


LISTING = """
	.section	.text.k,"ax",@progbits
.text.k:
	//## File ".nv_debug_ptx_txt", line 7
        /*0000*/                   LDS.128 R4, [R2] ;                    /* 0x0000000002047984 */
                                                                         /* 0x000e280000000c00 */
.L_x_1:
	//## File ".nv_debug_ptx_txt", line 9
        /*0010*/                   FFMA R8, R4.reuse, R5, R8 ;           /* 0x0000000504087223 */
                                                                         /* 0x041fe20000000008 */
        /*0020*/                   FFMA R9, R4, R7, R9 ;                 /* 0x0000000704097223 */
                                                                         /* 0x000fc80000000009 */
        /*0030*/               @P0 BRA `(.L_x_1) ;                       /* 0x0000000000000947 */
                                                                         /* 0x000fea000383ffff */
        /*0040*/                   EXIT ;                                /* 0x000000000000794d */
                                                                         /* 0x000fea0003800000 */
"""


class Listings(unittest.TestCase):
    def test_instructions_and_blocks(self):
        kernel = sass.parse(LISTING)["k"]
        self.assertEqual([len(block) for block in kernel.code], [1, 3, 1])
        self.assertEqual(kernel.successors, [{1}, {1, 2}, set()])
        load, first, second = kernel.code[0][0], *kernel.code[1][:2]
        self.assertEqual((load.opcode, load.line, load.write_barrier, load.read_barrier), ("LDS.128", 7, 0, 7))
        self.assertEqual((first.waits, first.stall), (1, 1))
        self.assertEqual(list(first.registers()), [(0, 4, True), (1, 5, False), (2, 8, False)])
        self.assertEqual(second.stall, 4)

    def test_the_highest_register(self):
        """That an instruction names, with those that belong to it; of an address, of a pair, of a product's sums."""
        for highest, opcode, operands in (
                (87, "HGMMA.64x128x16.F32.BF16", "R24, gdesc[UR8].tnspB, R24, gsb0"),
                (203, "HGMMA.64x16x16.F32", "R4, R200, gdesc[UR4], R4"), (67, "HGMMA.64x256x16.F16", "R4, gdesc[UR4], R4, !UPT"),
                (-1, "UTMALDG.2D", "[UR8], [UR4], desc[UR14]"), (7, "LDS.128", "R4, [R2+UR4+0x10]"), (90, "LDS.128", "R4, [R90]"),
                (11, "STG.E.128", "desc[UR4][R2.64], R8"), (9, "LDG.E.64", "R2, desc[UR6][R8.64+0x4]"),
                (31, "IMAD.WIDE.U32", "R4, R2, R31, R6"), (7, "IMAD.WIDE", "R4, R2, 0x4, R6"),
                (11, "STSM.16.MT88.4", "[R3+0x400], R8"), (3, "ISETP.GE.AND", "P1, PT, R3.reuse, 0x40, PT")):
            with self.subTest(opcode=opcode, operands=operands):
                self.assertEqual(sass.Instruction(opcode, operands.split(", "), 0, 0, None, None).highest, highest)

    def test_counts_of_blocks_come_from_lines(self):
        """The loop has two copies of line 9: it runs half as often."""
        issue = {
            7: {"instruction": "ld.shared.v4.f32", "executed": 3},
            9: {"instruction": "fma.rn.f32", "executed": 600},
        }
        runs = blocks.execution_counts(sass.parse(LISTING)["k"], issue, 3)
        self.assertEqual([round(x) for x in runs], [3, 300, 3])

    def test_blocks_without_lines_follow_from_the_flow(self):
        """A loop whose head chooses whether the warp does the work that is counted; both ways meet at a barrier."""
        kernel = sass.Kernel("k")

        def one(root, line=0):
            return sass.Instruction(root, [], line, 0, None, None)

        kernel.code = [[one("MOV")], [one("ISETP")], [one("LDS", 7)], [one("BAR", 8)], [one("EXIT")]]
        kernel.successors = [{1}, {2, 3}, {3}, {1, 4}, set()]
        issue = {
            7: {"instruction": "ld.shared.f32", "executed": 25},
            8: {"instruction": "bar.sync", "executed": 90},
        }
        self.assertEqual([round(x) for x in blocks.execution_counts(kernel, issue, 10)], [10, 90, 25, 90, 10])

    def test_loads_that_were_merged_do_not_count(self):
        """ptxas has made eight loads of line 7 into one of sixteen bytes: a copy less than it should have."""
        kernel = sass.Kernel("k")
        one = lambda root, line: sass.Instruction(root, [], line, 0, None, None)  # noqa: E731
        loop = [one("LDS", 7)] * 2 + [one("FFMA", line) for line in (8, 8, 8, 8, 9, 9, 9, 9)] + [one("BAR", 10)]
        kernel.code, kernel.successors = [[one("MOV", 1)], loop, [one("EXIT", 0)]], [{1}, {1, 2}, set()]
        issue = {
            7: {"instruction": "ld.shared.f32", "executed": 400}, 8: {"instruction": "fma.rn.f32", "executed": 400},
            9: {"instruction": "fma.rn.f32", "executed": 400}, 10: {"instruction": "bar.sync", "executed": 100},
        }  # fmt: skip
        self.assertAlmostEqual(blocks.execution_counts(kernel, issue, 1)[1], 100, delta=0.01)

    def test_predicated_instructions_do_not_count(self):
        """A few warps of those that run the block do what its predicate guards; where nothing else counts, that does."""
        kernel = sass.Kernel("k")
        one = lambda root, line, guard="": sass.Instruction(root, [], line, 0, None, guard)  # noqa: E731
        kernel.code = [[one("MOV", 0)], [one("LDS", 7, "@!P0"), one("BAR", 8)], [one("EXIT", 0)]]
        kernel.successors = [{1}, {1, 2}, set()]
        issue = {7: {"instruction": "ld.shared.f32", "executed": 10}, 8: {"instruction": "bar.sync", "executed": 90}}
        self.assertAlmostEqual(blocks.execution_counts(kernel, issue, 10)[1], 90, delta=0.01)
        issue[7]["executed"] = 0
        self.assertAlmostEqual(blocks.execution_counts(kernel, issue, 10)[1], 90, delta=0.01)
        del kernel.code[1][1:]
        issue[7]["executed"] = 30
        self.assertAlmostEqual(blocks.execution_counts(kernel, issue, 10)[1], 30, delta=0.01)

    def test_fewer_warps_run_behind_an_exit(self):
        kernel = sass.Kernel("k")
        one = lambda root, line, guard="": sass.Instruction(root, [], line, 0, None, guard)  # noqa: E731
        kernel.code = [[one("LDS", 7), one("EXIT", 0, "@P0")], [one("STG", 8), one("EXIT", 0)]]
        kernel.successors = [{1}, set()]
        issue = {7: {"instruction": "ld.shared.f32", "executed": 32}, 8: {"instruction": "st.global.f32", "executed": 1}}
        self.assertEqual([round(x) for x in blocks.execution_counts(kernel, issue, 32)], [32, 1])

    def test_blocks_behind_each_other_run_equally_often(self):
        """Four copies of a line in four blocks of a loop whose rest, a fifth copy, is not counted alone."""
        kernel = sass.Kernel("k")
        one = lambda root, line: sass.Instruction(root, [], line, 0, None, None)  # noqa: E731
        kernel.code = [[one("MOV", 0)], *[[one("LDGSTS", 7)] for _ in range(4)], [one("EXIT", 0)]]
        kernel.successors = [{1}, {2}, {3}, {4}, {1, 5}, set()]
        runs = blocks.execution_counts(kernel, {7: {"instruction": "cp.async.cg", "executed": 80}}, 1)
        self.assertEqual([round(count) for count in runs], [1, 20, 20, 20, 20, 1])

    def test_a_far_loop_is_left_by_a_call(self):
        """Nothing comes back from it; a label that nothing jumps to begins no block."""
        kernel, one = sass.Kernel("k"), sass.Instruction
        items = [
            one("MOV", [], 1, 0, None, None), one("FFMA", [], 2, 0, None, None),
            one("CALL.REL.NOINC", ["`(.L_x_1)"], 3, 0, ".L_x_1", "P0"), one("BRA", ["`(.L_x_0)"], 3, 0, ".L_x_0", None),
            one("STG", [], 4, 0, None, None), one("EXIT", [], 5, 0, None, None),
        ]  # fmt: skip
        sass.divide(kernel, items, {".L_x_0": 1, ".L_x_1": 4, ".L_x_9": 5})
        self.assertEqual([len(block) for block in kernel.code], [1, 2, 1, 2])
        self.assertEqual(kernel.successors, [{1}, {2, 3}, {1}, set()])

    def test_a_peeled_turn_counts(self):
        """One copy of the line stands before the loop, which each warp enters once."""
        kernel = sass.parse(LISTING)["k"]
        kernel.code[0].append(kernel.code[1][0])
        issue = {9: {"instruction": "fma.rn.f32", "executed": 3 * (1 + 2 * 50)}}
        runs = blocks.execution_counts(kernel, issue, 3)
        self.assertEqual([round(x) for x in runs], [3, 150, 3])

    def test_lines_of_products(self):
        """ptxas has given the second product the line of the first, and the third one that of the loop."""
        text = "wgmma.fence.sync.aligned;\n" + "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {};\n" * 3 + "wgmma.fence;\n"
        kernel = sass.Kernel("k")
        opcodes = [("WARPGROUP.ARRIVE", 1), *[("HGMMA.64x128x16.F32", line) for line in (2, 2, 5)]]
        kernel.code = [[sass.Instruction(opcode, [], line, 0, None, None) for opcode, line in opcodes]]
        sass.mend_lines(kernel, text)
        self.assertEqual([item.line for item in kernel.code[0]], [1, 2, 3, 4])

    def test_resources(self):
        log = (
            "ptxas info    : Compiling entry function 'k' for 'sm_86'\n"
            "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
            "ptxas info    : Used 40 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]\n"
        )
        self.assertEqual(sass.resources(log), {"k": (40, 16, 4096)})

    def test_pieces_of_matrix_instructions(self):
        """wmma is several instructions, each of which runs as often as the whole."""
        whole = "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16"
        for instruction, opcode, share in (
            (whole, "HMMA.16816.F16", 1 / 2),
            ("wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64", "DMMA.884", 1),
            ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "HMMA.16816.F32", 1),
            ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "HMMA.1688.F16", 1 / 2),
            ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "HMMA.16832.SP.F32", 1),
            ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "LDSM.16.M88.4", 1),
            ("wmma.load.b.sync.aligned.row.m32n8k16.shared.f16", "LDSM.16.MT88.2", 1),
            ("wmma.load.c.sync.aligned.row.m16n16k16.global.f32", "LDG.E.64", 1 / 4),
            ("wmma.store.d.sync.aligned.row.m16n16k16.global.f16", "STG.E", 1 / 4),
            ("ld.global.v4.f32", "LDG.E.128", 1),
        ):
            self.assertEqual(pieces.share_of(instruction, opcode), share, instruction)

    def test_a_matrix_instruction_of_two_counts_once(self):
        kernel = sass.Kernel("k")
        one = lambda opcode, line: sass.Instruction(opcode, [], line, 0, None, None)  # noqa: E731
        kernel.code = [[one("MOV", 0)], [one("HMMA.16816.F16", 7)] * 2, [one("EXIT", 0)]]
        kernel.successors = [{1}, {1, 2}, set()]
        issue = {7: {"instruction": "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "executed": 48}}
        self.assertAlmostEqual(blocks.execution_counts(kernel, issue, 1)[1], 48, delta=0.01)

    def test_operations_of_matrix_instructions(self):
        for opcode, expected in {
            "HMMA.16816.F32": ("f16_f32", 2048),
            "HMMA.1688.F32.TF32": ("tf32", 1024),
            "HMMA.16816.F16": ("f16_f16", 2048),
            "IMMA.16832.S8.S8": ("s8", 4096),
            "HGMMA.64x256x16.F32": ("f16_f32", 64 * 256 * 16),
        }.items():
            self.assertEqual(bound.tensor_operations(opcode), expected)


def program(chip, *texts):
    """Op of instructions: an opcode, the stall count, the barrier released by the result, those waited for."""
    found = []
    for number, (opcode, stall, released, waits) in enumerate(texts):
        parts = opcode.split()
        control = stall | (7 if released is None else released) << 5 | 7 << 8 | sum(1 << barrier for barrier in waits) << 11
        item = sass.Instruction(parts[0], parts[1:], 0, control, None, None)
        op = operations.Op(item, chip)
        op.index, op.ports, op.cold = number, (0, 0), (0, 0)
        found.append(op)
    return found


class Launched:
    """What machine.Machine asks of a launch."""

    def __init__(self, chip, blocks_=1):
        self.chip, self.memory_bytes, self.l2_bytes = chip, 0.0, 0.0
        self.counts = type("Counts", (), {"grid_blocks": blocks_, "stages": []})


class Queues(unittest.TestCase):
    """One multiprocessor with programs made by hand."""

    def setUp(self):
        self.chip = chips.Chip("a6000")

    def run_(self, programs, resident=1, total=1):
        launch = Launched(self.chip)
        made = machine.Machine(launch, programs, resident, total, machine.Rates(launch, {"L2": 0.0, "memory": 0.0}))
        made.run()
        return made

    def of(self, kind, count, stall=1, **members):
        found = program(self.chip, *[("NOP", stall, None, ())] * count)
        for op in found:
            op.kind = kind
            for name, value in members.items():
                setattr(op, name, value)
        return found

    def end(self):
        return self.of(operations.END, 1)

    def test_a_scheduler_issues_one_a_cycle(self):
        """Eight warps, two for each scheduler: one of them alone waits for its stall counts, both fill the slots."""
        alone = self.run_([self.of(operations.SLOT, 100, stall=2) + self.end()])
        both = self.run_([self.of(operations.SLOT, 100, stall=2) + self.end()] * 8)
        self.assertAlmostEqual(alone.ends[0], 200, delta=4)
        self.assertAlmostEqual(both.ends[0], 200, delta=4)
        self.assertAlmostEqual(self.run_([self.of(operations.SLOT, 100, stall=2) + self.end()] * 16).ends[0], 400, delta=8)

    def test_requests_take_turns(self):
        """Of all schedulers: eight cycles each for 4 x 25 of them. Five wait in front, then the warp does."""
        loads = self.of(operations.REQUEST, 25, busy=8.0, latency=30.0)
        self.assertAlmostEqual(self.run_([loads + self.end()] * 4).ends[0], 8 * (100 - 4 * 5), delta=40)

    def test_a_result_is_waited_for(self):
        load = self.of(operations.REQUEST, 1, busy=2.0, latency=200.0, released=3)
        use = self.of(operations.SLOT, 1, waits=(3,))
        self.assertAlmostEqual(self.run_([load + use + self.end()]).ends[0], 200, delta=5)

    def test_a_barrier_waits_for_the_slowest(self):
        """Three of four warps load while one computes: they meet when both are done, each time."""
        meet = self.of(operations.MEET, 1)
        slow, fast = self.of(operations.SLOT, 100), self.of(operations.SLOT, 10)
        turns = [((slow + meet) * 3 if warp == 0 else (fast + meet) * 3) + self.end() for warp in range(4)]
        self.assertAlmostEqual(self.run_(turns).ends[0], 3 * (100 + self.chip.cycles_barrier), delta=12)
        other = [(slow + meet + fast + meet) + self.end(), (fast + meet + slow + meet) + self.end()]
        self.assertAlmostEqual(self.run_(other).ends[0], 2 * (100 + self.chip.cycles_barrier), delta=12)

    def test_a_warp_that_ends_does_not_hold_a_barrier(self):
        self.assertLess(self.run_([self.end(), self.of(operations.MEET, 1) + self.end()]).ends[0], 60)
        with self.assertRaisesRegex(machine.Stuck, "1 of 1 blocks"):
            self.run_([self.of(operations.MEET, 1, warps=2) + self.of(operations.SLOT, 1) + self.end()])

    def test_groups_of_copies(self):
        """The wait that leaves one running is for the first of two."""
        copies = self.of(operations.REQUEST, 1, busy=2.0, latency=500.0, grouped=True) + self.of(operations.GATHER, 1)
        more = self.of(operations.SLOT, 300) + copies
        for left, expected in ((1, 500), (0, 800)):
            made = self.run_([copies + more + self.of(operations.GATHERED, 1, left=left) + self.end()])
            self.assertAlmostEqual(made.ends[0], expected, delta=10)

    def test_blocks_follow_each_other(self):
        block = [self.of(operations.SLOT, 100) + self.end()]
        self.assertAlmostEqual(self.run_(block, resident=1, total=3).ends[-1], 3 * 101, delta=9)

    def test_banks_of_registers(self):
        """Three operands of one bank: three cycles each, but for what the first ones may spread."""
        same = self.of(operations.SLOT, 99, ports=(3, 0), cold=(3, 0))
        both = self.of(operations.SLOT, 99, ports=(2, 1), cold=(2, 1))
        self.assertAlmostEqual(self.run_([same + self.end()]).ends[0], 3 * 99, delta=6)
        self.assertAlmostEqual(self.run_([both + self.end()]).ends[0], 2 * 99, delta=6)


class Orders(unittest.TestCase):
    def kernel(self, successors):
        made = sass.Kernel("k")
        made.successors = successors
        made.code = [[sass.Instruction("NOP" if of else "EXIT", [], 0, 0, None, None)] for of in successors]
        return made

    def test_a_loop_in_a_loop(self):
        """Entered three times, for four turns each."""
        found = order.Order(self.kernel([{1}, {2}, {2, 3}, {1, 4}, set()]), [1, 3, 12, 3, 1])
        self.assertEqual(found.turns, {1: 3.0, 2: 4.0})
        self.assertEqual(found.walk({}), [0] + [1, 2, 2, 2, 2, 3] * 3 + [4])
        self.assertEqual(found.walk({2: 1}), [0] + [1, 2, 3] * 3 + [4])
        self.assertEqual(found.longest_loop([1] * 5), None)
        self.assertEqual(order.Order(self.kernel([{1}, {2}, {2, 3}, {1, 4}, set()]), [1, 3, 36, 3, 1]).longest_loop([1] * 5), 2)

    def test_work_that_warps_drop_out_of(self):
        """Of five turns the first two."""
        found = order.Order(self.kernel([{1}, {2, 3}, {3}, {1, 4}, set()]), [1, 5, 2, 5, 1])
        self.assertEqual(found.walk({}), [0, 1, 2, 3, 1, 2, 3, 1, 3, 1, 3, 1, 3, 4])

    def test_a_loop_whose_end_was_not_counted_ends(self):
        found = order.Order(self.kernel([{1}, {2, 3}, {1}, set()]), [1, 2.5, 2.5, 0])
        self.assertEqual(found.walk({}), [0, 1, 2, 1, 2, 1, 2, 1, 3])

    def test_warps_end_in_a_loop(self):
        kernel = self.kernel([{1}, {2}, {1}])
        kernel.code[1].append(sass.Instruction("EXIT", [], 0, 0, None, "P0"))
        self.assertEqual(order.Order(kernel, [1, 3, 2]).walk({}), [0, 1, 2, 1, 2, 1])

    def test_what_nobody_counted_is_on_the_way(self):
        found = order.Order(self.kernel([{1, 3}, {2}, {2, 3}, set()]), [1, 0, 3, 1])
        self.assertEqual(found.walk({}), [0, 1, 2, 2, 2, 3])


class Forms(unittest.TestCase):
    def test_events_need_sass(self):
        launch = type("Launch", (), {"kernel": sass.Kernel("k")})
        launch.kernel.code = [[ptx.Instruction("EXIT", 1, [], [])]]
        with self.assertRaisesRegex(sass.ToolError, "needs SASS: ptxas and nvdisasm; the closed form does without"):
            predict.prediction_of(launch, "events")

    def test_what_cannot_be_simulated_is_said(self):
        """Two warps that wait for three: the closed form stands for it, and says why."""
        if "sass" not in MODES:
            self.skipTest("needs ptxas and nvdisasm")
        text = MICRO.read_text().split(".visible")[0] + (
            ".visible .entry never() {\n  barrier.sync 1, 96;\n  ret;\n}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.ptx"
            path.write_text(text)
            kernel = sass.assemble(path, "sm_86")["never"]
        line = 1 + text[: text.index("barrier.sync")].count("\n")
        rows = [
            {"memory": "launch", "grid": [1, 1, 1], "block": [64, 1, 1], "shared": 0, "blocks": 1},
            {"memory": "issue", "line": line, "instruction": "barrier.sync", "executed": 2, "lanes": 64},
        ]
        made = predict.prediction_of(bound.Launch(chips.Chip("a6000"), counts.Counts(rows), kernel), "auto")
        self.assertIn("1 of 1 blocks wait", made.instead)
        self.assertIn("by the closed form: 1 of 1", "\n".join(made.lines()))
        self.assertGreater(made.cycles, 0)


class Stages(unittest.TestCase):
    """One warp copies 8 fillings of two copies into 2 stages, two others read them."""

    def setUp(self):
        row = {"mbarriers": 2, "copies": 8, "places": 2, "blocks": 1, "bytes": 8 * 1024}
        found = [roles.Stages(row), roles.Stages(row)]
        self.plan = rings.Plan(found, 8 * 2048.0, issued=16, copies=[16, 0, 0], waits=[8, 8, 8], gives=[8, 8, 8], reads=[0, 4, 4])
        self.ring = rings.Ring(self.plan)
        self.warps = [machine.Warp([], 0, number, 3) for number in range(3)]

    def test_who_does_what(self):
        plan = self.plan
        self.assertEqual((plan.stages, plan.fillings, plan.bytes, plan.asked), (2, 8, 2048, 2048))
        self.assertEqual((plan.producer, plan.giving, plan.waits_each), ([True, False, False], [1, 2], [1, 1, 1]))

    def test_rings_that_are_filled_in_turns(self):
        """Keys and values: 4 fillings each of two copies, into 2 stages of their own; the producer waits for each of the 8."""
        row = {"mbarriers": 2, "copies": 8, "places": 4, "blocks": 1, "bytes": 4 * 2048}
        found = [roles.Stages(row), roles.Stages(row)]
        plan = rings.Plan(found, 4 * 4096.0, issued=17, copies=[17, 0, 0], waits=[8, 9, 9], gives=[0, 8, 8], reads=[0, 4, 4])
        self.assertEqual((plan.stages, plan.fillings, plan.bytes, plan.asked), (4, 8, 2048, 2048))
        # A copy that is multicast arrives more often than it is issued: still one ring.
        shared = [roles.Stages(row), roles.Stages({**row, "copies": 16, "places": 8})]
        plan = rings.Plan(shared, 4 * 4096.0, issued=16, copies=[16, 0, 0], waits=[4, 4, 4], gives=[0, 4, 4], reads=[0, 4, 4])
        self.assertEqual((plan.stages, plan.fillings, plan.bytes, plan.asked), (2, 4, 4096, 4096))

    def test_stages_are_given_back_by_all(self):
        ring, (producer, first, second) = self.ring, self.warps
        for filling in range(2):
            self.assertEqual(ring.ready_at(producer), 0.0)
            producer.waits, producer.fresh = producer.waits + 1, True
            self.assertEqual([ring.begins(producer), ring.begins(producer)], [True, False])
            ring.filled.append(100.0 + filling)
        self.assertIsNone(ring.ready_at(producer))
        self.assertEqual(ring.ready_at(first), 100.0)
        for warp, at in ((first, 200.0), (second, 300.0)):
            self.assertFalse(ring.give_back(warp, at))
            warp.waits = 1
            self.assertTrue(ring.give_back(warp, at))
        self.assertEqual(ring.ready_at(producer), 300.0)

    def test_products_that_run_keep_their_stage(self):
        """The arrival behind a wait that leaves a group running gives back the filling before."""
        warp = self.warps[1]
        warp.waits, warp.running = 1, 1
        self.assertFalse(self.ring.give_back(warp, 200.0))
        warp.waits = 2
        self.assertTrue(self.ring.give_back(warp, 300.0))
        self.assertEqual(self.ring.given[1], [300.0])


class FromPtx(unittest.TestCase):
    def test_blocks_and_merged_words(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.ptx"
            path.write_text(
                ".visible .entry k() {\n  .reg .f32 %f<9>;\n"
                + "".join(f"  ld.shared.f32 %f{i}, [%r1+{4 * i}];\n" for i in range(5))
                + "again:\n  fma.rn.f32 %f0, %f1, %f2, %f3;\n  @%p1 bra again;\n  ret;\n}\n"
            )
            kernel = ptx.read(path, "k")
        self.assertEqual([[i.opcode for i in b] for b in kernel.code], [["LDS.128", "LDS"], ["FFMA", "BRA"], ["EXIT"]])
        self.assertEqual(kernel.code[1][0].reads, ["%f1", "%f2", "%f3"])
        self.assertEqual(kernel.code[1][0].line, 9)
        self.assertEqual(kernel.successors, [{1}, {1, 2}, set()])


    def test_short_branches_are_predicates(self):
        """All warps issue what a short branch skips; a longer one, and one to a barrier, stays."""
        def read(*body):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "k.ptx"
                lines = "".join(f"  {line};\n" for line in body)
                path.write_text(f".visible .entry k() {{\n  setp.ge.u32 %p1, %r1, %r2;\n  @%p1 bra over;\n{lines}over:\n  bar.sync 0;\n  ret;\n}}\n")
                return ptx.read(path, "k")

        some = ("ld.shared.f32 %f1, [%r1]", "add.f32 %f2, %f1, %f3", "st.shared.f32 [%r1], %f2")
        kernel = read(*some)
        self.assertEqual([i.opcode for i in kernel.code[0]], ["ISETP", "LDS", "FADD", "STS"])
        self.assertEqual([i.predicated for i in kernel.code[0]], [False, True, True, True])
        self.assertIn("%p1", kernel.code[0][1].reads)
        self.assertEqual(kernel.successors[:2], [{1}, {2}])
        issue = {5: {"instruction": "ld.shared.f32", "executed": 3}, 9: {"instruction": "bar.sync", "executed": 8}}
        self.assertEqual([round(x) for x in blocks.execution_counts(kernel, issue, 8)[:3]], [8, 8, 8])
        for other in (some * 3, (*some, "bar.sync 1")):
            kernel = read(*other)
            self.assertEqual(([i.opcode for i in kernel.code[0]], kernel.successors[0]), (["ISETP", "BRA"], {1, 2}))

    def test_labels_are_of_their_scope(self):
        """As inline assembly has them: two loops with the same label."""
        wait = "{\n  .reg .pred P;\n  again:\n  mbarrier.try_wait.parity.shared.b64 P, [%r1], %r2;\n  @!P bra again;\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.ptx"
            path.write_text(f".visible .entry k() {{\n{wait}{wait}  ret;\n}}\n")
            kernel = ptx.read(path, "k")
        self.assertEqual([block[0].opcode for block in kernel.code], ["SYNCS", "SYNCS", "EXIT"])
        self.assertEqual(kernel.successors, [{0, 1}, {1, 2}, set()])


class Alone:
    """A launch of a kernel from PTX whose every block runs once, and a chip with latencies that are easy to add."""

    chip = chips.Chip("a6000")

    def __init__(self, kernel, runs):
        self.kernel, self.runs = kernel, runs

    def dependence_cycles(self, item):
        return {"LDS": 23, "MUFU": 20}.get(item.root, 4)

    result_cycles = dependence_cycles


class Schedules(unittest.TestCase):
    """List schedules of blocks of PTX, and what a warp alone takes for them."""

    def kernel(self, body):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.ptx"
            path.write_text(f".visible .entry k() {{\n{body}  ret;\n}}\n")
            return ptx.read(path, "k")

    def scheduled(self, body, runs=None):
        kernel = self.kernel(body)
        return schedule.Schedule(Alone(kernel, runs or [1.0] * len(kernel.code)))

    def test_the_longest_path_goes_first(self):
        made = self.scheduled("add.f32 %f1, %f8, %f9;\nld.shared.f32 %f2, [%r1];\nadd.f32 %f3, %f2, %f2;\n")
        (items, cycles), = made.phases(0)
        self.assertEqual([i.opcode for i in items], ["LDS", "FADD", "FADD", "EXIT"])
        # The load at 0, its sum at 23, the end behind it.
        self.assertEqual(cycles, 25)

    def test_loads_stay_behind_stores(self):
        body = "add.f32 %f1, %f8, %f9;\nst.shared.f32 [%r1], %f1;\nld.shared.f32 %f2, [%r2];\nld.global.f32 %f3, [%rd1];\n"
        (items, _), = self.scheduled(body).phases(0)
        self.assertEqual([i.opcode for i in items], ["FADD", "LDG.E", "STS", "LDS", "EXIT"])

    def test_a_register_that_is_used_again(self):
        """What reads the old value stays in front of what writes the new one."""
        body = "ex2.approx.f32 %f1, %f9;\nadd.f32 %f2, %f1, %f1;\nld.shared.f32 %f1, [%r1];\nadd.f32 %f3, %f1, %f1;\n"
        (items, cycles), = self.scheduled(body).phases(0)
        self.assertEqual([i.opcode for i in items], ["MUFU", "FADD", "LDS", "FADD", "EXIT"])
        self.assertEqual(cycles, 20 + 1 + 23 + 2)

    def test_a_block_waits_for_what_the_one_before_loads(self):
        adds = "".join(f"add.f32 %f{i}, %f1, %f1;\n" for i in range(2, 10))  # more than a predicate is made for
        made = self.scheduled(f"ld.shared.f32 %f1, [%r1];\n@%p1 bra over;\n{adds}over:\n")
        first, second = (sum(cycles for _, cycles in made.phases(index)) for index in (0, 1))
        self.assertEqual(first, 1 + chips.Chip("a6000").cycles_branch)
        self.assertEqual(second, 23 - first + 8)

    def test_a_loop_waits_for_itself(self):
        """A sum that goes round: four cycles a turn, and the branch waits for its predicate."""
        chip = chips.Chip("a6000")
        made = self.scheduled("again:\nadd.f32 %f1, %f1, %f2;\nsetp.ne.s32 %p1, %r1, %r2;\n@%p1 bra again;\n", [8.0, 1.0])
        (items, cycles), = made.phases(0)
        self.assertEqual([i.opcode for i in items], ["ISETP", "FADD", "BRA"])
        self.assertEqual(cycles, chip.cycles_predicate + chip.cycles_branch)

    def test_barriers_cut(self):
        made = self.scheduled("ld.shared.f32 %f1, [%r1];\nbar.sync 0;\nadd.f32 %f2, %f1, %f1;\n")
        self.assertEqual([[i.opcode for i in items] for items, _ in made.phases(0)], [["LDS", "BAR.SYNC"], ["FADD", "EXIT"]])

    def test_divisions_are_chains(self):
        (items, cycles), = self.scheduled("rem.u32 %r1, %r2, %r3;\n").phases(0)
        self.assertEqual([i.root for i in items[:4]], ["I2F", "MUFU", "IADD3", "F2I"])
        self.assertEqual(len(items), 16)
        self.assertGreater(cycles, 14 * 4)

    def test_loops_are_unrolled_for_their_loads(self):
        """Two words a turn, eight bytes on: two turns are one, with a load of four words; what is added up goes through."""
        body = ("again:\nld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+4];\nld.shared.f32 %f4, [%r2];\n"
                "fma.rn.f32 %f3, %f1, %f2, %f3;\nadd.s32 %r1, %r1, 8;\nadd.s32 %r2, %r2, 512;\n"
                "setp.ne.s32 %p1, %r2, 2048;\n@%p1 bra again;\n")  # fmt: skip
        code = self.kernel(body).code[0]
        self.assertEqual([i.opcode for i in code], ["LDS.128", "LDS", "FFMA", "LDS", "FFMA", "IADD3", "IADD3", "ISETP", "BRA"])
        self.assertEqual([i.writes for i in code if i.opcode == "FFMA"], [["%f3"]] * 2)
        # Not where the number of turns is only known when it runs.
        code = self.kernel(body.replace("%r2, 2048", "%r2, %r3")).code[0]
        self.assertEqual([i.opcode for i in code].count("LDS"), 3)


class Scores(unittest.TestCase):
    def test_order_and_error(self):
        self.assertEqual(score.tau_b([(1, 10), (2, 20), (3, 30)]), 1)
        self.assertEqual(score.tau_b([(1, 30), (2, 20), (3, 10)]), -1)
        # 1 and 1.05 are a tie in public: their order says nothing.
        self.assertEqual(score.tau_b([(1, 20), (1.05, 10), (3, 30)]), 1)
        self.assertIsNone(score.tau_b([(1, 5), (2, 5)]))
        self.assertAlmostEqual(score.geometric_error([2, 0.5]), 1)


class Clocks(unittest.TestCase):
    """Tensor cores that are busy for long take power, which the clock pays for."""

    def test_a_clock_under_load(self):
        chip = chips.Chip("h100sxm")
        self.assertEqual(chip.clock_under(0), chip.clock_mhz)
        self.assertEqual(chip.clock_under(chip.busy_tensor), chip.clock_mhz)
        self.assertAlmostEqual(chip.clock_under(4 * chip.busy_tensor), chip.clock_mhz / 2)
        # Busier tensor cores compute more all the same.
        self.assertGreater(0.9 * chip.clock_under(0.9), 0.7 * chip.clock_under(0.7))
        self.assertAlmostEqual(chip.seconds(chip.clock_mhz * 10), 10e-6 + chip.launch_microseconds * 1e-6)
        other = chips.Chip("a100")
        self.assertEqual(other.seconds(1410, 1.0), 1e-6)


class Facts(unittest.TestCase):
    def test_every_number_has_a_source(self):
        for key in chips.names():
            chip = chips.Chip(key)
            for member, source in chip.sources.items():
                self.assertTrue(source.strip(), f"{key} {member}")
                self.assertIsNotNone(getattr(chip, member))
        self.assertEqual(chips.of_arch("sm_90a"), "h100")
        with self.assertRaises(chips.UnknownChip):
            chips.Chip("riva128")


class OfPrograms(unittest.TestCase):
    """tilewright-run --predict, which needs what need not be there: the command that sweeps, and Python for it."""

    def ask(self, runner, **environment):
        command = [str(runner), str(MICRO), "--device=ptxsim", "--predict=a6000", "--entry=copies", "--grid=64", "--block=256",
                   *["--arg=65536xf32=undefined"] * 2]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})

    def test_a_kernel(self):
        done = self.ask(BUILD / "bin/tilewright-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "^predicted: .* on NVIDIA RTX A6000")

    def test_without_what_it_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = shutil.copy(str(BUILD / "bin/tilewright-run"), folder)
            shutil.copytree(str(BUILD / "lib"), f"{folder}/lib", symlinks=True, ignore=lambda _, names: [
                name for name in names if not name.startswith("libtilewright.so")])  # fmt: skip
            libraries = {"LD_LIBRARY_PATH": f"{folder}/lib"}
            done = self.ask(runner, PATH="/nowhere", **libraries)
            self.assertEqual(done.returncode, 1)
            self.assertIn("needs Python 3.8 or newer and the command tilewright-sweep", done.stderr)
            self.assertIn("neither is beside this program or in PATH", done.stderr)
            (pathlib.Path(folder) / "tilewright-sweep").symlink_to(BUILD / "bin/tilewright-sweep")
            done = self.ask(runner, PATH="/nowhere", **libraries)
            self.assertEqual(done.returncode, 1)
            self.assertIn("needs Python 3.8 or newer", done.stderr)


class Candidates(unittest.TestCase):
    def test_a_plan_to_records_and_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)

            def sweep(*arguments):
                done = subprocess.run(
                    [str(BUILD / "bin/tilewright-sweep"), *map(str, arguments)], capture_output=True, text=True, check=False
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                return done.stdout

            sizes = ["--m=64", "--n=64", "--k=64", "--types=f16:f32"]
            sweep("gemm", *sizes, "--target=cuda:sm_80", "--candidates=2", "-o", work / "plan")
            sweep("compile", work / "plan", "--predict=a100")
            self.assertIn("predicted on NVIDIA A100", sweep("predict", work / "plan", "--chip=a100"))
            results = work / "plan.jsonl"
            sweep("run", work / "plan.twb", "--device=ptxsim", "--check-only", "-o", results)
            records = [json.loads(line) for line in results.read_text().splitlines()]
            self.assertEqual(len(records), 2)
            for record in records:
                said = record["predicted"]
                self.assertEqual(said["chip"], "a100")
                self.assertGreater(said["seconds"], 0)
                self.assertGreater(said["registers"], 0)
                self.assertNotIn("median_s", record)
                # As if it had been measured, and had taken twice as long.
                record["median_s"] = 2 * said["seconds"]
            page = predictions.section({"one": records}, report.table, report.seconds)
            self.assertIn("off by 100%", page)

    def test_candidates_with_tensor_maps(self):
        """Warpgroups, clusters and persistent grids of sm_90a, as the compiler makes them by default."""
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "plan"
            for arguments in (
                ["gemm", "--m=512", "--n=512", "--k=512", "--types=f16:f32", "--target=cuda:sm_90a", "--candidates=2", "-o", plan],
                ["compile", plan],
                ["predict", plan, "--chip=h100"],
            ):
                done = subprocess.run([str(BUILD / "bin/tilewright-sweep"), *map(str, arguments)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("warp_specialized", done.stdout)
            self.assertNotIn("not predicted", done.stdout)

    def test_what_cannot_be_said_has_a_reason(self):
        chip = chips.Chip("h100")
        dispatch = {
            "name": "d",
            "operands": [{"dtype": "f16", "shape": [4, 64, 128]}],
            "variants": [{"grid": [1, 1, 1], "params": [{"tensor_map": 0, "box": [32, 64], "swizzle": 128, "image": {
                "dims": [4, 16, 64], "strides": [2048, 64], "lower": [0], "upper": [0], "steps": [1]}}]}],
        }
        with self.assertRaisesRegex(artifact.NotPredictable, "images are not dense.*can be predicted"):
            artifact.launch_of(dispatch, chip)
        dispatch["variants"][0]["grid"] = [["dim", 0, 0], 1, 1]
        dispatch["operands"][0]["shape"][0] = -1
        with self.assertRaisesRegex(artifact.NotPredictable, "grid of known size.*static shapes"):
            artifact.launch_of(dispatch, chip)

    def test_launches_of_tensor_maps_and_persistent_grids(self):
        """The grid is of the chip, not of the simulator; scalars have their values."""
        chip = chips.Chip("h100")
        tiles = ["mul", ["min", 4096, ["floordiv", ["device", "multiprocessors"], 2]], 2]
        dispatch = {
            "name": "d",
            "operands": [{"dtype": "f16", "shape": [4, 64, 128]}],
            "variants": [
                {
                    "grid": [tiles, 1, 1],
                    "params": [
                        {"tensor_map": 0, "box": [32, 64], "swizzle": 128, "merged": 2},
                        {"scalar": "i32", "value": ["ceildiv", 129, 64]},
                    ],
                }
            ],
        }
        grid, arguments = artifact.launch_of(dispatch, chip)
        self.assertEqual(grid, [132, 1, 1])
        self.assertEqual(arguments, ["tensormap:box=32x64:swizzle=128:256x128xf16=undefined", "i32=3"])

    def test_launches_of_tensor_maps_of_images(self):
        """Of images, not of their windows; of an open number as many as the operand has."""
        image = {"dims": [["dim", 0, 0], 16, 18, 64], "strides": [18432, 1152, 64], "lower": [-1, 0], "upper": [-1, -2], "steps": [1, 2]}
        dispatch = {
            "name": "d",
            "operands": [{"dtype": "f16", "shape": [4, 16, 3, 8, 3, 64]}],
            "variants": [{"grid": [1, 1, 1], "params": [{"tensor_map": 0, "box": [128, 64], "swizzle": 128, "image": image}]}],
        }
        expected = ["tensormap:box=128x64:swizzle=128:lower=-1x0:upper=-1x-2:steps=1x2:4x16x18x64xf16=undefined"]
        self.assertEqual(artifact.launch_of(dispatch, chips.Chip("h100"))[1], expected)
        # Any size: it ends with the last window, or with the last one that fits where a scalar tells it.
        variant = dispatch["variants"][0]
        variant["guard"] = ["and", ["ge", ["scalar", 1], 1],
                            ["eq", ["ceildiv", ["add", ["scalar", 1], -1], 2], ["dim", 0, 3]]]
        image |= {"dims": [["dim", 0, 0], ["add", ["dim", 0, 1], 2], ["scalar", 1], 64],
                  "strides": [["stride", 0, 0], ["stride", 0, 2], 64]}
        expected = ["tensormap:box=128x64:swizzle=128:lower=-1x0:upper=-1x-2:steps=1x2:4x18x16x64xf16=undefined"]
        self.assertEqual(artifact.launch_of(dispatch, chips.Chip("h100"))[1], expected)
        variant["guard"] = True
        with self.assertRaisesRegex(artifact.NotPredictable, "sizes have to be known"):
            artifact.launch_of(dispatch, chips.Chip("h100"))

    def test_dims_that_are_left_open_have_a_size(self):
        dispatch = {
            "name": "d",
            "operands": [{"dtype": "f16", "shape": [-1, 64]}, {"dtype": "f32", "shape": [64]}],
            "variants": [
                {"name": "few", "grid": [1, 1, 1], "params": []},
                {
                    "name": "many",
                    "grid": [["ceildiv", ["dim", 0, 0], 128], 1, 1],
                    "params": [{"buffer": 0}, {"buffer": 1}, {"scalar": "i32", "value": ["dim", 0, 0]}, {"scalar": "i32", "value": ["offset", 0]}],
                },
            ],
        }  # fmt: skip
        chip = chips.Chip("h100")
        grid, arguments = artifact.launch_of(artifact.with_size(dispatch, 300), chip, dispatch["variants"][1])
        self.assertEqual(grid, [3, 1, 1])
        self.assertEqual(arguments, ["300x64xf16=undefined", "64xf32=undefined", "i32=300", "i32=0"])
        self.assertEqual(dispatch["operands"][0]["shape"], [-1, 64])
        self.assertEqual(counts.sizes_of(arguments), {1: 300 * 64 * 2, 2: 256})
        maps = ["i32=3", "tensormap:box=32x64:swizzle=128:256x128xf8E4M3FN=undefined", "100xi4=undefined"]
        self.assertEqual(counts.sizes_of(maps), {1: 256 * 128, 2: 50})

    def test_blocks_that_stand_for_a_grid(self):
        """Heads of 32 tiles with a causal mask: the work of a block is its place in the head."""
        for heads in (1, 3, 128):
            blocks_ = counts.spread([32 * heads, 1, 1])
            self.assertEqual(blocks_[0], [0, 0, 0])
            self.assertEqual(blocks_[-1], [32 * heads - 1, 0, 0])
            self.assertAlmostEqual(sum(x % 32 for x, _, _ in blocks_) / len(blocks_), 15.5, delta=0.5)
        self.assertEqual(counts.spread([4, 2, 1])[3:5], [[3, 0, 0], [0, 1, 0]])

    def test_blocks_of_a_launch(self):
        """One wave: from the first block on. Else those of the middle, but what blocks do is the mean over the grid if they differ."""

        def rows(kernel):
            def ask(ptx, entry, grid, block, arguments, blocks):
                asked.append(blocks)
                yield json.dumps({"memory": "launch", "grid": grid, "block": block, "shared": 0, "blocks": len(blocks)})
                yield json.dumps({"memory": "issue", "line": 1, "instruction": "mov", "executed": sum(kernel(*at) for at in blocks)})
                yield json.dumps({"memory": "footprint", "buffer": 1, "way": "read", "blocks": 1, "sectors": len(asked)})

            asked = []
            return ask, asked

        def run(kernel, grid, **more):
            ask, asked = rows(kernel)
            return counts.run(None, None, grid, [32, 1, 1], ["8xf32=undefined"], ask=ask, **more), asked

        alike, asked = run(lambda x, y, z: 7, [128, 1, 1])
        self.assertEqual((alike.first, alike.issue[1]["executed"] / alike.blocks), ([64, 0, 0], 7))
        causal, asked = run(lambda x, y, z: x % 32, [128, 1, 1])
        self.assertEqual(asked, [counts.samples([128, 1, 1]), counts.spread([128, 1, 1])])
        self.assertAlmostEqual(causal.issue[1]["executed"] / causal.blocks, 15.5, delta=0.5)
        self.assertEqual([row["sectors"] for row in causal.footprints], [1])
        first, asked = run(lambda x, y, z: 2 if x < 60 else 1, [128, 1, 1], one_wave=True)
        self.assertEqual((first.first, asked[0][0], len(asked)), ([0, 0, 0], [0, 0, 0], 1))

    def test_samples_are_neighbours(self):
        self.assertEqual(counts.samples([8, 4, 1]), [[4, 2, 0], [5, 2, 0], [6, 2, 0], [4, 3, 0]])
        self.assertEqual(counts.samples([1, 1, 1]), [[0, 0, 0]])
        self.assertTrue(math.isclose(sum(map(sum, counts.samples([2, 1, 1]))), 1))

    def test_blocks_that_share_in_bands(self):
        """Eight rows of tiles in turn: the next seven blocks have rows of their own, the eighth the first one's."""
        rows, columns = [0.0, 0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0, 0.0]
        self.assertAlmostEqual(counts.grow(rows, 32), 8)
        self.assertAlmostEqual(counts.grow(columns, 32), 4)
        self.assertAlmostEqual(counts.grow(columns, 12), 1.5)
        self.assertAlmostEqual(counts.grow([0.5], 3), 1.5 * 1.25)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
