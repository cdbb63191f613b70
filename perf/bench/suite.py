# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A suite: a folder with programs, problems.txt and what to compare them with.

    perf/suites/gemm/
      *.mlir         the programs
      problems.txt   a problem a line, as arguments of tilewright-run
      peers.py       reference(function, *inputs): what is right, and how far off a right answer may be; of the first
                     result, or a list of such pairs for the first results
                     inputs(function, *tensors), where noise will not do: the tensors to take instead, NumPy's or PyTorch's
                     PEERS: {name: make}, make(function, *inputs) gives a call without arguments
                     TUNED, where there are any: the names of those that try several configs for each problem
                     SLOW: those that are compiled for seconds, or minutes, for each problem
"""

import dataclasses
import importlib.util
import re
import shlex

INPUT = re.compile(r"((?:\d+x)*)([a-z]\w*)=(?:random|int:(-?\d+):(-?\d+)):(\d+)$")


@dataclasses.dataclass(frozen=True)
class Input:
    dims: tuple
    dtype: str
    seed: int
    ends: tuple = ()  # the least and the largest of whole numbers

    def __str__(self):
        fill = ":".join(["int", *map(str, self.ends)]) if self.ends else "random"
        return "x".join([*map(str, self.dims), self.dtype]) + f"={fill}:{self.seed}"


@dataclasses.dataclass(frozen=True)
class Problem:
    function: str
    inputs: tuple


def read_problems(path):
    """The problems of a problems.txt; # begins a comment."""
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        function, inputs = None, []
        for word in shlex.split(line, comments=True):
            key, _, value = word.partition("=")
            match = INPUT.match(value)
            if key == "--function":
                function = value
            elif key == "--input" and match:
                dims = tuple(int(x) for x in match.group(1).split("x") if x)
                ends = tuple(int(x) for x in match.group(3, 4) if x is not None)
                inputs.append(Input(dims, match.group(2), int(match.group(5)), ends))
            else:
                raise SystemExit(f"{path}:{number}: '{word}' is neither --function=NAME nor --input=DIMSxTYPE=random:SEED "
                                 "or =int:LEAST:LARGEST:SEED")
        if function:
            problems.append(Problem(function, tuple(inputs)))
    return problems


def load_peers(folder):
    """The module peers.py of a suite's folder."""
    spec = importlib.util.spec_from_file_location(f"peers_{folder.name}", folder / "peers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
