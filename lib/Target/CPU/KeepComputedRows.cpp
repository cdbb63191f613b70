// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that sums up a row and then writes it computes what both need twice. A
// transcendental function, or a few steps, cost more than a store to a cache and a load:
// their values are kept, a tile for each step of the loop, where a row of them fits there.
//
//   scf.for %i … { %e = math.exp %d, sum }
//   scf.for %i … { %e = math.exp %d, write }
// becomes
//   %rows = memref.alloca : memref<2x8192xf32>
//   scf.for %i … { %e = math.exp %d, sum, write to %rows }
//   scf.for %i … { %e = read %rows, write }

#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_KEEPCOMPUTEDROWSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Vector instructions of each step that compute what `op` of a loop yields.
static int64_t stepsOf(Operation &op, scf::ForOp loop) {
  SmallVector<Operation *> varying = varyingOps(loop);
  llvm::SmallDenseSet<Operation *> needed = {&op};
  int64_t steps = 0;
  for (Operation *before : llvm::reverse(varying)) {
    if (!needed.contains(before) || !isPure(before) || before->getNumResults() != 1 ||
        !isa<VectorType>(before->getResult(0).getType()))
      continue;
    steps += instructionsOf(*before);
    for (Value operand : before->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        needed.insert(definition);
  }
  return steps;
}

/// Whether it pays to store and load what `op` of a loop computes. What is widened is kept as it
/// was before: half of the bytes for one conversion.
static bool isWorthKeeping(Operation &op, scf::ForOp loop) {
  constexpr int64_t kStoreAndLoad = 6;
  if (isCostly(op))
    return true;
  if (op.getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(&op) ||
      isa<arith::ExtFOp>(op))
    return false;
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8 &&
         stepsOf(op, loop) > kStoreAndLoad;
}

/// The indices of the tile of this step: tiles lie side by side, as those of what is read do.
static SmallVector<Value> tileIndices(OpBuilder &builder, scf::ForOp loop, VectorType tile) {
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(tile.getRank(), zero);
  indices.back() = loop.getInductionVar();
  int64_t columns = tile.getShape().back();
  if (getConstantIntValue(loop.getStep()) != columns) {
    Value step = arith::DivUIOp::create(builder, loc, indices.back(), loop.getStep());
    indices.back() = arith::MulIOp::create(
        builder, loc, step, arith::ConstantIndexOp::create(builder, loc, columns));
  }
  return indices;
}

/// Keeps `value` of a loop, a tile for each of its steps. Of a load and an earlier store whose
/// addresses are a number of pages apart the load waits: rows begin on pages, as those of buffers
/// mostly do, so that what is loaded is always further along the row.
static Value store(Operation *value, scf::ForOp first, int64_t steps) {
  constexpr int64_t kPageBytes = 4096;
  auto type = cast<VectorType>(value->getResult(0).getType());
  Location loc = value->getLoc();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() *= steps;
  OpBuilder builder(first->getContext());
  builder.setInsertionPointToStart(&first->getParentOfType<func::FuncOp>().getBody().front());
  Value rows = memref::AllocaOp::create(
      builder, loc, MemRefType::get(shape, type.getElementType()),
      /*alignment=*/builder.getI64IntegerAttr(kPageBytes));
  SmallVector<bool> inBounds(type.getRank(), true);
  builder.setInsertionPointAfter(value);
  vector::TransferWriteOp::create(builder, loc, value->getResult(0), rows,
                                  tileIndices(builder, first, type), ArrayRef<bool>(inBounds));
  return rows;
}

/// Reads in place of `again` what is kept in `rows`.
static void load(Value rows, Operation *again, scf::ForOp second) {
  auto type = cast<VectorType>(again->getResult(0).getType());
  Location loc = again->getLoc();
  OpBuilder builder(again);
  SmallVector<bool> inBounds(type.getRank(), true);
  Value pad = arith::ConstantOp::create(builder, loc,
                                        builder.getZeroAttr(type.getElementType()));
  Value read = vector::TransferReadOp::create(
      builder, loc, type, rows, tileIndices(builder, second, type), pad,
      ArrayRef<bool>(inBounds));
  again->getResult(0).replaceAllUsesWith(read);
}

/// Erases what no other op of the loop's body needs any more.
static void eraseUnused(scf::ForOp loop) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct KeepComputedRowsPass : tilewright::impl::KeepComputedRowsPassBase<KeepComputedRowsPass> {
  using KeepComputedRowsPassBase::KeepComputedRowsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ArrayAttr access = accessOfKernel(func);
    if (!access)
      return;
    SmallVector<scf::ForOp> loops = innermostLoops(func);
    kept.clear();
    int64_t left = bytes;
    for (size_t j = 1; j < loops.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        if (loops[i]->getBlock() == loops[j]->getBlock())
          keepCommon(loops[i], loops[j], access, left);
  }

  void keepCommon(scf::ForOp first, scf::ForOp second, ArrayAttr access, int64_t &left) {
    std::optional<int64_t> steps = commonSteps(first, second);
    if (!steps || *steps < 1)
      return;
    Twins twins(first, second, access);
    SmallVector<Operation *> again;
    for (Operation &op : llvm::reverse(*second.getBody()))
      if (isWorthKeeping(op, second))
        again.push_back(&op);
    for (Operation *candidate : again) {
      // Of an op that is unused by now, another that needs it is kept.
      if (candidate->use_empty())
        continue;
      for (Operation &op : *first.getBody()) {
        if (!isWorthKeeping(op, first) ||
            !twins.areEqual(op.getResult(0), candidate->getResult(0)))
          continue;
        if (!keep(&op, candidate, first, second, *steps, left))
          break;
        eraseUnused(second);
        return keepCommon(first, second, access, left);
      }
    }
  }

  /// Keeps `value` of the first loop, once, and reads it in place of `again` of the second. False
  /// if there is no room for it.
  bool keep(Operation *value, Operation *again, scf::ForOp first, scf::ForOp second,
            int64_t steps, int64_t &left) {
    Value &rows = kept[value];
    if (!rows) {
      auto type = cast<VectorType>(value->getResult(0).getType());
      int64_t size =
          steps * type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      if (size > left)
        return false;
      left -= size;
      rows = store(value, first, steps);
    }
    load(rows, again, second);
    return true;
  }

  llvm::DenseMap<Operation *, Value> kept;
};
} // namespace
