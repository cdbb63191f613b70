// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of several sizes in one launch: blocks go from one to the next and change their tensor maps on the way. What
// differs between products lies in arrays in global memory. Buffers: 0 sizes (m, n, k), 1 and 2 pointers and strides of a, 3
// the workspace, 4 and 5 of b, 6 and 7 of the results; strides are 64 bits each.

#include "Record.h"

#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/group_array_problem_shape.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"

using cute::Int;
using Element = cutlass::half_t;
using Tile = cute::Shape<Int<128>, Int<64>, Int<64>>;
using Cluster = cute::Shape<Int<1>, Int<1>, Int<1>>;
using Sizes = cutlass::gemm::GroupProblemShape<cute::Shape<int, int, int>>;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto,
    float, float, void, Row *, 4, float, Row *, 4,
    cutlass::epilogue::PtrArrayTmaWarpSpecializedCooperative>::CollectiveOp;
using Products = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, Row *, 8, Element, Column *, 8, float, Tile, Cluster,
    cutlass::gemm::collective::StageCount<3>, cutlass::gemm::KernelPtrArrayTmaWarpSpecializedCooperative>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Sizes, Products, Epilogue>;

extern "C" __global__ void __launch_bounds__(Kernel::MaxThreadsPerBlock, Kernel::MinBlocksPerMultiprocessor)
    gemm(__grid_constant__ const Kernel::Params params) {
  extern __shared__ __align__(1024) char shared[];
  Kernel()(params, shared);
}

int main() {
  constexpr int groups = 3;
  Kernel::Arguments arguments;
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGrouped;
  arguments.problem_shape = {groups, record::buffer<Sizes::UnderlyingProblemShape>(0), nullptr};
  arguments.mainloop = {record::buffer<const Element *>(1), record::buffer<Kernel::InternalStrideA>(2),
                        record::buffer<const Element *>(4), record::buffer<Kernel::InternalStrideB>(5)};
  arguments.epilogue.thread.alpha = 1.0f;
  arguments.epilogue.ptr_D = record::buffer<float *>(6);
  arguments.epilogue.dD = record::buffer<Kernel::InternalStrideD>(7);
  arguments.hw_info = {0, 2, 2};
  size_t workspace = Kernel::get_workspace_size(arguments);
  dim3 grid;
  auto bytes = record::setBytes<Kernel::Params>([&](void *storage) {
    auto *params = new (storage) Kernel::Params(Kernel::to_underlying_arguments(arguments, record::buffer<void>(3)));
    grid = Kernel::get_grid_shape(*params);
  });
  record::printLaunch(grid, {1, 1, 1}, Kernel::MaxThreadsPerBlock, Kernel::SharedStorageSize);
  std::printf("// sizes %d 0 0\n// workspace %zu\n", groups, workspace);
  record::printParameters(bytes);
  return 0;
}
