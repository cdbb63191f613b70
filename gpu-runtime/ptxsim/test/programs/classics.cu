// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs every GPU course starts with, and a few that depend on how warps and blocks make progress.

#include <cuda/atomic>

extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

/// Block sums by shuffles, then shared memory.
extern "C" __global__ void reduceSum(const int *in, int *out, int n) {
  __shared__ int partial[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int d = 16; d > 0; d >>= 1)
    sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int d = 16; d > 0; d >>= 1)
      sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

/// Reduction in shared memory, a barrier per step.
extern "C" __global__ void reduceTree(const int *in, int *out) {
  __shared__ int data[256];
  data[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      data[threadIdx.x] += data[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = data[0];
}

/// C = A B for n a multiple of 16.
extern "C" __global__ void matmulTiled(const float *a, const float *b, float *c, int n) {
  __shared__ float aTile[16][16], bTile[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    aTile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bTile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += aTile[threadIdx.y][i] * bTile[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// Inclusive prefix sum of one block.
extern "C" __global__ void prefixScan(int *data) {
  __shared__ int temp[2][256];
  int side = 0;
  temp[0][threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int value = temp[side][threadIdx.x];
    if (threadIdx.x >= d)
      value += temp[side][threadIdx.x - d];
    side ^= 1;
    temp[side][threadIdx.x] = value;
    __syncthreads();
  }
  data[threadIdx.x] = temp[side][threadIdx.x];
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&bins[i], local[i]);
}

/// Warp-synchronous: each warp reverses its 32 values through shared memory.
extern "C" __global__ void warpReverse(int *data) {
  __shared__ int scratch[256];
  int lane = threadIdx.x % 32, base = threadIdx.x - lane;
  scratch[threadIdx.x] = data[threadIdx.x];
  __syncwarp();
  data[threadIdx.x] = scratch[base + 31 - lane];
}

/// The last block to finish adds up what the others stored (fence, then a relaxed counter).
__device__ unsigned finished = 0;
extern "C" __global__ void lastBlockSum(const int *in, int *partial, int *out) {
  __shared__ bool isLast;
  int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d >>= 1)
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicAdd(&finished, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    int total = 0;
    for (int i = 0; i < gridDim.x; ++i)
      total += partial[i];
    *out = total;
  }
}

/// Lanes of one warp take a lock one after the other: needs independent progress of lanes.
extern "C" __global__ void spinLock(int *lock, int *counter) {
  cuda::atomic_ref<int, cuda::thread_scope_device> guard(*lock);
  bool done = false;
  while (!done) {
    int expected = 0;
    if (guard.compare_exchange_strong(expected, 1, cuda::memory_order_acquire)) {
      *counter += 1;
      guard.store(0, cuda::memory_order_release);
      done = true;
    }
  }
}

/// A persistent kernel: resident blocks take work items from a queue and meet at a barrier of the whole grid.
extern "C" __global__ void persistent(int *next, int *items, int count, unsigned *barrier, int *sum) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0)
      item = atomicAdd(next, 1);
    __syncthreads();
    int mine = item;
    __syncthreads();
    if (mine >= count)
      break;
    if (threadIdx.x == 0)
      items[mine] = mine * mine;
  }
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(*barrier);
    arrived.fetch_add(1, cuda::memory_order_acq_rel);
    while (arrived.load(cuda::memory_order_acquire) < gridDim.x) {
    }
    if (blockIdx.x == 0) {
      int total = 0;
      for (int i = 0; i < count; ++i)
        total += items[i];
      *sum = total;
    }
  }
}

/// Two warps hand values over through named barriers.
extern "C" __global__ void producerConsumer(int *out) {
  __shared__ int slot[32];
  int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      slot[lane] = i * 100 + lane;
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
      out[i * 32 + lane] = slot[lane];
    }
  }
}
