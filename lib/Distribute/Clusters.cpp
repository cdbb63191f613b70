// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a cluster: which of the cluster's tiles each computes, and with whom it
// shares what it copies. The tiled loops' extents of the cluster are digits of a
// block's rank, the first loop's fastest:
//
//   cluster = [2, 2]: rank 0 is tile (0, 0) of the cluster, 1 (1, 0), 2 (0, 1), 3 (1, 1)
//
// and the threads of a warpgroup, where one of them speaks to a copy engine.

#include "ThreadCode.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

ArrayRef<int64_t> ThreadCode::cluster() {
  return source->getAttrOfType<LaunchAttr>(kLaunchAttr).getCluster();
}

int64_t ThreadCode::clusterSize() { return llvm::product_of(cluster()); }

static int64_t blocksAlong(ArrayRef<int64_t> cluster, unsigned loop) {
  return loop < cluster.size() ? cluster[loop] : 1;
}

Value ThreadCode::clusterCount(Location loc, unsigned loop, Value tiles) {
  int64_t blocks = blocksAlong(cluster(), loop);
  if (blocks == 1)
    return tiles;
  Value up = arith::AddIOp::create(b, loc, tiles, constant(loc, blocks - 1));
  return arith::DivUIOp::create(b, loc, up, constant(loc, blocks));
}

/// Blocks between neighbours along `loop`, by rank.
static int64_t rankStride(ArrayRef<int64_t> cluster, unsigned loop) {
  return llvm::product_of(cluster.take_front(loop));
}

Index ThreadCode::clusterDigit(Location loc, unsigned loop) {
  int64_t blocks = blocksAlong(cluster(), loop);
  if (blocks == 1)
    return Index(0);
  Value rank = ClusterRankOp::create(b, loc, b.getIndexType());
  rank = arith::DivUIOp::create(b, loc, rank,
                                constant(loc, rankStride(cluster(), loop)));
  return Index(arith::RemUIOp::create(b, loc, rank, constant(loc, blocks)).getResult());
}

Value ThreadCode::tileOfCluster(Location loc, unsigned loop, Value number) {
  int64_t blocks = blocksAlong(cluster(), loop);
  return blocks == 1
             ? number
             : materialize(loc, add(loc, multiply(loc, Index(number), Index(blocks)),
                                    clusterDigit(loc, loop)));
}

Value ThreadCode::blockAlong(Location loc, unsigned loop, Value place) {
  if (clusterSize() == blocksAlong(cluster(), loop))
    return place;
  int64_t stride = rankStride(cluster(), loop);
  Value rank = ClusterRankOp::create(b, loc, b.getIndexType());
  Value own = materialize(loc, multiply(loc, clusterDigit(loc, loop), Index(stride)));
  Value first = arith::SubIOp::create(b, loc, rank, own);
  return materialize(
      loc, add(loc, Index(first), multiply(loc, Index(place), Index(stride))));
}

Value ThreadCode::clusterBlocks(Location loc, unsigned loop) {
  int64_t stride = rankStride(cluster(), loop), bits = 0;
  for (int64_t block = 0; block < blocksAlong(cluster(), loop); ++block)
    bits |= int64_t(1) << block * stride;
  if (clusterSize() == blocksAlong(cluster(), loop))
    return constant(loc, bits);
  // Those whose other digits are this block's.
  Value rank = ClusterRankOp::create(b, loc, b.getIndexType());
  Value own = materialize(loc, multiply(loc, clusterDigit(loc, loop), Index(stride)));
  return arith::ShLIOp::create(b, loc, constant(loc, bits),
                               arith::SubIOp::create(b, loc, rank, own));
}

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

void ThreadCode::enterOneOfGroup(Location loc) {
  Value inGroup = arith::RemUIOp::create(b, loc, warp(), constant(loc, 4));
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, inGroup,
                                      constant(loc, 0));
  auto ofWarp = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  b.setInsertionPointToStart(ofWarp.thenBlock());
  Value elected = ElectOp::create(b, loc, b.getI1Type());
  auto ofLane = scf::IfOp::create(b, loc, elected, /*withElseRegion=*/false);
  b.setInsertionPointToStart(ofLane.thenBlock());
}

std::optional<int64_t> ThreadCode::takeBarriers(int64_t count) {
  constexpr int64_t kFirst = 8, kEnd = 16;
  if (nextBarrier + count > kEnd - kFirst)
    return std::nullopt;
  int64_t first = kFirst + nextBarrier;
  nextBarrier += count;
  return first;
}

LogicalResult ThreadCode::groupBarrier(Operation *op, Value group) {
  int64_t groups = threads.warps / 4;
  auto [known, isNew] = groupBarriers.try_emplace(threads.firstWarp, 0);
  if (isNew) {
    std::optional<int64_t> first = takeBarriers(groups);
    if (!first)
      return op->emitOpError() << "needs a named barrier for each of " << groups
                               << " warpgroups, and there are no more";
    known->second = *first;
  }
  Location loc = op->getLoc();
  GroupBarrierOp::create(
      b, loc,
      arith::AddIOp::create(b, loc, group, constant(loc, known->second)),
      4 * threads.lanes);
  return success();
}
