// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-fuse-online-sums: the largest element of a row and the sum of exponentials
// below it in one loop, where rows would be read for each of both.
//
//   %w = scf.for %j … iter_args(%m = %low) { %x = read %j; yield maximumf %x, %m }
//   %M = vector.multi_reduction <maximumf>, %w
//   %l = scf.for %j … iter_args(%s = 0)    { %x = read %j; yield exp(%x - %M) + %s }
// becomes
//   %w, %v = scf.for %j … iter_args(%m = %low, %s = 0) {
//     %x = read %j;  %n = maximumf %x, %m
//     yield %n, %s * exp(%m - %n) + exp(%x - %n)
//   }
//   %M = vector.multi_reduction <maximumf>, %w
//   %l = %v * exp(%w - %M)
//
// Each element of the tile has a maximum and a sum of its own. Maxima count as finite in
// the exponents (the lowest number where there is none yet), so that none is -inf - -inf; infinities
// and NaNs among the elements make the sum what it was, a NaN of a row that is all -inf included.

#include "tilewright/Dialect/OnlineSums.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Vectorize/Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FUSEONLINESUMSPASS
#include "tilewright/Vectorize/Passes.h.inc"
} // namespace tilewright

namespace {
/// The loops of a maximum and of a sum.
struct OnlineSum {
  scf::ForOp maxLoop, sumLoop;
  /// The result of `maxLoop`, whether its maximum of a NaN is one, and its term.
  OpResult most;
  bool keepsNaN = false;
  Value term;
  /// Of the sum's loop: an exponential of a difference, whose terms may be masked.
  Operation *power = nullptr;
  arith::SubFOp below;
  Value mask;
  /// Dims of the exponentials in the order of the term; empty: the same.
  SmallVector<int64_t> order;
};

/// Values of the one loop and of the other that are the same in each iteration, but for the
/// order of dims of vectors.
class SameInBothLoops {
public:
  SameInBothLoops(OnlineSum &sum) : sum(sum) {}
  bool operator()(Value a, Value b);

private:
  bool isSameRead(vector::TransferReadOp a, vector::TransferReadOp b);
  bool haveSameOperands(Operation *a, Operation *b);
  OnlineSum &sum;
};
} // namespace

/// Terms outside of the tile are masked, so that reads may differ there.
bool SameInBothLoops::isSameRead(vector::TransferReadOp a, vector::TransferReadOp b) {
  auto isWhole = [](vector::TransferReadOp read) {
    return llvm::all_of(read.getInBoundsValues(), [](bool inside) { return inside; });
  };
  AffineMap map = b.getPermutationMap();
  SmallVector<AffineExpr> ordered(map.getResults());
  for (auto [to, from] : llvm::enumerate(sum.order))
    ordered[to] = map.getResult(from);
  if (a.getMask() || b.getMask() || a.getBase() != b.getBase() ||
      a.getPermutationMap().getResults() != ArrayRef(ordered) ||
      (!sum.mask && !(isWhole(a) && isWhole(b))))
    return false;
  return llvm::all_of(llvm::zip_equal(a.getIndices(), b.getIndices()),
                      [&](auto pair) { return (*this)(std::get<0>(pair), std::get<1>(pair)); });
}

bool SameInBothLoops::haveSameOperands(Operation *a, Operation *b) {
  return a->getNumOperands() == b->getNumOperands() &&
         llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()), [&](auto pair) {
           return (*this)(std::get<0>(pair), std::get<1>(pair));
         });
}

bool SameInBothLoops::operator()(Value a, Value b) {
  if (a == b && (sum.order.empty() || !isa<VectorType>(a.getType())))
    return true;
  DenseElementsAttr left, right;
  if (matchPattern(a, m_Constant(&left)) && matchPattern(b, m_Constant(&right)))
    return left.isSplat() && right.isSplat() &&
           left.getSplatValue<Attribute>() == right.getSplatValue<Attribute>();
  if (a == Value(sum.maxLoop.getInductionVar()) && b == Value(sum.sumLoop.getInductionVar()))
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || first->getName() != second->getName() ||
      first->getParentOp() != sum.maxLoop || second->getParentOp() != sum.sumLoop)
    return false;
  if (auto read = dyn_cast<vector::TransferReadOp>(first))
    return isSameRead(read, cast<vector::TransferReadOp>(second));
  bool isOrdered = sum.order.empty() || OpTrait::hasElementwiseMappableTraits(first) ||
                   (isa<vector::BroadcastOp>(first) &&
                    !isa<VectorType>(first->getOperand(0).getType()));
  return isOrdered && isPure(first) && first->getNumRegions() == 0 &&
         first->getNumResults() == 1 &&
         first->getAttrDictionary() == second->getAttrDictionary() &&
         getElementTypeOrSelf(a.getType()) == getElementTypeOrSelf(b.getType()) &&
         haveSameOperands(first, second);
}

/// Through ops that repeat a row's number along the row.
static Value seeThroughBroadcasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<vector::BroadcastOp, vector::TransposeOp, vector::ShapeCastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The operand of `op`, of two, that is not `other`.
static Value otherOperand(Operation *op, Value other) {
  if (op->getNumOperands() != 2 || op->getOperand(0) == op->getOperand(1))
    return {};
  return op->getOperand(0) == other   ? op->getOperand(1)
         : op->getOperand(1) == other ? op->getOperand(0)
                                      : Value();
}

/// A maximum that is reduced behind its loop, and is `value`.
static bool matchMaximum(Value value, OnlineSum &sum) {
  auto reduction = value.getDefiningOp<vector::MultiDimReductionOp>();
  auto result = reduction ? dyn_cast<OpResult>(reduction.getSource()) : OpResult();
  sum.maxLoop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp();
  if (!sum.maxLoop)
    return false;
  sum.most = result;
  unsigned number = result.getResultNumber();
  Operation *combiner = sum.maxLoop.getYieldedValues()[number].getDefiningOp();
  if (!combiner || !isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return false;
  sum.keepsNaN = isa<arith::MaximumFOp>(combiner);
  sum.term = otherOperand(combiner, sum.maxLoop.getRegionIterArg(number));
  if (auto select = sum.term ? sum.term.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
      select && select.getCondition().getDefiningOp<vector::CreateMaskOp>())
    sum.term = select.getTrueValue();
  return bool(sum.term);
}

static std::optional<OnlineSum> matchOnlineSum(scf::ForOp loop) {
  OnlineSum sum;
  sum.sumLoop = loop;
  if (loop.getNumResults() != 1 || !matchPattern(loop.getInitArgs()[0], m_AnyZeroFloat()))
    return std::nullopt;
  auto add = loop.getYieldedValues()[0].getDefiningOp<arith::AddFOp>();
  Value term = add ? otherOperand(add, loop.getRegionIterArg(0)) : Value();
  if (!term || !loop.getRegionIterArg(0).hasOneUse())
    return std::nullopt;
  if (auto select = term.getDefiningOp<arith::SelectOp>();
      select && matchPattern(select.getFalseValue(), m_AnyZeroFloat())) {
    sum.mask = select.getCondition();
    term = select.getTrueValue();
  }
  if (auto transpose = term.getDefiningOp<vector::TransposeOp>()) {
    sum.order.assign(transpose.getPermutation().begin(), transpose.getPermutation().end());
    term = transpose.getVector();
  }
  sum.power = term.getDefiningOp();
  if (!sum.power || !isa<math::ExpOp, math::Exp2Op>(sum.power) ||
      !getElementTypeOrSelf(term.getType()).isF32() || !isa<VectorType>(term.getType()))
    return std::nullopt;
  sum.below = sum.power->getOperand(0).getDefiningOp<arith::SubFOp>();
  if (!sum.below || !matchMaximum(seeThroughBroadcasts(sum.below.getRhs()), sum) ||
      sum.most.getType() != loop.getResult(0).getType())
    return std::nullopt;
  scf::ForOp other = sum.maxLoop;
  if (other->getBlock() != loop->getBlock() || other.getLowerBound() != loop.getLowerBound() ||
      other.getUpperBound() != loop.getUpperBound() || other.getStep() != loop.getStep() ||
      !SameInBothLoops(sum)(sum.term, sum.below.getLhs()))
    return std::nullopt;
  return sum;
}

namespace {
/// Writes the one loop for both.
class OnlineWriter {
public:
  OnlineWriter(RewriterBase &b, OnlineSum &sum) : b(b), sum(sum), loc(sum.sumLoop.getLoc()) {}
  void write();

private:
  /// A maximum as it counts in exponents.
  Value finite(Value maximum);
  /// exp(a - b), in the way of the sum's exponential.
  Value power(Value a, Value b);
  /// What is computed outside of loops, or in that of the sum from its induction variable.
  Value copy(Value value, IRMapping &mapping);
  scf::ForOp writeLoop();

  RewriterBase &b;
  OnlineSum &sum;
  Location loc;
};
} // namespace

Value OnlineWriter::finite(Value maximum) {
  constexpr double kLowest = -3.4028234663852886e38;
  auto type = cast<VectorType>(maximum.getType());
  Value lowest = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getF32FloatAttr(kLowest)));
  if (sum.keepsNaN)
    return arith::MaximumFOp::create(b, loc, maximum, lowest);
  return arith::MaxNumFOp::create(b, loc, maximum, lowest);
}

Value OnlineWriter::power(Value x, Value y) {
  Value below = arith::SubFOp::create(b, loc, x, y);
  if (isa<math::ExpOp>(sum.power))
    return math::ExpOp::create(b, loc, below);
  return math::Exp2Op::create(b, loc, below);
}

Value OnlineWriter::copy(Value value, IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (!op || op->getParentOp() != sum.sumLoop)
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, copy(operand, mapping));
  return b.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

scf::ForOp OnlineWriter::writeLoop() {
  scf::ForOp before = sum.maxLoop;
  SmallVector<Value> inits(before.getInitArgs());
  inits.push_back(sum.sumLoop.getInitArgs()[0]);
  auto loop = scf::ForOp::create(b, before.getLoc(), before.getLowerBound(),
                                 before.getUpperBound(), before.getStep(), inits);
  loop->setDiscardableAttrs(before->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(b);
  if (!loop.getBody()->empty())
    b.eraseOp(loop.getBody()->getTerminator());
  b.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(before.getBody()->getArguments(), loop.getBody()->getArguments()))
    mapping.map(from, to);
  for (Operation &op : before.getBody()->without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> yielded;
  for (Value value : before.getYieldedValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  unsigned number = sum.most.getResultNumber();
  Value old = finite(loop.getRegionIterArg(number)), now = finite(yielded[number]);
  Value term = power(mapping.lookupOrDefault(sum.term), now);
  if (sum.mask) {
    IRMapping ofSum;
    ofSum.map(sum.sumLoop.getInductionVar(), loop.getInductionVar());
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(term.getType()));
    term = arith::SelectOp::create(b, loc, copy(sum.mask, ofSum), term, zero);
  }
  yielded.push_back(math::FmaOp::create(b, loc, loop.getRegionIterArgs().back(),
                                        power(old, now), term));
  scf::YieldOp::create(b, loc, yielded);
  return loop;
}

void OnlineWriter::write() {
  b.setInsertionPoint(sum.maxLoop);
  scf::ForOp loop = writeLoop();
  unsigned number = sum.most.getResultNumber();
  b.replaceAllUsesWith(sum.maxLoop.getResults(), loop.getResults().drop_back());
  b.eraseOp(sum.maxLoop);
  // The row's maximum is behind the loop, and what repeats it along the row may be in the sum's.
  b.setInsertionPoint(sum.sumLoop);
  IRMapping mapping;
  Value most = copy(sum.below.getRhs(), mapping);
  if (!sum.order.empty())
    most = vector::TransposeOp::create(b, loc, most, sum.order);
  // Not of the row's as if it were finite: lowest - -inf is infinite, which zeros turn into NaN.
  // A row without elements has no such.
  Value hasElements = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                            loop.getLowerBound(), loop.getUpperBound());
  most = arith::SelectOp::create(b, loc, hasElements, most, finite(most));
  Value kept = power(finite(loop.getResult(number)), most);
  b.replaceOp(sum.sumLoop,
              arith::MulFOp::create(b, loc, loop.getResults().back(), kept)->getResults());
}

void tilewright::fuseOnlineSums(func::FuncOp kernel) {
  auto planned = kernel->getAttrOfType<IntegerAttr>(kOnlineSumsAttr);
  if (!planned)
    return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  IRRewriter rewriter(kernel.getContext());
  int64_t written = 0;
  for (scf::ForOp loop : loops)
    if (std::optional<OnlineSum> sum = matchOnlineSum(loop)) {
      // A loop that is gone is in front of this one, and no sum's.
      OnlineWriter(rewriter, *sum).write();
      ++written;
    }
  if (written != planned.getInt())
    kernel.emitRemark() << "reads rows once more: " << written << " sums are taken in the loops "
                        << "of their maxima, " << planned.getInt() << " were planned";
  kernel->removeAttr(kOnlineSumsAttr);
}

namespace {
struct FuseOnlineSumsPass
    : public tilewright::impl::FuseOnlineSumsPassBase<FuseOnlineSumsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (isKernel(kernel))
        fuseOnlineSums(kernel);
  }
};
} // namespace
