# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of products for sm_90a: what the main loop of a consumer warp has, and the registers of each role.

python test/perf/test_main_loop.py BUILD [--report FILE.json]

Of kernels by default, not pinned ones. Needs ptxas and nvdisasm: of the CUDA toolkit, or that of Triton, which the simulator's
tests install into BUILD/others; exit code 77 and a reason without these. CUTLASS's kernel is the simulator's tests', too, and its
test is skipped where it is not.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "perf/static")]

import sass

# What a 64-wide step along the sum may take of a consumer warp: so many instructions for four wgmma, so many registers beside
# the sums.
MOST_INSTRUCTIONS, MOST_BESIDE_SUMS = 56, 40
# Of kernels of the suites that take more, why.
OF_ONE_STEP = "one step along the sum: the loop is that over tiles, with what becomes of the sums"
EXPLAINED = {"f16_56_1x1_64_64_matmul_0": OF_ONE_STEP, "f16_56_1x1_64_256_matmul_0": OF_ONE_STEP}
PTXAS = "release 13.0,"  # whose counts are pinned here
FORMS = {"nn": ("(m, k)", "(k, n)"), "tb": ("(m, k)", "(n, k)"), "ta": ("(k, m)", "(k, n)"), "tab": ("(k, m)", "(n, k)")}


def product(name, element, form):
    """A product of 8192 cubed, its result as narrow as its operands."""
    maps = ", ".join(f"affine_map<(m, n, k) -> {dims}>" for dims in (*FORMS[form], "(m, n)"))
    return f"""func.func @{name}(%a: tensor<8192x8192x{element}>, %b: tensor<8192x8192x{element}>) -> tensor<8192x8192x{element}> {{
  %zero = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<8192x8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%sums : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %sum = linalg.contract indexing_maps = [{maps}]
      ins(%a, %b : tensor<8192x8192x{element}>, tensor<8192x8192x{element}>) outs(%init : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %empty = tensor.empty() : tensor<8192x8192x{element}>
  %result = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%sum : tensor<8192x8192xf32>) outs(%empty : tensor<8192x8192x{element}>) {{
  ^bb0(%x: f32, %out: {element}):
    %y = arith.truncf %x : f32 to {element}
    linalg.yield %y : {element}
  }} -> tensor<8192x8192x{element}>
  return %result : tensor<8192x8192x{element}>
}}
"""


class Ours(unittest.TestCase):
    """bf16 and f16, in every order of operands, by default."""

    @classmethod
    def setUpClass(cls):
        cls.kernels, cls.configs = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            names = [f"{element}_{form}" for element, form in itertools.product(("bf16", "f16"), FORMS)]
            (work / "products.mlir").write_text("".join(product(name, *name.split("_")) for name in names))
            done = subprocess.run([BUILD / "bin/tilewright-compile", work / "products.mlir", "--target=cuda:sm_90a", "--emit=ptx",
                                   "-o", work / "ptx", "--explain=json", f"--explain-output={work / 'said.json'}"],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(done.stderr)
            for entry in json.loads((work / "said.json").read_text())["kernels"]:
                cls.configs[entry["kernel"]] = next(line for line in entry["lines"] if line.startswith("config"))
            for path in sorted((work / "ptx").rglob("*.ptx")):
                cls.ptx = path.read_text()
                cls.kernels.update(sass.kernels(str(path), "sm_90a", None, NVDISASM))

    def each(self, check):
        self.assertEqual(len(self.kernels), 8)
        for name, kernel in self.kernels.items():
            with self.subTest(kernel=name):
                check(name, kernel)

    def test_the_tile_and_its_stages(self):
        self.each(lambda name, _: self.assertIn(
            "strategy = warp_specialized, block = [128, 256, 64], warps = [8, 1, 1], stages = 4,", self.configs[name]))

    def test_instructions(self):
        def check(_, kernel):
            self.assertEqual(kernel.loop["HGMMA"], 4)
            self.assertLessEqual(kernel.instructions, MOST_INSTRUCTIONS)
        self.each(check)

    def test_a_group_is_under_way_over_the_boundary_of_stages(self):
        def check(_, kernel):
            self.assertEqual(kernel.waits, 1)
            self.assertGreaterEqual(kernel.under_way, 1)
        self.each(check)

    def test_no_wait_within_a_stage(self):
        self.each(lambda _, kernel: self.assertEqual(kernel.split_stages, 0))

    def test_that_waits_are_seen(self):
        """The same kernel with a wait for every group, and with one between two wgmma of a stage."""
        wait, multiply = re.search(r"wgmma\.wait_group\.sync\.aligned\s+1;", self.ptx), "wgmma.mma_async"
        second = [match.start() for match in re.finditer(multiply, self.ptx)][1]
        for where, text in (("under_way", self.ptx.replace(wait[0], wait[0].replace("1;", "0;"))),
                            ("split_stages", self.ptx[:second] + wait[0].replace("1;", "0;") + "\n" + self.ptx[second:])):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "kernel.ptx"
                path.write_text(text)
                (kernel,) = sass.kernels(str(path), "sm_90a", None, NVDISASM).values()
            with self.subTest(where):
                self.assertEqual(kernel.under_way, 0)
                self.assertEqual(kernel.split_stages, int(where == "split_stages"))

    def test_registers(self):
        sums = 64 * 256 // 128

        def check(_, kernel):
            self.assertEqual(kernel.spills, 0)
            self.assertEqual([(role.name, role.limit) for role in kernel.roles], [("producer", 40), ("consumer", 232)])
            for role in kernel.roles:
                self.assertGreater(role.highest, 0)
                self.assertLessEqual(role.highest, role.limit, role.name)
            self.assertGreater(kernel.highest, sums)
            self.assertLessEqual(kernel.highest, sums + MOST_BESIDE_SUMS)
        self.each(check)


class Suites(unittest.TestCase):
    """Kernels of perf/suites whose products of halves are by warpgroups by default, whatever their tile and their stages."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            for suite in ("gemm", "convolution", "dynamic"):
                subprocess.run([BUILD / "bin/tilewright-compile", ROOT / f"perf/suites/{suite}/{suite}.mlir", "--target=cuda:sm_90a",
                                "--emit=ptx", "-o", pathlib.Path(folder, suite)], check=True)
            paths = [path for path in sorted(pathlib.Path(folder).rglob("*.ptx")) if "wgmma.mma_async" in path.read_text()]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = pool.map(lambda path: sass.kernels(str(path), "sm_90a", None, NVDISASM), paths)
                cls.kernels = {name: kernel for each in found for name, kernel in each.items()}

    def test_instructions(self):
        self.assertGreater(len(self.kernels), 40)
        self.assertEqual(EXPLAINED.keys() - self.kernels.keys(), set())
        for name, kernel in self.kernels.items():
            with self.subTest(kernel=name):
                self.assertGreater(kernel.loop["HGMMA"], 0)
                takes_more = 4 * kernel.instructions > MOST_INSTRUCTIONS * kernel.loop["HGMMA"]
                self.assertEqual(takes_more, name in EXPLAINED, f"{kernel.instructions} for {kernel.loop['HGMMA']} HGMMA")

    def test_waits_and_registers(self):
        for name, kernel in self.kernels.items():
            with self.subTest(kernel=name):
                self.assertEqual((kernel.spills, kernel.split_stages), (0, 0))
                if name not in EXPLAINED:
                    self.assertGreaterEqual(kernel.under_way, 1)
                for role in kernel.roles:
                    self.assertLessEqual(role.highest, role.limit, role.name)


class Shared(unittest.TestCase):
    """Blocks that share all sums (stream_k): what decides which steps stands in front of the loop along them, which is as short
    as that of parts of equal length."""

    def test_the_loop_and_its_registers(self):
        config = ("#tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], warps = [8, 1, 1], stages = 3, "
                  "promote = [0, 1], mma = \"wgmma.m64n256k16.bf16.f32\", splits = 2, registers = [40, 232], persistent = true, "
                  "tma_store = true")
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            for name, more in (("parts", ""), ("shares", ", stream_k = 132")):
                text = product(name, "bf16", "nn").replace(
                    "-> (m, n)>]\n", f"-> (m, n)>] {{tilewright.lowering_config = {config}{more}>}}\n", 1)
                (work / f"{name}.mlir").write_text(text)
                subprocess.run([BUILD / "bin/tilewright-compile", work / f"{name}.mlir", "--target=cuda:sm_90a", "--emit=ptx",
                                "-o", work / name], check=True)
                (path,) = (work / name).rglob("*matmul*.ptx")
                (found[name],) = sass.kernels(str(path), "sm_90a", None, NVDISASM).values()
        parts, shares = found["parts"], found["shares"]
        self.assertEqual(shares.loop["HGMMA"], 4)
        self.assertLessEqual(shares.instructions, max(parts.instructions, MOST_INSTRUCTIONS))
        self.assertEqual((shares.waits, shares.split_stages, shares.spills), (1, 0, 0))
        self.assertGreaterEqual(shares.under_way, 1)
        for role in shares.roles:
            self.assertLessEqual(role.highest, role.limit, role.name)


class Theirs(unittest.TestCase):
    def test_ping_pong(self):
        """CUTLASS's ping-pong kernel, a loop along the sum within one over tiles, of which each warpgroup takes every other:
        f16, 64 x 64 x 64, the simulator's tests' own."""
        path = BUILD / "others/cutlass/gemm-pingpong-sm90.ptx"
        if not path.exists():
            self.skipTest("no nvcc has made CUTLASS's kernel")
        (kernel,) = sass.kernels(str(path), "sm_90a", None, NVDISASM).values()
        self.assertEqual(kernel.loop["HGMMA"], 4)
        self.assertEqual(sorted((role.name, role.limit) for role in kernel.roles), [("consumer", 232), ("producer", 40)])
        if PTXAS not in subprocess.run([sass.find("ptxas"), "--version"], capture_output=True, text=True, check=True).stdout:
            self.skipTest("counts are those of ptxas of CUDA 13.0")
        self.assertEqual(kernel.instructions, 66)


class Result(unittest.TextTestResult):
    """Verdicts as scripts/summarize.py reads them."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.cases = {}

    def set(self, test, verdict, reason=""):
        name = test.id().removeprefix("__main__.")
        if self.cases.get(name, ("",))[0] != "failed":
            self.cases[name] = verdict, reason

    def addSuccess(self, test):
        super().addSuccess(test)
        self.set(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.set(test, "skipped", reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.set(test, "failed")

    def addError(self, test, error):
        super().addError(test, error)
        self.set(test, "failed")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.set(test, "failed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    global BUILD, NVDISASM
    BUILD = options.build.resolve()
    NVDISASM = sass.find_nvdisasm(BUILD)
    if not NVDISASM or not sass.find("ptxas", True):
        print("no ptxas or no nvdisasm on this machine", file=sys.stderr)
        return 77
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
    if options.report:
        cases = [{"name": name, "verdict": verdict, "reason": reason} for name, (verdict, reason) in result.cases.items()]
        options.report.write_text(json.dumps({"schema": 1, "cases": cases}, indent=1))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
