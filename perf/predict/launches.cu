// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch costs on a GPU with clusters: the time per call of kernels that follow each other in a stream, launched
// plainly and as programmatic dependents, alone and in clusters, and how many blocks of clusters run side by side.
//
//   nvcc -arch=sm_90a -cudart static -O2 -o launches perf/predict/launches.cu && ./launches
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (cudaError_t error = (call)) {                                                                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(error));                                                       \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

constexpr int kThreads = 384, kCalls = 40, kRuns = 6;

/// Keeps the stream busy until the host has enqueued what is timed.
__global__ void hold(long long nanoseconds) {
  long long now, end = 0;
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    end = end ? end : now + nanoseconds;
  } while (now < end);
}

/// Each block reads its part of `words`, as a ring's kernel begins: clusters meet, then it waits for the kernel before.
__global__ void __launch_bounds__(kThreads) read(const uint4 *in, uint4 *out, size_t words, bool dependent) {
  extern __shared__ uint4 memory[];
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
  if (dependent)
    asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory");
  uint4 sum = {};
  size_t each = words / gridDim.x;
  for (size_t i = threadIdx.x; i < each; i += kThreads) {
    uint4 word = in[each * blockIdx.x + i];
    sum.x ^= word.x, sum.y ^= word.y, sum.z ^= word.z, sum.w ^= word.w;
  }
  memory[threadIdx.x] = sum;
  out[blockIdx.x * kThreads + threadIdx.x] = memory[threadIdx.x];
}

static cudaLaunchConfig_t launchOf(int blocks, int shared, unsigned cluster, bool dependent, cudaLaunchAttribute *attributes) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks, config.blockDim = kThreads, config.dynamicSmemBytes = shared, config.attrs = attributes;
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {cluster, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.numAttrs = dependent ? 2 : 1;
  return config;
}

static int time(unsigned cluster, bool dependent, int shared, size_t bytes, const char *in, size_t all, uint4 *out) {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float best = 1e9f, taken;
  for (int run = 0; run < kRuns; ++run) {
    hold<<<1, 1, 0, stream>>>(20000000);
    CHECK(cudaEventRecord(begin, stream));
    for (int i = 0; i < kCalls; ++i) {
      cudaLaunchAttribute attributes[2];
      cudaLaunchConfig_t config = launchOf(128, shared, cluster, dependent, attributes);
      config.stream = stream;
      size_t at = bytes * i % (all - bytes) & ~size_t(255);
      CHECK(cudaLaunchKernelEx(&config, read, reinterpret_cast<const uint4 *>(in + at), out, bytes / 16, dependent));
    }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&taken, begin, end));
    best = taken < best ? taken : best;
  }
  std::printf("bytes %9zu shared %6d cluster %u %-9s %.2f us a call\n", bytes, shared, cluster,
              dependent ? "dependent" : "plain", best * 1000 / kCalls);
  return 0;
}

int main() {
  size_t all = size_t(1) << 30;
  char *in;
  uint4 *out;
  CHECK(cudaMalloc(&in, all));
  CHECK(cudaMemset(in, 1, all));
  CHECK(cudaMalloc(&out, 1 << 24));
  CHECK(cudaFuncSetAttribute(read, cudaFuncAttributeMaxDynamicSharedMemorySize, 220000));
  for (size_t bytes : {size_t(1) << 12, size_t(1) << 21, size_t(1) << 25})
    for (unsigned cluster : {1u, 2u, 4u})
      for (int shared : {180000, 100000})
        for (bool dependent : {false, true})
          if (time(cluster, dependent, shared, bytes, in, all, out))
            return 1;
  for (int shared : {100000, 200000})
    for (unsigned cluster : {1u, 2u, 4u, 8u}) {
      cudaLaunchAttribute attributes[2];
      cudaLaunchConfig_t config = launchOf(int(132 * cluster), shared, cluster, false, attributes);
      int clusters = 0;
      CHECK(cudaOccupancyMaxActiveClusters(&clusters, read, &config));
      std::printf("shared %6d cluster %u: %d clusters, %d blocks side by side\n", shared, cluster, clusters,
                  clusters * int(cluster));
    }
}
