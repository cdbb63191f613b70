# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of the page of what is covered:  python test/e2e/test_coverage_page.py"""

import importlib.util
import pathlib
import unittest

from data import F16, F32, integers
from functions import EXACT, Function

spec = importlib.util.spec_from_file_location("coverage_page",
                                              pathlib.Path(__file__).resolve().parents[2] / "docs/site/coverage.py")
coverage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coverage)


def matmul(element, dynamic, targets=None):
    f = Function("matmul", element.name, "plain", {"m": 4, "n": 5, "k": 6}, dynamic, targets)
    a, b = f.arg(element, "mk"), f.arg(element, "kn")
    f.ret(f.op("linalg.matmul", [a, b], f.zeros(element, "mn")))
    f.case("4x5x6", {}, integers(-3, 3), EXACT)
    return f


def verdict(name, verdict="passed", reason=""):
    return {"name": name, "verdict": verdict, "reason": reason, "row": None, "column": None}


FUNCTIONS = [matmul(F32, False), matmul(F32, True), matmul(F16, False, ("cuda",))]
STATIC, DYNAMIC, HALF = (f.cases[0].name for f in FUNCTIONS)


class Coverage(unittest.TestCase):
    def row(self, element, *cases):
        lines = coverage.page(FUNCTIONS, [{"schema": 1, "cases": list(cases)}]).splitlines()
        self.lines = lines
        row = next(line for line in lines if line.startswith(f"| `linalg.matmul` | {element} "))
        return [cell.strip() for cell in row.split("|")[3:-1]]

    def test_without_results_nothing_is_said_to_work(self):
        self.assertEqual(self.row("f32"), ["not run"] * 6)

    def test_what_no_function_is_for_is_empty(self):
        self.assertEqual(self.row("f16"), ["", "", "not run", "", "", ""])

    def test_devices_are_counted_for_their_back_ends(self):
        cells = self.row("f32", verdict(f"{STATIC} on cpu"), verdict(f"{STATIC} on cpu-aarch64@sve256"),
                         verdict(f"{DYNAMIC} on ptxsim@sm_90+large"), verdict(f"{DYNAMIC} on vulkan"))
        self.assertEqual(cells, ["2", "not run", "not run", "1", "not run", "1"])

    def test_one_failure_is_a_failure(self):
        cells = self.row("f32", verdict(f"{STATIC} on cpu"), verdict(f"{STATIC} on cpu", "failed", "wrong"))
        self.assertEqual(cells[0], "**1 failed**")

    def test_a_case_that_is_skipped_is_not_run(self):
        self.assertEqual(self.row("f32", verdict(f"{STATIC} on vulkan", "skipped", "no driver"))[4], "not run")

    def test_refusals_have_their_reason(self):
        path = FUNCTIONS[0].path
        cells = self.row("f32", verdict(f"refuse {path} for vulkan", "skipped", "not supported yet: no such type"))
        self.assertEqual(cells[4], "refused[^1]")
        self.assertIn("[^1]: no such type", self.lines)

    def test_other_tests_of_a_report_are_no_results(self):
        cells = self.row("f32", verdict("every case on vulkan", "skipped", "no driver"), verdict(f"compile {FUNCTIONS[0].path}"),
                         verdict("identical bytes matmul"), verdict("other/f32/static/plain/4 on cpu"))
        self.assertEqual(cells, ["not run"] * 6)

    def test_the_same_reports_make_the_same_page(self):
        report = {"schema": 1, "cases": [verdict(f"{STATIC} on cpu"), verdict(f"refuse {FUNCTIONS[1].path} for cuda", "skipped", "a: b")]}
        self.assertEqual(coverage.page(FUNCTIONS, [report]), coverage.page(FUNCTIONS, [report]))

    def test_ops_are_not_taken_from_attributes_and_types(self):
        f = matmul(F32, False)
        f.lines += ['    cf.assert %c, "math.of it"', "    %t = tilewright.sort ins(%x) {tilewright.lowering_config = #tilewright.lowering_config<>}"]
        self.assertEqual(coverage.ops_of(f) - coverage.ops_of(matmul(F32, False)), {"cf.assert", "tilewright.sort"})


if __name__ == "__main__":
    unittest.main()
