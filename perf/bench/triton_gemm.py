# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A product in Triton for CUDA: grouped blocks, masked k, f32 sums; tuned over a few tiles, or with one that fits most."""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config(dict(BM=bm, BN=bn, BK=bk, GROUP=8), num_warps=warps, num_stages=stages)
           for bm, bn, bk, warps, stages in [(128, 256, 64, 8, 3), (256, 128, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 32, 4, 4),
                                             (64, 128, 64, 4, 4), (64, 64, 64, 4, 4), (16, 128, 128, 4, 4), (16, 64, 128, 4, 5)]]


DEFAULT = CONFIGS[2]
#: Our tile of large products on sm_90a.
SAME = triton.Config(dict(BM=128, BN=256, BK=64, GROUP=8), num_warps=8, num_stages=4)


@triton.jit
def plain(a, b, c, M, N, K, BATCH_B, ROW_B, COLUMN_B, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    block, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    band = block // (GROUP * columns)
    height = min(rows - band * GROUP, GROUP)
    m = (band * GROUP + block % height) * BM + tl.arange(0, BM)
    n = (block % (GROUP * columns)) // height * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + batch * M * K + (m % M)[:, None] * K + k[None, :]
    pb = b + batch * BATCH_B + k[:, None] * ROW_B + (n % N)[None, :] * COLUMN_B
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K, BK):
        total = tl.dot(tl.load(pa, mask=k[None, :] < K - step, other=0.0),
                       tl.load(pb, mask=k[:, None] < K - step, other=0.0), total)
        pa += BK
        pb += BK * ROW_B
    tl.store(c + batch * M * N + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


kernel = triton.autotune(CONFIGS, key=["M", "N", "K"])(plain)


def product(a, b, tuned=True, result=torch.float32, config=DEFAULT):
    """A call that multiplies a and b, two matrices or two batches of them; it allocates its result, as ours does. Not
    tuned, it has the tile of `config`. b may have any strides."""
    *batch, m, k = a.shape
    n = b.shape[-1]
    strides = (b.stride(0) if batch else 0, b.stride(-2), b.stride(-1))

    def call():
        c = torch.empty((*batch, m, n), device=a.device, dtype=result)
        grid = lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]), *(batch or [1]))
        if tuned:
            kernel[grid](a, b, c, m, n, k, *strides)
        else:
            plain[grid](a, b, c, m, n, k, *strides, **config.kwargs, num_warps=config.num_warps,
                        num_stages=config.num_stages)
        return c

    return call
