// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of tensors through tensor maps: each block moves one tile of 8 rows of 32 floats from one tensor into another,
// whose tiles may be swizzled otherwise, and shows what it saw in shared memory.
//
//   nvcc -ptx -arch=sm_90 -o tensor.ptx tensor.cu

#include <cuda.h>
#include <stdint.h>

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void moveTiles(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                                     float *seen, int x, int y) {
  __shared__ __align__(1024) float tile[8 * 32];
  __shared__ __align__(8) uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)), "r"(1024) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(shared(tile)), "l"(&from), "r"(x), "r"(y), "r"(shared(&full)) : "memory");
  }
  __syncthreads();
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared(&full)) : "memory");
  seen[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(x),
                 "r"(y), "r"(shared(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
