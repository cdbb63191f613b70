// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels: parameters, grids, shared memory, subgroups.
#include "kernels.h"

#include <cstdlib>
#include <cstring>

namespace tilewright::cts {

namespace {

/// A stream, and buffers of 32-bit elements on it.
struct Bench {
  explicit Bench(Context &context) : device(context.device()) {}
  Status start() { return device.createStream(stream); }
  template <typename T>
  Status upload(const std::vector<T> &values,
                std::unique_ptr<DriverBuffer> &buffer) {
    if (Status s = device.allocate(values.size() * sizeof(T), buffer))
      return s;
    return stream->write(*buffer, 0, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  Status download(DriverBuffer &buffer, std::vector<T> &values) {
    if (Status s = stream->read(values.data(), buffer, 0,
                                values.size() * sizeof(T)))
      return s;
    return stream->synchronize(kForever);
  }

  DriverDevice &device;
  std::unique_ptr<DriverStream> stream;
};

} // namespace

static void add(Context &context) {
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "add_f32").load(context, module));
  for (uint32_t n : {1u, 63u, 64u, 65u, 10007u}) {
    std::vector<float> a(n), b(n), c(n + 1, -1.0f);
    for (uint32_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i);
      b[i] = 0.5f;
    }
    std::unique_ptr<DriverBuffer> bufferA, bufferB, bufferC;
    TW_OK(bench.upload(a, bufferA));
    TW_OK(bench.upload(b, bufferB));
    TW_OK(bench.upload(c, bufferC));
    TW_OK(Arguments()
              .read(*bufferA)
              .read(*bufferB)
              .write(*bufferC)
              .i32(static_cast<int32_t>(n))
              .launch(*bench.stream, *module, {(n + 63) / 64, 1, 1}));
    TW_OK(bench.download(*bufferC, c));
    for (uint32_t i = 0; i < n; ++i)
      TW_CHECK(c[i] == static_cast<float>(i) + 0.5f,
               "element " + std::to_string(i) + " of " + std::to_string(n) +
                   " is " + std::to_string(c[i]));
    TW_CHECK(c[n] == -1.0f, "nothing is written past the end");
  }
}

static void mixedScalars(Context &context) {
  if (context.driver() == "vulkan" && context.fact("feature:shaderInt64") == 0)
    return context.skip("no shaderInt64");
  constexpr uint32_t n = 100;
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "mixed_scalars").load(context, module));
  std::vector<float> out(n, 0.0f);
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(bench.upload(out, buffer));
  for (int64_t k : {int64_t(3), int64_t(-7), int64_t(1) << 40}) {
    TW_OK(Arguments()
              .write(*buffer)
              .i32(n)
              .i64(k)
              .f32(-2.5f)
              .launch(*bench.stream, *module, {2, 1, 1}));
    TW_OK(bench.download(*buffer, out));
    for (uint32_t i = 0; i < n; ++i)
      TW_CHECK(out[i] == -2.5f * static_cast<float>(i) + static_cast<float>(k),
               "element " + std::to_string(i) + " for k " + std::to_string(k) +
                   " is " + std::to_string(out[i]));
  }
}

static void grid3d(Context &context) {
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "grid3d").load(context, module));
  for (Extent3 grid : {Extent3{1, 1, 1}, Extent3{5, 3, 2}, Extent3{1, 7, 1},
                       Extent3{1, 1, 9}, Extent3{33, 2, 3}}) {
    std::vector<uint32_t> out(grid[0] * grid[1] * grid[2], 0xffffffff);
    std::unique_ptr<DriverBuffer> buffer;
    TW_OK(bench.upload(out, buffer));
    TW_OK(Arguments()
              .write(*buffer)
              .i32(static_cast<int32_t>(grid[0]))
              .i32(static_cast<int32_t>(grid[1]))
              .launch(*bench.stream, *module, grid));
    TW_OK(bench.download(*buffer, out));
    for (uint32_t z = 0, i = 0; z < grid[2]; ++z)
      for (uint32_t y = 0; y < grid[1]; ++y)
        for (uint32_t x = 0; x < grid[0]; ++x, ++i)
          TW_CHECK(out[i] == x + 100 * y + 10000 * z,
                   "block " + std::to_string(i) + " wrote " +
                       std::to_string(out[i]));
  }
}

static void reversed(Context &context, const TestModule &code) {
  constexpr uint32_t blocks = 7;
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(code.load(context, module));
  std::vector<uint32_t> in(blocks * 64), out(blocks * 64, 0);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = i * 2654435761u;
  std::unique_ptr<DriverBuffer> source, target;
  TW_OK(bench.upload(in, source));
  TW_OK(bench.upload(out, target));
  TW_OK(Arguments().read(*source).write(*target).launch(*bench.stream, *module,
                                                        {blocks, 1, 1}));
  TW_OK(bench.download(*target, out));
  for (uint32_t i = 0; i < out.size(); ++i)
    TW_CHECK(out[i] == in[i / 64 * 64 + 63 - i % 64],
             "element " + std::to_string(i));
}

static void sharedMemory(Context &context) {
  reversed(context, testModule(context, "reverse_shared"));
}

static void dynamicShared(Context &context) {
  if (context.driver() != "cuda")
    return context.skip("only cuda has dynamic shared memory");
  if (context.fact("shared_memory") < 65536)
    return context.skip("less than 64 KiB of shared memory");
  reversed(context, dynamicSharedModule());
}

static void clusters(Context &context) {
  if (context.driver() != "cuda" || context.fact("max_cluster") <= 1)
    return context.skip("no clusters");
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(clusterModule().load(context, module));
  std::vector<uint32_t> out(8, 0);
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(bench.upload(out, buffer));
  TW_OK(Arguments().write(*buffer).launch(*bench.stream, *module, {8, 1, 1}));
  TW_OK(bench.download(*buffer, out));
  for (uint32_t i = 0; i < out.size(); ++i)
    TW_CHECK(out[i] == 200 + i % 2, "block " + std::to_string(i) + " wrote " +
                                        std::to_string(out[i]));
  Status status =
      Arguments().write(*buffer).launch(*bench.stream, *module, {7, 1, 1});
  TW_CHECK(status.code() == StatusCode::InvalidArgument, status.message());
}

static void subgroups(Context &context, uint32_t required) {
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TestModule code = testModule(context, "subgroup_sum");
  code.desc.kernels[0].subgroup = required;
  TW_OK(code.load(context, module));
  std::vector<uint32_t> in(128, 1), out(128, 0);
  std::unique_ptr<DriverBuffer> source, target;
  TW_OK(bench.upload(in, source));
  TW_OK(bench.upload(out, target));
  TW_OK(Arguments().read(*source).write(*target).launch(*bench.stream, *module,
                                                        {2, 1, 1}));
  TW_OK(bench.download(*target, out));
  uint32_t size = required ? required
                           : static_cast<uint32_t>(
                                 context.fact("subgroup_size"));
  for (uint32_t i = 0; i < out.size(); ++i)
    TW_CHECK(out[i] == size, "the subgroup of invocation " + std::to_string(i) +
                                 " has " + std::to_string(out[i]) +
                                 " members, not " + std::to_string(size));
}

static bool lacksSubgroups(Context &context) {
  if (context.driver() == "cpu")
    context.skip("a cpu kernel has no subgroups");
  else if (context.driver() == "vulkan" &&
           context.fact("subgroup:arithmetic") == 0)
    context.skip("no subgroup arithmetic");
  return !context.skipped().empty();
}

static void subgroupSum(Context &context) {
  if (!lacksSubgroups(context))
    subgroups(context, 0);
}

static void requiredSubgroup(Context &context) {
  if (lacksSubgroups(context))
    return;
  if (context.driver() != "vulkan")
    return subgroups(context, 32);
  for (uint32_t size = 1; size <= 64; size *= 2)
    if (size >= context.fact("min_subgroup_size") &&
        size <= context.fact("max_subgroup_size"))
      subgroups(context, size);
}

static void manyScalars(Context &context) {
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "many_scalars").load(context, module));
  std::vector<uint32_t> out(2, 0);
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(bench.upload(out, buffer));
  for (int round = 0; round < 100; ++round) {
    Arguments arguments;
    arguments.write(*buffer);
    for (int i = 0; i < 40; ++i)
      arguments.i32(1000 * round + i);
    TW_OK(arguments.launch(*bench.stream, *module, {1, 1, 1}));
  }
  TW_OK(bench.download(*buffer, out));
  TW_CHECK(out[0] == 99000 && out[1] == 99039,
           std::to_string(out[0]) + " and " + std::to_string(out[1]));
}

/// The f16 of a small integer.
static uint16_t halfOf(int value) {
  if (value == 0)
    return 0;
  uint32_t magnitude = static_cast<uint32_t>(std::abs(value)), exponent = 0;
  while (magnitude >> (exponent + 1))
    ++exponent;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) |
                               ((exponent + 15) << 10) |
                               ((magnitude << (10 - exponent)) & 0x3ff));
}

/// A product by cooperative matrices, in the first shape for f16 and f32 that
/// the device lists: small integers, so that every sum is exact.
static void cooperativeMatrix(Context &context) {
  if (context.driver() != "vulkan")
    return context.skip("cooperative matrices are Vulkan's");
  auto size = static_cast<uint32_t>(context.fact("subgroup_size"));
  std::array<uint32_t, 4> sizes = {0, 0, 0, size};
  for (uint32_t m : {8, 16, 32})
    for (uint32_t n : {8, 16, 32})
      for (uint32_t k : {8, 16, 32})
        if (!sizes[0] &&
            context.fact(("cooperative_matrix:" + std::to_string(m) + "x" +
                          std::to_string(n) + "x" + std::to_string(k) +
                          ":f16,f16,f32,f32")
                             .c_str()))
          sizes = {m, n, k, size};
  std::unique_ptr<DriverModule> module;
  TestModule test;
  if (!sizes[0]) {
    // Refused by the name of what is missing, before the driver sees it.
    std::vector<uint32_t> words = cooperativeMatmul({16, 16, 16, size}, test);
    Status status = test.load(context, module);
    if (!status) {
      Bench bench(context);
      TW_OK(bench.start());
      std::unique_ptr<DriverBuffer> a;
      TW_OK(context.device().allocate(4096, a));
      status = Arguments().read(*a).read(*a).write(*a).i32(16).i32(16).launch(
          *bench.stream, *module, {1, 1, 1});
    }
    TW_CHECK(status.message().find("CooperativeMatrixKHR") !=
                 std::string::npos,
             "refused with: " + status.message());
    return context.skip("no 16-bit cooperative matrices");
  }
  std::vector<uint32_t> words = cooperativeMatmul(sizes, test);
  TW_OK(test.load(context, module));
  uint32_t m = 3 * sizes[0], n = 2 * sizes[1], k = 5 * sizes[2];
  std::vector<uint16_t> a(m * k), b(k * n);
  std::vector<float> c(m * n, -1.0f);
  auto valueA = [](uint32_t i, uint32_t j) {
    return static_cast<int>((7 * i + 3 * j) % 9) - 4;
  };
  auto valueB = [](uint32_t i, uint32_t j) {
    return static_cast<int>((5 * i + 11 * j) % 7) - 3;
  };
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < k; ++j)
      a[i * k + j] = halfOf(valueA(i, j));
  for (uint32_t i = 0; i < k; ++i)
    for (uint32_t j = 0; j < n; ++j)
      b[i * n + j] = halfOf(valueB(i, j));
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverBuffer> bufferA, bufferB, bufferC;
  TW_OK(bench.upload(a, bufferA));
  TW_OK(bench.upload(b, bufferB));
  TW_OK(bench.upload(c, bufferC));
  TW_OK(Arguments()
            .read(*bufferA)
            .read(*bufferB)
            .write(*bufferC)
            .i32(static_cast<int32_t>(n))
            .i32(static_cast<int32_t>(k))
            .launch(*bench.stream, *module, {2, 3, 1}));
  TW_OK(bench.download(*bufferC, c));
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      int sum = 0;
      for (uint32_t l = 0; l < k; ++l)
        sum += valueA(i, l) * valueB(l, j);
      TW_CHECK(c[i * n + j] == static_cast<float>(sum),
               "element " + std::to_string(i) + ", " + std::to_string(j) +
                   " is " + std::to_string(c[i * n + j]) + ", not " +
                   std::to_string(sum));
    }
}

/// A binding that begins inside its buffer, at the alignment all devices take.
static void boundRange(Context &context) {
  Bench bench(context);
  TW_OK(bench.start());
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "increment").load(context, module));
  std::vector<uint32_t> data(256, 5);
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(bench.upload(data, buffer));
  TW_OK(Arguments()
            .bind({buffer.get(), 256, 256, true})
            .i32(2)
            .launch(*bench.stream, *module, {1, 1, 1}));
  TW_OK(bench.download(*buffer, data));
  for (uint32_t i = 0; i < data.size(); ++i)
    TW_CHECK(data[i] == (i / 64 == 1 ? 17u : 5u),
             "element " + std::to_string(i));
}

/// What a kernel takes is asked without a stream, and does not disturb launches.
static void resources(Context &context) {
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "reverse_shared").load(context, module));
  KernelResources found;
  Status status = module->resources(0, found);
  if (status.code() == StatusCode::Unsupported) {
    TW_CHECK(status.message().find("does not say") != std::string::npos,
             status.message());
    return sharedMemory(context);
  }
  TW_OK(std::move(status));
  TW_CHECK(found.sharedBytes >= 256, std::to_string(found.sharedBytes));
  TW_CHECK(context.driver() != "cuda" || found.maxThreads >= 64,
           std::to_string(found.maxThreads));
  // The simulator assigns no registers.
  bool assigns = context.driver() == "cuda" && context.fact("simulator") == 0;
  TW_CHECK(!assigns || (found.registers > 0 && found.localBytes >= 0),
           std::to_string(found.registers));
  KernelResources none;
  TW_FAILS(module->resources(1, none), StatusCode::InvalidArgument);
  sharedMemory(context);
}

std::vector<Case> launchCases() {
  return {{"launch.add", add},
          {"launch.mixed_scalars", mixedScalars},
          {"launch.grid_3d", grid3d},
          {"launch.shared_memory", sharedMemory},
          {"launch.dynamic_shared_memory", dynamicShared},
          {"launch.subgroup_sum", subgroupSum},
          {"launch.required_subgroup_size", requiredSubgroup},
          {"launch.clusters", clusters},
          {"launch.many_scalars", manyScalars},
          {"launch.cooperative_matrix", cooperativeMatrix},
          {"launch.bound_range", boundRange},
          {"launch.resources", resources}};
}

} // namespace tilewright::cts
