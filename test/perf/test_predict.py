# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of predicted times, on kernels of which it can be said on paper what bounds them.

python test/perf/test_predict.py BUILD

What needs ptxas and nvdisasm runs where they are, and in the coarser mode, from PTX alone, everywhere.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python/src")]

from tilewright_sweep import report
from tilewright_sweep.predict import artifact, blocks, bound, chips, counts, predict, ptx, sass, score

MICRO = HERE / "predict/micro.ptx"
MODES = ["ptx"] + (["sass"] if sass.find("ptxas", True) and sass.find("nvdisasm", True) else [])


def predicted(chip, entry, grid, block, arguments, mode):
    runner = BUILD / "bin/tilewright-run"
    return predict.of_ptx(chips.Chip(chip), MICRO, entry, grid, block, arguments, runner, mode=mode)


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
        return predict.of_ptx(self.chip, file, entry, grid, block, arguments, BUILD / "bin/tilewright-run", mode=mode, **more)

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

    def test_operations_of_matrix_instructions(self):
        for opcode, expected in {
            "HMMA.16816.F32": ("f16_f32", 2048),
            "HMMA.1688.F32.TF32": ("tf32", 1024),
            "HMMA.16816.F16": ("f16_f16", 2048),
            "IMMA.16832.S8.S8": ("s8", 4096),
            "HGMMA.64x256x16.F32": ("f16_f32", 64 * 256 * 16),
        }.items():
            self.assertEqual(bound.tensor_operations(opcode), expected)


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


    def test_labels_are_of_their_scope(self):
        """As inline assembly has them: two loops with the same label."""
        wait = "{\n  .reg .pred P;\n  again:\n  mbarrier.try_wait.parity.shared.b64 P, [%r1], %r2;\n  @!P bra again;\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.ptx"
            path.write_text(f".visible .entry k() {{\n{wait}{wait}  ret;\n}}\n")
            kernel = ptx.read(path, "k")
        self.assertEqual([block[0].opcode for block in kernel.code], ["SYNCS", "SYNCS", "EXIT"])
        self.assertEqual(kernel.successors, [{0, 1}, {1, 2}, set()])


class Scores(unittest.TestCase):
    def test_order_and_error(self):
        self.assertEqual(score.tau_b([(1, 10), (2, 20), (3, 30)]), 1)
        self.assertEqual(score.tau_b([(1, 30), (2, 20), (3, 10)]), -1)
        # 1 and 1.05 are a tie in public: their order says nothing.
        self.assertEqual(score.tau_b([(1, 20), (1.05, 10), (3, 30)]), 1)
        self.assertIsNone(score.tau_b([(1, 5), (2, 5)]))
        self.assertAlmostEqual(score.geometric_error([2, 0.5]), 1)


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
            page = report.predicted_table({"one": records})
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
            "variants": [{"grid": [1, 1, 1], "params": [{"tensor_map": 0, "box": [32, 64], "swizzle": 128, "image": {}}]}],
        }
        with self.assertRaisesRegex(artifact.NotPredictable, "windows of an image.*can be predicted"):
            artifact.launch_of(dispatch, chip)
        dispatch["variants"][0]["grid"] = [["dim", 0, 0], 1, 1]
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
