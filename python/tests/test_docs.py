# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of docs/python.md do what the page says."""

import doctest
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


@pytest.mark.skipif(not PAGE.exists(), reason="docs/python.md is not beside this package")
def test_page():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(blocks) >= 7
    names, said = {}, []
    runner = doctest.DocTestRunner()
    for number, block in enumerate(blocks):
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", str(PAGE), 0)
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    results = runner.summarize(verbose=False)
    assert results.failed == 0, "".join(said)
    assert results.attempted > 20
