# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inspects damaged copies of an artifact: damage.py INSPECT ARTIFACT FILE COUNT.

Each copy has bits flipped, words replaced by extremes, or its end cut off; first
as it is, then under a hash that is right again, so that the readers behind the
hash meet the damage. The inspector must end with exit code 0, or with 1 and one
line of error.
"""

import hashlib
import pathlib
import random
import subprocess
import sys

MODES = [[], ["--json"], ["--disassemble"]]


def damage(data, generator):
    data = bytearray(data)
    action = generator.randrange(3)
    if action == 0:
        for _ in range(generator.randint(1, 4)):
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    elif action == 1:
        # Tables lie in front and in the ELF headers: hit them more often.
        starts = [0] + [i for i in range(len(data) - 4) if data[i:i + 4] == b"\x7fELF"]
        at = generator.choice(starts) + 8 * generator.randrange(64)
        at = min(at, len(data) - 8)
        data[at:at + 8] = generator.choice([b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f\0\0\0\0"])
    else:
        del data[generator.randrange(len(data)):]
    return data


def rehash(data):
    if len(data) >= 56:
        data[16:24] = len(data).to_bytes(8, "little")
        data[24:56] = hashlib.sha256(data[56:]).digest()
    return data


def handled(inspect, path, mode):
    done = subprocess.run([inspect, path, *mode], capture_output=True, timeout=60)
    lines = done.stderr.decode(errors="replace").splitlines()
    refused = done.returncode == 1 and len(lines) == 1 and lines[0].startswith("tilewright-inspect: error: ")
    if not refused and (done.returncode or lines):
        print(f"exit code {done.returncode} of {mode}: {lines[:3]}")
    return refused, refused or (done.returncode == 0 and not lines)


def main():
    inspect, artifact, path, count = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4])
    original = artifact.read_bytes()
    for name, repair in (("plain", lambda data: data), ("with a correct hash", rehash)):
        refused = bad = 0
        for seed in range(count):
            data = repair(damage(original, random.Random(seed)))
            if data == original:
                data = data[:-1]
            path.write_bytes(data)
            said_no, fine = handled(inspect, path, MODES[seed % len(MODES)])
            refused += said_no
            if not fine:
                bad += 1
                print(f"{name}: seed {seed} is badly handled")
        print(f"{name}: {count} damaged, {refused} refused, {bad} badly handled")


main()
