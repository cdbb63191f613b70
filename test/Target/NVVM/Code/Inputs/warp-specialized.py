# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""warp-specialized.py KERNEL.ptx FOLDER [--bugs | --orders=N] [--static=MxNxK --entry=NAME [--stored --cluster=C --grid=G --a-box=RxK --swapped --shared=BYTES]]:
runs `gemm` of warp-specialized.mlir on the simulator, or a kernel of the same tile that the compiler made for one size and
which takes none; `--stored`: whose bf16 result leaves through a tensor map; `--swapped`: whose first tensor map is of B.

Without --bugs: sizes that are whole tiles and others, on integers, so that sums are exact; a line per size; with --orders
in N orders in which copies arrive and warps run. With --bugs: every wait, arrival, fence and commit of the kernel is left
out or weakened, one at a time, and a run must fail or be wrong.
"""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

kernel, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
options = dict(argument[2:].partition("=")[::2] for argument in sys.argv[3:])
stored = "stored" in options
static = tuple(map(int, options["static"].split("x"))) if "static" in options else None
folder.mkdir(parents=True, exist_ok=True)


def run(ptx, m, n, k, seed=1):
    """None if the result is right, else what went wrong."""
    buffers = [f"tensormap:box={options.get('a-box', '128x64')}:swizzle=128:{m}x{k}xbf16=int:-3:3:1",
               "tensormap:box=64x64:swizzle=128:" + f"{k}x{n}xbf16=int:-3:3:2"]
    maps = ["a", "b"]
    if "swapped" in options:
        buffers.reverse(), maps.reverse()
    cluster = int(options.get("cluster", 1))
    if stored:
        # Columns are boxes of 64; a cluster's blocks copy as many of them each.
        buffers.append(f"tensormap:box=64x64:swizzle=128:{m}x{n}xbf16=undefined")
    command = ["tilewright-run", ptx, "--device=ptxsim", f"--entry={options.get('entry', 'gemm')}",
               f"--grid={options.get('grid', -(-m // 128) * -(-n // 256))}", f"--cluster={cluster}", "--block=384",
               f"--shared={options.get('shared', 229440 if stored else 196736)}", "--arg=1xbf16", "--arg=1xbf16",
               "--arg=1xbf16" if stored else f"--arg={m}x{n}xf32=undefined"]
    command += [f"--arg=i32={size}" for size in (() if static else (m, k, k, n, m, n))]
    command += [f"--arg={buffer}" for buffer in buffers]
    names = ("none", "nothing", "no", *maps, "c") if stored else ("none", "nothing", "c", *maps)
    files = [folder / f"{name}.npy" for name in names]
    command += [f"--output=@{file}" for file in files]
    environment = dict(os.environ, PTXSIM_ARCH="sm_90", PTXSIM_SEED=str(seed), PTXSIM_INSTRUCTION_LIMIT="3000000")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode or done.stderr:
        return (done.stderr.strip() or "failed").splitlines()[0]
    a, b = (widen(np.load(folder / f"{name}.npy")) for name in "ab")
    c, right = np.load(folder / "c.npy"), a @ b
    equal = np.array_equal(widen(c), rounded(right)) if stored else np.array_equal(c, right)
    return None if equal else "wrong result"


def widen(words):
    return (words.astype(np.uint32) << 16).view(np.float32)


def rounded(values):
    """To the nearest bf16, ties to even."""
    words = values.view(np.uint32)
    return ((words + 0x7fff + (words >> 16 & 1)) & 0xffff0000).view(np.float32)


def mutations(text):
    """What is changed, and the text with that change."""
    rules = [(r"fence\.mbarrier_init[^;]*;", ""), (r"bar\.sync[^;]*;", ""), (r"wgmma\.fence[^;]*;", ""),
             (r"wgmma\.commit_group[^;]*;", ""), (r"wgmma\.wait_group[^;]*;", ""), (r"\{ \.reg \.pred done;[^}]*\}", ""),
             (r"mbarrier\.arrive\.shared[^;]*;", ""), (r"barrier\.cluster\.arrive\.aligned;\s*barrier\.cluster\.wait\.aligned;", ""),
             (r"fence\.proxy\.async[^;]*;", ""), (r"cp\.async\.bulk\.commit_group;", ""),
             (r"cp\.async\.bulk\.wait_group[^;]*;", ""), (r"bulk\.wait_group\.read \t1;", "bulk.wait_group.read \t2;"),
             (r"mov\.b32 \t(%r\d+), 16;", r"mov.b32 \t\1, 15;"), (r"mov\.b32 \t(%r\d+), 16;", r"mov.b32 \t\1, 17;"), (r"mbarrier\.arrive\.expect_tx[^;]*;", ""),
             (r"wait_group\.sync\.aligned 1;", "wait_group.sync.aligned 2;"),
             (r"mov\.b32 \t(%r\d+), 8;", r"mov.b32 \t\1, 7;"), (r"mov\.b32 \t(%r\d+), 8;", r"mov.b32 \t\1, 9;"),
             (r"(bfe\.u32 .*), 2, 1;", r"\1, 3, 1;")]
    for pattern, replacement in rules:
        for number, match in enumerate(re.finditer(pattern, text)):
            name = f"{match.group(0)[:48]!r} {number} -> {replacement!r}"
            yield name, text[:match.start()] + match.expand(replacement) + text[match.end():]


if "orders" in options:
    wrong = {reason for seed in range(1, int(options["orders"]) + 1) if (reason := run(kernel, *static, seed))}
    print(f"{options['orders']} orders:", "; ".join(sorted(wrong)) or "equal")
    sys.exit()
if "bugs" not in options:
    for size in [static] if static else [(128, 256, 64), (128, 256, 1024), (200, 520, 328), (1, 8, 8), (257, 264, 40)]:
        print("x".join(map(str, size)), run(kernel, *size) or "equal")
    sys.exit()

planted = folder / "planted.ptx"
total = found = 0
for name, text in mutations(kernel.read_text()):
    planted.write_text(text)
    total += 1
    for seed in range(1, 4):
        # An arrival too few lets the producer run ahead by an eighth of a round in each round.
        reason = run(planted, *(static or (128, 256, 2560 if ", 7;" in name else 832)), seed)
        if reason:
            found += 1
            break
    print(name, "|", reason or "not found")
print(f"planted {total}, found {found}")
