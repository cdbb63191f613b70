// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of values that only pass through registers on their way to shared
// memory. Wide reads alone leave a choice: rows that are transposed into columns
// collide in banks, more or less so.
//
//   A, 128 x 16 f32, read along k and written as [k][m] with rows of 132:
//     4 lanes along k: rows 0, 4, 8, 12 of k begin at banks 0, 16, 0, 16, so
//       that two of them share banks          16 wavefronts in 8 stores
//     2 lanes along k, two rows of m a thread: 8 wavefronts in 4 stores of two

#include "LayoutRules.h"
#include "tilewright/Layout/BankConflicts.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

/// The shared memory that `write` fills, with a dim per dim of the vector.
static std::optional<SharedLayout> sharedLayoutOf(vector::TransferWriteOp write) {
  auto memref = cast<MemRefType>(write.getBase().getType());
  auto space = dyn_cast_or_null<SharedAttr>(memref.getMemorySpace());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!space || failed(memref.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  VectorType type = write.getVectorType();
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  std::vector<int64_t> steps;
  for (AffineExpr result : write.getPermutationMap().getResults())
    steps.push_back(strides[cast<AffineDimExpr>(result).getPosition()]);
  int bits = int(elementBytes(type.getElementType()) * 8);
  Swizzle swizzle = space.getElementSwizzle();
  swizzle.base += int(llvm::Log2_64(bits / 8)); // in bytes
  auto layout = SharedLayout::get(shape, steps, bits, swizzle);
  return layout ? std::optional(*layout) : std::nullopt;
}

FailureOr<DistributedLayout>
tilewright::stagingLayout(vector::TransferWriteOp write, AffineMap readMap,
                          int64_t accessBytes, const ThreadRange &threads) {
  VectorType type = write.getVectorType();
  FailureOr<DistributedLayout> natural =
      accessLayout(type, readMap, accessBytes, threads);
  std::optional<SharedLayout> shared = sharedLayoutOf(write);
  if (failed(natural) || !shared || type.getRank() != 2)
    return natural;
  std::vector<int> order = memoryOrder(readMap);
  int64_t bytes = elementBytes(type.getElementType());
  int64_t width = std::max<int64_t>(1, accessBytes / bytes);
  int64_t columns = type.getDimSize(order[0]), rows = type.getDimSize(order[1]);
  int64_t numThreads = threads.lanes * threads.warps;
  if (!llvm::isPowerOf2_64(columns) || !llvm::isPowerOf2_64(rows) ||
      !llvm::isPowerOf2_64(numThreads) || columns < width ||
      columns * rows < numThreads * width)
    return natural;

  int runDim = 0;
  for (int dim = 0; dim < shared->rank(); ++dim)
    if (shared->strides()[dim] == 1)
      runDim = dim;
  auto cost = [&](const DistributedLayout &layout) {
    ConflictCount count = countConflicts(
        *shared, widestAccess(layout, runDim, int(bytes * 8)),
        maxCountedAccesses);
    return std::pair(count.wavefronts, count.accesses);
  };
  DistributedLayout best = *natural;
  auto least = cost(best);
  // Lanes along a row, as far as they read whole sectors of 32 bytes; then rows
  // that one thread has below each other.
  for (int64_t along = std::min(threads.lanes, columns / width);
       along >= 1 && along * width * bytes >= std::min<int64_t>(32, columns * bytes);
       along /= 2)
    for (int64_t below : {1, 2, 4, 8, 16}) {
      std::vector<int64_t> elements(2), lanes(2), warps(2);
      elements[order[0]] = width;
      elements[order[1]] = below;
      lanes[order[0]] = along;
      lanes[order[1]] = threads.lanes / along;
      // Bytes are transposed by as many as one store takes.
      if (below > 4 && bytes > 1)
        continue;
      int64_t left = columns / width / along;
      warps[order[0]] = std::min(threads.warps, left);
      warps[order[1]] = threads.warps / warps[order[0]];
      if (below * lanes[order[1]] * warps[order[1]] > rows)
        continue;
      auto layout = DistributedLayout::blocked(
          {type.getShape().begin(), type.getShape().end()}, elements, lanes,
          warps, order);
      if (!layout)
        continue;
      if (auto candidate = cost(*layout); candidate < least) {
        least = candidate;
        best = *layout;
      }
    }
  return best.withFirstWarp(threads.firstWarp);
}
