// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What memory gives: the worker that perf/cpu/memory measures our kernels beside. Prints a
// line of JSON; then for each line `KERNEL CALLS` on its input the median seconds of a
// call. Kernels, of arrays of 64 Mi floats, by as many threads as the argument says:
//
//   read  sum += a[i]       copy  b[i] = a[i]       add  c[i] = a[i] + b[i]
//
// and copy-nt, add-nt with stores that pass the caches by.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace {

constexpr size_t kElements = size_t(64) << 20;
// A cache line; clang makes of it what registers the machine has.
typedef float Vector __attribute__((vector_size(64)));
constexpr size_t kLanes = sizeof(Vector) / sizeof(float);

float *allocate() {
  size_t bytes = kElements * sizeof(float);
  auto *memory = static_cast<float *>(std::aligned_alloc(2 << 20, bytes));
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::fill(memory, memory + kElements, 1.0f);
  return memory;
}

struct Arrays {
  Vector *a, *b, *c;
};

volatile float sink;

void readArrays(const Arrays &arrays, size_t from, size_t to) {
  Vector sums[8] = {};
  for (size_t i = from; i < to; i += 8)
    for (size_t j = 0; j < 8; ++j)
      sums[j] += arrays.a[i + j];
  float total = 0;
  for (const Vector &sum : sums)
    for (size_t lane = 0; lane < kLanes; ++lane)
      total += sum[lane];
  sink = total;
}

template <bool add, bool passBy>
void write(const Arrays &arrays, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    Vector value = add ? arrays.a[i] + arrays.b[i] : arrays.a[i];
    if (passBy)
      __builtin_nontemporal_store(value, arrays.c + i);
    else
      arrays.c[i] = value;
  }
}

using Kernel = void (*)(const Arrays &, size_t, size_t);

Kernel find(const std::string &name) {
  return name == "read"      ? readArrays
         : name == "copy"    ? write<false, false>
         : name == "copy-nt" ? write<false, true>
         : name == "add"     ? write<true, false>
         : name == "add-nt"  ? write<true, true>
                             : nullptr;
}

} // namespace

int main(int argc, char **argv) {
  size_t threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  Arrays arrays = {reinterpret_cast<Vector *>(allocate()), reinterpret_cast<Vector *>(allocate()),
                   reinterpret_cast<Vector *>(allocate())};
  std::printf("{\"elements\": %zu}\n", kElements);
  std::fflush(stdout);
  char name[64];
  int calls;
  while (std::scanf("%63s %d", name, &calls) == 2) {
    Kernel kernel = find(name);
    if (!kernel)
      return 1;
    std::vector<double> seconds;
    for (int call = 0; call < calls; ++call) {
      auto begin = std::chrono::steady_clock::now();
      size_t part = kElements / kLanes / threads / 8 * 8;
      std::vector<std::thread> others;
      for (size_t t = 1; t < threads; ++t)
        others.emplace_back(kernel, arrays, t * part,
                            t + 1 == threads ? kElements / kLanes : (t + 1) * part);
      kernel(arrays, 0, threads == 1 ? kElements / kLanes : part);
      for (std::thread &other : others)
        other.join();
      std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      seconds.push_back(took.count());
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("{\"median\": %.9g, \"ok\": true}\n", seconds[seconds.size() / 2]);
    std::fflush(stdout);
  }
  return 0;
}
