# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/predict/validate: its manifests, and its table of a kernel of ours that stands for those of others.

python test/perf/test_validate.py BUILD
"""

import argparse
import hashlib
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/src"))

from tilewright_sweep.predict import sass

loader = importlib.machinery.SourceFileLoader("validate", str(ROOT / "perf/predict/validate"))
validate = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
loader.exec_module(validate)

BUILD = ROOT / "build"
KERNEL = """__global__ void copies(const float4 *from, float4 *to) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  to[at] = from[at];
}
"""
MANIFEST = {
    "repository": "of/ours", "commit": "", "folder": "ours", "chip": "a100", "unit": "us", "work": 1 << 26, "kind": "fp32",
    "bytes": 1 << 29, "flags": ["-O3"], "include": ["headers"], "prelude": ['#include "ours.h"'],
    "facts": {"memory_gbps": [1000, "of this test"]}, "arguments": ["67108864xf32=undefined"] * 2,
    "kernels": [{"name": "copies", "files": ["copies.cu"], "kernel": "copies", "grid": [65536, 1, 1], "block": [256, 1, 1],
                 "published": 1000}],
}  # fmt: skip


class Manifests(unittest.TestCase):
    def each(self):
        return [json.loads(path.read_text()) for path in validate.manifests()]

    def test_suites_are_none(self):
        found = {path.name for path in validate.manifests()}
        self.assertLess(found, {path.name for path in (ROOT / "perf/predict").glob("*.json")})
        self.assertLess({"sgemm-a6000.json", "mma-rtx4090.json"}, found)

    def test_what_they_say(self):
        for manifest in self.each():
            chip = validate.chip_of(manifest)
            for kernel in manifest["kernels"]:
                self.assertLessEqual(set(kernel["files"]), set(manifest["files"]))
                self.assertTrue(kernel.get("arguments", manifest.get("arguments")))
                self.assertGreater(validate.figure(manifest, kernel, validate.roofline(manifest, kernel, chip)), 0)
                self.assertGreater(kernel["published"], 0)
            for file in manifest["files"].values():
                self.assertRegex(file["commit"], "^[0-9a-f]{40}$")

    def test_some_are_held_out(self):
        held = [validate.is_held_out(manifest, kernel) for manifest in self.each() for kernel in manifest["kernels"]]
        self.assertGreater(sum(held), len(held) / 4)
        self.assertLess(sum(held), len(held) / 2)


class Table(unittest.TestCase):
    """With nvcc, from PTX alone."""

    def setUp(self):
        if not sass.find("nvcc", True):
            self.skipTest("no nvcc here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sources = pathlib.Path(folder.name)
        (self.sources / "ours/headers").mkdir(parents=True)
        (self.sources / "ours/headers/ours.h").write_text("")
        (self.sources / "ours/copies.cu").write_text(KERNEL)
        self.manifest = {**MANIFEST, "files": {"copies.cu": {"commit": "", "sha256": hashlib.sha256(KERNEL.encode()).hexdigest()}}}
        self.options = argparse.Namespace(sources=self.sources, build=BUILD, mode="ptx", match="", include=[])

    def test_a_time(self):
        rows = []
        lines = list(validate.lines_of(self.manifest, self.options, rows))
        self.assertIn("| copies | 1000 | ", "\n".join(lines))
        # A copy at the bandwidth that this manifest gives the chip, in 537 of the 1000 microseconds that it says.
        self.assertEqual(rows[0]["bound"], "memory")
        self.assertAlmostEqual(rows[0]["predicted"] / ((1 << 29) / 1e12 * 1e6), 1, delta=0.02)
        self.assertAlmostEqual(rows[0]["ratios"]["PTX"], 1000 / rows[0]["predicted"], delta=0.002)
        self.assertAlmostEqual(validate.summary(rows)["PTX"]["error"], rows[0]["ratios"]["PTX"] - 1, delta=0.002)

    def test_another_file_is_refused(self):
        (self.sources / "ours/copies.cu").write_text(KERNEL + "\n")
        with self.assertRaisesRegex(SystemExit, "not the file that the figures are of"):
            list(validate.rows_of(self.manifest, self.options))

    def test_no_kernel_of_that_name(self):
        self.options.match = "moves"
        self.assertEqual(list(validate.rows_of(self.manifest, self.options)), [])


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
