# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/static-facts.py: what it says before it compiles anything. No compiler is needed.

python test/perf/test_static_facts.py
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(suite):
    return subprocess.run([sys.executable, str(ROOT / "perf/static-facts.py"), str(suite), "--check", "--ptxas=/bin/true"],
                          capture_output=True, text=True, check=False)


class WithoutRecord(unittest.TestCase):
    def test_says_how_to_write_one(self):
        with tempfile.TemporaryDirectory() as folder:
            done = check(folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no facts.json to hold the kernels against; --record writes one", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("traffic", done.stderr)

    def test_names_the_script_for_traffic(self):
        done = check(ROOT / "perf/suites/memory")
        self.assertEqual(done.returncode, 1)
        self.assertIn("perf/static/traffic --check", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
