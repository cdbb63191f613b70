// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of NVIDIA's mathematical library, long chains of exact arithmetic: a wrong bit anywhere in them shows.
//
//   nvcc -ptx -arch=sm_80 -o math.ptx math.cu

#define FLOATS(name)                                                                                                   \
  extern "C" __global__ void float_##name(const float *x, float *y) {                                                  \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                     \
    y[i] = name##f(x[i]);                                                                                              \
  }
#define DOUBLES(name)                                                                                                  \
  extern "C" __global__ void double_##name(const double *x, double *y) {                                               \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                     \
    y[i] = name(x[i]);                                                                                                 \
  }

FLOATS(sin)
FLOATS(exp)
FLOATS(log)
FLOATS(tanh)
FLOATS(erf)
FLOATS(cbrt)
FLOATS(atan)
DOUBLES(sin)
DOUBLES(exp)
DOUBLES(log)
DOUBLES(tanh)
DOUBLES(erf)
DOUBLES(cbrt)
DOUBLES(atan)
