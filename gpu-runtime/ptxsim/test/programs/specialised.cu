// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A * B with specialised warps, as the fastest kernels of Hopper do it: a warpgroup that loads tiles and gives most of
// its registers away, two that multiply. A is m x k, B is n x k, both f16 with k innermost; a block of 384 threads computes
// 128 x 64. `gemm` loads for itself; in `gemmOfTwo` the two blocks of a cluster lie one above the other and each loads half
// of B for both. Both need slots * (aBytes + bBytes) of dynamic shared memory.
//
//   nvcc -ptx -arch=sm_90a -o specialised.ptx specialised.cu

#include <cuda.h>
#include <stdint.h>

constexpr int slots = 3, rowBytes = 64 * 2, aBytes = 128 * rowBytes, bBytes = 64 * rowBytes;

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ uint32_t rank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

__device__ void fetch(const CUtensorMap &map, void *to, uint64_t *barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
               "[%4];" ::"r"(shared(to)), "l"(&map), "r"(x), "r"(y), "r"(shared(barrier)) : "memory");
}

__device__ void fetchForBoth(const CUtensorMap &map, void *to, uint64_t *barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(to)), "l"(&map), "r"(x), "r"(y), "r"(shared(barrier)),
               "h"(static_cast<uint16_t>(3)) : "memory");
}

__device__ void waitFor(uint64_t *barrier, int parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared(barrier)), "r"(parity) : "memory");
}

__device__ void arriveAt(uint64_t *barrier, uint32_t ofRank) {
  asm volatile("{\n"
               ".reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
               "}" ::"r"(shared(barrier)), "r"(ofRank) : "memory");
}

__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
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

template <int Blocks>
__device__ void multiplyTiles(const CUtensorMap &a, const CUtensorMap &b, float *c, int n, int k) {
  extern __shared__ __align__(1024) uint8_t tiles[];
  auto as = reinterpret_cast<uint8_t(*)[aBytes]>(tiles);
  auto bs = reinterpret_cast<uint8_t(*)[bBytes]>(tiles + slots * aBytes);
  __shared__ __align__(8) uint64_t full[slots], empty[slots];
  int row = blockIdx.y * 128, column = blockIdx.x * 64, steps = k / 64;
  if (threadIdx.x == 0) {
    for (int i = 0; i < slots; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&empty[i])), "r"(2 * Blocks) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (Blocks == 1)
    __syncthreads();
  else
    meet();
  int group = threadIdx.x / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
#pragma unroll 1
      for (int step = 0; step < steps; ++step) {
        int slot = step % slots;
        waitFor(&empty[slot], step / slots % 2 ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full[slot])),
                     "r"(aBytes + bBytes) : "memory");
        fetch(a, as[slot], &full[slot], step * 64, row);
        if (Blocks == 1) {
          fetch(b, bs[slot], &full[slot], step * 64, column);
        } else {
          // The box of B has 32 rows here.
          int half = 32 * rank();
          fetchForBoth(b, bs[slot] + half * rowBytes, &full[slot], step * 64, column + half);
        }
      }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[32] = {};
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      int slot = step % slots;
      waitFor(&full[slot], step / slots % 2);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int inner = 0; inner < 64; inner += 16)
        multiply(d, descriptor(as[slot] + (group - 1) * 64 * rowBytes, inner), descriptor(bs[slot], inner));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
      // The slot may be written again, by either block.
      if (threadIdx.x % 128 < Blocks)
        arriveAt(&empty[slot], threadIdx.x % 128);
    }
    int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    for (int i = 0; i < 32; ++i) {
      int r = row + (group - 1) * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
      int col = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
      c[size_t(r) * n + col] = d[i];
    }
  }
  // Until the other block has done so too, it may arrive at mbarriers here.
  if (Blocks == 1)
    __syncthreads();
  else
    meet();
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k) {
  multiplyTiles<1>(a, b, c, n, k);
}

extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(384, 1)
    gemmOfTwo(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k) {
  multiplyTiles<2>(a, b, c, n, k);
}
