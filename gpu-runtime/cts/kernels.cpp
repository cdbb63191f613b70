// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels' code and descriptions.
#include "kernels.h"

#include <cstring>

namespace tilewright::cts {

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static const char ptxText[] =
#include "kernels/kernels.ptx.inc"
    ;

static const char clusterText[] =
#include "kernels/cluster.ptx.inc"
    ;

#define TW_SPIRV(NAME)                                                         \
  static const uint32_t NAME##_spirv[] = {
TW_SPIRV(add_f32)
#include "kernels/add_f32.spv.inc"
};
TW_SPIRV(mixed_scalars)
#include "kernels/mixed_scalars.spv.inc"
};
TW_SPIRV(grid3d)
#include "kernels/grid3d.spv.inc"
};
TW_SPIRV(reverse_shared)
#include "kernels/reverse_shared.spv.inc"
};
TW_SPIRV(subgroup_sum)
#include "kernels/subgroup_sum.spv.inc"
};
TW_SPIRV(increment)
#include "kernels/increment.spv.inc"
};
TW_SPIRV(many_scalars)
#include "kernels/many_scalars.spv.inc"
};
TW_SPIRV(spin)
#include "kernels/spin.spv.inc"
};
TW_SPIRV(cooperative_matmul)
#include "kernels/cooperative_matmul.spv.inc"
};
#undef TW_SPIRV

template <typename T> static T *pointer(const uint64_t *params, int i) {
  return reinterpret_cast<T *>(params[i]);
}
static float floatOf(uint64_t slot) {
  uint32_t bits = static_cast<uint32_t>(slot);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// A native kernel is called once per block and loops over its threads.
extern "C" {
static void add_f32_native(const uint64_t *p, uint32_t x, uint32_t, uint32_t) {
  for (uint32_t i = x * 64; i < x * 64 + 64 && i < p[3]; ++i)
    pointer<float>(p, 2)[i] = pointer<float>(p, 0)[i] + pointer<float>(p, 1)[i];
}
static void mixed_scalars_native(const uint64_t *p, uint32_t x, uint32_t,
                                 uint32_t) {
  for (uint32_t i = x * 64; i < x * 64 + 64 && i < p[1]; ++i)
    pointer<float>(p, 0)[i] =
        floatOf(p[3]) * static_cast<float>(i) +
        static_cast<float>(static_cast<int64_t>(p[2]));
}
static void grid3d_native(const uint64_t *p, uint32_t x, uint32_t y,
                          uint32_t z) {
  pointer<uint32_t>(p, 0)[(z * p[2] + y) * p[1] + x] = x + 100 * y + 10000 * z;
}
static void reverse_shared_native(const uint64_t *p, uint32_t x, uint32_t,
                                  uint32_t) {
  for (uint32_t t = 0; t < 64; ++t)
    pointer<uint32_t>(p, 1)[x * 64 + t] =
        pointer<uint32_t>(p, 0)[x * 64 + 63 - t];
}
static void subgroup_sum_native(const uint64_t *p, uint32_t x, uint32_t,
                                uint32_t) {
  for (uint32_t t = 0; t < 64; ++t)
    pointer<uint32_t>(p, 1)[x * 64 + t] = pointer<uint32_t>(p, 0)[x * 64 + t];
}
static void increment_native(const uint64_t *p, uint32_t, uint32_t, uint32_t) {
  for (uint32_t t = 0; t < 64; ++t)
    pointer<uint32_t>(p, 0)[t] =
        pointer<uint32_t>(p, 0)[t] * 3 + static_cast<uint32_t>(p[1]);
}
static void many_scalars_native(const uint64_t *p, uint32_t, uint32_t,
                                uint32_t) {
  pointer<uint32_t>(p, 0)[0] = static_cast<uint32_t>(p[1]);
  pointer<uint32_t>(p, 0)[1] = static_cast<uint32_t>(p[40]);
}
static void spin_native(const uint64_t *p, uint32_t, uint32_t, uint32_t) {
  while (*pointer<volatile uint32_t>(p, 0) == 0) {
  }
}
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

namespace {
struct Entry {
  const char *name;
  uint32_t threads;
  int buffers;
  std::vector<tw_dtype> scalars;
  const uint32_t *spirv;
  size_t spirvBytes;
  tw_cpu_kernel native;
};
} // namespace

#define TW_CODE(NAME) NAME##_spirv, sizeof(NAME##_spirv), NAME##_native
static const std::vector<Entry> &entries() {
  static const std::vector<Entry> table = {
      {"add_f32", 64, 3, {TW_I32}, TW_CODE(add_f32)},
      {"mixed_scalars", 64, 1, {TW_I32, TW_I64, TW_F32},
       TW_CODE(mixed_scalars)},
      {"grid3d", 1, 1, {TW_I32, TW_I32}, TW_CODE(grid3d)},
      {"reverse_shared", 64, 2, {}, TW_CODE(reverse_shared)},
      {"subgroup_sum", 64, 2, {}, TW_CODE(subgroup_sum)},
      {"increment", 64, 1, {TW_I32}, TW_CODE(increment)},
      {"many_scalars", 1, 1, std::vector<tw_dtype>(40, TW_I32),
       TW_CODE(many_scalars)},
      {"spin", 1, 1, {}, TW_CODE(spin)}};
  return table;
}

template <size_t N> static void usePtx(ModuleDesc &desc, const char (&text)[N]) {
  desc.kind = ModuleKind::Ptx;
  desc.bytes = reinterpret_cast<const uint8_t *>(text);
  desc.size = N - 1;
}

TestModule testModule(const Context &context, const char *name) {
  TestModule module;
  ModuleDesc &desc = module.desc;
  for (const Entry &entry : entries()) {
    if (std::strcmp(entry.name, name) != 0)
      continue;
    KernelDesc kernel;
    kernel.entry = name;
    kernel.block = {entry.threads, 1, 1};
    for (int i = 0; i < entry.buffers; ++i)
      kernel.params.push_back({true, TW_I64});
    for (tw_dtype type : entry.scalars)
      kernel.params.push_back({false, type});
    desc.name = std::string("cts/") + name;
    if (context.driver() == "vulkan") {
      kernel.scalarsInUniform = entry.scalars.size() == 40;
      desc.kind = ModuleKind::Spirv;
      desc.bytes = reinterpret_cast<const uint8_t *>(entry.spirv);
      desc.size = entry.spirvBytes;
    } else if (context.driver() == "cuda") {
      usePtx(desc, ptxText);
    } else {
      desc.nativeKernels = {entry.native};
    }
    desc.kernels = {kernel};
  }
  return module;
}

TestModule dynamicSharedModule() {
  TestModule module;
  KernelDesc kernel;
  kernel.entry = "reverse_dynamic";
  kernel.block = {64, 1, 1};
  kernel.shared = 65536;
  kernel.params = {{true, TW_I64}, {true, TW_I64}};
  module.desc.name = "cts/reverse_dynamic";
  usePtx(module.desc, ptxText);
  module.desc.kernels = {kernel};
  return module;
}

TestModule clusterModule() {
  TestModule module;
  KernelDesc kernel;
  kernel.entry = "cluster_ranks";
  kernel.cluster = {2, 1, 1};
  kernel.params = {{true, TW_I64}};
  module.desc.name = "cts/cluster_ranks";
  usePtx(module.desc, clusterText);
  module.desc.kernels = {kernel};
  return module;
}

std::vector<uint32_t> cooperativeMatmul(const std::array<uint32_t, 4> &sizes,
                                        TestModule &module) {
  std::vector<uint32_t> words(std::begin(cooperative_matmul_spirv),
                              std::end(cooperative_matmul_spirv));
  for (uint32_t &word : words)
    for (uint32_t i = 0; i < sizes.size(); ++i)
      if (word == 0x40000001 + i)
        word = sizes[i];
  KernelDesc kernel;
  kernel.entry = "cooperative_matmul";
  kernel.block = {sizes[3], 1, 1};
  kernel.subgroup = sizes[3];
  for (int i = 0; i < 3; ++i)
    kernel.params.push_back({true, TW_I64});
  for (int i = 0; i < 2; ++i)
    kernel.params.push_back({false, TW_I32});
  module.desc.name = "cts/cooperative_matmul";
  module.desc.kind = ModuleKind::Spirv;
  module.desc.bytes = reinterpret_cast<const uint8_t *>(words.data());
  module.desc.size = words.size() * sizeof(uint32_t);
  module.desc.kernels = {kernel};
  return words;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Arguments &Arguments::scalar(const void *value, size_t size, bool isSigned) {
  uint64_t slot = 0;
  if (size == 4) {
    uint32_t bits;
    std::memcpy(&bits, value, 4);
    slot = isSigned ? static_cast<uint64_t>(
                          static_cast<int64_t>(static_cast<int32_t>(bits)))
                    : bits;
  } else {
    std::memcpy(&slot, value, 8);
  }
  slots.push_back(slot);
  packed.resize((packed.size() + size - 1) / size * size);
  auto *bytes = static_cast<const uint8_t *>(value);
  packed.insert(packed.end(), bytes, bytes + size);
  return *this;
}

Status Arguments::launch(DriverStream &stream, DriverModule &module,
                         Extent3 grid) {
  LaunchArgs args;
  args.grid = grid;
  args.buffers = buffers.data();
  args.numBuffers = buffers.size();
  args.scalars = slots.data();
  args.numScalars = slots.size();
  args.packedScalars = packed.data();
  args.packedSize = packed.size();
  return stream.launch(module, 0, args);
}

} // namespace tilewright::cts
