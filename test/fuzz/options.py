#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutates the command lines of the tools: wrong values, other tools' options, half configs, odd files.

    test/fuzz/options.py --build BUILD [--lines 400] [--seed 1] [--line NUMBER]

A command line is determined by the seed and its number. Whatever it says, a tool ends in time by itself: 0, or another code
below 64 with something on standard error (on standard output where a tool answers there), without a crash, an internal
error or a Python traceback, and leaves no output where it failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

SECONDS = 60
#: What no error of ours says.
INTERNAL = ("Assertion", "LLVM ERROR", "PLEASE submit", "Traceback (most recent", "UNREACHABLE", "terminate called", "Stack dump",
            "std::", "basic_string", "runtime error:", "AddressSanitizer")

PROGRAM = """func.func @f(%a: tensor<24x40xf16>, %b: tensor<40x32xf16>, %c: tensor<24x32xf32>) -> tensor<24x32xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<24x40xf16>, tensor<40x32xf16>) outs(%c : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %r : tensor<24x32xf32>
}
"""
CONFIG = ("strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], stages = 3, promote = [0, 1], "
          "mma = \"mma.m16n8k16.f16.f32\"")

#: Right command lines, of words; `{x}` is a file of the run.
COMPILE = [
    "tilewright-compile {program} --target=cuda:sm_80 -o {out}",
    "tilewright-compile {program} --target=cuda:sm_90a --emit=ptx -o {out}",
    "tilewright-compile {program} --target=vulkan:1.2+subgroup=32+coopmat --emit=spirv-asm -o {out}",
    "tilewright-compile {program} --target=vulkan+coopmat=16x16x16:f16:f32+shared_memory=32768 --emit=manifest -o {out}",
    "tilewright-compile {program} --target=cpu:x86-64-v3,cuda:sm_75 --fp=contract,tf32 --asserts=off --timeout=30 -o {out}",
    "tilewright-compile {program} --target=cpu:aarch64+sve=256 --emit=asm --serial -o {out}",
    "tilewright-compile {program} --target=cpu --emit=object --name=mine --max-memory=4G -o {out}",
    "tilewright-compile {program} --target=cuda --stop-after=tile --print-ir-after=promote --timing -o {out}",
    "tilewright-compile {program} --target=cuda:sm_80 --list-configs",
    "tilewright-compile {program} --target=cuda:sm_80 --config={config} --explain=json -o {out}",
    "tilewright-compile {program} --target=cuda:sm_80 --tuning={tuning} --tuning-chip=A100 --explain -o {out}",
    "tilewright-compile {program} --emit=loops --loops=scf -o {out}",
    "tilewright-compile {program} --target=cuda:sm_86 --require=matrix-unit --explain-output={out}.html --explain=html -o {out}",
    "tilewright-compile {program} --target=cuda:sm_80 --dump-stages={out}.stages --trace={out}.trace -o {out}",
]
RUN = [
    "tilewright-run {artifact} --device=cpu --function=f --input=24x40xf16=random:1 --input=40x32xf16=int:-3:3:2 --input=24x32xf32=0 --check=oracle",
    "tilewright-run {artifact} --device=cpu --input=24x40xf16 --input=40x32xf16 --input=24x32xf32 --print --bench=3 --json={out} --threads=2",
    "tilewright-run {artifact} --list-devices",
    "tilewright-run {program} --device=cpu --input=24x40xf16=1 --input=40x32xf16=1 --input=24x32xf32=2 --expect=24x32xf32=42 --atol=0.1 --rtol=0.01 "
    "--timeout=20 --compile-arg=--fp=contract",
    "tilewright-run {ptx} --device=ptxsim --entry=k --grid=2,1,1 --block=32 --cluster=1 --shared=64 --arg=i32:3 --arg=buffer:64",
]
OTHERS = [
    "tilewright-inspect {artifact} --manifest",
    "tilewright-inspect {artifact} --json --target=cpu",
    "tilewright-inspect {artifact} --disassemble --kernel=f --target=cpu --objdump=objdump -o {out}",
    "tilewright-inspect {artifact} --section=0 --raw -o {out}",
    "tilewright-reduce {program} --device=cpu --dim=5 --target=cpu --limit=3 --check=oracle -o {out}",
    "tilewright-sweep gemm --m=33 --n=24,32 --k=32 --types=f16:f32 --layout=nn --dynamic=m --target=cuda:sm_80 --candidates=3 --seed=2 -o {out}",
    "tilewright-sweep attention --queries=16 --keys=32 --depth=16 --types=f16 --target=cuda:sm_80 --candidates=2 --space -o {out}",
    "tilewright-sweep run {artifact} --device=cpu --budget=2s -o {out}",
    "tilewright-sweep session {artifact} --device=cpu --minutes=0.1 build=1 cts -o {out}",
    "tilewright-sweep best {tuning} -o {out}",
    "tilewright-sweep merge {tuning} {tuning} -o {out}",
    "tilewright-sweep predict {ptx} --chip=a100 --grid=2 --block=32",
    "tilewright-cts --device=cpu --filter=buffer* --list",
]
VALUES = ["", " ", "-", "0", "-1", "1", "2147483648", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e400", "nan", "0x",
          "1x", "x1", "1x1x1x1x1x1x1x1x1x1x1xf32", "99999999999x99999999999xf32", "?xf32", "f33", "24x40xf16=random", "24x40xf16=int:5:1:0",
          "cuda:sm_", "cuda:sm_80a", "cuda:sm_999", "cuda:sm_80,cuda:sm_80", ",", ",,", "vulkan+", "vulkan+coopmat=16x16", "vulkan:9",
          "vulkan+shared_memory=-5", "vulkan+subgroup=3", "cpu:", "cpu:native+nothing", "cpu:aarch64+sve=100", "cuda:", "\x7f\x01", "é€𝄞",
          "%s%n%d", "$(x)", "a" * 5000, "{}", "[", "[]", "null", "/", "/dev/null", "/dev/full", ".", "..", "/nonexistent/x", "{program}", "{artifact}",
          "{config}", "{tuning}", "{ptx}", "{half}", "{noise}", "{folder}"]
FLAGS = ["--help", "--version", "--explain", "--list-configs", "--list-ops", "--no-such-option", "--target", "--", "-", "--json", "--emit=", "--fp=all",
         "--config={config}", "--tuning={tuning}", "--device=cuda:99", "--timeout=0", "--max-memory=1", "--serial=3", "-o", "-o={folder}"]


def half_config(random_):
    """A config's text, a part of it changed."""
    words = CONFIG
    at = random_.randrange(len(words))
    change = random_.choice(["", "[", "]", "\"", "-", "9" * 30, ", block = [1]", "strategy = simt", "\0", ">", "#", "wgmma.m64n256k16.bf16.f32"])
    return words[:at] + change + words[at + random_.randrange(12):]


class Files:
    """What command lines name, in a folder of their own."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, build
        self.names = {name: str(folder / name) for name in ("program", "artifact", "config", "tuning", "ptx", "half", "noise", "folder")}
        self.names["program"] += ".mlir"
        self.names["artifact"] += ".tw"
        write = lambda name, text: pathlib.Path(self.names[name]).write_text(text)
        write("program", PROGRAM)
        write("half", PROGRAM[:len(PROGRAM) // 2])
        write("tuning", '{"schema": 1, "compiler": "x", "records": [{"op": "gemm"}]}')
        write("ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 a, .param .u64 b)\n{\n  ret;\n}\n")
        pathlib.Path(self.names["noise"]).write_bytes(bytes(random.Random(1).randrange(256) for _ in range(3000)))
        pathlib.Path(self.names["folder"]).mkdir()
        subprocess.run([build / "bin/tilewright-compile", self.names["program"], "--target=cpu", "-o", self.names["artifact"]], check=True)

    def of(self, number, random_):
        """The names for one command line, its config among them."""
        config, kernel = self.folder / f"config-{number}", random_.choice(["f_0", "f", "1:1", "", "*", "2:8"])
        target = random_.choice(["cuda:sm_80", "cuda", "cpu", "", "nothing"])
        text = f"#tilewright.lowering_config<{half_config(random_)}>"
        whole = json.dumps({kernel: {target: text}})
        config.write_text(whole if random_.random() < 0.8 else whole[:random_.randrange(len(whole))])
        return {**self.names, "config": str(config), "out": str(self.folder / f"out-{number}")}


def mutate(words, random_):
    """One to three changes of a command line's words."""
    for _ in range(random_.randint(1, 3)):
        kind, at = random_.random(), random_.randrange(1, len(words)) if len(words) > 1 else 1
        word = words[at] if at < len(words) else ""
        if kind < 0.45 and "=" in word:
            words[at] = word.split("=")[0] + "=" + random_.choice(VALUES)
        elif kind < 0.6:
            words.insert(at, random_.choice(FLAGS))
        elif kind < 0.7 and len(words) > 2:
            del words[at]
        elif kind < 0.8:
            words.append(word)
        elif kind < 0.9 and word:
            cut = random_.randrange(len(word) + 1)
            words[at] = word[:cut] + random_.choice(["", ",", "=", "-", "9", "+", ":", "x"]) + word[cut + 1:]
        else:
            words.insert(at, random_.choice(VALUES))
    return words


def make(seed, number):
    random_ = random.Random(f"{seed} {number}")
    seeds = random_.choice([COMPILE, COMPILE, RUN, OTHERS])
    return mutate(random_.choice(seeds).split(), random_), random_


def fault(tool, code, out, said, path):
    """What is wrong with how a command ended; empty if nothing is."""
    if code is None:
        return f"it did not end within {SECONDS} s"
    if code < 0 or code >= 64:
        return f"it ended with {code}"
    for word in INTERNAL:
        if word in said:
            return f"it says '{word}'"
    if code and not said.strip() and not out.strip():
        return f"it ended with {code} and says nothing"
    # tilewright-run writes a record of the error there, as --json says.
    if code and path.is_file() and not tool.endswith("tilewright-run"):
        return f"it ended with {code} and left an output"
    return ""


def run_line(files, seed, number):
    words, random_ = make(seed, number)
    names = files.of(number, random_)
    for name, value in names.items():
        words = [word.replace("{" + name + "}", value) for word in words]
    words = [word.replace("\0", "") for word in words]
    words[0] = str(files.build / "bin" / words[0]) if words[0].startswith("tilewright-") else words[0]
    if not words[0].startswith(str(files.build)):
        return number, words, ""
    place = files.folder / f"in-{number}"
    place.mkdir()
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS, stdin=subprocess.DEVNULL,
                              cwd=place, check=False)
        code, out, said = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, said = None, "", ""
    wrong = fault(words[0], code, out, said, pathlib.Path(names["out"]))
    return number, words, f"{wrong}: {said.strip()[-300:]}" if wrong else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="%(default)s")
    parser.add_argument("--lines", type=int, default=400, help="%(default)s")
    parser.add_argument("--seed", type=int, default=1, help="%(default)s")
    parser.add_argument("--line", type=int, help="only this one, and what it is")
    arguments = parser.parse_args()
    numbers = [arguments.line] if arguments.line is not None else range(arguments.lines)
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        files = Files(pathlib.Path(folder), arguments.build.resolve())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for number, words, wrong in pool.map(lambda n: run_line(files, arguments.seed, n), numbers):
                if wrong or arguments.line is not None:
                    print(f"{number}: {shlex.join(words)}\n    {wrong or 'nothing is wrong'}", flush=True)
                found += bool(wrong)
    print(f"options: {len(numbers)} command lines, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
