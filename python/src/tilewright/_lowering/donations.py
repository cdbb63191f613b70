# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of `main` whose memory a result gets: `tf.aliasing_output`, which the compiler reads."""

import re


def mark(text, results):
    """The text with main's arguments that are given away, {name: number of the result that is in its memory}, marked as such, and
    the first name that main has no tensor for, or gives away already; None where there is none."""
    for name, result in results.items():
        argument = re.escape(re.sub(r"[^\w$.-]", "_", name))  # as name_arguments of spelling.py has it
        text, count = re.subn(rf"(func\.func (?:public )?@main\([^\n]*?%{argument}: tensor<[^<>]*>)(?! *\{{)",
                              rf"\1 {{tf.aliasing_output = {int(result)} : i32}}", text, count=1)
        if not count:
            return text, name
    return text, None
