// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product for sm_90a out of CUTLASS's parts: includers define Kernel, by `Hopper` with their choices, and the sizes.
// Buffers: 0 is a (row-major if nothing else is said), 1 is b (column-major), 2 is the result (row-major); alpha is 1 and beta is 0. The workspace,
// where there is one, is buffer 3, and begins as zeros.

#include "Record.h"

#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

template <typename Element, typename Result, typename Sum, typename Tile, typename Cluster, typename Mainloop,
          typename EpilogueSchedule, typename Scheduler = void,
          typename LayoutA = cutlass::layout::RowMajor, typename LayoutB = cutlass::layout::ColumnMajor,
          typename Stages = cutlass::gemm::collective::StageCount<3>>
struct Hopper {
  static constexpr int alignment = 16 / sizeof(Element), resultAlignment = 16 / sizeof(Result);
  using Row = cutlass::layout::RowMajor;
  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, Sum, Sum, void, Row, resultAlignment, Result, Row,
      resultAlignment, EpilogueSchedule>::CollectiveOp;
  using Products = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, LayoutA, alignment, Element, LayoutB, alignment,
      Sum, Tile, Cluster, Stages, Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Products, Epilogue, Scheduler>;

  static int record(int m, int n, int k, typename Kernel::TileScheduler::Arguments scheduler = {}) {
    auto a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
    auto b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
    auto d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
    typename Kernel::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                         {m, n, k, 1},
                                         {record::buffer<Element>(0), a, record::buffer<Element>(1), b},
                                         {{}, nullptr, {}, record::buffer<Result>(2), d},
                                         // As large as the test wants it, whatever is simulated.
                                         {0, 8, 8},
                                         scheduler};
    arguments.epilogue.thread = {Sum(1), Sum(0)};
    size_t workspace = Kernel::get_workspace_size(arguments);
    dim3 grid;
    auto bytes = record::setBytes<typename Kernel::Params>([&](void *storage) {
      auto *params = new (storage) typename Kernel::Params(
          Kernel::to_underlying_arguments(arguments, workspace ? record::buffer<void>(3) : nullptr));
      grid = Kernel::get_grid_shape(*params);
    });
    record::printLaunch(grid, {cute::size<0>(Cluster{}), cute::size<1>(Cluster{}), 1},
                        Kernel::MaxThreadsPerBlock, Kernel::SharedStorageSize);
    std::printf("// sizes %d %d %d\n", m, n, k);
    if (workspace)
      std::printf("// workspace %zu\n", workspace);
    record::printParameters(bytes);
    return 0;
  }
};

#define RECORD_HOPPER(Choice, ...)                                                                                     \
  extern "C" __global__ void __launch_bounds__(Choice::Kernel::MaxThreadsPerBlock,                                     \
                                               Choice::Kernel::MinBlocksPerMultiprocessor)                             \
      gemm(__grid_constant__ const Choice::Kernel::Params params) {                                                    \
    extern __shared__ __align__(1024) char shared[];                                                                   \
    Choice::Kernel()(params, shared);                                                                                  \
  }                                                                                                                    \
  int main() { return Choice::record(__VA_ARGS__); }
