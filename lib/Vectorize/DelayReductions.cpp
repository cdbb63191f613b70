// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-delay-reductions: combining the elements of one vector with each
// other is the expensive part of a reduction (shuffles, shared memory); a loop
// need not do it in every iteration.
//
//   %r = scf.for … iter_args(%acc = %init) -> vector<4xf32> {
//     %n = vector.multi_reduction <add>, %v, %acc [1] : vector<4x128xf32> …
//     scf.yield %n
//   }
// becomes
//   %w = scf.for … iter_args(%acc = dense<0.0>) -> vector<4x128xf32> {
//     %n = arith.addf %v, %acc : vector<4x128xf32>
//     scf.yield %n
//   }
//   %r = vector.multi_reduction <add>, %w, %init [1]
//
// Where %v is a product that may be contracted, as those are of which the body of
// an op says that they are summed, the loop multiplies and adds in one:
//
//   %v = arith.mulf %a, %b fastmath<contract>
//   %n = math.fma %a, %b, %acc

#include "Vectorizer.h"
#include "tilewright/Vectorize/Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DELAYREDUCTIONSPASS
#include "tilewright/Vectorize/Passes.h.inc"
} // namespace tilewright

/// Whether `init` is known and no NaN.
static bool isNumber(Value init) {
  if (auto same = init.getDefiningOp<vector::BroadcastOp>())
    return isNumber(same.getSource());
  FloatAttr number;
  if (matchPattern(init, m_Constant(&number)))
    return !number.getValue().isNaN();
  DenseFPElementsAttr lanes;
  return matchPattern(init, m_Constant(&lanes)) &&
         llvm::none_of(lanes, [](const APFloat &lane) { return lane.isNaN(); });
}

/// The value that changes nothing when combined by `kind`, and with `init` behind that, or null.
static TypedAttr getNeutral(Location loc, vector::CombiningKind kind, Type type, Value init) {
  // NaN is neutral for numbers, but where a number comes in any case, so is the least or greatest
  // of them, after which nothing is NaN.
  bool isMax = kind == vector::CombiningKind::MAXNUMF;
  if ((isMax || kind == vector::CombiningKind::MINNUMF) && isNumber(init))
    return FloatAttr::get(
        type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/isMax));
  // The op that combines scalars knows; it is written and thrown away.
  OpBuilder scratch(loc.getContext());
  Block block;
  block.addArguments({type, type}, {loc, loc});
  scratch.setInsertionPointToStart(&block);
  Value combined = vector::makeArithReduction(
      scratch, loc, kind, block.getArgument(0), block.getArgument(1));
  Operation *op = combined.getDefiningOp();
  std::optional<TypedAttr> neutral;
  if (op)
    neutral = arith::getNeutralElement(op);
  return neutral.value_or(TypedAttr());
}

/// The reduction that alone updates the value carried as `argument`.
static vector::MultiDimReductionOp matchCarried(scf::ForOp loop,
                                                BlockArgument argument) {
  if (!argument.hasOneUse())
    return {};
  unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
  auto reduction = loop.getYieldedValues()[number]
                       .getDefiningOp<vector::MultiDimReductionOp>();
  if (!reduction || reduction->getBlock() != loop.getBody() ||
      reduction.getAcc() != argument || !reduction->hasOneUse() ||
      reduction.getSource() == argument)
    return {};
  return reduction;
}

/// `value` as a product that may be contracted.
static arith::MulFOp matchContractible(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  bool allowed = product && arith::bitEnumContainsAll(
                                product.getFastmath(),
                                arith::FastMathFlags::contract);
  return allowed ? product : arith::MulFOp();
}

Value tilewright::combineTerm(OpBuilder &b, Location loc,
                              vector::CombiningKind kind, Value term,
                              Value acc) {
  if (kind != vector::CombiningKind::ADD)
    return vector::makeArithReduction(b, loc, kind, term, acc);
  auto fuse = [&](arith::MulFOp product) -> Value {
    return math::FmaOp::create(b, loc, product.getLhs(), product.getRhs(), acc);
  };
  if (arith::MulFOp product = matchContractible(term))
    return fuse(product);
  // Where there is no term, the sum stays as it is.
  if (auto select = term.getDefiningOp<arith::SelectOp>())
    if (arith::MulFOp product = matchContractible(select.getTrueValue());
        product && matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      return arith::SelectOp::create(b, loc, select.getCondition(),
                                     fuse(product), acc);
  return vector::makeArithReduction(b, loc, kind, term, acc);
}

static void delayReductionsOf(scf::ForOp loop) {
  IRRewriter rewriter(loop.getContext());
  SmallVector<Value> inits(loop.getInitArgs());
  SmallVector<vector::MultiDimReductionOp> reductions;
  rewriter.setInsertionPoint(loop);
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    vector::MultiDimReductionOp reduction = matchCarried(loop, argument);
    if (reduction) {
      VectorType type = reduction.getSourceVectorType();
      TypedAttr neutral = getNeutral(reduction.getLoc(), reduction.getKind(),
                                     type.getElementType(), inits[number]);
      if (neutral)
        inits[number] = arith::ConstantOp::create(
            rewriter, reduction.getLoc(), DenseElementsAttr::get(type, neutral));
      else
        reduction = {};
    }
    reductions.push_back(reduction);
  }
  if (llvm::none_of(reductions, [](auto op) { return bool(op); }))
    return;

  auto wide = scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  wide->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (!wide.getBody()->empty())
    rewriter.eraseOp(wide.getBody()->getTerminator());
  wide.getBody()->getOperations().splice(wide.getBody()->end(),
                                         loop.getBody()->getOperations());
  for (auto [before, now] : llvm::zip_equal(loop.getBody()->getArguments(),
                                            wide.getBody()->getArguments()))
    before.replaceAllUsesWith(now);

  rewriter.setInsertionPointAfter(wide);
  for (auto [number, reduction] : llvm::enumerate(reductions)) {
    Value result = wide.getResult(number);
    if (reduction) {
      {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(reduction);
        Value combined = combineTerm(rewriter, reduction.getLoc(), reduction.getKind(),
                                     reduction.getSource(), wide.getRegionIterArg(number));
        wide.getBody()->getTerminator()->setOperand(number, combined);
      }
      result = vector::MultiDimReductionOp::create(
          rewriter, reduction.getLoc(), reduction.getType(),
          reduction.getKind(), result, loop.getInitArgs()[number],
          reduction.getReductionDims());
      rewriter.eraseOp(reduction);
    }
    loop.getResult(number).replaceAllUsesWith(result);
  }
  rewriter.eraseOp(loop);
}

void tilewright::delayReductions(Operation *root) {
  // Inner loops first: what they leave behind may be carried by outer ones.
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    delayReductionsOf(loop);
}

namespace {
struct DelayReductionsPass
    : public tilewright::impl::DelayReductionsPassBase<DelayReductionsPass> {
  void runOnOperation() override { delayReductions(getOperation()); }
};
} // namespace
