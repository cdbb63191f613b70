// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IndexRanges.h. Ranges are those of sums, products, … of intervals; what leaves 64 bits
// wraps around, and may be any number.

#include "tilewright/Analysis/IndexRanges.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

bool tilewright::hasNarrowIndices(func::FuncOp function) {
  return isKernel(function) && !function.isExternal() && getTarget(function) &&
         getIndexBits(function) == 32;
}

/// Sums of two fit 32 bits.
static constexpr int64_t kMostSmall = (int64_t(1) << 30) - 1;

static IndexRange hull(IndexRange x, IndexRange y) {
  return {std::min(x.low, y.low), std::max(x.high, y.high)};
}

/// The range between the least and the largest of `combine` at the corners.
template <typename Combine>
static IndexRange ofCorners(IndexRange x, IndexRange y, Combine combine) {
  IndexRange result{INT64_MAX, INT64_MIN};
  for (int64_t a : {x.low, x.high})
    for (int64_t b : {y.low, y.high}) {
      int64_t corner;
      if (combine(a, b, corner))
        return {};
      result = hull(result, {corner, corner});
    }
  return result;
}

/// The numbers with as many bits as both have, and a sign.
static IndexRange ofBits(IndexRange x, IndexRange y) {
  if (x.isNatural() && y.isNatural()) {
    uint64_t most = std::max(x.high, y.high);
    return {0, int64_t(llvm::NextPowerOf2(most) - 1)};
  }
  IndexRange both = hull(x, y);
  uint64_t most = std::max<uint64_t>(std::max<int64_t>(both.high, 0), ~both.low);
  int64_t bits = int64_t(llvm::NextPowerOf2(most) - 1);
  return {~bits, bits};
}

static IndexRange ofQuotient(Operation *op, IndexRange x, IndexRange y) {
  bool isUnsigned = isa<arith::DivUIOp, arith::CeilDivUIOp>(op);
  if (isUnsigned && !(x.isNatural() && y.isNatural()))
    return {};
  if (x.low == INT64_MIN)
    return {};
  if (y.low > 0) {
    // Rounded to either side.
    IndexRange result{x.low / (x.low < 0 ? y.low : y.high), x.high / (x.high < 0 ? y.high : y.low)};
    if (isa<arith::FloorDivSIOp>(op) && x.low < 0)
      --result.low;
    if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op) && x.high % y.low)
      ++result.high;
    return result;
  }
  int64_t most = std::max(std::abs(x.low), std::abs(x.high));
  return {y.isNatural() && x.isNatural() ? 0 : -most, most};
}

static IndexRange ofRemainder(Operation *op, IndexRange x, IndexRange y) {
  bool isNatural = x.isNatural() && y.isNatural();
  if (isa<arith::RemUIOp>(op) && !isNatural)
    return y.low > 0 ? IndexRange{0, y.high - 1} : IndexRange{};
  int64_t most = std::max(y.high, y.low == INT64_MIN ? INT64_MAX : -y.low);
  most = std::max<int64_t>(most - 1, 0);
  return {x.isNatural() ? 0 : std::max(x.low, -most), std::max<int64_t>(0, std::min(x.high, most))};
}

static IndexRange ofShift(Operation *op, IndexRange x, IndexRange by) {
  if (by.low < 0 || by.high > 62)
    return {};
  if (isa<arith::ShLIOp>(op))
    return ofCorners(x, {int64_t(1) << by.low, int64_t(1) << by.high},
                     [](int64_t a, int64_t b, int64_t &r) { return llvm::MulOverflow(a, b, r); });
  if (isa<arith::ShRUIOp>(op) && !x.isNatural())
    return {};
  return {x.low >> (x.low < 0 ? by.low : by.high), x.high >> (x.high < 0 ? by.high : by.low)};
}

IndexRange IndexRanges::ofOperation(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return hull(get(select.getTrueValue()), get(select.getFalseValue()));
  IndexRange x = get(op->getOperand(0)), y = get(op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return ofCorners(x, y,
                     [](int64_t a, int64_t b, int64_t &r) { return llvm::AddOverflow(a, b, r); });
  if (isa<arith::SubIOp>(op))
    return ofCorners(x, y,
                     [](int64_t a, int64_t b, int64_t &r) { return llvm::SubOverflow(a, b, r); });
  if (isa<arith::MulIOp>(op))
    return ofCorners(x, y,
                     [](int64_t a, int64_t b, int64_t &r) { return llvm::MulOverflow(a, b, r); });
  if (isa<arith::MinUIOp, arith::MaxUIOp>(op) && !(x.isNatural() && y.isNatural())) {
    // The larger one of a number and of a negative one is the latter.
    if (isa<arith::MinUIOp>(op) && (x.isNatural() || y.isNatural()))
      return {0, x.isNatural() ? x.high : y.high};
    return hull(x, y);
  }
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    return {std::min(x.low, y.low), std::min(x.high, y.high)};
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return {std::max(x.low, y.low), std::max(x.high, y.high)};
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return ofRemainder(op, x, y);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return ofShift(op, x, y);
  if (isa<arith::AndIOp>(op) && (x.isNatural() || y.isNatural()))
    return {0, !y.isNatural()   ? x.high
               : !x.isNatural() ? y.high
                                : std::min(x.high, y.high)};
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return ofBits(x, y);
  return ofQuotient(op, x, y);
}

/// Whether it computes an index of indices.
bool IndexRanges::isArithmetic(Operation *op) {
  return isa<arith::SelectOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::DivSIOp, arith::DivUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::RemSIOp,
             arith::RemUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
             arith::ShRSIOp, arith::ShRUIOp>(op) &&
         body.findAncestorOpInBlock(*op);
}

static bool isCast(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
         isa<IntegerType>(op->getOperand(0).getType());
}

IndexRange IndexRanges::compute(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return {constant.getInt(), constant.getInt()};
  Operation *op = value.getDefiningOp();
  int64_t most = unknown == Unknown::Small ? kMostSmall : INT64_MAX;
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op)) {
    int64_t extent = extents[index.getDim()];
    return {0, ShapedType::isDynamic(extent) ? most : std::max<int64_t>(extent - 1, 0)};
  }
  if (op && isCast(op)) {
    unsigned width = op->getOperand(0).getType().getIntOrFloatBitWidth();
    bool isSigned = isa<arith::IndexCastOp>(op);
    if (width >= 64)
      return {};
    int64_t half = int64_t(1) << (width - 1);
    return isSigned ? IndexRange{-half, half - 1} : IndexRange{0, half - 1 + half};
  }
  if (op && isArithmetic(op))
    return ofOperation(op);
  return {unknown == Unknown::Small ? -most : INT64_MIN, most};
}

IndexRange IndexRanges::get(Value value) {
  if (auto known = ranges.find(value); known != ranges.end())
    return known->second;
  IndexRange range = compute(value);
  ranges[value] = range;
  return range;
}

/// Whether `op` gives the same for numbers of 32 bits as for those with their sign extended.
bool IndexRanges::hasSameMeaning(Operation *op) {
  if (isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::ShRUIOp>(op) &&
      !(get(op->getOperand(0)).isNatural() && get(op->getOperand(1)).isNatural()))
    return false;
  if (!isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return true;
  IndexRange by = get(op->getOperand(1));
  return by.isNatural() && by.high < 32;
}

/// Whether `op` is one of its operands: of the nearest ones it is the nearest one.
static bool isOrdered(Operation *op) {
  return isa<arith::SelectOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
      op);
}

bool IndexRanges::isExact(Value value) {
  if (auto known = exact.find(value); known != exact.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  bool result = get(value).fits();
  if (result && op && isArithmetic(op))
    result = isOrdered(op) ? isNearest(value)
                           : hasSameMeaning(op) && llvm::all_of(op->getOperands(),
                                                                [&](Value operand) {
                                                                  return isExact(operand);
                                                                });
  return exact[value] = result;
}

bool IndexRanges::isNearest(Value value) {
  if (auto known = nearest.find(value); known != nearest.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (op && isCast(op)) {
    // A cast of an unsigned 64-bit number that is negative as an index becomes the largest one.
    result = isa<arith::IndexCastOp>(op) || get(value).isNatural();
  } else if (op && isArithmetic(op)) {
    result = isOrdered(op) ? llvm::all_of(op->getOperands(),
                                          [&](Value operand) {
                                            return !operand.getType().isIndex() ||
                                                   isNearest(operand);
                                          })
                           : isExact(value);
  } else {
    result = get(value).fits();
  }
  return nearest[value] = result;
}

bool IndexRanges::hasLowBits(Value value) {
  if (auto known = lowBits.find(value); known != lowBits.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  bool result = isExact(value) ||
                (op && isArithmetic(op) &&
                 isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
                     arith::XOrIOp>(op) &&
                 hasLowBits(op->getOperand(0)) && hasLowBits(op->getOperand(1)));
  return lowBits[value] = result;
}

bool IndexRanges::isCoordinate(Value value) {
  if (auto known = coordinates.find(value); known != coordinates.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  // Of two that are only nearest to theirs neither sum nor difference is near its own.
  auto isOneExact = [&](unsigned side) {
    return isExact(op->getOperand(side)) && isCoordinate(op->getOperand(1 - side));
  };
  bool result = isNearest(value) || isExact(value) || (op && isCast(op)) ||
                (op && isArithmetic(op) &&
                 isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
                 (isOneExact(0) || isOneExact(1)));
  return coordinates[value] = result;
}

bool IndexRanges::compareAlike(Value left, Value right) {
  if (isExact(left) && isExact(right))
    return true;
  // No number beyond 32 bits is nearest to one between the least and the largest.
  auto isBetween = [&](Value value) {
    IndexRange range = get(value);
    return isExact(value) && range.low > INT32_MIN && range.high < INT32_MAX;
  };
  return (isNearest(left) && isBetween(right)) || (isNearest(right) && isBetween(left));
}

std::optional<bool> IndexRanges::decide(arith::CmpIOp op) {
  IndexRange x = get(op.getLhs()), y = get(op.getRhs());
  bool isLess = x.high < y.low, isMore = x.low > y.high;
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = op.getPredicate();
  bool isUnsigned = predicate >= Predicate::ult;
  if (!(isLess || isMore) || (isUnsigned && !(x.isNatural() && y.isNatural())))
    return std::nullopt;
  decided = true;
  switch (predicate) {
  case Predicate::eq:
    return false;
  case Predicate::ne:
    return true;
  case Predicate::slt:
  case Predicate::sle:
  case Predicate::ult:
  case Predicate::ule:
    return isLess;
  default:
    return isMore;
  }
}
