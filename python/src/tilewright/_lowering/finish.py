# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the scripts beside it end: with a text, and a parameter file where one is named and there are large constants, or with the
reason why the model is refused."""

import os

import parameters
from diagnostics import REFUSED, Refused


def finish(lower, target, parameter_file, names_of_constants=dict):
    """Writes what lower() gives; the exit code. names_of_constants(): {bytes: name}, what the model calls its large constants."""
    try:
        text = lower()
    except Refused as refusal:
        print(refusal)
        return REFUSED
    if parameter_file:
        text, tensors = parameters.take_out(text, os.path.basename(parameter_file), names_of_constants())
        if tensors:
            parameters.write(parameter_file, tensors)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return 0
