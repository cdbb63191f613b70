// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds sums that can be taken in the pass of their maximum:
//
//   %m = linalg.generic ins(%x) { maximumf }               along j
//   %e = linalg.generic ins(%x, %m) { exp(x - m) }
//   %s = linalg.generic ins(%e) { addf }                   along j
//
// The exponential may stand in the body of the sum, and %x be computed element by element.

#include "tilewright/Configure/OnlineSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// A value in the body of an op.
struct Element {
  linalg::LinalgOp op;
  Value value;

  Operation *getOp() const { return value.getDefiningOp(); }
  Element operand(unsigned number) const { return {op, getOp()->getOperand(number)}; }
  /// The operand that the value is an element of, or null.
  OpOperand *getInput() const {
    auto argument = dyn_cast<BlockArgument>(value);
    linalg::LinalgOp owner = op;
    return argument && argument.getOwner() == owner.getBlock()
               ? owner.getMatchingOpOperand(argument)
               : nullptr;
  }
};
} // namespace

/// Through operands that are computed element by element, to what computes them.
static Element resolve(Element element) {
  while (OpOperand *input = element.getInput()) {
    auto result = dyn_cast<OpResult>(input->get());
    auto producer = result ? dyn_cast<linalg::LinalgOp>(result.getOwner()) : linalg::LinalgOp();
    if (!producer || producer.getNumReductionLoops() || !element.op.isDpsInput(input) ||
        isa<linalg::FillOp>(producer.getOperation()))
      break;
    Operation *yield = producer.getBlock()->getTerminator();
    element = {producer, yield->getOperand(result.getResultNumber())};
  }
  return element;
}

using Pairs = llvm::DenseSet<std::pair<Value, Value>>;

/// Whether both are the same number in each iteration of the classes of loops. `same` has pairs of
/// results of ops that are known to be; one that is not ends all.
static bool isSame(const KernelInfo &info, Element a, Element b, Pairs &same) {
  a = resolve(a), b = resolve(b);
  if ((a.op == b.op && a.value == b.value) || same.contains({a.value, b.value}))
    return true;
  OpOperand *left = a.getInput(), *right = b.getInput();
  if (left && right) {
    AffineMap maps[] = {a.op.getMatchingIndexingMap(left), b.op.getMatchingIndexingMap(right)};
    if (left->get() != right->get() || maps[0].getNumResults() != maps[1].getNumResults())
      return false;
    for (unsigned dim = 0; dim < maps[0].getNumResults(); ++dim)
      if (info.getClasses(a.op)[maps[0].getDimPosition(dim)] !=
          info.getClasses(b.op)[maps[1].getDimPosition(dim)])
        return false;
    return true;
  }
  Operation *first = a.getOp(), *second = b.getOp();
  // Coordinates, and what a body extracts, are not looked into.
  if (left || right || !first || !second || first->getName() != second->getName() ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getResultTypes() != second->getResultTypes() || first->getNumRegions() ||
      !isa<arith::ArithDialect, math::MathDialect>(first->getDialect()))
    return false;
  for (unsigned number = 0; number < first->getNumOperands(); ++number)
    if (!isSame(info, a.operand(number), b.operand(number), same))
      return false;
  same.insert({a.value, b.value});
  return true;
}

/// The term of a reduction of one result along one loop by an op of type `Op`.
template <typename... Op>
static std::optional<Element> matchTerm(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() != 1 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Value sum = op.getRegionOutputArgs()[0];
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || !isa<Op...>(combiner) || !sum.getType().isF32())
    return std::nullopt;
  for (unsigned number : {0u, 1u})
    if (combiner->getOperand(1 - number) == sum && combiner->getOperand(number) != sum)
      return Element{op, combiner->getOperand(number)};
  return std::nullopt;
}

static unsigned reducedClass(const KernelInfo &info, linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  return info.getClasses(op)[loops.front()];
}

static bool isOnlineSum(const KernelInfo &info, linalg::LinalgOp op) {
  std::optional<Element> term = matchTerm<arith::AddFOp>(op);
  if (!term)
    return false;
  Element power = resolve(*term);
  if (!power.getOp() || !isa<math::ExpOp, math::Exp2Op>(power.getOp()))
    return false;
  Element below = resolve(power.operand(0));
  if (!below.getOp() || !isa<arith::SubFOp>(below.getOp()))
    return false;
  Element largest = resolve(below.operand(1));
  OpOperand *input = largest.getInput();
  auto reduction = input ? input->get().getDefiningOp<linalg::LinalgOp>() : linalg::LinalgOp();
  if (!reduction)
    return false;
  std::optional<Element> other = matchTerm<arith::MaximumFOp, arith::MaxNumFOp>(reduction);
  Pairs same;
  return other && reducedClass(info, reduction) == reducedClass(info, op) &&
         isSame(info, below.operand(0), *other, same);
}

SmallVector<linalg::LinalgOp> tilewright::findOnlineSums(const KernelInfo &info) {
  SmallVector<linalg::LinalgOp> sums;
  for (linalg::LinalgOp op : info.ops)
    if (isOnlineSum(info, op))
      sums.push_back(op);
  return sums;
}
