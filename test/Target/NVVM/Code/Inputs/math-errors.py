# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""math-errors.py PROGRAM FOLDER: the largest errors of what NVIDIA's kernels make of exp, tanh, rsqrt, sigmoid and quotients by a number that a
row shares, in units of the last place of f32, on the simulator, whose ex2.approx and rcp.approx are rounded correctly: PTX allows
2^-22 and one unit for these in addition. A line per function: whether it is within its bound, and whether what is special is."""

import array
import ast
import math
import random
import struct
import subprocess
import sys

PROGRAM, FOLDER = sys.argv[1:]
COUNT, ROW = 1 << 16, 64


def write(path, shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array("f", values).tobytes())


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    assert ast.literal_eval(data[10:start].decode().strip())["descr"] == "<f4"
    return array.array("f", data[start:])


def run(function, *inputs):
    paths = []
    for number, (shape, values) in enumerate(inputs):
        paths.append(f"{FOLDER}/{function}-{number}.npy")
        write(paths[-1], shape, values)
    out = f"{FOLDER}/{function}.npy"
    done = subprocess.run(["tilewright-run", PROGRAM, f"--function={function}", "--device=ptxsim", *(f"--input=@{path}" for path in paths),
                           f"--output=@{out}"], capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    return read(out)


def ulp(value):
    """Of f32, at `value`, and of the least normal number below it."""
    return 2.0 ** (max(math.frexp(abs(value))[1], -125) - 24)


def report(name, found, exact, bound, least=0.0):
    worst, special = 0.0, True
    for got, want in zip(found, exact):
        if want != want or math.isinf(want) or want == 0 or abs(want) >= 2.0**128:
            special &= (got != got) == (want != want) and (want != want or got == want or (abs(want) >= 2.0**128 and math.isinf(got)))
            special &= want != 0 or math.copysign(1, got) == math.copysign(1, want)
        elif abs(want) >= least:
            error = abs(got - want) / ulp(want)
            worst = max(worst, error if error == error else math.inf)
    print(f"{name}: {'within' if worst <= bound else 'not within'} {bound:g}{'' if worst <= bound else f' ({worst:.3f})'}, "
          f"{'zeros, infinities and NaN as they should be' if special else 'special values are wrong'}")  # fmt: skip


def rounded(values):
    return list(array.array("f", values))


random.seed(1)
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-40, 89.0, -104.0, -87.5, 3e38, -3e38]
anything = [struct.unpack("<f", struct.pack("<I", random.getrandbits(32)))[0] for _ in range(COUNT // 2)]
near = rounded(SPECIAL + [random.uniform(-110, 95) for _ in range(COUNT // 2 - len(SPECIAL))]) + anything


def exact_exp(x):
    return math.exp(min(x, 100.0)) if x == x and x < 100 else math.nan if x != x else math.inf


report("exp", run("exp", ((COUNT,), near)), map(exact_exp, near), 1.5)
small = rounded(SPECIAL + [random.uniform(-11, 11) * random.random() ** 3 for _ in range(COUNT // 2 - len(SPECIAL))]) + anything
report("tanh", run("tanh", ((COUNT,), small)), map(math.tanh, small), 3)



def exact_rsqrt(x):
    return math.nan if x != x or x < 0 else math.copysign(math.inf, x) if x == 0 else 0.0 if math.isinf(x) else 1 / math.sqrt(x)


def exact_sigmoid(x):
    return x if x != x else 1 / (1 + math.exp(-x)) if x > -100 else 0.0


roots = rounded(SPECIAL + [random.random() * 2.0 ** random.randint(-126, 127) for _ in range(COUNT // 2 - len(SPECIAL))]) + anything
report("rsqrt", run("rsqrt", ((COUNT,), roots)), map(exact_rsqrt, roots), 1)
# Below, e^-x overflows, as it would if everything were correctly rounded.
logits = rounded([random.uniform(-87, 95) for _ in range(COUNT // 2 - 4)] + [math.inf, -math.inf, math.nan, 0.0]) + [
    x for x in anything if not -104 < x < -87
] + [0.5] * COUNT  # fmt: skip
logits = logits[:COUNT]
report("sigmoid", run("sigmoid", ((COUNT,), logits)), map(exact_sigmoid, logits), 5)
divisors = rounded([random.uniform(0.5, 2) * 2.0 ** random.randint(-60, 60) for _ in range(COUNT // ROW)])
divisors[-4:] = array.array("f", [math.inf, 1e-40, 3e38, math.nan])
dividends = rounded([random.uniform(-2, 2) * 2.0 ** random.randint(-20, 20) for _ in range(COUNT)])
dividends[0], dividends[1], dividends[2] = math.inf, math.nan, 0.0
exact = [dividends[i] / divisors[i // ROW] for i in range(COUNT)]
report("quotients", run("quotients", ((COUNT // ROW, ROW), dividends), ((COUNT // ROW,), divisors)), exact, 0.501, least=2.0**-100)
