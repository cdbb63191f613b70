// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout library searches for the swizzle (or, failing that, the padding)
// with the fewest wavefronts over both accesses of a tile:
//
//   fills  a block's threads write 16 bytes each along the rows
//   reads  eight lanes read 16 bytes of eight rows, one below the other
//
// 128 x 64 f16: rows of 128 bytes. Fills take whole rows, all banks; but the
// eight rows of a read begin in one bank: 8 wavefronts. With swizzle [3, 3, 3],
// row r has its chunk c at c ^ (r % 8): one wavefront for either.

#include "ChooseTile.h"
#include "tilewright/Layout/BankConflicts.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

using Shape = DistributedLayout::Shape;
using Modes = DistributedLayout::Modes;

std::optional<ChosenTile> tilewright::chooseTile(MmaOp op,
                                                 ArrayRef<int64_t> shape,
                                                 Type element) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  auto launch = kernel ? kernel->getAttrOfType<LaunchAttr>(kLaunchAttr)
                       : LaunchAttr();
  if (shape.size() != 2 || shape[0] % 8 || shape[1] % 8 || !launch)
    return std::nullopt;
  int64_t rows = shape[0], columns = shape[1];
  Shape extents{rows, columns};
  auto fills = DistributedLayout::coalesced(
      extents, 8, launch.getSubgroup(),
      launch.getThreads() / launch.getSubgroup(), {1, 0});
  auto reads = DistributedLayout::get(
      extents, Modes{{8, 1, 1}, {columns / 8, 1, 8}, {rows / 8, 0, 8}},
      Modes{{8, 0, 1}, Mode::replica(launch.getSubgroup() / 8)}, Modes{});
  if (!fills || !reads)
    return std::nullopt;
  auto choice = chooseShared(extents, 16, {1, 0},
                             {{*fills, 1, 8}, {*reads, 1, 8}}, Avoidance::Any, 16);
  if (!choice)
    return std::nullopt;
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> swizzle;
  if (std::optional<Swizzle> found = choice->layout.elementSwizzle())
    swizzle = {found->bits, found->base, found->shift};
  MemRefLayoutAttrInterface layout;
  const Shape &strides = choice->layout.strides();
  if (strides[0] != columns)
    layout = StridedLayoutAttr::get(context, 0, ArrayRef<int64_t>(strides));
  return ChosenTile{
      MemRefType::get(shape, element, layout, SharedAttr::get(context, swizzle)),
      choice->conflicts.wavefronts - choice->conflicts.minimum};
}
