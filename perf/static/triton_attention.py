# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of halves in Triton, online softmax in powers of two, for sizes that are known and divisible by the block."""

import os

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def attention(q, k, v, o, TOKENS: tl.constexpr, DEPTH: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SCALE: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * TOKENS * DEPTH
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    d = tl.arange(0, DEPTH)
    queries = tl.load(q + head + i[:, None] * DEPTH + d[None, :])
    pk = k + head + j[None, :] * DEPTH + d[:, None]
    pv = v + head + j[:, None] * DEPTH + d[None, :]
    largest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, DEPTH), tl.float32)
    for step in range(0, TOKENS, BN):
        scores = tl.dot(queries, tl.load(pk))
        above = tl.maximum(largest, tl.max(scores, 1) * SCALE)
        powers = tl.math.exp2(scores * SCALE - above[:, None])
        shrink = tl.math.exp2(largest - above)
        total = total * shrink + tl.sum(powers, 1)
        result = tl.dot(powers.to(tl.float16), tl.load(pv), result * shrink[:, None])
        largest = above
        pk += BN * DEPTH
        pv += BN * DEPTH
    result = result / total[:, None]
    tl.store(o + head + i[:, None] * DEPTH + d[None, :], result.to(tl.float16))


def compile_attention(tokens, depth, block, warps, stages, capability):
    """PTX, and bytes of dynamic shared memory."""
    constants = dict(TOKENS=tokens, DEPTH=depth, BM=block[0], BN=block[1], SCALE=depth**-0.5 * 1.4426950408889634)
    signature = {name: "constexpr" if name in constants else "*fp16" for name in attention.arg_names}
    attributes = {(index,): [["tt.divisibility", 16]] for index in range(4)}
    compiled = triton.compile(ASTSource(attention, signature, constants, attributes), target=GPUTarget("cuda", capability, 32),
                              options=dict(num_warps=warps, num_stages=stages, ptx_version=80))
    return compiled.asm["ptx"], compiled.metadata.shared
