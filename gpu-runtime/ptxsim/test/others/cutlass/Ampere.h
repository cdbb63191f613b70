// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product for sm_80 out of CUTLASS's parts: includers define Device, a cutlass::gemm::device::GemmUniversal, and the
// sizes. Buffers: 0 is a, 1 is b, 2 is the result; alpha is 1 and beta is 0. Slices of k wait for each other by counters in
// buffer 3.

#include "Record.h"

#include "cutlass/gemm/device/gemm_universal.h"

template <typename Device> struct Ampere {
  using Kernel = typename Device::GemmKernel;

  static int record(int m, int n, int k, int slices) {
    using A = typename Device::LayoutA;
    using B = typename Device::LayoutB;
    cutlass::gemm::GemmCoord size(m, n, k);
    using Compute = typename Device::EpilogueOutputOp::ElementCompute;
    typename Device::Arguments arguments(
        cutlass::gemm::GemmUniversalMode::kGemm, size, slices, {Compute(1), Compute(0)},
        record::buffer<typename Device::ElementA>(0), record::buffer<typename Device::ElementB>(1),
        record::buffer<typename Device::ElementC>(2), record::buffer<typename Device::ElementC>(2), 0, 0, 0, 0,
        A::packed({m, k}).stride(0), B::packed({k, n}).stride(0), n, n);
    dim3 grid;
    auto bytes = record::setBytes<typename Kernel::Params>([&](void *storage) {
      auto *params = new (storage) typename Kernel::Params(arguments, 8, 1);
      params->semaphore = slices > 1 ? record::buffer<int>(3) : nullptr;
      grid = params->get_grid_dims();
    });
    record::printLaunch(grid, {1, 1, 1}, Kernel::kThreadCount, sizeof(typename Kernel::SharedStorage));
    std::printf("// sizes %d %d %d\n", m, n, k);
    record::printParameters(bytes);
    return 0;
  }
};

#define RECORD_AMPERE(Device, m, n, k, slices)                                                                         \
  extern "C" __global__ void __launch_bounds__(Device::GemmKernel::kThreadCount)                                       \
      gemm(__grid_constant__ const Device::GemmKernel::Params params) {                                                \
    extern __shared__ __align__(16) unsigned char shared[];                                                            \
    Device::GemmKernel::invoke(params, *reinterpret_cast<Device::GemmKernel::SharedStorage *>(shared));                \
  }                                                                                                                    \
  int main() { return Ampere<Device>::record(m, n, k, slices); }
