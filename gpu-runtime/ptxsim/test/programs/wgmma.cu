// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A * B^T by wgmma: f16 in, f32 out, A is m x k and B is n x k, both row-major. A block of one warpgroup makes 64 x 64
// of C. Tiles of 64 x 64 arrive by cp.async in the layout of the 128-byte swizzle, in two stages whose copies arrive at
// an mbarrier each; sums stay in registers over four wgmma per tile.
//
//   nvcc -arch=sm_90a -ptx wgmma.cu

#include <cuda_fp16.h>

constexpr int tile = 64, stages = 2, tileBytes = tile * 128;

__device__ unsigned sharedAddress(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// k-major, 128-byte swizzle: eight rows of 128 bytes are an atom, atoms are 1024 bytes apart.
__device__ unsigned long long descriptor(unsigned address) {
  return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

/// The threads of the block copy a tile; 16 bytes each time, exchanged within their row of 128.
__device__ void copyTile(unsigned to, const half *from, int ld) {
#pragma unroll 1
  for (int i = threadIdx.x; i < tile * 8; i += 128) {
    int row = i / 8, unit = i % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + row * 128 + ((unit ^ row % 8) * 16)),
                 "l"(from + (size_t)row * ld + unit * 8));
  }
}

__device__ void waitFor(unsigned barrier, int parity) {
  asm volatile("{ .reg .pred p;\n"
               "W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra W; }" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128) gemm(const half *a, const half *b, float *c, int n, int k) {
  __shared__ __align__(1024) unsigned char tiles[stages * 2 * tileBytes];
  __shared__ __align__(8) unsigned long long full[stages];
  unsigned base = sharedAddress(tiles), barriers = sharedAddress(full);
  const half *rowsA = a + (size_t)blockIdx.y * tile * k, *rowsB = b + (size_t)blockIdx.x * tile * k;
  if (threadIdx.x == 0)
    for (int i = 0; i < stages; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(barriers + 8 * i) : "memory");
  __syncthreads();
  int steps = k / tile;
  auto start = [&](int step) {
    unsigned to = base + step % stages * 2 * tileBytes;
    copyTile(to, rowsA + step * tile, k);
    copyTile(to + tileBytes, rowsB + step * tile, k);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barriers + step % stages * 8) : "memory");
  };
  start(0);
  float d[32];
  for (float &x : d)
    x = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps)
      start(step + 1);
    waitFor(barriers + step % stages * 8, step / stages % 2);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned from = base + step % stages * 2 * tileBytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4; ++i)
      multiply(d, descriptor(from + i * 32), descriptor(from + tileBytes + i * 32));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  int row = blockIdx.y * tile + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = blockIdx.x * tile + threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i)
    c[(size_t)(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = d[i];
}
