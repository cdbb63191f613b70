// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's hand-written kernels: each as SPIR-V, as PTX and as a C function,
// behind one name.
#ifndef TILEWRIGHT_CTS_KERNELS_H
#define TILEWRIGHT_CTS_KERNELS_H

#include "cts.h"

#include <array>
#include <initializer_list>

namespace tilewright::cts {

/// What the manifest would say of a kernel, and its code for a driver.
struct TestModule {
  ModuleDesc desc;
  /// Loads it; the name of the driver chose the code.
  Status load(Context &context, std::unique_ptr<DriverModule> &module) const {
    return context.device().loadModule(desc, module);
  }
};

/// The module with kernel `name` (its number is 0) for the context's driver.
///   add_f32         a, b, c, i32 n: c = a + b, 64 threads a block
///   mixed_scalars   out, i32 n, i64 k, f32 s: out[i] = s * i + k, 64 threads
///   grid3d          out, i32 gx, i32 gy: see grid3d.spvasm, 1 thread
///   reverse_shared  in, out: each block of 64 reversed
///   subgroup_sum    in, out: the sum over the subgroup, 64 threads
///   increment       data, i32 k: data[t] = 3 data[t] + k, 64 threads
///   many_scalars    out, 40 × i32: out = {first, last}, 1 thread
///   spin            flag: never ends while flag[0] is 0, 1 thread
TestModule testModule(const Context &context, const char *name);

/// The code of reverse_dynamic (64 KiB of dynamic shared memory), cuda only.
TestModule dynamicSharedModule();

/// cluster_ranks: out[block] = 100 * cluster size + rank, clusters of 2, cuda.
TestModule clusterModule();

/// cooperative_matmul: a, b (f16), c (f32), i32 n, i32 k: c = a * b by cooperative
/// matrices of sizes[0] x sizes[1] x sizes[2], grid over columns and rows; a
/// subgroup of sizes[3] a block. The words must outlive the loading. vulkan only.
std::vector<uint32_t> cooperativeMatmul(const std::array<uint32_t, 4> &sizes,
                                        TestModule &module);

/// Buffers by whole size and scalars by value, for one launch.
class Arguments {
public:
  Arguments &read(DriverBuffer &buffer) { return bind(buffer, false); }
  Arguments &write(DriverBuffer &buffer) { return bind(buffer, true); }
  Arguments &bind(DriverBuffer &buffer, bool written) {
    buffers.push_back({&buffer, 0, buffer.size(), written});
    return *this;
  }
  Arguments &bind(const BufferBinding &binding) {
    buffers.push_back(binding);
    return *this;
  }
  Arguments &i32(int32_t value) { return scalar(&value, 4, true); }
  Arguments &i64(int64_t value) { return scalar(&value, 8, true); }
  Arguments &f32(float value) { return scalar(&value, 4, false); }

  Status launch(DriverStream &stream, DriverModule &module, Extent3 grid);

private:
  Arguments &scalar(const void *value, size_t size, bool isSigned);
  std::vector<BufferBinding> buffers;
  std::vector<uint64_t> slots;
  std::vector<uint8_t> packed;
};

} // namespace tilewright::cts

#endif // TILEWRIGHT_CTS_KERNELS_H
