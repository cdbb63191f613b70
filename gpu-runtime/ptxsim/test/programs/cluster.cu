// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the blocks of a cluster do together: read each other's shared memory, arrive at each other's mbarriers, copy, store
// and reduce into each other's memory, and load once for all of them.
//
//   nvcc -ptx -arch=sm_90a -o cluster.ptx cluster.cu

#include <stdint.h>

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ uint32_t rank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ uint32_t ranks() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
  return r;
}
__device__ uint32_t mapped(const void *p, uint32_t to) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(shared(p)), "r"(to));
  return r;
}
__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void init(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(barrier)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(uint64_t *barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(barrier)), "r"(bytes) : "memory");
}
__device__ void waitFor(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared(barrier)), "r"(parity) : "memory");
}

/// Every thread reads the value of the same thread in the next block.
extern "C" __global__ void ring(int *out) {
  __shared__ int values[64];
  int at = blockIdx.x * 64 + threadIdx.x;
  values[threadIdx.x] = 3 * at + 1;
  meet();
  int value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value)
               : "r"(mapped(&values[threadIdx.x], (rank() + 1) % ranks())) : "memory");
  out[at] = value;
  meet();
}

/// Block 0 loads 1024 bytes for all; every block uses them `rounds` times, and says when it is done.
extern "C" __global__ void multicast(const int *in, int *out, int rounds) {
  __shared__ __align__(128) int tile[256];
  __shared__ __align__(8) uint64_t full, empty;
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&empty, ranks());
  }
  meet();
  uint16_t all = static_cast<uint16_t>((1 << ranks()) - 1);
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) {
      expect(&full, 1024);
      if (rank() == 0) {
        waitFor(&empty, (round & 1) ^ 1);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                     "[%3], %4;" ::"r"(shared(tile)), "l"(in + round * 256), "r"(1024), "r"(shared(&full)), "h"(all)
                     : "memory");
      }
    }
    waitFor(&full, round & 1);
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
      out[(blockIdx.x * rounds + round) * 256 + i] = tile[i] + static_cast<int>(rank());
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapped(&empty, 0)) : "memory");
  }
  meet();
}

/// Each block sends what it has to the next one: by st.async, by red.async and by a bulk copy.
extern "C" __global__ void send(int *out) {
  __shared__ __align__(128) int mine[64], bulk[64];
  __shared__ __align__(8) int stored[64];
  __shared__ int sum;
  __shared__ __align__(8) uint64_t full;
  int at = blockIdx.x * 64 + threadIdx.x;
  mine[threadIdx.x] = 5 * at;
  if (threadIdx.x == 0) {
    sum = 0;
    init(&full, 1);
    expect(&full, 256 + 256 + 64 * 4);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  meet();
  uint32_t next = (rank() + 1) % ranks(), there = mapped(&full, next);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   mapped(&stored[threadIdx.x], next)), "r"(7 * at), "r"(there) : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
                   mapped(&sum, next)), "r"(at), "r"(there) : "memory");
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     mapped(bulk, next)), "r"(shared(mine)), "r"(256), "r"(there) : "memory");
  waitFor(&full, 0);
  out[3 * at] = stored[threadIdx.x];
  out[3 * at + 1] = bulk[threadIdx.x];
  out[3 * at + 2] = sum;
  meet();
}

/// Places in the cluster.
extern "C" __global__ void __cluster_dims__(2, 2, 1) places(int *out) {
  __shared__ int word;
  int values[12];
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(values[0]));
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(values[1]));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(values[2]));
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(values[3]));
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(values[4]));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(values[5]));
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(values[6]));
  asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(values[7]));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(values[8]));
  asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(values[9]));
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.s32 %0, 1, 0, p; }" : "=r"(values[10]));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(values[11]) : "r"(mapped(&word, 3)));
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  for (int i = 0; i < 12; ++i)
    out[12 * block + i] = values[i];
}
