// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of elementwise ops become one op, and an elementwise op that only a
// reduction reads becomes part of the reduction's body. A tensor of one element that elementwise
// ops alone read (1 - b^t of a step of Adam) is computed by each of them, and so is by each reader
// what is computed of coordinates alone (the numbers of rows, a mask of them).
//
//   %s = linalg.generic ins(%a, %b) { addf }      %r = linalg.generic ins(%a, %b)
//   %r = linalg.generic ins(%s) { exp }      =>        { addf; exp }

#include "GroupMembers.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/MergeEqualValues.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static bool readsContraction(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    auto producer = input.getDefiningOp<linalg::GenericOp>();
    return producer && classify(producer) == GroupKind::Contraction;
  });
}

/// Ops of a body that several readers may compute anew, each by itself.
static constexpr unsigned kFewOps = 16;

/// Ops of a body that still takes in what others compute, too.
static constexpr unsigned kManyOps = 64;

/// One number, which each reader, all of them elementwise, computes by itself: once a thread,
/// as it does not depend on the loops. Few ops: of a long chain of numbers, each read twice (steps
/// of Euclid's algorithm), every op would compute all in front of it.
static bool isSharedNumber(linalg::GenericOp producer, linalg::GenericOp consumer) {
  return producer.getNumLoops() == 0 && producer.getNumResults() == 1 &&
         producer.getBody()->getOperations().size() <= kFewOps &&
         consumer.getBody()->getOperations().size() <= kManyOps &&
         llvm::all_of(producer->getUsers(), [&](Operation *user) {
           auto reader = dyn_cast<linalg::GenericOp>(user);
           return reader && reader->getBlock() == producer->getBlock() &&
                  !reader->hasAttr(kConfigAttr) && classify(reader) == GroupKind::Elementwise;
         });
}

/// What depends on no tensor, but on the loops and scalars, and has few ops: to load it would take
/// as long.
static bool isOfCoordinates(linalg::GenericOp producer) {
  Block &body = *producer.getBody();
  return producer.getNumReductionLoops() == 0 && producer.getNumResults() == 1 &&
         llvm::all_of(body.getArguments(), [](BlockArgument a) { return a.use_empty(); }) &&
         body.getOperations().size() <= kFewOps &&
         llvm::all_of(body.without_terminator(), [](Operation &op) {
           return isa<linalg::IndexOp, arith::SelectOp, arith::CmpIOp, arith::AddIOp,
                      arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                      arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                      arith::SIToFPOp, arith::UIToFPOp, arith::AddFOp, arith::ConstantOp>(op);
         });
}

/// Whether `value` is, or is a shape of, what a reduction or a product leaves.
static bool isReduced(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto reduction = dyn_cast<linalg::LinalgOp>(op))
      return reduction.getNumReductionLoops() > 0;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// A few sums and conversions of elements, none of 8-bit floats or less than a byte, that together
/// have no more bits than what is made of them, or one elementwise reader: a reader that needs each
/// several times (gains of a norm, scales of a group, positions) converts them as often as it reads
/// them. What a kernel reduces it has once a row anyway.
static bool isConversion(linalg::GenericOp producer, bool hasOneReader) {
  if (producer.getNumReductionLoops() > 0 || producer.getNumResults() != 1 ||
      producer.getBody()->getOperations().size() > kFewOps)
    return false;
  auto bitsOf = [](Value value) {
    return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  };
  if (!getElementTypeOrSelf(producer.getResult(0).getType()).isIntOrFloat())
    return false;
  unsigned bits = 0;
  for (Value input : producer.getDpsInputs()) {
    Type element = getElementTypeOrSelf(input.getType());
    if (!element.isIntOrFloat() || isReduced(input) ||
        bitsOf(input) < (isa<FloatType>(element) ? 16 : 8))
      return false;
    bits += bitsOf(input);
  }
  return bits > 0 && (hasOneReader || bits <= bitsOf(producer.getResult(0))) &&
         !producer.getBody()->without_terminator().empty() &&
         llvm::all_of(producer.getBody()->without_terminator(), [](Operation &op) {
           return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp,
                      arith::UIToFPOp, arith::NegFOp, arith::AddFOp, arith::SubFOp,
                      arith::MulFOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
                      arith::ConstantOp>(op);
         });
}

static bool mayMerge(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock() ||
      producer->hasAttr(kConfigAttr) || consumer->hasAttr(kConfigAttr) ||
      classify(producer) != GroupKind::Elementwise)
    return false;
  if (isSharedNumber(producer, consumer))
    return true;
  GroupKind kind = classify(consumer);
  if (kind == GroupKind::Contraction ||
      (kind == GroupKind::Reduction && readsContraction(producer)))
    return false;
  bool hasOneReader = llvm::all_of(producer->getUsers(),
                                   [&](Operation *user) { return user == consumer; });
  if (isOfCoordinates(producer) ||
      isConversion(producer, hasOneReader && kind == GroupKind::Elementwise))
    return true;
  if (producer.getNumDpsInputs() + consumer->getNumOperands() > kMostTensors)
    return false;
  // One reader that touches each element once: nothing is computed twice.
  return hasOneReader &&
         consumer.getMatchingIndexingMap(operand).getNumResults() ==
             consumer.getNumLoops();
}

/// The last producer first: an earlier one may be read by a later one, and would be computed once
/// for each way on which the reader comes to it, 2^n after n diamonds.
static bool shouldMerge(OpOperand *operand) {
  if (!mayMerge(operand))
    return false;
  Operation *producer = operand->get().getDefiningOp();
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return llvm::none_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
    Operation *later = other->get().getDefiningOp();
    return later && later->getBlock() == producer->getBlock() &&
           producer->isBeforeInBlock(later) && mayMerge(other) &&
           linalg::areElementwiseOpsFusable(other);
  });
}

namespace {
struct FuseElementwisePass
    : public tilewright::impl::FuseElementwisePassBase<FuseElementwisePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldMerge);
    populateMergeEqualValuesPatterns(patterns);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsBounded(getOperation(), std::move(patterns),
                                    "dispatch", "merging of elementwise ops")))
      signalPassFailure();
  }
};
} // namespace
