// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the tiles of a row, one after the other.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_ROWLOOPS_H
#define TILEWRIGHT_LIB_TARGET_CPU_ROWLOOPS_H

#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/SameValues.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright::cpu {
using namespace mlir;

/// How a kernel accesses its arguments; null: `func` is none whose loops passes here look at.
inline ArrayAttr accessOfKernel(func::FuncOp func) {
  return isKernel(func) && !func.isExternal() ? func->getAttrOfType<ArrayAttr>(kAccessAttr)
                                              : ArrayAttr();
}

/// Whether `base` is an argument that the kernel accesses so.
inline bool isOfArgument(Value base, StringRef how, ArrayAttr access) {
  auto argument = dyn_cast<BlockArgument>(base);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return false;
  int64_t number = operandNumber(argument);
  return number < int64_t(access.size()) && cast<StringAttr>(access[number]).getValue() == how;
}

/// Of an argument that the kernel does not write.
inline bool isReadOfInput(Operation *op, ArrayAttr access) {
  auto read = dyn_cast<vector::TransferReadOp>(op);
  return read && isOfArgument(read.getBase(), "read", access);
}

/// Two innermost loops and those around them that are different ones, innermost first. Empty if
/// they are not as deep in the block that has both nests, or the same.
using LoopPairs = SmallVector<std::pair<scf::ForOp, scf::ForOp>>;
inline LoopPairs pairLoops(scf::ForOp first, scf::ForOp second) {
  LoopPairs pairs;
  while (first && second && first != second) {
    pairs.emplace_back(first, second);
    if (first->getBlock() == second->getBlock())
      return pairs;
    first = dyn_cast<scf::ForOp>(first->getParentOp());
    second = dyn_cast<scf::ForOp>(second->getParentOp());
  }
  return {};
}

/// Two nests of loops over the same steps, and what of the second the first computes, too. To be
/// made anew where an op of them has changed.
class Twins {
public:
  Twins(scf::ForOp first, scf::ForOp second, ArrayAttr access)
      : pairs(pairLoops(first, second)), access(access) {}

  /// Whether `a` in the first nest is `b` in the second at the same step.
  bool areEqual(Value a, Value b) {
    return values.areSame(a, b, [this](Value a, Value b) { return decide(a, b); });
  }

  /// Whether `x` in the first loop reads what `y` does in the second at the same step, with
  /// whatever padding.
  bool haveSameTile(vector::TransferReadOp x, vector::TransferReadOp y) {
    return isReadOfInput(x, access) && x.getBase() == y.getBase() &&
           x.getVectorType() == y.getVectorType() &&
           x.getPermutationMap() == y.getPermutationMap() &&
           llvm::all_of(llvm::zip_equal(x.getIndices(), y.getIndices()), [&](auto pair) {
             return areEqual(std::get<0>(pair), std::get<1>(pair));
           });
  }

private:
  std::optional<bool> decide(Value a, Value b) {
    scf::ForOp first = pairs.back().first, second = pairs.back().second;
    for (auto [one, other] : pairs)
      if (a == one.getInductionVar() && b == other.getInductionVar())
        return true;
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    // What is the same in every step may have left one loop, but not the other.
    bool isInside = (x && first->isAncestor(x)) || (y && second->isAncestor(y));
    if (!x || !y || !isInside)
      return a == b && first.isDefinedOutsideOfLoop(a);
    if (!isMemoryEffectFree(x) && !isReadOfInput(x, access))
      return false;
    return std::nullopt;
  }

  LoopPairs pairs;
  ArrayAttr access;
  SameValues values;
};

/// Steps of two loops whose bounds are the same numbers.
inline std::optional<int64_t> commonSteps(scf::ForOp a, scf::ForOp b) {
  const std::pair<Value, Value> bounds[] = {{a.getLowerBound(), b.getLowerBound()},
                                            {a.getUpperBound(), b.getUpperBound()},
                                            {a.getStep(), b.getStep()}};
  int64_t numbers[3];
  for (auto [at, pair] : llvm::enumerate(bounds)) {
    std::optional<int64_t> number = getConstantIntValue(pair.first);
    if (!number || getConstantIntValue(pair.second) != number)
      return std::nullopt;
    numbers[at] = *number;
  }
  if (numbers[0] != 0 || numbers[2] <= 0)
    return std::nullopt;
  return llvm::divideCeil(numbers[1], numbers[2]);
}

/// Whether two nests of loops in the same block go through the same steps.
inline bool haveCommonSteps(scf::ForOp a, scf::ForOp b) {
  LoopPairs pairs = pairLoops(a, b);
  return !pairs.empty() && llvm::all_of(pairs, [](auto pair) {
    return commonSteps(pair.first, pair.second).has_value();
  });
}

/// Innermost loops, those of a block in order.
inline SmallVector<scf::ForOp> innermostLoops(func::FuncOp func) {
  SmallVector<scf::ForOp> loops;
  func.walk([&](scf::ForOp loop) {
    if (loop.getBody()->getOps<scf::ForOp>().empty())
      loops.push_back(loop);
  });
  return loops;
}

/// Ops of the body of `loop` that are not the same in every step, in order.
inline SmallVector<Operation *> varyingOps(scf::ForOp loop) {
  llvm::SmallDenseSet<Value> varying(loop.getRegionIterArgs().begin(),
                                     loop.getRegionIterArgs().end());
  varying.insert(loop.getInductionVar());
  SmallVector<Operation *> ops;
  for (Operation &op : *loop.getBody())
    if (llvm::any_of(op.getOperands(), [&](Value value) { return varying.contains(value); })) {
      varying.insert(op.result_begin(), op.result_end());
      ops.push_back(&op);
    }
  return ops;
}

/// A function that is a polynomial or more.
inline bool isCostly(Operation &op) {
  return isa_and_present<mlir::math::MathDialect>(op.getDialect()) && op.getNumResults() == 1 &&
         !isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::CeilOp,
              mlir::math::CopySignOp, mlir::math::CountLeadingZerosOp,
              mlir::math::CountTrailingZerosOp, mlir::math::CtPopOp, mlir::math::FloorOp,
              mlir::math::FmaOp, mlir::math::RoundEvenOp, mlir::math::SqrtOp,
              mlir::math::RsqrtOp, mlir::math::TruncOp>(op) &&
         isa<VectorType>(op.getResult(0).getType());
}

/// Vector instructions of `op`: conversions from and to 16 bits take two, and arithmetic with
/// such numbers converts operands and result.
inline int64_t instructionsOf(Operation &op) {
  constexpr int64_t kConversion = 2;
  if (isa<CastOpInterface>(op))
    return kConversion;
  if (!OpTrait::hasElementwiseMappableTraits(&op))
    return 0;
  int64_t conversions = 0;
  for (Type type : op.getOperandTypes())
    conversions += isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type));
  for (Type type : op.getResultTypes())
    conversions += isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type));
  return 1 + kConversion * conversions;
}

/// Vector instructions of a step of `loop`, about; a vector comes from the second-level cache in
/// two cycles.
inline int64_t workOf(scf::ForOp loop) {
  int64_t work = 0;
  for (Operation *op : varyingOps(loop)) {
    if (isa<vector::TransferReadOp>(op))
      work += 2;
    else if (op->getNumResults() == 1 && isa<VectorType>(op->getResult(0).getType()))
      work += isCostly(*op) ? 12 : instructionsOf(*op);
  }
  return std::max<int64_t>(1, work);
}

} // namespace tilewright::cpu

#endif
