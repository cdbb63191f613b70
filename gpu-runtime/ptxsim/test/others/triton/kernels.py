# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that make-ptx compiles with Triton: what programs in it usually look like, at sizes a test can run."""

import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    """c[M, N] = a[M, K] * b[K, N], all row-major; the edges are masked."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    ap = a + rows[:, None] * K + depth[None, :]
    bp = b + depth[:, None] * N + cols[None, :]
    total = tl.zeros((BM, BN), dtype=SUM)
    for k in range(0, K, BK):
        x = tl.load(ap, mask=(rows < M)[:, None] & (k + depth < K)[None, :], other=0)
        y = tl.load(bp, mask=(k + depth < K)[:, None] & (cols < N)[None, :], other=0)
        total = tl.dot(x, y, total, out_dtype=SUM)
        ap += BK
        bp += BK * N
    tl.store(c + rows[:, None] * N + cols[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def gemm_transposed(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    """c[M, N] = a[M, K] * b[N, K]^T: what matrix units of 8-bit types take."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=SUM)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + depth)[None, :], mask=(rows < M)[:, None], other=0.0)
        y = tl.load(b + cols[None, :] * K + (k + depth)[:, None], mask=(cols < N)[None, :], other=0.0)
        total = tl.dot(x, y, total, out_dtype=SUM)
    tl.store(c + rows[:, None] * N + cols[None, :], total.to(c.dtype.element_ty),
             mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def gemm_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same through tensor maps, which the host encodes."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([row, k]), b.load([k, col]), total)
    c.store([row, col], total.to(c.dtype))


@triton.jit
def attention(q, k, v, out, scale, LENGTH, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """softmax(q k^T * scale) v by running maxima and sums; one head per program of axis 1, each [LENGTH, D]."""
    head = tl.program_id(1) * LENGTH * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    x = tl.load(q + head + rows[:, None] * D + dims[None, :])
    largest = tl.full((BM,), float("-inf"), dtype=tl.float32)
    denominator = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, D), dtype=tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else LENGTH
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        keys = tl.load(k + head + cols[None, :] * D + dims[:, None])
        scores = tl.dot(x, keys) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= cols[None, :], scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        correction = tl.exp2(largest - larger)
        denominator = denominator * correction + tl.sum(weights, 1)
        values = tl.load(v + head + cols[:, None] * D + dims[None, :])
        total = tl.dot(weights.to(tl.float16), values, total * correction[:, None])
        largest = larger
    tl.store(out + head + rows[:, None] * D + dims[None, :], (total / denominator[:, None]).to(tl.float16))


@triton.jit
def softmax(x, y, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0) * COLS
    cols = tl.arange(0, BLOCK)
    values = tl.load(x + row + cols, mask=cols < COLS, other=float("-inf"))
    weights = tl.exp(values - tl.max(values, 0))
    tl.store(y + row + cols, weights / tl.sum(weights, 0), mask=cols < COLS)


@triton.jit
def layer_norm(x, weight, bias, y, COLS, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0) * COLS
    cols = tl.arange(0, BLOCK)
    inside = cols < COLS
    values = tl.load(x + row + cols, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(values, 0) / COLS
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / COLS + epsilon)
    result = centred * scale * tl.load(weight + cols, mask=inside) + tl.load(bias + cols, mask=inside)
    tl.store(y + row + cols, result.to(tl.float16), mask=inside)


@triton.jit
def reduce_atomic(x, sums, largest, bins, COUNT, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """The sum and the maximum of all values by one atomic each per program, a histogram, and a count by compare and swap."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < COUNT, other=0)
    tl.atomic_add(sums, tl.sum(values, 0))
    tl.atomic_max(largest, tl.max(values, 0))
    tl.atomic_add(bins + (values & (BINS - 1)), 1, mask=at < COUNT)
    tl.atomic_add(bins + BINS, tl.sum((at < COUNT).to(tl.int32), 0), sem="release", scope="sys")


@triton.jit
def scan_sort(x, sums, sorted_values, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + tl.program_id(0) * BLOCK + at)
    tl.store(sums + tl.program_id(0) * BLOCK + at, tl.cumsum(values, 0))
    tl.store(sorted_values + tl.program_id(0) * BLOCK + at, tl.sort(values))


@triton.jit
def gemm_device_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tensor maps that the kernel itself makes, in scratch memory."""
    maps = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    other = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    result = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(maps.load([row, k]), other.load([col, k]).T, total)
    result.store([row, col], total)


@triton.jit
def gemm_mixed(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Bytes times halves: one operand of the product comes from registers."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + depth)[None, :], mask=(rows < M)[:, None], other=0)
        y = tl.load(b + (k + depth)[:, None] * N + cols[None, :], mask=(cols < N)[None, :], other=0.0)
        total = tl.dot(x.to(tl.bfloat16), y, total)
    tl.store(c + rows[:, None] * N + cols[None, :], total, mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def functions(x, y, COUNT, BLOCK: tl.constexpr):
    """What libdevice and the language make of elementary functions; each result is a row of y."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    v = tl.load(x + at, mask=inside, other=1.0)
    tl.store(y + at, tl.exp(v), mask=inside)
    tl.store(y + COUNT + at, tl.log(tl.abs(v) + 1), mask=inside)
    tl.store(y + 2 * COUNT + at, tl.sin(v) * tl.cos(v), mask=inside)
    tl.store(y + 3 * COUNT + at, tl.erf(v), mask=inside)
    tl.store(y + 4 * COUNT + at, tl.sigmoid(v), mask=inside)
    tl.store(y + 5 * COUNT + at, tl.rsqrt(tl.abs(v) + 1), mask=inside)
    tl.store(y + 6 * COUNT + at, tl.floor(v) + tl.div_rn(v, 3.0) + tl.sqrt_rn(tl.abs(v)), mask=inside)
    tl.store(y + 7 * COUNT + at, tl.rand(7, at), mask=inside)
    tl.store(y + 8 * COUNT + at, v.to(tl.float8e5).to(tl.float32) + v.to(tl.float8e4nv).to(tl.float32), mask=inside)


@triton.jit
def locked_sum(x, lock, total, BLOCK: tl.constexpr):
    """A critical section by compare and swap."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.load(total + tl.arange(0, BLOCK)) * 0 + tl.load(x + at)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + tl.arange(0, BLOCK), tl.load(total + tl.arange(0, BLOCK), volatile=True) + sums)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def reduce_halves(x, sums, BLOCK: tl.constexpr):
    """Atomic sums of pairs of halves, of floats, and of minima of floats."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + tl.program_id(0) * BLOCK + at)
    tl.atomic_add(sums + at, values, sem="relaxed")
