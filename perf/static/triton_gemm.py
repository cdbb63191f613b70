# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's product of halves with sums and results in f32 for sizes that are known and divisible by the tile: no masks."""

import os

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def gemm(a, b, c, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K, BK):
        total = tl.dot(tl.load(pa), tl.load(pb), total)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], total)


def compile_gemm(n, k, tile, warps, stages, capability):
    """PTX, and bytes of dynamic shared memory."""
    constants = dict(N=n, K=k, BM=tile[0], BN=tile[1], BK=tile[2])
    types = dict(a="*fp16", b="*fp16", c="*fp32")
    signature = {name: types.get(name, "constexpr") for name in gemm.arg_names}
    attributes = {(index,): [["tt.divisibility", 16]] for index in range(3)}
    compiled = triton.compile(ASTSource(gemm, signature, constants, attributes), target=GPUTarget("cuda", capability, 32),
                              options=dict(num_warps=warps, num_stages=stages, ptx_version=80))
    return compiled.asm["ptx"], compiled.metadata.shared
