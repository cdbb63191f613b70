# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/predict/measured: predictions beside measured times of a page of perf/results.

python test/perf/test_measured.py BUILD
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load():
    loader = importlib.machinery.SourceFileLoader("measured", str(ROOT / "perf/predict/measured"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("measured", loader))
    sys.modules["measured"] = module
    loader.exec_module(module)
    return module


measured = load()
BENCH = {
    "suite": "memory", "artifact": "0", "verdict": "ok", "median_s": 6e-6, "clocks": {"sm_mhz": 1980},
    "problem": {"function": "softmax_f32_8192x128", "inputs": ["8192x128xf32=random:1"]},
    "config": {"target": "cuda:sm_90a", "launches": ["softmax_f32_8192x128_reduce_0 variant softmax_f32_8192x128_reduce_0 grid 2048x1x1"]},
}  # fmt: skip
LADDER = {
    "slice": "2-square-bf16", "size": "full", "target": "cuda:sm_90a", "clocks": {"sm_mhz": 1900}, "problem": {"name": "bf16_2048x2048x2048"},
    "rungs": {
        "default": {"median_s": 2e-5, "artifact": "1", "launches": ["a variant b grid 132x1x1"]},
        "mma": {"median_s": 4e-5, "artifact": "2", "launches": ["a variant a grid 16x16x1"]},
        "wgmma": {"verdict": "error", "artifact": "3"},
    },
}  # fmt: skip


class Results(unittest.TestCase):
    def test_lines_of_suites(self):
        dynamic = {**BENCH, "suite": "dynamic", "problem": {"function": "f", "inputs": ["16x4096xf16=random:1", "4096x64xf16=random:2"]}}
        late = {**BENCH, "count": 9, "late": 5}
        found = list(measured.of_suites([BENCH, dynamic, {"suite": "memory", "verdict": "error"}, late]))
        self.assertEqual([(x.family, x.name, x.size) for x in found], [("memory", "softmax_f32_8192x128", 0), ("dynamic", "f_16", 16)])
        self.assertEqual(found[0].launches, [("softmax_f32_8192x128_reduce_0", "softmax_f32_8192x128_reduce_0", [2048, 1, 1])])

    def test_rungs_of_the_ladder(self):
        (default,) = measured.of_ladder([LADDER], False)
        self.assertEqual((default.name, default.launches), ("bf16_2048x2048x2048", [("a", "b", [132, 1, 1])]))
        self.assertEqual([x.name for x in measured.of_ladder([LADDER], True)], ["bf16_2048x2048x2048 default", "bf16_2048x2048x2048 mma"])

    def test_figures_of_a_family(self):
        rows = [{"family": "gemm", "measured": seconds, "events": seconds * ratio} for seconds, ratio in ((1.0, 2.0), (2.0, 0.5), (4.0, 1.0))]
        made = measured.summary(rows, "events")
        self.assertAlmostEqual(made["ratio"], 1)
        self.assertAlmostEqual(made["error"], 4 ** (1 / 3) - 1)
        self.assertAlmostEqual(made["absolute"], 0.5)
        self.assertAlmostEqual(made["tau"], 1 / 3)
        self.assertIsNone(measured.summary(rows, "compiler"))
        lines = list(measured.table(rows + [{**rows[0], "family": "float8"}], ["events"]))
        self.assertEqual([line.split(" | ")[0] for line in lines[2:]], ["| gemm", "| all that were looked at", "| float8", "| all held out"])

    def test_held_out_families_are_there(self):
        lines = [measured.lines_of(ROOT / "perf/results/h100" / name) for name in ("bench.jsonl", "ladder.jsonl")]
        families = {x.family for x in (*measured.of_suites(lines[0]), *measured.of_ladder(lines[1], False))}
        self.assertLessEqual(measured.HELD_OUT, families)
        self.assertGreater(len(families - measured.HELD_OUT), 3)


class Command(unittest.TestCase):
    def test_a_page(self):
        """Compiled, predicted (from PTX alone where there is no SASS), kept; what is launched otherwise now counts in nothing."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            other = json.loads(json.dumps(BENCH))
            other["problem"]["function"] = "rmsnorm_f16_8192x128"
            other["config"]["launches"] = ["rmsnorm_f16_8192x128_reduce_0 variant rmsnorm_f16_8192x128_reduce_0 grid 7x1x1"]
            (folder / "bench.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (BENCH, other)))
            command = [sys.executable, ROOT / "perf/predict/measured", folder, f"--folder={folder / 'kept'}", "--show", f"--json={folder / 'rows'}"]
            environment = {**os.environ, "TILEWRIGHT_COMPILE": str(BUILD / "bin/tilewright-compile")}
            said = [subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment) for _ in range(2)]
            self.assertEqual(said[0].returncode, 0, said[0].stderr)
            self.assertEqual(said[0].stdout, said[1].stdout)
            rows = [json.loads(line) for line in (folder / "rows").read_text().splitlines()]
            self.assertEqual(["events" in row for row in rows], [True, False])
            self.assertLess(abs(rows[0]["events"] / 6e-6 - 1), 0.3)
            self.assertIn("grid", rows[1]["changed"])
            self.assertIn("| memory | 1 |", said[0].stdout)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
