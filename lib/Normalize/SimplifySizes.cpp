// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that the program asserts to be equal are one:
//
//   %m = tensor.dim %x, 0
//   %n = tensor.dim %y, 0
//   …
//   %same = cmpi eq, %m, %n
//   cf.assert %same, "mismatched size for broadcast"
//   %e = tensor.empty(%n)
// becomes
//   %m = tensor.dim %x, 0
//   %n = tensor.dim %y, 0
//   %same = cmpi eq, %m, %n
//   cf.assert %same, "mismatched size for broadcast"
//   …
//   %e = tensor.empty(%m)
//
// Front ends ask of every op that they broadcast; ops that have the same sizes by name are one
// kernel. What arithmetic on sizes cancels to is found before, by their ranges, where no loop
// carries numbers.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SIMPLIFYSIZESPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// `value` without casts between index and i64, which keep all bits.
static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    if (!cast.getIn().getType().isIndex() && !cast.getIn().getType().isInteger(64))
      break;
    if (!cast.getType().isIndex() && !cast.getType().isInteger(64))
      break;
    value = cast.getIn();
  }
  return value;
}

/// The number that `value` is a multiple of, and how often it is taken.
static std::pair<Value, int64_t> asMultiple(Value value) {
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply || apply->getNumOperands() != 1)
    return {value, 1};
  auto product = dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0));
  if (!product || product.getKind() != AffineExprKind::Mul ||
      !isa<AffineDimExpr, AffineSymbolExpr>(product.getLHS()))
    return {value, 1};
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  return factor && factor.getValue() > 0
             ? std::pair<Value, int64_t>(apply->getOperand(0), factor.getValue())
             : std::pair<Value, int64_t>(value, 1);
}

/// The two numbers of one type that are the same where `condition` holds.
static std::optional<std::pair<Value, Value>> equalNumbers(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  auto [left, times] = asMultiple(withoutCasts(compare.getLhs()));
  auto [right, otherTimes] = asMultiple(withoutCasts(compare.getRhs()));
  if (times != otherTimes || left == right || left.getType() != right.getType())
    return std::nullopt;
  return std::pair(left, right);
}

/// Whether `first` is computed before `second`; both are of the function's block.
static bool comesBefore(Value first, Value second) {
  Operation *early = first.getDefiningOp(), *late = second.getDefiningOp();
  return !early || (late && early->isBeforeInBlock(late));
}

/// Uses one of the two numbers that `op` asserts to be equal, wherever the program uses the other,
/// and asserts that as soon as both are known.
static void uniteSizes(cf::AssertOp op) {
  auto pair = equalNumbers(op.getArg());
  if (!pair)
    return;
  auto [kept, other] = *pair;
  if (getConstantIntValue(other) || (!getConstantIntValue(kept) && comesBefore(other, kept)))
    std::swap(kept, other);
  if (getConstantIntValue(other) || !other.getDefiningOp())
    return;
  OpBuilder b(op);
  b.setInsertionPointAfterValue(other);
  // A constant may stand anywhere.
  if (std::optional<int64_t> number = getConstantIntValue(kept); number && comesBefore(other, kept))
    kept = arith::ConstantOp::create(b, op.getLoc(), b.getIntegerAttr(kept.getType(), *number));
  auto same =
      arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, kept, other);
  cf::AssertOp::create(b, op.getLoc(), same, op.getMsg());
  other.replaceAllUsesExcept(kept, same);
  op.erase();
}

/// Whether the ranges of numbers of `func` are found in few steps: upstream's analysis counts up a
/// number that a loop carries and adds to, one by one.
static bool hasRanges(func::FuncOp func) {
  return func.getBody().hasOneBlock() && !func.walk([](LoopLikeOpInterface loop) {
    bool carries = isa<scf::WhileOp>(loop) ||
                   llvm::any_of(loop->getResultTypes(),
                                [](Type type) { return type.isIntOrIndex(); });
    return carries ? WalkResult::interrupt() : WalkResult::advance();
  }).wasInterrupted();
}

template <typename... Ops> static void addFolding(RewritePatternSet &patterns) {
  (Ops::getCanonicalizationPatterns(patterns, patterns.getContext()), ...);
}

namespace {
struct SimplifySizesPass : tilewright::impl::SimplifySizesPassBase<SimplifySizesPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (hasRanges(getOperation())) {
      OpPassManager ranges(func::FuncOp::getOperationName());
      ranges.addPass(arith::createIntRangeOptimizationsPass());
      if (failed(runPipeline(ranges, getOperation())))
        return signalPassFailure();
    }
    Block &body = getOperation().front();
    for (cf::AssertOp op : llvm::make_early_inc_range(body.getOps<cf::AssertOp>()))
      uniteSizes(op);
    RewritePatternSet patterns(&getContext());
    addFolding<arith::CmpIOp, arith::SelectOp, arith::IndexCastOp, arith::MulIOp, cf::AssertOp,
               affine::AffineApplyOp>(patterns);
    if (failed(applyPatternsBounded(getOperation(), std::move(patterns), "normalize",
                                    "arithmetic on sizes")))
      signalPassFailure();
  }
};
} // namespace
