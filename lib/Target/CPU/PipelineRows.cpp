// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Software pipelining of rows. The last of several loops over a row stores results past the
// caches and computes little, the others compute. The processor does both at a time if they are
// one loop: results of a row are stored while the next row is computed.
//
//   scf.for %row … {
//     %m = scf.for %i … { the greatest number of x[%row] }
//     %s = scf.for %i … { %e = exp …, kept[%i] = %e, sum }
//     scf.for %i … { %e = kept[%i], y[%row, %i] = %e / %s }
//   }
//   ->
//   %s0 = … of the first row
//   %last = scf.for %row … iter_args(%before = %s0) {
//     %m = scf.for %i … { the greatest number of x[%row] }
//     %s = scf.for %i … { %d = kept[%i], %q = %d / %before
//                         %e = exp …, kept[%i] = %e, sum
//                         y[%row - 1, %i] = %q }
//     scf.yield %s
//   }
//   scf.for %i … { %e = kept[%i], y[the last row, %i] = %e / %last }
//
// Stores come last: of a store and a later load whose addresses are a number of pages apart, as
// rows often are, the load waits. Of several loops that compute no transcendental function, each
// is bound by what it reads from a cache, and stays alone; a single one waits for memory.

#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_PIPELINEROWSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static memref::AllocaOp keptRows(Value base) { return base.getDefiningOp<memref::AllocaOp>(); }

/// Kept rows are written in loops.
static bool keepsRow(Operation &op) {
  auto write = dyn_cast<vector::TransferWriteOp>(op);
  return write && keptRows(write.getBase());
}

/// Whether other rows may be computed before `op`: it reads inputs and what is kept, and writes
/// that and results that nothing reads.
static bool isOfItsRow(Operation &op, ArrayAttr access) {
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return keptRows(read.getBase()) || isReadOfInput(read, access);
  if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    return keptRows(write.getBase()) || isOfArgument(write.getBase(), "write", access);
  return op.getNumRegions() == 0 && (isMemoryEffectFree(&op) || isa<scf::YieldOp>(op));
}

/// How often `loop` runs, if that is known.
static std::optional<int64_t> stepsOf(scf::ForOp loop) {
  OpBuilder builder(loop);
  AffineExpr end = builder.getAffineDimExpr(0), begin = builder.getAffineDimExpr(1);
  auto map = AffineMap::get(2, 0, end - begin);
  SmallVector<Value> operands = {loop.getUpperBound(), loop.getLowerBound()};
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  auto length = dyn_cast<AffineConstantExpr>(simplifyAffineMap(map).getResult(0));
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!length || !step || *step <= 0)
    return std::nullopt;
  return llvm::divideCeil(length.getValue(), *step);
}

namespace {
/// The loops over a row and what the last one needs.
class RowPipeline {
public:
  RowPipeline(scf::ForOp rows, ArrayAttr access) : rows(rows), access(access) {}
  /// What stands against the last loop running beside one of the next row's.
  Refusal find(int64_t registers);
  /// Whether there is a loop that the last one would run beside if nothing stood against it.
  bool hasCandidate() const { return isCandidate; }
  void build();

private:
  Refusal findLast();
  Refusal findPartner(ArrayRef<scf::ForOp> others);
  bool fits(int64_t registers);
  bool overwrites(scf::ForOp loop);
  bool overwritesAtSameStep(scf::ForOp loop);
  void cloneBody(OpBuilder &builder, IRMapping &mapping, ValueRange before, Value rowBefore);
  scf::ForOp fuse(OpBuilder &builder, IRMapping &mapping, ValueRange before, Value rowBefore);
  IRMapping mapStored(ValueRange before, Value row);

  scf::ForOp rows, partner, last;
  ArrayAttr access;
  int64_t steps = 0;
  bool isCandidate = false;
  /// What the last loop needs of the others.
  SmallVector<Value> needed;
};
} // namespace

/// Whether `loop` writes kept rows that the last loop reads.
bool RowPipeline::overwrites(scf::ForOp loop) {
  for (auto write : loop.getBody()->getOps<vector::TransferWriteOp>())
    for (auto read : last.getBody()->getOps<vector::TransferReadOp>())
      if (read.getBase() == write.getBase())
        return true;
  return false;
}

/// Whether each step of `loop` overwrites no more of them than what the same step of the last
/// loop has read.
bool RowPipeline::overwritesAtSameStep(scf::ForOp loop) {
  Twins twins(loop, last, access);
  for (auto write : loop.getBody()->getOps<vector::TransferWriteOp>())
    for (auto read : last.getBody()->getOps<vector::TransferReadOp>())
      if (read.getBase() == write.getBase() &&
          (read.getVectorType() != write.getVectorType() ||
           !llvm::all_of(llvm::zip_equal(write.getIndices(), read.getIndices()),
                         [&](auto pair) {
                           return twins.areEqual(std::get<0>(pair), std::get<1>(pair));
                         })))
        return false;
  return true;
}

/// The loop that writes results, the last one; the others compute what it needs.
Refusal RowPipeline::findLast() {
  SmallVector<scf::ForOp> loops(rows.getBody()->getOps<scf::ForOp>());
  if (loops.size() < 2)
    return refuse(Refused::Unrelated, "a row has one loop");
  if (llvm::any_of(loops, [](scf::ForOp loop) { return !loop.getOps<scf::ForOp>().empty(); }))
    return refuse(Refused::Indivisible, "rows of several dims have nests of loops");
  last = loops.back();
  auto writes = last.getBody()->getOps<vector::TransferWriteOp>();
  if (llvm::none_of(writes, [&](auto write) {
        return isOfArgument(write.getBase(), "write", access);
      }))
    return refuse(Refused::Unrelated, "the last loop over a row writes no result");
  if (last->getNextNode() != rows.getBody()->getTerminator() || last.getNumResults() ||
      llvm::any_of(writes, [&](auto write) { return keptRows(write.getBase()); }))
    return refuse(Refused::Neighbours, "the loop that writes results computes more than these");
  return {};
}

/// The one that computes most, of those in front of which nothing that is yet to be stored is
/// overwritten; or the only one, which waits for memory.
Refusal RowPipeline::findPartner(ArrayRef<scf::ForOp> others) {
  bool isOverwritten = false, computes = false;
  for (scf::ForOp loop : others) {
    isOverwritten = overwrites(loop) && !overwritesAtSameStep(loop);
    if (isOverwritten)
      break;
    if (others.size() == 1 || llvm::any_of(*loop.getBody(), isCostly)) {
      computes = true;
      if (commonSteps(loop, last) && (!partner || workOf(loop) > workOf(partner)))
        partner = loop;
    }
    if (overwrites(loop))
      break;
  }
  isCandidate = partner || isOverwritten || computes;
  if (partner)
    return {};
  if (isOverwritten)
    return refuse(Refused::Neighbours, "what is kept of a row is overwritten before it is stored");
  if (computes)
    return refuse(Refused::Indivisible, "loops over a row have different steps");
  return refuse(Refused::NotProfitable,
                "no loop of several computes more than what it waits for, an exponential, say");
}

/// Whether a step of both loops needs no more registers than there are: of few, an exponential
/// beside a quotient does, but not two rows of a normalisation, with what they are scaled by.
bool RowPipeline::fits(int64_t registers) {
  constexpr int64_t kMany = 32;
  return registers >= kMany || (llvm::any_of(*partner.getBody(), isCostly) &&
                                llvm::none_of(*last.getBody(), isCostly));
}

Refusal RowPipeline::find(int64_t registers) {
  if (Refusal why = findLast())
    return why;
  if (rows.getNumRegionIterArgs())
    return refuse(Refused::Neighbours, "a row needs what the one before it computed");
  SmallVector<scf::ForOp> loops(rows.getBody()->getOps<scf::ForOp>());
  for (Operation &op : *rows.getBody()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop ? !llvm::all_of(*loop.getBody(),
                             [&](Operation &inner) { return isOfItsRow(inner, access); })
             : !isOfItsRow(op, access) || keepsRow(op))
      return refuse(Refused::Neighbours, "a row may read what others write");
  }
  if (Refusal why = findPartner(ArrayRef(loops).drop_back()))
    return why;
  if (!fits(registers))
    return refuse(Refused::Target, "the target has too few registers for two loops in one");
  steps = stepsOf(rows).value_or(0);
  // Of a task, the first rows and the last ones run alone, which an exponential makes up for.
  int64_t least = llvm::any_of(*partner.getBody(), isCostly) ? 2 : 4;
  if (steps < least)
    return refuse(Refused::Extents, "a task is not known to have several tiles of rows");
  return {};
}

/// For copies of the last loop's body.
IRMapping RowPipeline::mapStored(ValueRange before, Value row) {
  IRMapping mapping;
  mapping.map(rows.getInductionVar(), row);
  for (auto [value, carried] : llvm::zip_equal(needed, before))
    mapping.map(value, carried);
  return mapping;
}

/// The partner and, around each of its steps, that of the last loop for the row before.
scf::ForOp RowPipeline::fuse(OpBuilder &builder, IRMapping &mapping, ValueRange before,
                             Value rowBefore) {
  SmallVector<Value> inits;
  for (Value init : partner.getInitArgs())
    inits.push_back(mapping.lookupOrDefault(init));
  auto loop = scf::ForOp::create(builder, partner.getLoc(),
                                 mapping.lookupOrDefault(partner.getLowerBound()),
                                 mapping.lookupOrDefault(partner.getUpperBound()),
                                 mapping.lookupOrDefault(partner.getStep()), inits);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  IRMapping stored = mapStored(before, rowBefore);
  stored.map(last.getInductionVar(), loop.getInductionVar());
  mapping.map(partner.getInductionVar(), loop.getInductionVar());
  mapping.map(partner.getRegionIterArgs(), loop.getRegionIterArgs());
  for (Operation &op : last.getBody()->without_terminator())
    if (!isa<vector::TransferWriteOp>(op))
      inner.clone(op, stored);
  for (Operation &op : partner.getBody()->without_terminator())
    inner.clone(op, mapping);
  for (auto write : last.getBody()->getOps<vector::TransferWriteOp>())
    inner.clone(*write, stored);
  inner.clone(*partner.getBody()->getTerminator(), mapping);
  return loop;
}

/// All of a row but its last loop, and with `rowBefore` that of this row.
void RowPipeline::cloneBody(OpBuilder &builder, IRMapping &mapping, ValueRange before,
                            Value rowBefore) {
  for (Operation &op : rows.getBody()->without_terminator()) {
    if (&op == last)
      continue;
    if (rowBefore && &op == partner)
      mapping.map(op.getResults(), fuse(builder, mapping, before, rowBefore).getResults());
    else
      builder.clone(op, mapping);
  }
}

void RowPipeline::build() {
  llvm::SetVector<Value> values;
  last.walk([&](Operation *op) {
    for (Value value : op->getOperands())
      if (value != rows.getInductionVar() && value.getParentBlock() == rows.getBody())
        values.insert(value);
  });
  needed = values.takeVector();
  OpBuilder builder(rows);
  Location loc = rows.getLoc();
  auto lookUp = [&](IRMapping &mapping) {
    return llvm::map_to_vector(needed, [&](Value value) { return mapping.lookup(value); });
  };
  Value begin = rows.getLowerBound();
  Value behind = arith::ConstantIndexOp::create(
      builder, loc, (steps - 1) * *getConstantIntValue(rows.getStep()));
  Value lastRow = arith::AddIOp::create(builder, loc, begin, behind);
  IRMapping first;
  first.map(rows.getInductionVar(), begin);
  cloneBody(builder, first, {}, {});
  Value second = arith::AddIOp::create(builder, loc, begin, rows.getStep());
  auto loop = scf::ForOp::create(builder, loc, second, rows.getUpperBound(), rows.getStep(),
                                 lookUp(first));
  if (needed.empty())
    loop.getBody()->getTerminator()->erase();
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  Value rowBefore = arith::SubIOp::create(inner, loc, loop.getInductionVar(), rows.getStep());
  IRMapping next;
  next.map(rows.getInductionVar(), loop.getInductionVar());
  cloneBody(inner, next, loop.getRegionIterArgs(), rowBefore);
  scf::YieldOp::create(inner, loc, lookUp(next));
  IRMapping stored = mapStored(loop.getResults(), lastRow);
  builder.clone(*last, stored);
  rows.erase();
}

namespace {
struct PipelineRowsPass : tilewright::impl::PipelineRowsPassBase<PipelineRowsPass> {
  using PipelineRowsPassBase::PipelineRowsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ArrayAttr access = accessOfKernel(func);
    if (!access)
      return;
    SmallVector<scf::ForOp> nests;
    func.walk([&](scf::ForOp loop) {
      if (!loop.getBody()->getOps<scf::ForOp>().empty())
        nests.push_back(loop);
    });
    for (scf::ForOp rows : nests) {
      RowPipeline pipeline(rows, access);
      Refusal why = pipeline.find(registers);
      if (!why && !pipelines)
        why = refuse(Refused::Target, "the target has no stores that pass caches by");
      // Where nothing is to be gained, there is nothing to explain.
      if (why && pipeline.hasCandidate())
        addExplanation(func, "rows are not pipelined: " + why.str());
      if (why)
        continue;
      addExplanation(func, "rows are pipelined: results of one are stored while the next is "
                           "computed");
      pipeline.build();
    }
  }
};
} // namespace
