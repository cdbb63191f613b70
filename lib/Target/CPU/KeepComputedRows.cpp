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
//
// A row may have several dims, with a nest of loops over them.

#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include <limits>
#include <map>

namespace tilewright {
#define GEN_PASS_DEF_KEEPCOMPUTEDROWSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Vector instructions that a step costs which stores a value and loads it: from the second-level
/// cache, and where few rows are kept, whose other lines are in the first one meanwhile.
static constexpr int64_t kStoreAndLoad = 6, kStoreAndLoadFew = 2;

using Operations = llvm::SmallDenseSet<Operation *>;

/// Vector instructions of each step that compute what `op`, one of the `varying` ops of a loop,
/// yields; of more than kStoreAndLoad only some.
static int64_t stepsOf(Operation &op, const Operations &varying) {
  SmallVector<Operation *> left = {&op};
  Operations seen = {&op};
  int64_t steps = 0;
  while (!left.empty() && steps <= kStoreAndLoad) {
    Operation *before = left.pop_back_val();
    if (!varying.contains(before) || !isPure(before) || before->getNumResults() != 1 ||
        !isa<VectorType>(before->getResult(0).getType()))
      continue;
    steps += instructionsOf(*before);
    for (Value operand : before->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && seen.insert(definition).second)
        left.push_back(definition);
  }
  return steps;
}

/// Vector instructions that are saved where what `op` of a loop computes is kept. What is widened
/// is kept as it was before: half of the bytes for one conversion.
static int64_t savedBy(Operation &op, const Operations &varying) {
  if (isCostly(op))
    return std::numeric_limits<int64_t>::max();
  if (op.getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(&op) ||
      isa<arith::ExtFOp>(op))
    return 0;
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8 ? stepsOf(op, varying) : 0;
}

/// Ops of a loop that save more than it costs to keep their values, in order, each with what it
/// saves.
using Savings = llvm::MapVector<Operation *, int64_t>;

static Savings savingsOf(scf::ForOp loop) {
  SmallVector<Operation *> inOrder = varyingOps(loop);
  Operations varying(inOrder.begin(), inOrder.end());
  Savings savings;
  for (Operation &op : *loop.getBody())
    if (int64_t saved = savedBy(op, varying); saved > kStoreAndLoadFew)
      savings[&op] = saved;
  return savings;
}

/// A nest of loops, innermost first, or such loops of one of two nests.
using Nest = SmallVector<scf::ForOp>;

/// The indices of the tile of this step: a dim for each outer loop, and tiles of the inner one
/// side by side, as those of what is read are.
static SmallVector<Value> tileIndices(OpBuilder &builder, ArrayRef<scf::ForOp> nest,
                                      VectorType tile) {
  scf::ForOp inner = nest.front();
  Location loc = inner.getLoc();
  auto stepOf = [&](scf::ForOp loop, int64_t extent) -> Value {
    Value at = loop.getInductionVar();
    if (getConstantIntValue(loop.getStep()) == extent)
      return at;
    at = arith::DivUIOp::create(builder, loc, at, loop.getStep());
    return extent == 1 ? at
                       : Value(arith::MulIOp::create(
                             builder, loc, at,
                             arith::ConstantIndexOp::create(builder, loc, extent)));
  };
  SmallVector<Value> indices;
  for (scf::ForOp loop : llvm::reverse(nest.drop_front()))
    indices.push_back(stepOf(loop, 1));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  indices.append(tile.getRank() - 1, zero);
  indices.push_back(stepOf(inner, tile.getShape().back()));
  return indices;
}

/// Keeps `value` of a loop, a tile for each of its steps. Of a load and an earlier store whose
/// addresses are a number of pages apart the load waits: rows begin on pages, as those of buffers
/// mostly do, so that what is loaded is always further along the row.
static Value store(Operation *value, ArrayRef<scf::ForOp> first, ArrayRef<int64_t> steps) {
  constexpr int64_t kPageBytes = 4096;
  auto type = cast<VectorType>(value->getResult(0).getType());
  Location loc = value->getLoc();
  SmallVector<int64_t> shape(llvm::reverse(steps.drop_front()));
  llvm::append_range(shape, type.getShape());
  shape.back() *= steps.front();
  OpBuilder builder(value->getContext());
  builder.setInsertionPointToStart(&value->getParentOfType<func::FuncOp>().getBody().front());
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
static void load(Value rows, Operation *again, ArrayRef<scf::ForOp> second) {
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
    known.clear();
    int64_t left = bytes;
    for (size_t j = 1; j < loops.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        keepCommon(loops[i], loops[j], access, left);
  }

  void keepCommon(scf::ForOp first, scf::ForOp second, ArrayAttr access, int64_t &left) {
    LoopPairs pairs = pairLoops(first, second);
    SmallVector<int64_t> steps;
    for (auto [loop, other] : pairs)
      steps.push_back(commonSteps(loop, other).value_or(0));
    if (pairs.empty() || llvm::is_contained(steps, 0))
      return;
    Twins twins(first, second, access);
    for (Operation *candidate : llvm::reverse(llvm::make_first_range(savings(second)))) {
      // Of an op that is unused by now, another that needs it is kept.
      if (candidate->use_empty())
        continue;
      for (auto [op, saved] : savings(first)) {
        if (op->getName() != candidate->getName() ||
            !twins.areEqual(op->getResult(0), candidate->getResult(0)))
          continue;
        if (!keep(op, saved, candidate, pairs, steps, left))
          break;
        eraseUnused(second);
        known.erase(second);
        return keepCommon(first, second, access, left);
      }
    }
  }

  /// Keeps `value` of the first loop, once, and reads it in place of `again` of the second. False
  /// if there is no room for it: a quarter of it, for what is computed soon.
  bool keep(Operation *value, int64_t saved, Operation *again, const LoopPairs &pairs,
            ArrayRef<int64_t> steps, int64_t &left) {
    Nest first(llvm::make_first_range(pairs)), second(llvm::make_second_range(pairs));
    Value &rows = kept[value];
    if (!rows) {
      auto type = cast<VectorType>(value->getResult(0).getType());
      int64_t size = computeProduct(steps) * type.getNumElements() *
                     llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      int64_t room = saved > kStoreAndLoad ? left : left - bytes * 3 / 4;
      if (size > room)
        return false;
      left -= size;
      rows = store(value, first, steps);
    }
    load(rows, again, second);
    return true;
  }

  /// Of a loop as it is; to keep a value of the first one changes the second.
  const Savings &savings(scf::ForOp loop) {
    auto [at, isNew] = known.try_emplace(loop);
    if (isNew)
      at->second = savingsOf(loop);
    return at->second;
  }

  llvm::DenseMap<Operation *, Value> kept;
  std::map<Operation *, Savings> known;
};
} // namespace
