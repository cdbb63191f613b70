// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward convolution of images, two-dimensional, with padding and stride: the addresses of cp.async follow the filter.
// Buffers: 0 is the input (NHWC), 1 the filters (KRSC), 2 the result (NPQK).

#include "Record.h"

#include "cutlass/conv/kernel/default_conv2d_fprop.h"

using cutlass::gemm::GemmShape;
using Layout = cutlass::layout::TensorNHWC;
using Kernel = typename cutlass::conv::kernel::DefaultConv2dFprop<
    cutlass::half_t, Layout, cutlass::half_t, Layout, float, Layout, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, cutlass::arch::OpMultiplyAdd,
    cutlass::conv::IteratorAlgorithm::kOptimized>::Kernel;

extern "C" __global__ void __launch_bounds__(32 * Kernel::WarpCount::kCount)
    convolve(__grid_constant__ const Kernel::Params params) {
  extern __shared__ __align__(16) unsigned char shared[];
  Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}

int main() {
  // Images, height, width, channels; filters, their height and width; of the result; padding, strides, dilations.
  cutlass::conv::Conv2dProblemSize size(2, 9, 11, 16, 24, 3, 3, 5, 6, 1, 1, 2, 2, 1, 1,
                                        cutlass::conv::Mode::kCrossCorrelation);
  auto in = Layout::packed({size.N, size.H, size.W, size.C}), filters = Layout::packed({size.K, size.R, size.S, size.C}),
       out = Layout::packed({size.N, size.P, size.Q, size.K});
  Kernel::Arguments arguments(size, {record::buffer<cutlass::half_t>(0), in},
                              {record::buffer<cutlass::half_t>(1), filters}, {record::buffer<float>(2), out},
                              {record::buffer<float>(2), out}, {1.0f, 0.0f});
  dim3 grid;
  auto bytes = record::setBytes<Kernel::Params>([&](void *storage) {
    auto *params = new (storage) Kernel::Params(arguments);
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<> order;
    grid = order.get_grid_shape(params->grid_tiled_shape);
  });
  record::printLaunch(grid, {1, 1, 1}, 32 * Kernel::WarpCount::kCount, sizeof(Kernel::SharedStorage), "convolve");
  record::printParameters(bytes);
  return 0;
}
