// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A * B as Hopper computes it: tiles of f16 by tensor map into swizzled slots, mbarriers that say when a slot is full,
// wgmma out of shared memory. A is m x k, B is n x k, both with k innermost; a block of 128 threads computes 64 x 64.
//
//   nvcc -ptx -arch=sm_90a -o hopper.ptx hopper.cu

#include <cuda.h>
#include <stdint.h>

constexpr int slots = 2, tileBytes = 64 * 64 * 2;

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void fetch(const CUtensorMap &map, void *to, uint64_t *barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
               "[%4];" ::"r"(shared(to)), "l"(&map), "r"(x), "r"(y), "r"(shared(barrier)) : "memory");
}

/// K-major, swizzled by 128 bytes: eight rows are 1024 bytes.
__device__ uint64_t descriptor(const void *tile, int k) {
  uint64_t start = (shared(tile) + k * 2) >> 4 & 0x3fff;
  return start | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k) {
  __shared__ __align__(1024) uint8_t as[slots][tileBytes];
  __shared__ __align__(1024) uint8_t bs[slots][tileBytes];
  __shared__ __align__(8) uint64_t full[slots];
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  auto fill = [&](int at) {
    int slot = at / 64 % slots;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full[slot])), "r"(2 * tileBytes)
                 : "memory");
    fetch(a, as[slot], &full[slot], at, row);
    fetch(b, bs[slot], &full[slot], at, column);
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < slots; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0)
    fill(0);
  float d[32] = {};
#pragma unroll 1
  for (int at = 0; at < k; at += 64) {
    int slot = at / 64 % slots;
    if (threadIdx.x == 0 && at + 64 < k)
      fill(at + 64);
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared(&full[slot])), "r"(at / 64 / slots % 2) : "memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int inner = 0; inner < 64; inner += 16)
      multiply(d, descriptor(as[slot], inner), descriptor(bs[slot], inner));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) {
    int r = row + warp * 16 + lane / 4 + i / 2 % 2 * 8, col = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
    c[size_t(r) * n + col] = d[i];
  }
}
