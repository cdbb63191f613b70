// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of structured ops as front ends write them, in the ops that kernels
// compute with.
//
//   %r = scf.if %c -> f32 { %e = math.exp %x; yield %e } else { yield %x }
//   %i = index.mul %a, %b
// becomes
//   %e = math.exp %x
//   %r = arith.select %c, %e, %x
//   %i = arith.muli %a, %b : index
//
// Both sides are computed (tilewright-guard-divisions sees to integers that are divided in the
// one that is not taken). Ops with two results become ops with one (SingleResults.cpp).
// Short loops of known bounds are unrolled. Arithmetic on floats of 8 bits is done
// in f32 and rounded, and what a reduction subtracts from its accumulator is added
// with the other sign.

#include "SingleResults.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SIMPLIFYBODIESPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Ops that a loop may become.
static constexpr int64_t kMostUnrolledOps = 1024;

/// Inner loops first.
static void unrollLoops(linalg::GenericOp op) {
  SmallVector<scf::ForOp> loops;
  op.getRegion().walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    int64_t ops = llvm::range_size(loop.getBody()->without_terminator());
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (trips && trips->ult(kMostUnrolledOps) && trips->getSExtValue() * ops <= kMostUnrolledOps)
      (void)loopUnrollFull(loop);
  }
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static bool mayAlwaysRun(Block *block) {
  return llvm::all_of(block->without_terminator(), [](Operation &op) {
    return (isMemoryEffectFree(&op) && !op.getNumRegions()) ||
           isa<tensor::ExtractOp, cf::AssertOp>(op);
  });
}

/// Lets asserts of `block` hold where `isTaken` is not `side`.
static void guardAsserts(RewriterBase &b, Block *block, Value isTaken,
                         bool side) {
  for (auto assertion : block->getOps<cf::AssertOp>()) {
    b.setInsertionPoint(assertion);
    Location loc = assertion.getLoc();
    Value yes = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
    Value holds = assertion.getArg();
    assertion.getArgMutable().assign(arith::SelectOp::create(
        b, loc, isTaken, side ? holds : yes, side ? yes : holds));
  }
}

/// Innermost branches first.
static void selectInsteadOfBranch(RewriterBase &b, scf::IfOp op) {
  if (!mayAlwaysRun(op.thenBlock()) ||
      (op.elseBlock() && !mayAlwaysRun(op.elseBlock())))
    return;
  Value condition = op.getCondition();
  SmallVector<Value> sides[2];
  for (Block *block : {op.thenBlock(), op.elseBlock()}) {
    if (!block)
      continue;
    bool isElse = block == op.elseBlock();
    guardAsserts(b, block, condition, !isElse);
    llvm::append_range(sides[isElse], block->getTerminator()->getOperands());
    b.eraseOp(block->getTerminator());
    b.inlineBlockBefore(block, op);
  }
  b.setInsertionPoint(op);
  SmallVector<Value> chosen;
  if (op.getNumResults())
    for (auto [yes, no] : llvm::zip_equal(sides[0], sides[1]))
      chosen.push_back(
          arith::SelectOp::create(b, op.getLoc(), condition, yes, no));
  op->replaceAllUsesWith(chosen);
  // Its regions are empty by now.
  op->erase();
}

//===----------------------------------------------------------------------===//
// index ops
//===----------------------------------------------------------------------===//

template <typename From, typename To>
static bool replaceBinary(RewriterBase &b, Operation *op) {
  if (!isa<From>(op))
    return false;
  b.replaceOpWithNewOp<To>(op, op->getOperand(0), op->getOperand(1));
  return true;
}

template <typename From, typename Cast>
static bool replaceCast(RewriterBase &b, Operation *op) {
  if (!isa<From>(op))
    return false;
  b.replaceOpWithNewOp<Cast>(op, op->getResult(0).getType(), op->getOperand(0));
  return true;
}

static void arithInsteadOfIndex(RewriterBase &b, Operation *op) {
  b.setInsertionPoint(op);
  if (auto constant = dyn_cast<index::ConstantOp>(op)) {
    b.replaceOpWithNewOp<arith::ConstantOp>(op, constant.getValueAttr());
    return;
  }
  if (auto compare = dyn_cast<index::CmpOp>(op)) {
    auto predicate = arith::symbolizeCmpIPredicate(
        index::stringifyIndexCmpPredicate(compare.getPred()));
    if (predicate)
      b.replaceOpWithNewOp<arith::CmpIOp>(op, *predicate, compare.getLhs(),
                                          compare.getRhs());
    return;
  }
  (void)(replaceBinary<index::AddOp, arith::AddIOp>(b, op) ||
         replaceBinary<index::SubOp, arith::SubIOp>(b, op) ||
         replaceBinary<index::MulOp, arith::MulIOp>(b, op) ||
         replaceBinary<index::DivSOp, arith::DivSIOp>(b, op) ||
         replaceBinary<index::DivUOp, arith::DivUIOp>(b, op) ||
         replaceBinary<index::CeilDivSOp, arith::CeilDivSIOp>(b, op) ||
         replaceBinary<index::CeilDivUOp, arith::CeilDivUIOp>(b, op) ||
         replaceBinary<index::FloorDivSOp, arith::FloorDivSIOp>(b, op) ||
         replaceBinary<index::RemSOp, arith::RemSIOp>(b, op) ||
         replaceBinary<index::RemUOp, arith::RemUIOp>(b, op) ||
         replaceBinary<index::MaxSOp, arith::MaxSIOp>(b, op) ||
         replaceBinary<index::MaxUOp, arith::MaxUIOp>(b, op) ||
         replaceBinary<index::MinSOp, arith::MinSIOp>(b, op) ||
         replaceBinary<index::MinUOp, arith::MinUIOp>(b, op) ||
         replaceBinary<index::AndOp, arith::AndIOp>(b, op) ||
         replaceBinary<index::OrOp, arith::OrIOp>(b, op) ||
         replaceBinary<index::XOrOp, arith::XOrIOp>(b, op) ||
         replaceBinary<index::ShlOp, arith::ShLIOp>(b, op) ||
         replaceBinary<index::ShrSOp, arith::ShRSIOp>(b, op) ||
         replaceBinary<index::ShrUOp, arith::ShRUIOp>(b, op) ||
         replaceCast<index::CastSOp, arith::IndexCastOp>(b, op) ||
         replaceCast<index::CastUOp, arith::IndexCastUIOp>(b, op));
}

//===----------------------------------------------------------------------===//
// Floats of 8 bits
//===----------------------------------------------------------------------===//

/// f32 holds sums, products and quotients of such floats to more than twice
/// their digits, so that rounding twice is rounding once.
static void widen(RewriterBase &b, Operation *op) {
  b.setInsertionPoint(op);
  Type f32 = b.getF32Type();
  for (OpOperand &operand : op->getOpOperands())
    if (isFloat8(operand.get().getType()))
      operand.set(arith::ExtFOp::create(b, op->getLoc(), f32, operand.get()));
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type type = result.getType();
    if (!isFloat8(type))
      continue;
    result.setType(f32);
    auto narrow = arith::TruncFOp::create(b, op->getLoc(), type, result);
    result.replaceAllUsesExcept(narrow, narrow);
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// A difference of the accumulator and a term is a sum.
static void addInsteadOfSubtract(RewriterBase &b, linalg::GenericOp op) {
  for (BlockArgument acc : op.getRegionOutputArgs()) {
    Operation *user = acc.hasOneUse() ? *acc.user_begin() : nullptr;
    if (!isa_and_nonnull<arith::SubFOp, arith::SubIOp>(user) ||
        user->getOperand(0) != acc)
      continue;
    b.setInsertionPoint(user);
    Location loc = user->getLoc();
    Value term = user->getOperand(1);
    if (isa<arith::SubFOp>(user)) {
      b.replaceOpWithNewOp<arith::AddFOp>(user, acc,
                                          arith::NegFOp::create(b, loc, term));
      continue;
    }
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(term.getType()));
    b.replaceOpWithNewOp<arith::AddIOp>(
        user, acc, arith::SubIOp::create(b, loc, zero, term));
  }
}

bool tilewright::runsInBodies(OperationName name) {
  TypeID id = name.getTypeID();
  return isa_and_nonnull<index::IndexDialect>(name.getDialect()) ||
         id == TypeID::get<linalg::IndexOp>() ||
         id == TypeID::get<tensor::ExtractOp>() ||
         id == TypeID::get<scf::IfOp>() || id == TypeID::get<scf::ForOp>() ||
         id == TypeID::get<cf::AssertOp>();
}

void tilewright::simplifyBody(RewriterBase &rewriter, linalg::GenericOp op) {
  unrollLoops(op);
  SmallVector<scf::IfOp> branches;
  SmallVector<Operation *> narrow, indices, several;
  op.getRegion().walk([&](Operation *inner) {
    if (auto branch = dyn_cast<scf::IfOp>(inner))
      branches.push_back(branch);
    if (isa_and_nonnull<index::IndexDialect>(inner->getDialect()))
      indices.push_back(inner);
    if (isFloat8Arithmetic(inner))
      narrow.push_back(inner);
    if (inner->getNumResults() > 1)
      several.push_back(inner);
  });
  for (Operation *inner : indices)
    arithInsteadOfIndex(rewriter, inner);
  for (Operation *inner : several)
    splitResults(rewriter, inner);
  for (scf::IfOp branch : branches)
    selectInsteadOfBranch(rewriter, branch);
  // Of a reduction, what is carried from term to term would be rounded each
  // time.
  if (op.getNumReductionLoops() == 0)
    for (Operation *inner : narrow)
      widen(rewriter, inner);
  else
    addInsteadOfSubtract(rewriter, op);
}

namespace {
struct SimplifyBodiesPass
    : public tilewright::impl::SimplifyBodiesPassBase<SimplifyBodiesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk(
        [&](linalg::GenericOp op) { simplifyBody(rewriter, op); });
  }
};
} // namespace
