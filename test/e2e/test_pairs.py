# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of the all-pairs selection:  python test/e2e/test_pairs.py"""

import itertools
import unittest

import families
import pairs
import selection

FACTORS = ("matmul", "reduce", "copy"), ("f16", "f32", "i8", "f64"), ("ta", "tb", "nn"), ("sm_80", "cpu")
ROWS = list(itertools.product(*FACTORS))


def shown(rows):
    return {pair for row in rows for pair in pairs.pairs_of(row)}


class Choose(unittest.TestCase):
    def test_every_pair_is_shown_by_few_rows(self):
        chosen = pairs.choose(ROWS, seed=1)
        self.assertEqual(shown(ROWS[n] for n in chosen), shown(ROWS))
        # 12 are needed for the two longest factors.
        self.assertLessEqual(len(chosen), 16)

    def test_combinations_that_do_not_exist(self):
        rows = [row for row in ROWS if row[:2] != ("copy", "i8") and row[1:3] != ("f64", "ta")]
        chosen = pairs.choose(rows, seed=1)
        self.assertEqual(shown(rows[n] for n in chosen), shown(rows))

    def test_the_seed_decides(self):
        self.assertEqual(pairs.choose(ROWS, seed=1), pairs.choose(ROWS, seed=1))
        self.assertNotEqual(pairs.choose(ROWS, seed=1), pairs.choose(ROWS, seed=2))

    def test_rows_that_are_always_chosen(self):
        self.assertLessEqual({0, 1}, set(pairs.choose(ROWS, seed=1, always=[0, 1])))

    def test_work_is_repeated_where_rows_show_as_much(self):
        rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] * 2
        work = [(n // 4,) for n in range(8)]
        chosen = pairs.choose(rows, seed=1, work=work)
        self.assertEqual(len({work[n] for n in chosen}), 1)


class Select(unittest.TestCase):
    def test_every_family_and_type_appears_on_every_target(self):
        targets = ("cuda:sm_80", "vulkan", "cpu", selection.ORACLE)
        functions = [f for family in families.ALL for f in family.functions()]
        taken, of = selection.select(functions, targets, 1, ["matmul/f32/dynamic/any/int/1x1x1"])
        self.assertLess(taken, of / 4)
        cases = [(f, case, target) for f in functions for case in f.cases for target in case.targets]
        self.assertEqual(len(cases), taken)
        for target in targets[:-1]:
            open_to = [f for f in functions if not f.targets or target.split(":")[0] in f.targets]
            for kind in ("family", "element"):
                self.assertEqual({getattr(f, kind) for f, _, t in cases if t == target},
                                 {getattr(f, kind) for f in open_to if f.cases}, f"{kind} on {target}")
        always = next(case for _, case, _ in cases if case.name == "matmul/f32/dynamic/any/int/1x1x1")
        self.assertEqual(always.targets, set(targets[:-1]))


if __name__ == "__main__":
    unittest.main()
