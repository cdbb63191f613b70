// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUTLASS's product of halves with sums and results in f32, row-major operands: a block of ROWS x COLUMNS by warps of 64x64,
// DEPTH of k at a time, in STAGES stages. The program prints how the kernel is launched for M x N x K (its arguments).

#include "Record.h"

#include "cutlass/gemm/device/gemm_universal.h"

#include <cstdlib>

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    cutlass::half_t, cutlass::layout::RowMajor, cutlass::half_t, cutlass::layout::RowMajor, float,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<ROWS, COLUMNS, DEPTH>,
    GemmShape<64, 64, DEPTH>, GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, STAGES>;
using Kernel = Device::GemmKernel;

extern "C" __global__ void __launch_bounds__(Kernel::kThreadCount) gemm(__grid_constant__ const Kernel::Params params) {
  extern __shared__ __align__(16) unsigned char shared[];
  Kernel::invoke(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}

int main(int, char **arguments) {
  int m = std::atoi(arguments[1]), n = std::atoi(arguments[2]), k = std::atoi(arguments[3]);
  Device::Arguments problem(cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k}, 1, {1.f, 0.f},
                            record::buffer<cutlass::half_t>(0), record::buffer<cutlass::half_t>(1),
                            record::buffer<float>(2), record::buffer<float>(2), 0, 0, 0, 0, k, n, n, n);
  dim3 grid;
  auto bytes = record::setBytes<Kernel::Params>([&](void *storage) {
    auto *params = new (storage) Kernel::Params(problem, 8, 1);
    params->semaphore = nullptr;
    grid = params->get_grid_dims();
  });
  record::printLaunch(grid, {1, 1, 1}, Kernel::kThreadCount, sizeof(Kernel::SharedStorage));
  record::printParameters(bytes);
}
