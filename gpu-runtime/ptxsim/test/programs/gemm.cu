// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A * B on matrix units: A row-major, B column-major, both f16, C row-major f32; blocks of 64 x 64, two warps by two,
// k in steps of 32 through three slots of shared memory that cp.async fills.
//
//   nvcc -ptx -arch=sm_80 -o gemm.ptx gemm.cu

#include <cuda_fp16.h>
#include <stdint.h>

constexpr int tile = 64, step = 32, stages = 3, pad = 8;

__device__ void copy16(__half *to, const __half *from) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}

__device__ void load(uint32_t (&r)[4], const __half *row) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(128) gemm(const __half *a, const __half *b, float *c, int n, int k) {
  __shared__ __align__(16) __half as[stages][tile][step + pad];
  __shared__ __align__(16) __half bs[stages][tile][step + pad];
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int rowOfWarp = warp / 2 * 32, columnOfWarp = warp % 2 * 32;
  const __half *aTile = a + size_t(blockIdx.y) * tile * k, *bTile = b + size_t(blockIdx.x) * tile * k;
  float sums[2][4][4] = {};
  auto fill = [&](int slot, int at) {
    if (at < k)
#pragma unroll 1
      for (int i = thread; i < tile * step / 8; i += 128) {
        int row = i / (step / 8), column = i % (step / 8) * 8;
        copy16(&as[slot][row][column], aTile + size_t(row) * k + at + column);
        copy16(&bs[slot][row][column], bTile + size_t(row) * k + at + column);
      }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll 1
  for (int slot = 0; slot < stages - 1; ++slot)
    fill(slot, slot * step);
  for (int at = 0, slot = 0; at < k; at += step, slot = (slot + 1) % stages) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();
    fill((slot + stages - 1) % stages, at + (stages - 1) * step);
#pragma unroll 1
    for (int inner = 0; inner < step; inner += 16) {
      uint32_t af[2][4], bf[2][4];
      for (int i = 0; i < 2; ++i)
        load(af[i], &as[slot][rowOfWarp + i * 16 + lane % 16][inner + lane / 16 * 8]);
      for (int j = 0; j < 2; ++j)
        load(bf[j], &bs[slot][columnOfWarp + j * 16 + lane % 8 + lane / 16 * 8][inner + lane / 8 % 2 * 8]);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          multiply(sums[i][j], af[i], bf[j / 2][j % 2 * 2], bf[j / 2][j % 2 * 2 + 1]);
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int half = 0; half < 2; ++half) {
        int row = blockIdx.y * tile + rowOfWarp + i * 16 + half * 8 + lane / 4;
        int column = blockIdx.x * tile + columnOfWarp + j * 8 + lane % 4 * 2;
        *reinterpret_cast<float2 *>(c + size_t(row) * n + column) =
            make_float2(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
      }
}
