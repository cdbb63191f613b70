// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs that together touch calls, recursion, local arrays, switches, constants, printf and assert.

#include <cassert>
#include <cstdio>

__constant__ float coefficients[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int counter;

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void fibonacciPerThread(int *out, int n) { out[threadIdx.x] = fibonacci(n + threadIdx.x); }

extern "C" __global__ void weightedSum(const float *in, float *out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i] * coefficients[i & 3];
  for (int d = 16; d; d >>= 1)
    sum += __shfl_xor_sync(~0u, sum, d);
  if ((threadIdx.x & 31) == 0)
    partial[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < blockDim.x / 32; ++i)
      total += partial[i];
    atomicAdd(out, total);
    if (atomicAdd(&counter, 1) == 0)
      printf("first block: n = %d, %s\n", n, "done");
  }
  assert(n > 0);
}

extern __shared__ int dynamicInts[];
extern "C" __global__ void switches(int *data, int n) {
  int local[16];
  for (int i = 0; i < 16; ++i)
    local[i] = i * n;
  int x = data[threadIdx.x];
  switch (x) {
  case 0:
    x = local[n & 15];
    break;
  case 1:
    x += 7;
    break;
  case 2:
    x *= n;
    break;
  case 3:
    x ^= n;
    break;
  case 4:
    x = n / x;
    break;
  case 5:
    x = __popc(n);
    break;
  }
  dynamicInts[threadIdx.x] = x;
  __syncwarp();
  data[threadIdx.x] = dynamicInts[threadIdx.x ^ 1];
}

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[2] = {plus, times};
extern "C" __global__ void indirectCalls(int *out) { out[threadIdx.x] = operations[threadIdx.x & 1](threadIdx.x, 3); }
