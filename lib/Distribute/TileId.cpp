// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile a block computes: the linear block number, cut into one digit per
// tiled loop. With `raster = g`, the two fastest digits come from bands of g
// rows:
//
//   band  = number / (g * columns),  inside = number % (g * columns)
//   rows  = min(g, all rows - band * g)      the last band has what is left
//   row   = band * g + inside % rows,  column = inside / rows
//
// Where blocks share the sums of all tiles (#tilewright.shares), block b has the steps
// from b * work / blocks on, and step s is that of block ((s + 1) * blocks - 1) / work:
// all that follows is arithmetic on these two.
//
// Where blocks are in clusters, clusters are numbered so, and a block's tile is its
// cluster's first one and its own place among them (Clusters.cpp).

#include "ThreadCode.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// The number of this block.
static Value blockNumber(ThreadCode &code, TileIdOp op) {
  Location loc = op.getLoc();
  OpBuilder &b = code.b;
  Value linear = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  TargetAttr target = getTarget(code.source);
  // Targets with narrow grids spill into y (docs/ir.md, thread form).
  if (!target || target.getFact("max_grid_x", INT32_MAX) >= INT32_MAX)
    return linear;
  Value y = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
  Value width = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  linear = arith::AddIOp::create(b, loc, linear,
                                 arith::MulIOp::create(b, loc, y, width));
  // A grid in two dimensions may have more blocks than there are tiles.
  if (op->getParentOp() == code.source) {
    Value total = code.constant(loc, 1);
    for (Value count : op.getCounts())
      total = arith::MulIOp::create(b, loc, total, code.scalars.lookup(count));
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         linear, total);
    auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  return linear;
}

/// Number among blocks or, where there are clusters, among clusters.
static Value ofCluster(ThreadCode &code, Location loc, Value blocks) {
  int64_t size = code.clusterSize();
  return size == 1 ? blocks
                   : arith::DivUIOp::create(code.b, loc, blocks,
                                            code.constant(loc, size))
                         .getResult();
}

LogicalResult ThreadCode::tileWalk(TileWalkOp op) {
  Location loc = op.getLoc();
  auto id = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  auto blocks = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  scalars.map(op.getFirst(), ofCluster(*this, loc, id));
  scalars.map(op.getStep(), ofCluster(*this, loc, blocks));
  Value end = constant(loc, 1);
  for (auto [loop, count] : llvm::enumerate(op.getCounts()))
    end = arith::MulIOp::create(
        b, loc, end, clusterCount(loc, loop, scalars.lookupOrDefault(count)));
  scalars.map(op.getEnd(), end);
  return success();
}

namespace {
/// Arithmetic on shares: numbers of steps, blocks, tiles and items are not negative.
struct ShareCode {
  Value value(int64_t number) { return code.constant(loc, number); }
  Value add(Value a, Value c) { return arith::AddIOp::create(code.b, loc, a, c); }
  Value sub(Value a, Value c) { return arith::SubIOp::create(code.b, loc, a, c); }
  Value times(Value a, int64_t c) {
    return arith::MulIOp::create(code.b, loc, a, value(c));
  }
  Value divide(Value a, int64_t c) {
    return arith::DivUIOp::create(code.b, loc, a, value(c));
  }
  Value modulo(Value a, int64_t c) {
    return arith::RemUIOp::create(code.b, loc, a, value(c));
  }
  /// The first step of a block.
  Value beginOf(Value block) {
    return divide(times(block, shares.getWork()), shares.getBlocks());
  }
  /// The block that has the first step of a tile.
  Value firstBlockOf(Value tile) {
    Value steps = add(times(tile, shares.getSteps()), value(1));
    return divide(sub(times(steps, shares.getBlocks()), value(1)), shares.getWork());
  }
  /// The first item of a block: of the tile of its first step, the part that counts the
  /// blocks before it.
  Value firstItemOf(Value block) {
    Value tile = divide(beginOf(block), shares.getSteps());
    return add(times(tile, shares.getParts()), sub(block, firstBlockOf(tile)));
  }

  ThreadCode &code;
  Location loc;
  SharesAttr shares;
};
} // namespace

LogicalResult ThreadCode::workWalk(WorkWalkOp op) {
  ShareCode share{*this, op.getLoc(), op.getShares()};
  Value block = ofCluster(*this, op.getLoc(),
                          gpu::BlockIdOp::create(b, op.getLoc(), gpu::Dimension::x));
  scalars.map(op.getFirst(), share.firstItemOf(block));
  scalars.map(op.getEnd(), share.firstItemOf(share.add(block, share.value(1))));
  return success();
}

LogicalResult ThreadCode::workItem(WorkItemOp op) {
  Location loc = op.getLoc();
  ShareCode share{*this, loc, op.getShares()};
  if (!op.getNumber())
    return op.emitOpError("has no number; blocks walk over what they share");
  Value item = materialize(loc, mapped(OpFoldResult(op.getNumber())));
  Value tile = share.divide(item, op.getShares().getParts()),
        part = share.modulo(item, op.getShares().getParts());
  // What the part's block has of the tile.
  Value block = share.add(share.firstBlockOf(tile), part);
  Value low = share.times(tile, op.getShares().getSteps()),
        high = share.add(low, share.value(op.getShares().getSteps()));
  auto clamp = [&](Value step) {
    Value above = arith::MaxUIOp::create(b, loc, step, low);
    return share.sub(arith::MinUIOp::create(b, loc, above, high), low);
  };
  scalars.map(op.getTile(), tile);
  scalars.map(op.getPart(), part);
  scalars.map(op.getBegin(), clamp(share.beginOf(block)));
  scalars.map(op.getEnd(), clamp(share.beginOf(share.add(block, share.value(1)))));
  return success();
}

LogicalResult ThreadCode::tileId(TileIdOp op) {
  Location loc = op.getLoc();
  Value linear = op.getNumber()
                     ? materialize(loc, mapped(OpFoldResult(op.getNumber())))
                     : ofCluster(*this, loc, blockNumber(*this, op));
  SmallVector<int64_t> order;
  if (op.getOrder())
    order.assign(op.getOrder()->begin(), op.getOrder()->end());
  else
    for (int64_t i = op.getCounts().size() - 1; i >= 0; --i)
      order.push_back(i);
  auto count = [&](int64_t loop) {
    return clusterCount(loc, loop, scalars.lookup(op.getCounts()[loop]));
  };
  auto define = [&](int64_t loop, Value cluster) {
    scalars.map(op.getIds()[loop], tileOfCluster(loc, loop, cluster));
  };
  auto divide = [&](Value a, Value d) -> Value {
    return arith::DivUIOp::create(b, loc, a, d);
  };
  auto modulo = [&](Value a, Value d) -> Value {
    return arith::RemUIOp::create(b, loc, a, d);
  };
  auto times = [&](Value a, Value c) -> Value {
    return arith::MulIOp::create(b, loc, a, c);
  };
  ArrayRef<int64_t> rest = order;
  if (op.getRaster().value_or(1) > 1 && order.size() >= 2) {
    Value columns = count(order[0]), rows = count(order[1]);
    rest = rest.drop_front(2);
    Value plane = linear;
    if (!rest.empty()) {
      Value size = times(rows, columns);
      plane = modulo(linear, size);
      linear = divide(linear, size);
    }
    Value height = constant(loc, *op.getRaster());
    Value band = times(height, columns);
    Value first = times(divide(plane, band), height);
    Value inside = modulo(plane, band);
    Value left = arith::SubIOp::create(b, loc, rows, first);
    Value high = arith::MinUIOp::create(b, loc, left, height);
    define(order[1], arith::AddIOp::create(b, loc, first, modulo(inside, high)));
    define(order[0], divide(inside, high));
  }
  for (auto [position, loop] : llvm::enumerate(rest)) {
    if (position + 1 == rest.size()) {
      define(loop, linear);
      break;
    }
    define(loop, modulo(linear, count(loop)));
    linear = divide(linear, count(loop));
  }
  return success();
}
