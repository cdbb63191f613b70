# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of halves with f32 sums: what is right, and who else computes them."""

EPSILON = 2.0**-24  # unit roundoff of f32


def reference(function, a, b):
    """In f64; an f32 sum of K exact products is off by at most (K + 8) u * sum |a b|."""
    return a @ b, (a.shape[-1] + 8) * EPSILON * (abs(a) @ abs(b))


def by(library, call):
    """A call for which PyTorch's products are those of a library; the peers of a problem take turns."""
    import torch

    def chosen():
        torch.backends.cuda.preferred_blas_library(library)
        return call()

    return chosen


def product(a, b):
    import torch

    multiply = torch.bmm if a.dim() == 3 else torch.mm
    return lambda: multiply(a, b, out_dtype=torch.float32)


def cublas(function, a, b):
    """PyTorch's product with f32 results, which is cuBLAS's."""
    return by("cublas", product(a, b))


def cublaslt(function, a, b):
    """The same by cuBLASLt, with the algorithm that its heuristics name first."""
    return by("cublaslt", product(a, b))


def cublas_halves(function, a, b):
    """PyTorch's product as most call it: the result is rounded to the operands' type, half of the bytes of ours."""
    return by("cublas", lambda: a @ b)


def compiled_halves(function, a, b):
    """That by torch.compile, which tries cuBLAS and configs of Triton for each problem."""
    import torch

    return torch.compile(lambda: a @ b, mode="max-autotune-no-cudagraphs")


def triton(function, a, b):
    """A Triton kernel as its tutorials teach it, with one tile for all problems: against ours as it is compiled."""
    import triton_gemm

    return triton_gemm.product(a, b, tuned=False)


def triton_tuned(function, a, b):
    """The same, the best of a few tiles: against ours tuned."""
    import triton_gemm

    return triton_gemm.product(a, b)


PEERS = {"cublas": cublas, "cublaslt": cublaslt, "cublas_halves": cublas_halves, "triton": triton, "triton_tuned": triton_tuned,
         "compiled_halves": compiled_halves}  # fmt: skip
TUNED = {"triton_tuned", "compiled_halves"}
SLOW = {"compiled_halves"}
