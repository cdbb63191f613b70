# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a product of e4m3 matrices of random normal numbers on the simulator, which sums in as few bits as Hopper does, and
says whether the sums are right.

    float8-sums.py FOLDER PROGRAM.tw M N K

What right is: each product, cut towards zero at 2^-13 of the largest number in its sum, loses less than 2^-9 where partial
sums stay below 32 (128 products of variance 1: below 2.8 times their deviation; sums beyond are few). K losses of either
sign, spread evenly, deviate by less than 2^-9 sqrt(K / 3); six times that is allowed."""

import argparse
import os
import pathlib
import subprocess

import numpy as np


def e4m3(values):
    """The nearest e4m3 numbers, and their bits."""
    magnitude = np.minimum(np.abs(values), 448)
    _, exponent = np.frexp(magnitude)
    exponent = np.maximum(exponent - 1, -6)
    steps = np.rint(magnitude / 2.0 ** (exponent - 3)).astype(np.int64)
    bits = np.where(exponent == -6, steps, (exponent + 6) * 8 + steps)
    return np.copysign(steps * 2.0 ** (exponent - 3), values), (bits | (values < 0) << 7).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("sizes", type=int, nargs=3)
    options = parser.parse_args()
    m, n, k = options.sizes
    options.folder.mkdir(exist_ok=True)
    random = np.random.default_rng(3)
    values = []
    for name, rows in (("a", m), ("b", n)):
        value, bits = e4m3(random.standard_normal((rows, k)))
        np.save(options.folder / f"{name}.npy", bits)
        values.append(value)
    exact = values[0] @ values[1].T
    for sums in ("exact", "truncated"):
        subprocess.run(["tilewright-run", options.program, "--device=ptxsim", f"--input=@{options.folder}/a.npy",
                        f"--input=@{options.folder}/b.npy", f"--output=@{options.folder}/c.npy"], check=True,
                       env={**os.environ, "PTXSIM_ARCH": "sm_90", "PTXSIM_F8_SUMS": sums, "PTXSIM_CHECKS": "off"})
        error = np.abs(np.load(options.folder / "c.npy") - exact).max()
        print(f"{sums}: {'right' if error <= 6 * 2.0**-9 * (k / 3) ** 0.5 else 'wrong'}, off by up to {error:.2g}")


if __name__ == "__main__":
    main()
