# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs as bytes, and results held against what is right; with the standard library alone, fast enough for megabytes.

Small integers (-2 to 2) make sums exact whatever their order, so results of contractions are compared byte by byte.
Of the rest each element has its own bound, which the reference program computes.
"""

import array
import math
import os
import random
import re
import struct
import sys

SIZES = {
    "f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8E4M3FN": 1, "f8E5M2": 1, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i4": 1
}  # fmt: skip

#: The two highest bytes of -2, -1, 0, 1, 2; of bytes the only one.
_WHOLE = {
    "f64": (0xC000, 0xBFF0, 0, 0x3FF0, 0x4000),
    "f32": (0xC000, 0xBF80, 0, 0x3F80, 0x4000),
    "bf16": (0xC000, 0xBF80, 0, 0x3F80, 0x4000),
    "f16": (0xC000, 0xBC00, 0, 0x3C00, 0x4000),
    "f8E4M3FN": (0xC000, 0xB800, 0, 0x3800, 0x4000),
    "f8E5M2": (0xC000, 0xBC00, 0, 0x3C00, 0x4000),
}
#: First and last of the highest byte of numbers from 0.5 to 2.
_PARTS = {"f64": (0x3F, 0x3F), "f32": (0x3F, 0x3F), "bf16": (0x3F, 0x3F), "f16": (0x38, 0x3F)}
_PARTS.update({"f8E4M3FN": (0x30, 0x3F), "f8E5M2": (0x38, 0x3F)})


def parse_type(text):
    """ "64x96xf32" -> ((64, 96), "f32"); a range of values may stand behind it, as "8xi32=int:1:64"."""
    *dims, dtype = text.partition("=")[0].split("x")
    if dtype not in SIZES:
        raise ValueError(f"inputs of {dtype} are not made yet; there are {', '.join(SIZES)}")
    return tuple(map(int, dims)), dtype


def _random_bytes(count, seed):
    if not count:
        return b""
    return random.Random(seed).getrandbits(8 * count).to_bytes(count, "little")


def _in_range(text, count, dtype, seed):
    """Whole numbers of "int:LEAST:LARGEST"."""
    match = re.fullmatch(r"int:(-?\d+):(-?\d+)", text)
    if not match or int(match[1]) > int(match[2]) or dtype not in ("i64", "i32", "i16", "i8"):
        raise ValueError(f"'={text}' of {dtype}: a range of inputs is int:LEAST:LARGEST, of i8 to i64")
    least, source = int(match[1]), random.Random(seed)
    span = int(match[2]) - least + 1
    code = {"i64": "q", "i32": "i", "i16": "h", "i8": "b"}[dtype]
    return array.array(code, [least + int(source.random() * span) for _ in range(count)]).tobytes()


def make_input(text, seed, exact):
    """Bytes of a tensor, row-major: whole numbers from -2 to 2, or anything between 0.5 and 2 with either sign; of a range
    what it says. Of i4, two of which share a byte, all numbers."""
    dims, dtype = parse_type(text)
    count, size = math.prod(dims), SIZES[dtype]
    if "=" in text:
        return _in_range(text.partition("=")[2], count, dtype, seed)
    if dtype == "i4":
        return _random_bytes((count + 1) // 2, seed)
    noise = _random_bytes(count, seed)
    if dtype.startswith("i"):
        sign = noise.translate(bytes(0xFF if x % 5 < 2 else 0 for x in range(256)))
        data = bytearray(size * count)
        for place in range(size):
            data[place::size] = sign
        data[0::size] = noise.translate(bytes((x % 5 - 2) % 256 for x in range(256)))
        return bytes(data)
    if exact:
        data, words = bytearray(size * count), _WHOLE[dtype]
        data[size - 1 :: size] = noise.translate(bytes(words[x % 5] >> 8 for x in range(256)))
        if size > 1:
            data[size - 2 :: size] = noise.translate(bytes(words[x % 5] & 255 for x in range(256)))
        return bytes(data)
    first, last = _PARTS[dtype]
    data = bytearray(_random_bytes(size * count, seed + 1))
    data[size - 1 :: size] = noise.translate(bytes(first + x % (last - first + 1) + (x & 128) for x in range(256)))
    if dtype == "f64":  # 0x3FE0… is 0.5, 0x3FF0… is 1
        data[6::8] = _random_bytes(count, seed + 2).translate(bytes(x | 0xE0 for x in range(256)))
    return bytes(data)


def _e4m3(byte):
    """f8E4M3FN: a sign, four bits of an exponent from -6 on, three of a significand; all ones are NaN."""
    exponent, rest = byte >> 3 & 15, byte & 7
    if byte & 127 == 127:
        return math.nan
    size = (8 + rest) * 2.0 ** (exponent - 10) if exponent else rest * 2.0**-9
    return -size if byte & 128 else size


def numbers(data, dtype):
    """The elements of a tensor's bytes."""
    if dtype == "i4":
        return [(x ^ 8) - 8 for byte in data for x in (byte & 15, byte >> 4)]
    if dtype == "f8E4M3FN":
        return [_e4m3(byte) for byte in data]
    if sys.byteorder != "little":
        raise RuntimeError("results are compared on little-endian machines only")
    if dtype == "f8E5M2":  # the upper half of f16
        data, dtype = b"".join(bytes((0, byte)) for byte in data), "f16"
    if dtype == "f16":
        return struct.unpack(f"<{len(data) // 2}e", data)
    if dtype == "bf16":
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
        data, dtype = bytes(wide), "f32"
    return array.array({"f64": "d", "f32": "f", "i64": "q", "i32": "i", "i16": "h", "i8": "b"}[dtype], data)


def differences(got, expected, bound, dtype):
    """How many elements are off by more than `bound`, and the first of them as text. A bound is a number for all, or
    bytes of f64, one for each; None: none may be off at all."""
    if got == expected:
        return 0, ""
    ours, right = numbers(got, dtype), numbers(expected, dtype)
    allowed = [bound] * len(ours) if isinstance(bound, float) else numbers(bound, "f64") if bound else None
    count, first = 0, ""
    for i, (a, b) in enumerate(zip(ours, right)):
        # NaN equals NaN, and is within no bound of anything else.
        if a == b or (a != a and b != b) or (allowed and abs(a - b) <= allowed[i]):
            continue
        if not count:
            first = f"element {i} is {a:.9g}, not {b:.9g}" + (f", off by more than {allowed[i]:.3g}" if allowed else "")
        count += 1
    return count, first


def fresh_seed():
    return int.from_bytes(os.urandom(4), "little")
