# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types and the data of inputs, for generators and goldens.

The runner makes the same numbers from the same description; its fill.h has the
formula. Goldens are computed in float64 or int64 from these arrays.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class ElementType:
    name: str  # as in MLIR
    bits: int
    mantissa: int = 0  # stored bits; 0: an integer type
    tiny: float = 0.0  # smallest subnormal

    @property
    def is_float(self):
        return self.mantissa > 0

    @property
    def eps(self):
        """Distance from 1 to the next number."""
        return 2.0**-self.mantissa

    def round(self, values):
        """The nearest numbers of this type, as float64 or int64."""
        if not self.is_float:
            values = np.asarray(values).astype(np.int64)
            if self.bits == 1:
                return (values != 0).astype(np.int64)
            half = 1 << (self.bits - 1)
            return ((values + half) & ((1 << self.bits) - 1)) - half if self.bits < 64 else values
        values = np.asarray(values, np.float64)
        if self.name == "f64":
            return values
        if self.bits == 8:
            return self.round_narrow(values)
        values = np.asarray(values.astype(np.float32))
        if self.name == "f16":
            with np.errstate(over="ignore"):
                return values.astype(np.float16).astype(np.float64)
        if self.name == "bf16":
            bits = np.atleast_1d(values).view(np.uint32).astype(np.int64)
            bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
            return bits.astype(np.uint32).view(np.float32).astype(np.float64).reshape(values.shape)
        return values.astype(np.float64)

    def round_narrow(self, values):
        """To a multiple of what the last place is worth; beyond the largest number to NaN, or infinity if there is one."""
        magnitude = np.abs(values)
        _, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 0))
        lowest = round(np.log2(self.tiny)) + self.mantissa
        place = 2.0 ** (np.maximum(exponent - 1, lowest) - self.mantissa)
        rounded = np.rint(magnitude / place) * place
        largest = {"f8E4M3FN": 448, "f8E4M3FNUZ": 240}.get(self.name, 57344)
        beyond = np.inf if self.name == "f8E5M2" else np.nan
        signed = np.copysign(np.where(rounded > largest, beyond, rounded), values)
        return signed + 0.0 if self.name.endswith("UZ") else signed  # no -0


F64 = ElementType("f64", 64, 52, 2.0**-1074)
F32 = ElementType("f32", 32, 23, 2.0**-149)
F16 = ElementType("f16", 16, 10, 2.0**-24)
BF16 = ElementType("bf16", 16, 7, 2.0**-133)
E4M3 = ElementType("f8E4M3FN", 8, 3, 2.0**-9)
E5M2 = ElementType("f8E5M2", 8, 2, 2.0**-16)
E4M3UZ = ElementType("f8E4M3FNUZ", 8, 3, 2.0**-10)
E5M2UZ = ElementType("f8E5M2FNUZ", 8, 2, 2.0**-17)
I32 = ElementType("i32", 32)
I1 = ElementType("i1", 1)
I16 = ElementType("i16", 16)
I8 = ElementType("i8", 8)
I4 = ElementType("i4", 4)  # two to a byte
I2 = ElementType("i2", 2)  # four
I64 = ElementType("i64", 64)
INDEX = ElementType("index", 64)
TYPES = (F32, F16, BF16, F64, I32, I8)


def splitmix64(x):
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def fraction(seed, count, bits):
    numbers = splitmix64(np.arange(count, dtype=np.uint64) + np.uint64(seed << 32))
    return (numbers >> np.uint64(64 - bits)).astype(np.float64) * 2.0**-bits


def make(element, dims, fill):
    """The array that the runner's makeInput gives, as float64 or int64."""
    count = int(np.prod(dims, dtype=np.int64))
    kind, seed = fill["fill"], fill.get("seed", 0)
    low, high = fill.get("low", 0), fill.get("high", 0)
    if kind == "int":
        values = low + np.floor((high - low + 1.0) * fraction(seed, count, 53))
    elif kind == "uniform":
        values = low + (high - low) * fraction(seed, count, 24)
    elif kind == "choice":
        choices = np.asarray(fill["values"], np.float64)
        values = choices[(len(choices) * fraction(seed, count, 53)).astype(np.int64)]
    elif kind == "values":
        values = np.asarray(fill["values"], np.float64)
    else:
        raise ValueError(kind)
    return element.round(values).reshape(dims)


def integers(low, high):
    return {"fill": "int", "low": low, "high": high}


def uniform(low, high):
    """`low` and `high` are small multiples of powers of two: sums are exact."""
    return {"fill": "uniform", "low": low, "high": high}


def choice(*values):
    return {"fill": "choice", "values": list(values)}
