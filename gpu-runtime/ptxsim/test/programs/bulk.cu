// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies and mbarriers: tiles come in through two slots while others are worked on, and go out again.
//
//   nvcc -ptx -arch=sm_90 -o bulk.ptx bulk.cu

#include <stdint.h>

constexpr int tile = 256;

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared(barrier)), "r"(parity) : "memory");
}

__device__ void fetch(uint64_t *barrier, int *slot, const int *from) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(barrier)), "r"(tile * 4) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared(slot)), "l"(from), "r"(tile * 4), "r"(shared(barrier)) : "memory");
}

/// out[i] = 3 * in[i] + 1 for tiles * 256 elements per block.
extern "C" __global__ void pipeline(const int *in, int *out, int tiles) {
  __shared__ __align__(128) int slots[2][tile];
  __shared__ __align__(128) int results[tile];
  __shared__ __align__(8) uint64_t full[2];
  const int *from = in + size_t(blockIdx.x) * tiles * tile;
  int *to = out + size_t(blockIdx.x) * tiles * tile;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0)
    fetch(&full[0], slots[0], from);
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    if (threadIdx.x == 0 && t + 1 < tiles)
      fetch(&full[(t + 1) % 2], slots[(t + 1) % 2], from + size_t(t + 1) * tile);
    wait(&full[t % 2], t / 2 % 2);
    int value = slots[t % 2][threadIdx.x];
    if (threadIdx.x == 0)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncthreads();
    results[threadIdx.x] = 3 * value + 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + size_t(t) * tile),
                   "r"(shared(results)), "r"(tile * 4) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Warps 1 to 3 produce with cp.async and arrive when their copies are done; warp 0 consumes.
extern "C" __global__ void copyThenArrive(const int *in, int *out) {
  __shared__ __align__(16) int slots[96 * 4];
  __shared__ __align__(8) uint64_t full;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 96;" ::"r"(shared(&full)) : "memory");
  __syncthreads();
  if (threadIdx.x >= 32) {
    int i = (threadIdx.x - 32) * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(&slots[i])), "l"(in + i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared(&full)) : "memory");
    return;
  }
  wait(&full, 0);
  for (int i = threadIdx.x; i < 96 * 4; i += 32)
    out[i] = slots[i] + 1;
}
