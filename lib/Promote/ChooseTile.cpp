// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout library searches for the swizzle (or, failing that, the padding)
// with the fewest wavefronts over both accesses of a tile:
//
//   fills  a block's threads write 16 bytes each along the rows; bytes whose rows
//          are columns in global memory are transposed while staging, in as many as one
//          thread has below each other
//   reads  eight lanes read 16 bytes of eight rows, one below the other
//
// 128 x 64 f16: rows of 128 bytes. Fills take whole rows, all banks; but the
// eight rows of a read begin in one bank: 8 wavefronts. With swizzle [3, 3, 3],
// row r has its chunk c at c ^ (r % 8): one wavefront for either.
//
// 256 x 64 i8, transposed: a thread has 16 rows of 4 bytes, and the threads beside it
// the next 16 rows, so that a store meets rows 16 apart, a read rows 1 apart. No
// single field of the address tells both apart; a fold of two does.

#include "ChooseTile.h"
#include "tilewright/Layout/BankConflicts.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

using Shape = DistributedLayout::Shape;
using Modes = DistributedLayout::Modes;

/// How a block's threads may fill a tile whose rows they read as columns: each
/// reads 16 bytes of some neighbouring columns, and writes what it has of a row.
static std::vector<SharedAccess> turningFills(const Shape &extents, int64_t width,
                                              int64_t lanes, int64_t warps) {
  std::vector<SharedAccess> fills;
  int64_t rows = extents[0], columns = extents[1];
  for (int64_t below = width; below >= 2; below /= 2)
    for (int64_t along = std::max<int64_t>(1, std::min(lanes, rows / width));
         along >= 1; along /= 2) {
      int64_t left = std::max<int64_t>(1, rows / width / along);
      int64_t warpsAlong = std::min(warps, left);
      if (rows < width || below * (lanes / along) * (warps / warpsAlong) > columns)
        continue;
      auto layout = DistributedLayout::blocked(
          extents, {width, below}, {along, lanes / along},
          {warpsAlong, warps / warpsAlong}, {0, 1});
      if (layout)
        fills.push_back({*layout, 1, below});
    }
  return fills;
}

std::optional<ChosenTile> tilewright::chooseTile(MmaOp op,
                                                 ArrayRef<int64_t> shape,
                                                 Type element, bool transposed) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  auto launch = kernel ? kernel->getAttrOfType<LaunchAttr>(kLaunchAttr)
                       : LaunchAttr();
  int64_t bits = element.getIntOrFloatBitWidth(), width = 128 / bits;
  if (shape.size() != 2 || shape[0] % 8 || shape[1] % width || !launch)
    return std::nullopt;
  int64_t rows = shape[0], columns = shape[1];
  int64_t lanes = launch.getSubgroup(), warps = launch.getThreads() / lanes;
  Shape extents{rows, columns};
  std::vector<SharedAccess> fills;
  if (transposed)
    fills = turningFills(extents, width, lanes, warps);
  else if (auto rowwise =
               DistributedLayout::coalesced(extents, width, lanes, warps, {1, 0}))
    fills = {{*rowwise, 1, width}};
  auto reads = DistributedLayout::get(
      extents, Modes{{width, 1, 1}, {columns / width, 1, width}, {rows / 8, 0, 8}},
      Modes{{8, 0, 1}, Mode::replica(lanes / 8)}, Modes{});
  if (!reads)
    return std::nullopt;
  std::optional<SharedChoice> choice;
  for (const SharedAccess &fill : fills) {
    auto next = chooseShared(extents, int(bits), {1, 0},
                             {fill, {*reads, 1, width}}, Avoidance::AnyOrFold, 16);
    if (next && (!choice ||
                 next->conflicts.wavefronts < choice->conflicts.wavefronts))
      choice = *next;
  }
  if (!choice)
    return std::nullopt;
  MLIRContext *context = op.getContext();
  Swizzle swizzle = choice->layout.elementSwizzle().value_or(Swizzle());
  MemRefLayoutAttrInterface layout;
  const Shape &strides = choice->layout.strides();
  if (strides[0] != columns)
    layout = StridedLayoutAttr::get(context, 0, ArrayRef<int64_t>(strides));
  return ChosenTile{
      MemRefType::get(shape, element, layout,
                      SharedAttr::getSwizzled(context, swizzle)),
      choice->conflicts.wavefronts - choice->conflicts.minimum};
}
