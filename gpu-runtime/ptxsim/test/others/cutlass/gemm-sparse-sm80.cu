// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product whose first operand has two of every four elements: mma.sp. Buffer 0 has those that are kept, buffer 4 which they
// are: in row r, group g of four, the pair number (5 r + 3 g) % 6 of pairs(). Printed as data, in the order that CUTLASS
// wants it.

#include "Record.h"

#include "cutlass/gemm/device/gemm_sparse.h"
#include "cutlass/util/host_reorder.h"

using cutlass::gemm::GemmShape;
using Row = cutlass::layout::RowMajor;
using Swizzle = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>;
using Tile = GemmShape<64, 64, 64>;
using Device = cutlass::gemm::device::SparseGemm<
    cutlass::half_t, Row, cutlass::half_t, cutlass::layout::ColumnMajor, float, Row, float,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, Tile, GemmShape<32, 32, 64>, GemmShape<16, 8, 32>,
    cutlass::epilogue::thread::LinearCombination<float, 4, float, float>, Swizzle, 3>;
using Kernel = Device::GemmKernel;
using Element = Device::ElementE;

extern "C" __global__ void __launch_bounds__(Kernel::kThreadCount) gemm(__grid_constant__ const Kernel::Params params) {
  extern __shared__ __align__(16) unsigned char shared[];
  Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}

constexpr int m = 64, n = 72, k = 192;

/// Which two of four, as two bits each, the first in the lower ones.
unsigned pairs(int number) {
  const unsigned all[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  return all[number];
}

int main() {
  constexpr int perElement = Device::kElementsPerElementE, columns = k / 2 / perElement;
  std::vector<Element> plain(m * columns), ordered(m * columns);
  for (int row = 0; row < m; ++row)
    for (int group = 0; group < k / 4; ++group)
      plain[row * columns + group * 2 / perElement] |=
          Element(pairs((5 * row + 3 * group) % 6) << (4 * (group % (perElement / 2))));
  auto layout = Device::LayoutE::packed({m, columns});
  cutlass::reorder_meta(cutlass::TensorRef<Element, Device::LayoutE>(ordered.data(), layout),
                        cutlass::TensorRef<Element, Row>(plain.data(), Row(columns)), {m, n, columns});
  cutlass::gemm::GemmCoord size(m, n, k);
  auto order = Swizzle().get_tiled_shape(size, {Tile::kM, Tile::kN, Tile::kK}, 1);
  auto bytes = record::setBytes<Kernel::Params>([&](void *storage) {
    new (storage) Kernel::Params(size, order, {record::buffer<cutlass::half_t>(0), k / 2},
                                 {record::buffer<cutlass::half_t>(1), k}, {record::buffer<float>(2), n},
                                 {record::buffer<float>(2), n}, {record::buffer<Element>(4), layout}, {1.0f, 0.0f});
  });
  record::printLaunch(Swizzle().get_grid_shape(order), {1, 1, 1}, Kernel::kThreadCount, sizeof(Kernel::SharedStorage));
  std::printf("// sizes %d %d %d\n", m, n, k);
  record::printParameters(bytes);
  for (size_t i = 0; i < ordered.size(); i += 16) {
    std::printf("// data 4");
    for (size_t j = i; j < i + 16; ++j)
      std::printf(" %04x", unsigned(ordered[j]));
    std::printf("\n");
  }
  return 0;
}
