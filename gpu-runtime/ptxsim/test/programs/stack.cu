// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stack of one's own, structures by value whose address is taken, sums of differences.
// nvcc -arch=sm_80 --ptx -o stack.ptx stack.cu

#include <alloca.h>

struct Pair {
  int values[8];
};

extern "C" __device__ __noinline__ int sumOf(const int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}

__device__ __noinline__ int pick(Pair pair, int index) {
  pair.values[index & 7] += 1000;
  return sumOf(pair.values, 8);
}

/// out[i] = 0 + 1 + ... + i, by way of an array on the stack.
extern "C" __global__ void triangles(int *out) {
  int count = threadIdx.x + 1;
  int *values = static_cast<int *>(alloca(count * sizeof(int)));
  for (int i = 0; i < count; ++i)
    values[i] = i;
  out[threadIdx.x] = sumOf(values, count);
}

/// out[i] = in[0] + ... + in[7] + 1000.
extern "C" __global__ void byValue(Pair pair, int *out) {
  out[threadIdx.x] = pick(pair, threadIdx.x);
}

/// Sums of absolute differences of bytes.
extern "C" __global__ void differences(const unsigned *a, const unsigned *b, unsigned *out) {
  unsigned i = threadIdx.x;
  out[i] = __vsadu4(a[i], b[i]) + __vabsdiffu4(a[i], b[i]) + __vaddss2(a[i], b[i]) + __vmaxs4(a[i], b[i]);
}
