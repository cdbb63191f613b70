# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tilewright.fft`: rows of complex numbers, in stages of all kinds of factors and term by term, and back."""

import numpy as np

from data import F32, F64, integers
from functions import Function, relative


def fft(element, dims, sizes, dynamic=False, known="", inverse=False, more=(), memref=False):
    """Rows along the last of `dims`; P is the dim of parts."""
    label = "x".join("?" if dynamic and d not in known else str(sizes[d]) for d in dims)
    f = Function("fft", element.name, ("inverse." if inverse else "") + label.replace("?", "any") + (".memref" if memref else ""),
                 {**sizes, "P": 2}, dynamic, known=known)
    x = f.arg(element, dims + "P", memref)
    out = f.arg(element, dims + "P", True) if memref else f.empty(element, dims + "P")
    kind = f.value_type(x)
    text = f"tilewright.fft ins({x.name} : {kind}) outs({out.name} : {kind}){' {inverse}' if inverse else ''}"
    if memref:
        f.emit(text)
        f.ret()
    else:
        f.ret(f.raw(f"{text} -> {kind}", element, dims + "P"))

    def reference(x, out=None):
        if 0 in x.shape:
            return np.zeros(x.shape)
        result = (np.fft.ifft if inverse else np.fft.fft)(x[..., 0] + 1j * x[..., 1], axis=-1)
        return np.stack([result.real, result.imag], axis=-1)

    for own in ({}, *more):
        full = {**sizes, **own}
        # Terms of up to 13 in sums of about their number's root; those of all n are rounded n times, else those of the stages'
        # matrices are. A table's angles are rounded, too.
        length = max(full[dims[-1]], 1)
        direct = length == 521 or dynamic and dims[-1] not in known
        roundings = 13 * length**0.5 * (length + 16 if direct else 64)
        f.case("x".join(str(full[d]) for d in dims), own, integers(-9, 9),
               relative(8 * element.eps, roundings * element.eps / (length if inverse else 1)), reference)
    return f


def functions():
    for length in (1, 2, 16, 64, 480, 1024, 77, 202):
        yield fft(F32, "bn", {"b": 5, "n": length})
    yield fft(F64, "bn", {"b": 3, "n": 360})
    yield fft(F64, "bn", {"b": 3, "n": 360}, inverse=True)
    yield fft(F32, "n", {"n": 4096})
    yield fft(F32, "n", {"n": 521})  # a prime that is too large for a product
    yield fft(F32, "abn", {"a": 2, "b": 7, "n": 256}, dynamic=True, known="n", more=[{"a": 0}, {"a": 1, "b": 40}])
    yield fft(F32, "bn", {"b": 4, "n": 128}, inverse=True)
    yield fft(F32, "bn", {"b": 4, "n": 60}, dynamic=True, more=[{"n": 1}, {"n": 0}, {"b": 1, "n": 257}])
    yield fft(F32, "bn", {"b": 4, "n": 60}, dynamic=True, inverse=True)
    yield fft(F32, "bn", {"b": 4, "n": 96}, memref=True)
