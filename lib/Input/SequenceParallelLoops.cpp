// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that say that their iterations are independent become loops that say nothing; which
// are kernels is found out behind this:
//
//   %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %e) {
//     %t = tensor.extract_slice %o[%i] [16] [1];  %s = linalg.exp … outs(%t)
//     scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i] [16] [1] }
//   }
// becomes
//   %r = scf.for %i = %c0 to %c64 step %c16 iter_args(%o = %e) {
//     %t = tensor.extract_slice %o[%i] [16] [1];  %s = linalg.exp … outs(%t)
//     scf.yield (tensor.insert_slice %s into %o[%i] [16] [1])
//   }
//
// An iteration sees of a shared tensor what was there before the loop. Where it inserts, that
// is what the loop carries: no other one inserts there. Elsewhere it is the first value.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_SEQUENCEPARALLELLOOPSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static SmallVector<Value> valuesOf(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> numbers) {
  SmallVector<Value> values;
  for (OpFoldResult number : numbers)
    values.push_back(getValueOrCreateConstantIndexOp(b, loc, number));
  return values;
}

static bool isSamePlace(tensor::ExtractSliceOp read, tensor::ParallelInsertSliceOp write) {
  return read.getMixedOffsets() == write.getMixedOffsets() &&
         read.getMixedSizes() == write.getMixedSizes() &&
         read.getMixedStrides() == write.getMixedStrides();
}

static LogicalResult sequence(scf::ForallOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> results(loop.getOutputs());
  // What iterations read of the shared tensors.
  for (auto [out, argument] :
       llvm::zip_equal(loop.getOutputs(), loop.getRegionIterArgs())) {
    SmallVector<tensor::ParallelInsertSliceOp> writes;
    for (Operation *user : argument.getUsers())
      if (auto write = dyn_cast<tensor::ParallelInsertSliceOp>(user))
        writes.push_back(write);
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      auto read = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
      bool isOwn = read && llvm::any_of(writes, [&](auto write) {
                     return isSamePlace(read, write);
                   });
      if (!isa<tensor::ParallelInsertSliceOp>(use.getOwner()) && !isOwn)
        use.set(out);
    }
  }
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, valuesOf(b, loc, loop.getMixedLowerBound()),
      valuesOf(b, loc, loop.getMixedUpperBound()), valuesOf(b, loc, loop.getMixedStep()),
      results, [&](OpBuilder &b, Location loc, ValueRange places, ValueRange carried) {
        IRMapping mapping;
        mapping.map(loop.getInductionVars(), places);
        mapping.map(loop.getRegionIterArgs(), carried);
        for (Operation &op : loop.getBody()->without_terminator())
          b.clone(op, mapping);
        for (Operation &op : loop.getTerminator().getYieldingOps()) {
          auto write = cast<tensor::ParallelInsertSliceOp>(op);
          auto mapped = [&](ArrayRef<OpFoldResult> numbers) {
            SmallVector<OpFoldResult> there;
            for (OpFoldResult number : numbers)
              there.push_back(isa<Value>(number)
                                  ? mapping.lookupOrDefault(cast<Value>(number))
                                  : number);
            return there;
          };
          Value into = mapping.lookup(write.getDest());
          mapping.map(write.getDest(),
                      tensor::InsertSliceOp::create(
                          b, write.getLoc(), mapping.lookupOrDefault(write.getSource()),
                          into, mapped(write.getMixedOffsets()),
                          mapped(write.getMixedSizes()), mapped(write.getMixedStrides()))
                          .getResult());
        }
        SmallVector<Value> next;
        for (Value argument : loop.getRegionIterArgs())
          next.push_back(mapping.lookup(argument));
        return next;
      });
  loop.replaceAllUsesWith(nest.results);
  loop.erase();
  return success();
}

static LogicalResult sequence(scf::ParallelOp loop) {
  OpBuilder b(loop);
  scf::LoopNest nest = scf::buildLoopNest(
      b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
      loop.getInitVals(),
      [&](OpBuilder &b, Location loc, ValueRange places, ValueRange carried) {
        IRMapping mapping;
        mapping.map(loop.getInductionVars(), places);
        for (Operation &op : loop.getBody()->without_terminator())
          b.clone(op, mapping);
        auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
        SmallVector<Value> next;
        for (auto [operand, region, before] :
             llvm::zip_equal(reduce.getOperands(), reduce.getReductions(), carried)) {
          Block &body = region.front();
          mapping.map(body.getArgument(0), before);
          mapping.map(body.getArgument(1), mapping.lookupOrDefault(operand));
          for (Operation &op : body.without_terminator())
            b.clone(op, mapping);
          next.push_back(mapping.lookupOrDefault(body.getTerminator()->getOperand(0)));
        }
        return next;
      });
  loop.replaceAllUsesWith(nest.results);
  loop.erase();
  return success();
}

/// What `loop` reduces to values begins with numbers that change nothing, and goes from iteration
/// to iteration.
static LogicalResult sequence(affine::AffineParallelOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  SmallVector<arith::AtomicRMWKind> kinds;
  SmallVector<Value> carried;
  for (auto [kind, type] : llvm::zip_equal(loop.getReductions(), loop.getResultTypes())) {
    kinds.push_back(static_cast<arith::AtomicRMWKind>(cast<IntegerAttr>(kind).getInt()));
    if (!arith::getIdentityValueAttr(kinds.back(), type, b, loc))
      return failure();
    carried.push_back(arith::getIdentityValue(kinds.back(), type, b, loc));
  }
  IRMapping mapping;
  SmallVector<affine::AffineForOp> nest;
  for (unsigned dim = 0; dim < loop.getNumDims(); ++dim) {
    auto made = affine::AffineForOp::create(
        b, loc, loop.getLowerBoundsOperands(), loop.getLowerBoundMap(dim),
        loop.getUpperBoundsOperands(), loop.getUpperBoundMap(dim), loop.getSteps()[dim], carried);
    mapping.map(loop.getBody()->getArgument(dim), made.getInductionVar());
    carried.assign(made.getRegionIterArgs().begin(), made.getRegionIterArgs().end());
    b.setInsertionPointToStart(made.getBody());
    nest.push_back(made);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> next;
  for (auto [kind, before, value] :
       llvm::zip_equal(kinds, carried, loop.getBody()->getTerminator()->getOperands()))
    next.push_back(
        arith::getReductionOp(kind, b, loc, before, mapping.lookupOrDefault(value)));
  if (!next.empty())
    for (affine::AffineForOp made : llvm::reverse(nest)) {
      b.setInsertionPointToEnd(made.getBody());
      affine::AffineYieldOp::create(b, loc, next);
      next.assign(made.result_begin(), made.result_end());
    }
  loop.replaceAllUsesWith(next);
  loop.erase();
  return success();
}

namespace {
struct SequenceParallelLoopsPass
    : tilewright::impl::SequenceParallelLoopsPassBase<SequenceParallelLoopsPass> {
  void runOnOperation() override {
    // The innermost first, so that those around have them done.
    SmallVector<Operation *> loops;
    getOperation().walk([&](Operation *op) {
      if (isa<scf::ForallOp, scf::ParallelOp, affine::AffineParallelOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      LogicalResult done = success();
      if (auto forall = dyn_cast<scf::ForallOp>(op))
        done = sequence(forall);
      else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
        done = sequence(parallel);
      else
        done = sequence(cast<affine::AffineParallelOp>(op));
      if (failed(done))
        return signalPassFailure();
    }
  }
};
} // namespace
