# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of what is read out of the tools' reports:  python test/e2e/test_reports.py"""

import json
import pathlib
import tempfile
import types
import unittest

import artifact
import assemble
import batches
import run

WARNED = """ptxsim: warning: register-pool: setmaxnreg may be ignored
  in product_matmul_0, PTX line 58 (setmaxnreg.dec.sync.aligned.u32)
ptxsim: race: write of global memory is not ordered with a read
  in other_matmul_0, PTX line 372 (st.global.b32)
18 passed, 1 failed
"""
PTXAS = """ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient registers
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
    16 bytes stack frame, 16 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 168 registers, used 9 barriers
"""
FINE = """ptxas info    : 0 bytes gmem
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
CONFIG = "#tilewright.lowering_config<strategy = matrix_unit>"


class Reports(unittest.TestCase):
    def test_a_warning_of_the_simulator(self):
        self.assertEqual(list(run.simulator_warnings(WARNED)), [("product_matmul_0", "register-pool: setmaxnreg may be ignored")])

    def test_a_runner_that_did_not_start_has_no_journal(self):
        """A table is made all the same."""
        with tempfile.TemporaryDirectory() as folder:
            run.read_journal(pathlib.Path(folder) / "none.jsonl", "cpu", [], [], None)

    def problem(self, output, pinned=False, data=b".minnctapersm 1\n\tmbarrier.init\n\tsetmaxnreg.dec"):
        warnings, spills = assemble.read_ptxas(output)
        return assemble.problem_of({"problem": "", "warnings": warnings, "spills": spills}, data, pinned)

    def test_warnings_and_spills_of_ptxas(self):
        self.assertIsNone(self.problem(FINE))
        self.assertIn("C7510", self.problem(PTXAS, pinned=True))
        spilled = PTXAS.partition("\n")[2]
        self.assertIn("24 bytes of spills", self.problem(spilled))
        self.assertIsNone(self.problem(spilled, pinned=True))
        self.assertIsNone(self.problem(spilled, data=b"\tld.global"))
        self.assertIn("24 bytes of spills", self.problem(spilled, data=b".minnctapersm 1\n\twgmma.mma_async"))

    def test_registers_at_the_start(self):
        for what in ("setmaxnreg.dec", "wgmma.mma_async", "mbarrier.init"):
            self.assertIn("neither .minnctapersm nor .maxnreg", self.problem(FINE, data=f"\t{what}".encode()))
            self.assertIsNone(self.problem(FINE, data=f".maxnreg 64\n\t{what}".encode()))

    def test_several_files(self):
        several = PTXAS.partition("\n")[2]
        several += several.replace("gemm", "sum").replace("16 bytes spill", "0 bytes spill").replace("8 bytes spill", "0 bytes spill")
        self.assertEqual(assemble.by_entry(several), {"gemm": 24, "sum": 0})
        self.assertIsNone(assemble.by_entry(PTXAS))  # a warning, of which entry it does not say
        texts = {("sm_80", str(n)): b".entry k%d(" % (n % 20) for n in range(40)}
        jobs = assemble.in_jobs({**texts, ("vulkan", "a"): b"", ("vulkan", "b"): b"", ("sm_90a", "c"): b".entry k0("})
        self.assertEqual([(chip, len(members)) for chip, members in jobs],
                         [("sm_80", 16), ("sm_80", 16), ("sm_80", 8), ("vulkan", 1), ("vulkan", 1), ("sm_90a", 1)])

    def test_kinds_of_devices(self):
        vulkan = "vulkan:0   llvmpipe (LLVM 15.0.6, 256 bits), llvmpipe Mesa 22.3.6 (LLVM 15.0.6), Vulkan 1.3.230, cpu, 2.0 GiB\n"
        cpu = "cpu        AMD EPYC, x86-64-v3, 2 threads (pthreadpool)\n"
        self.assertEqual(run.this_machine(vulkan + cpu), {"vulkan": "vulkan:1.3+subgroup=8", "cpu": "cpu:x86-64-v3"})
        self.assertEqual(run.this_machine("vulkan:0   AMD Radeon RX 7900 XTX, RADV, Vulkan 1.3.230, discrete, 24.0 GiB\n"
                                          "cpu        Neoverse, aarch64, 2 threads (pthreadpool)\n"), {})
        family = [types.SimpleNamespace(family=name) for name in ("sum", "sum", "sort")]
        made = [batches.Batch("sum-0", family[:2], ("vulkan", "cpu")), batches.Batch("sum-1", family[:1], ("vulkan",)),
                batches.Batch("sort-0", family[2:], ("cuda:sm_80", "vulkan"))]
        batches.only_for(made, "vulkan", "vulkan:1.3+subgroup=8")
        self.assertEqual([batch.spelled for batch in made],
                         [("vulkan:1.3+subgroup=8", "cpu"), ("vulkan",), ("cuda:sm_80", "vulkan")])

    def test_functions_with_rings(self):
        def dispatch(name, *sections):
            return {"name": name, "variants": [{"section": section, "config": f"#config<stages = {section}, tma_store = true>"}
                                               for section in sections]}

        programs = [{"target": "cuda:sm_90a", "dispatches": [
            dispatch("sum_reduce_0", "1"), dispatch("gemm_matmul_0", "1"), dispatch("gemm_tb_matmul_0", "1", "2"),
            dispatch("other_matmul_0", "2")]}, {"target": "cuda:sm_80", "dispatches": [dispatch("sum_reduce_0", "2")]}]
        functions = [types.SimpleNamespace(symbol=name) for name in ("gemm", "gemm_tb", "sum", "other")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.tw")
            path.write_bytes(artifact.write({"manifest": json.dumps({"programs": programs}).encode(), "1": b"ld.global",
                                             "2": b"mbarrier.init"}))
            batch = batches.Batch("a", functions, ("cuda:sm_90a",), path)
            found = [(f.symbol, shows) for f, shows in run.with_rings(batch)]
        self.assertEqual(found, [(name, {"stages", "tma_store true"}) for name in ("gemm_tb", "other")])

    def test_fields_of_a_config(self):
        config = ('#tilewright.lowering_config<strategy = warp_specialized, block = [64, 32], warps = [4, 1], mma = "wgmma.m64", '
                  'cluster = [2, 1], producer = false>')
        self.assertEqual(run.fields(config), {"strategy warp_specialized", "block", "warps [4, 1]", "mma", "cluster", "producer false"})

    def test_cases_of_rings_that_are_checked(self):
        def function(family, shape, label, shows, *sizes, targets=None):
            path = f"{family}/f16/{shape}/{label}"
            cases = [types.SimpleNamespace(name=f"{path}/{n}", inputs=[{"type": f"{n}x100xf16"}], targets=targets) for n in sizes]
            return types.SimpleNamespace(family=family, shape=shape, path=path, cases=cases), set(shows.split())

        functions = [function("ring", "static", "nn", "block stages", 300, 200, 20), function("ring", "static", "tb", "block", 100),
                     function("ring", "dynamic", "any", "block", 50), function("ring", "dynamic", "more", "stages cluster", 90, 99),
                     function("other", "dynamic", "any", "block", 60, targets={"cuda:sm_90a"}),
                     function("old", "static", "nn", "block", 60, targets={"cuda:sm_80"})]
        few = run.checked_rings(functions, 4096, False)
        self.assertEqual(few, {"ring/f16/static/tb/100", "ring/f16/static/nn/200", "ring/f16/dynamic/more/90", "other/f16/dynamic/any/60"})
        every = {case.name for f, _ in functions[:5] for case in f.cases} - {"ring/f16/static/nn/20"}
        self.assertEqual(run.checked_rings(functions, 4096, True), every)

    def test_pinned(self):
        self.assertTrue(assemble.is_pinned(f"tilewright.lowering_config = {CONFIG}", "sm_80"))
        one = f'tilewright.lowering_config = {{"cuda:sm_90a" = {CONFIG}}}'
        self.assertTrue(assemble.is_pinned(one, "sm_90a"))
        self.assertFalse(assemble.is_pinned(one, "sm_80"))
        self.assertFalse(assemble.is_pinned("linalg.matmul", "sm_80"))


if __name__ == "__main__":
    unittest.main()
