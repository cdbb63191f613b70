# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""float8-conversions.py FOLDER: all bytes sixteen times (bytes.npy), an odd number of them (odd.npy), all f16 (halves.npy), and these and their neighbours as f32
(singles.npy)."""

import array
import struct
import sys

FOLDER = sys.argv[1]


def write(name, dtype, count, data):
    header = str({"descr": dtype, "fortran_order": False, "shape": (count,)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(f"{FOLDER}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


# But for NaN, whose sign is anything.
odd = [byte for byte in range(256) if byte & 0x7F != 0x7F]
write("odd", "|u1", 257, bytes(odd + [1, 129, 128]))
write("bytes", "|u1", 4096, bytes(range(256)) * 16)
halves = array.array("H", range(65536))
write("halves", "<f2", len(halves), halves.tobytes())
bits = [struct.unpack("<I", struct.pack("<f", struct.unpack("<e", struct.pack("<H", half))[0]))[0] for half in halves]
# The neighbours of zero are the least numbers of both signs; those of infinity a NaN and the greatest number.
singles = array.array("I", bits + [b + 1 for b in bits] + [b - 1 if b & 0x7FFFFFFF else b ^ 0x80000001 for b in bits])
write("singles", "<f4", len(singles), singles.tobytes())
