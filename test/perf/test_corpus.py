# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/static/corpus: which kernels it takes, and what it says of two runs. No compiler is needed.

python test/perf/test_corpus.py
"""

import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load():
    loader = importlib.machinery.SourceFileLoader("corpus", str(ROOT / "perf/static/corpus"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("corpus", loader))
    loader.exec_module(module)
    return module


corpus = load()


class Comparing(unittest.TestCase):
    BEFORE = {"f cpu manifest": "1", "f cpu k.so": "2", "f cuda:sm_80 k.ptx": "3", "g cpu refusal": "no schedule"}

    def test_the_same(self):
        self.assertEqual(corpus.compare(self.BEFORE, dict(self.BEFORE)), [])

    def test_kernels_come_first(self):
        now = {**self.BEFORE, "f cpu manifest": "9", "f cuda:sm_80 k.ptx": "9"}
        self.assertEqual(corpus.compare(self.BEFORE, now), ["differs: f cuda:sm_80 k.ptx", "differs: f cpu manifest"])

    def test_what_comes_and_goes(self):
        now = {key: value for key, value in self.BEFORE.items() if key != "f cpu k.so"}
        self.assertEqual(corpus.compare(self.BEFORE, {**now, "f cpu other.so": "2"}), ["gone: f cpu k.so", "new: f cpu other.so"])

    def test_a_refusal_in_other_words(self):
        now = {**self.BEFORE, "g cpu refusal": "no registers"}
        self.assertEqual(corpus.compare(self.BEFORE, now), ["differs: g cpu refusal: 'no schedule' is now 'no registers'"])


class Choosing(unittest.TestCase):
    def test_the_order_of_names_does_not_matter(self):
        names = [f"n{i}" for i in range(20)]
        self.assertEqual(corpus.least(names, 5), corpus.least(reversed(names), 5))

    def test_targets_of_a_function(self):
        self.assertEqual(corpus.targets_of(()), corpus.TARGETS)
        self.assertEqual(corpus.targets_of(("cuda", "cpu-reference")), ("cuda:sm_80", "cuda:sm_90a"))
        amx = "cpu:x86-64-v4+amx-int8"
        self.assertEqual(corpus.targets_of((amx, "cpu-reference")), (amx,))

    def test_every_family_and_suite_is_there(self):
        programs = {**corpus.of_cases(), **corpus.of_suites()}
        for path in (ROOT / "perf/suites").glob("*/*.mlir"):
            self.assertTrue(any(name.startswith(path.stem + ".") for name in programs), path)
        self.assertTrue(any(name.startswith("attention_f") for name in programs))
        self.assertGreater(sum(len(targets) for _, targets in programs.values()), 200)


if __name__ == "__main__":
    unittest.main()
