# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types: names as in MLIR, numbers of the C API, NumPy's types.

NumPy has no bf16, 8-bit float or 4-bit integer; the package ml_dtypes brings
them. Without it arrays of those types cannot be made, and an error says so.
"""

import math
import struct

import numpy

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

#: Numbers are part of the ABI (tw_dtype).
NUMBERS = {
    "f64": 1, "f32": 2, "f16": 3, "bf16": 4, "f8E4M3FN": 5, "f8E5M2": 6, "i64": 7,
    "i32": 8, "i16": 9, "i8": 10, "i4": 11, "i1": 12, "index": 13, "f8E4M3FNUZ": 14, "f8E5M2FNUZ": 15, "i2": 16,
}
NAMES = {number: name for name, number in NUMBERS.items()}
_NUMPY = {
    "f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "i1": "bool", "index": "int64",
}
_ML = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3FNUZ": "float8_e4m3fnuz",
       "f8E5M2FNUZ": "float8_e5m2fnuz", "i4": "int4", "i2": "int2"}
#: Elements that share a byte, the first in its lowest bits.
PER_BYTE = {"i4": 2, "i2": 4}
SIZES = {name: 8 if name == "index" else max(1, int(name.strip("bfi").split("E")[0]) // 8) for name in NUMBERS}


def check_name(name):
    if name not in NUMBERS:
        raise TypeError(f"there is no element type {name!r}; expected one of {', '.join(NUMBERS)}")


def to_numpy(name):
    """The NumPy type of an element type; TypeError where there is none here."""
    if name in _NUMPY:
        return numpy.dtype(_NUMPY[name])
    if ml_dtypes is not None and hasattr(ml_dtypes, _ML[name]):
        return numpy.dtype(getattr(ml_dtypes, _ML[name]))
    raise TypeError(f"NumPy has no type for {name}; install ml_dtypes, which has {_ML[name]}, or pass the "
                    "tensor on by DLPack")


def accepts(name, dtype):
    """Whether elements of a NumPy type are elements of type `name`, bit for bit.

    Integers are without a sign, so uint8 serves for i8; bool, int8 and uint8 for
    i1 (0 or 1) and, before they are packed, for i4 and i2 (the low bits); raw
    uint16 and uint8 for floats that NumPy does not know.
    """
    if not dtype.isnative:
        return False
    if name in _ML and dtype.name == _ML[name]:
        return True
    if dtype.itemsize != SIZES[name]:
        return False
    if name in ("f64", "f32", "f16"):
        return dtype.kind == "f"
    if name == "i1":
        return dtype.kind in "bui"
    if name in _ML:
        return dtype.kind == "u" or (name in PER_BYTE and dtype.kind == "i")
    return dtype.kind in "iu"


def of_numpy(dtype):
    """The element type that arrays of a NumPy type are by themselves."""
    if not dtype.isnative:
        raise TypeError(f"expected elements of this machine's byte order, got an array of {dtype}, of the other byte "
                        "order; convert it with astype")
    for name in NUMBERS:
        if name != "index" and (_NUMPY.get(name) == dtype.name or _ML.get(name) == dtype.name):
            return name
    if dtype.kind == "u":
        return f"i{8 * dtype.itemsize}"
    raise TypeError(f"there is no element type for arrays of {dtype}; expected one of {', '.join(NUMBERS)}")


def pack(array, name):
    """The bytes of a tensor of i4 or i2, whose elements share them."""
    count = PER_BYTE[name]
    bits = 8 // count
    flat = array.ravel().astype("int8").view("uint8") & (2**bits - 1)
    flat = numpy.append(flat, numpy.zeros(-flat.size % count, "uint8")).reshape(-1, count)
    return numpy.bitwise_or.reduce(flat << numpy.arange(0, 8, bits, dtype="uint8"), axis=1)


def unpack(packed, name, shape):
    """The elements of such bytes, with their sign, as NumPy's int8."""
    bits = 8 // PER_BYTE[name]
    each = packed[:, None] << numpy.arange(8 - bits, -1, -bits, dtype="uint8")
    return (each.view("int8") >> (8 - bits)).ravel()[:int(numpy.prod(shape))].reshape(shape)


_FORMATS = {"f64": "<d", "f32": "<f", "f16": "<e"}


def scalar_bits(value, name):
    """A Python or NumPy number as the 64 bits that the runtime takes."""
    if isinstance(value, (str, bytes, bytearray)):  # Python would read a number in them
        raise TypeError(f"expected a number for a scalar {name}, got {value!r}")
    if name in _FORMATS:
        return int.from_bytes(struct.pack(_FORMATS[name], float(value)), "little")
    if name in _ML and name not in PER_BYTE:
        # NumPy makes infinity, or no number, of what is too large; ml_dtypes has an error of its own beyond a float.
        if isinstance(value, int):
            value = float(value)
        with numpy.errstate(all="ignore"):
            made = numpy.asarray(value, to_numpy(name))
        if math.isfinite(value) and not math.isfinite(made):
            raise OverflowError(f"{value!r} does not fit {name}")
        return int.from_bytes(made.tobytes(), "little")
    if isinstance(value, float) or not hasattr(value, "__index__"):
        if not isinstance(value, (bool, numpy.bool_)):
            raise TypeError(f"expected an integer for a scalar {name}, got {value!r}")
        value = bool(value)
    number, bits = int(value), 1 if name == "i1" else 64 if name == "index" else int(name[1:])
    if not -(1 << (bits - 1)) <= number < (1 << bits):
        raise OverflowError(f"{number} does not fit {name}")
    return number & ((1 << 64) - 1)


def scalar_value(bits, name):
    """The number in the bits of a scalar result."""
    if name in _FORMATS:
        return struct.unpack(_FORMATS[name], bits.to_bytes(8, "little")[:SIZES[name]])[0]
    if name in _ML and name not in PER_BYTE:
        raw = numpy.frombuffer(bits.to_bytes(8, "little")[:SIZES[name]], f"u{SIZES[name]}")
        return float(raw.view(to_numpy(name))[0])
    if name == "i1":
        return bool(bits & 1)
    return bits - (1 << 64) if bits >> 63 else bits
