// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greatest and least numbers, by one instruction where a test for NaN is not needed:
//
//   %r = vector.reduction <maxnumf>, %x, %init    ->  of halves, quarters, … of a register,
//                                                     in f32 where %x are 16-bit floats
//
// Of %x and %y one that is never NaN, as the largest number so far of a loop that begins with a
// constant:
//
//   %m = arith.maxnumf %x, %y                     ->  arith.select (cmpf ogt, %x, %y), %x, %y,
//                                                     which is vmaxps
//
// A NaN passes through maximumf, and vmaxps yields its second operand if one of both is NaN:
//
//   %m = arith.maximumf %x, %y                    ->  %m = select (cmpf ogt, %x, %y), %x, %y
//                                                     select (cmpf uno, %x, %x), %x, %m
//
// The zero of two is the second one, too. Beside +0 itself, as in a relu, that would be a -0:
//
//   %m = arith.maximumf %x, 0.0                   ->  select (cmpf ugt, %x, 0.0), %x, 0.0
//
// Of magnitudes, whose bits are ordered as integers with NaN above all numbers:
//
//   %m = arith.maximumf (absf %x), %y             ->  arith.maxsi of the bits

#include "MathRegisters.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------===//
// What is known of all lanes of a value
//===----------------------------------------------------------------------===//

namespace {
using Holds = llvm::function_ref<bool(Value)>;

/// What holds for all lanes of a value if it holds for those that it is made of.
struct Fact {
  bool (*ofNumber)(const APFloat &);
  /// `op` is no op that moves lanes, nor a loop.
  bool (*ofOp)(Operation *op, Holds holds);
};
} // namespace

static bool movesLanes(Operation *op) {
  return isa_and_present<vector::BroadcastOp, vector::ExtractOp, vector::InsertOp,
                         vector::ShuffleOp, vector::ShapeCastOp,
                         vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp,
                         ub::PoisonOp>(op);
}

namespace {
/// Whether a fact holds for values: for numbers that a loop carries it does, if it does for those
/// that it begins with and that a step makes of them.
class Known {
public:
  explicit Known(const Fact &fact) : fact(fact) {}

  bool of(Value value) {
    // What was assumed of a value that turns out to be false may have been used: once more then,
    // with what is known by now. A false answer is right in any case.
    size_t before;
    bool result;
    do {
      before = failed.size();
      assumed.clear();
      result = holds(value);
    } while (result && failed.size() != before);
    return result;
  }

private:
  bool holds(Value value) {
    if (failed.contains(value))
      return false;
    if (!assumed.insert(value).second)
      return true;
    bool result = follows(value);
    if (!result)
      failed.insert(value);
    return result;
  }
  bool follows(Value value);

  const Fact &fact;
  llvm::DenseSet<Value> assumed, failed;
};
} // namespace

bool Known::follows(Value value) {
  DenseFPElementsAttr numbers;
  FloatAttr number;
  if (matchPattern(value, m_Constant(&numbers)))
    return llvm::all_of(numbers, fact.ofNumber);
  if (matchPattern(value, m_Constant(&number)))
    return fact.ofNumber(number.getValue());
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value))
    op = argument.getOwner()->getParentOp();
  auto operandHolds = [&](Value operand) { return holds(operand); };
  if (auto loop = dyn_cast_if_present<scf::ForOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(value);
    OpOperand *init = argument ? loop.getTiedLoopInit(argument)
                               : loop.getTiedLoopInit(cast<OpResult>(value));
    if (!init)
      return false;
    Value carried = loop.getTiedLoopRegionIterArg(init);
    if (carried != value)
      return holds(carried);
    return holds(init->get()) &&
           holds(loop.getTiedLoopYieldedValue(cast<BlockArgument>(carried))->get());
  }
  if (movesLanes(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isa<FloatType>(getElementTypeOrSelf(operand)) || holds(operand);
    });
  return op && !isa<BlockArgument>(value) && fact.ofOp(op, operandHolds);
}

static bool isKnown(const Fact &fact, Value value) { return Known(fact).of(value); }

static bool isNeverNaN(Value value) {
  auto ofOp = [](Operation *op, Holds never) {
    return isa<arith::MaxNumFOp, arith::MinNumFOp>(op) &&
           (never(op->getOperand(0)) ||
            (op->getOperand(0) != op->getOperand(1) && never(op->getOperand(1))));
  };
  auto ofNumber = [](const APFloat &lane) { return !lane.isNaN(); };
  return isKnown({ofNumber, ofOp}, value);
}

/// Whether each lane is +0 or more, negative infinity, or a NaN without a sign: bits of such ones
/// are signed integers in the same order, NaN above all.
static bool isMagnitude(Value value) {
  auto ofOp = [](Operation *op, Holds holds) {
    return isa<mlir::math::AbsFOp>(op) ||
           (isa<arith::MaximumFOp>(op) && llvm::all_of(op->getOperands(), holds));
  };
  auto ofNumber = [](const APFloat &lane) {
    return !lane.isNegative() || (lane.isInfinity() && lane.isNegative());
  };
  return isKnown({ofNumber, ofOp}, value);
}

/// Whether lanes of `value`, a constant, are zeros that win against those of the other sign, and
/// none is one that loses.
static bool isWinningZero(Value value, bool isGreatest) {
  auto never = [](Operation *, Holds) { return false; };
  auto noPositive = [](const APFloat &lane) { return !lane.isPosZero(); };
  auto noNegative = [](const APFloat &lane) { return !lane.isNegZero(); };
  auto hasNone = [&](bool isPositive) {
    return isPositive ? isKnown({noPositive, never}, value) : isKnown({noNegative, never}, value);
  };
  return hasNone(!isGreatest) && !hasNone(isGreatest);
}

//===----------------------------------------------------------------------===//
// Of two values
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of an op: facts are those of the ops as they were.
struct Plan {
  Operation *op;
  bool isGreatest, ofMagnitudes = false;
  /// The operand that is compared first: the other one is the result if one of both is NaN.
  unsigned first = 0;
  bool testsFirst = false;
  /// The other one is never NaN, and the result where both are zeros.
  bool isBesideZero = false;
};
} // namespace

/// maxnum(a, b) = a > b ? a : b where b is no NaN.
static std::optional<Plan> planOfNumbers(Operation *op) {
  for (unsigned number : {1, 0})
    if (isNeverNaN(op->getOperand(number)))
      return Plan{op, isa<arith::MaxNumFOp>(op), /*ofMagnitudes=*/false, /*first=*/1 - number};
  return std::nullopt;
}

/// The greatest or the least one, or NaN if one of both is. Zeros are equal but for those of
/// constants.
static std::optional<Plan> planOrNaN(Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (!isa<VectorType>(x.getType()))
    return std::nullopt;
  Plan plan{op, isa<arith::MaximumFOp>(op)};
  plan.ofMagnitudes = plan.isGreatest && isMagnitude(x) && isMagnitude(y);
  bool known[] = {isNeverNaN(x), isNeverNaN(y)};
  for (unsigned number : {1, 0})
    if (known[number] && isWinningZero(op->getOperand(number), plan.isGreatest)) {
      plan.first = 1 - number;
      plan.isBesideZero = true;
      return plan;
    }
  // What a loop carries is known last.
  plan.first = known[1] || (isa<BlockArgument>(x) && !known[0]);
  plan.testsFirst = !known[plan.first];
  return plan;
}

/// The greater one of magnitudes.
static Value greatestMagnitude(OpBuilder &builder, Location loc, Value x, Value y) {
  Type bits = cast<VectorType>(x.getType()).clone(builder.getI32Type());
  auto cast = [&](Type type, Value value) -> Value {
    return arith::BitcastOp::create(builder, loc, type, value);
  };
  return cast(x.getType(),
              arith::MaxSIOp::create(builder, loc, cast(bits, x), cast(bits, y)));
}

static Value carryOut(const Plan &plan) {
  OpBuilder builder(plan.op);
  Location loc = plan.op->getLoc();
  Value x = plan.op->getOperand(plan.first), y = plan.op->getOperand(1 - plan.first);
  if (plan.ofMagnitudes)
    return greatestMagnitude(builder, loc, x, y);
  auto predicate = plan.isGreatest ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  if (plan.isBesideZero)
    predicate = plan.isGreatest ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
  Value isFirst = arith::CmpFOp::create(builder, loc, predicate, x, y);
  Value extremum = arith::SelectOp::create(builder, loc, isFirst, x, y);
  if (!plan.testsFirst)
    return extremum;
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(builder, loc, isNaN, x, extremum);
}

static void dropTestsForNaN(func::FuncOp func) {
  SmallVector<Plan> plans;
  func.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !getElementTypeOrSelf(op->getResult(0)).isF32())
      return;
    std::optional<Plan> plan;
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      plan = planOfNumbers(op);
    else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      plan = planOrNaN(op);
    if (plan)
      plans.push_back(*plan);
  });
  for (const Plan &plan : plans) {
    plan.op->getResult(0).replaceAllUsesWith(carryOut(plan));
    plan.op->erase();
  }
}

//===----------------------------------------------------------------------===//
// Of the lanes of a register
//===----------------------------------------------------------------------===//

namespace {
/// LLVM takes the elements one after the other, each of which waits for the one before it.
struct ReduceByHalves : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  static StringRef intrinsicOf(vector::CombiningKind kind) {
    return kind == vector::CombiningKind::MAXIMUMF   ? "llvm.maximum"
           : kind == vector::CombiningKind::MINIMUMF ? "llvm.minimum"
                                                     : "";
  }

  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    vector::CombiningKind kind = op.getKind();
    VectorType type = op.getSourceVectorType();
    bool isNumber = kind == vector::CombiningKind::MAXNUMF ||
                    kind == vector::CombiningKind::MINNUMF;
    if (!(isNumber || !intrinsicOf(kind).empty()) || !isSingle(type))
      return rewriter.notifyMatchFailure(op, "no greatest or least number of a row of f32");
    Location loc = op.getLoc();
    Value row = op.getVector();
    bool isOfMagnitudes = kind == vector::CombiningKind::MAXIMUMF && isMagnitude(row);
    auto combine = [&](Value a, Value b) -> Value {
      if (kind == vector::CombiningKind::MAXNUMF)
        return arith::MaxNumFOp::create(rewriter, loc, a, b);
      if (kind == vector::CombiningKind::MINNUMF)
        return arith::MinNumFOp::create(rewriter, loc, a, b);
      if (isOfMagnitudes && isa<VectorType>(a.getType()))
        return greatestMagnitude(rewriter, loc, a, b);
      // With the signs of zeros.
      return callIntrinsic(rewriter, loc, intrinsicOf(kind), a.getType(), {a, b});
    };
    // Numbers are none once they have met one: no step has to test for NaN then.
    Value acc = op.getAcc();
    if (isNumber && acc && isNeverNaN(acc) && !isNeverNaN(row)) {
      row = combine(row, vector::BroadcastOp::create(rewriter, loc, type, acc));
      acc = {};
    }
    // Of other numbers of lanes than powers of two some are in both halves.
    for (int64_t lanes = type.getNumElements(); lanes > 1;) {
      int64_t half = llvm::PowerOf2Ceil(lanes) / 2;
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, half));
      auto high = llvm::to_vector(llvm::seq<int64_t>(lanes - half, lanes));
      row = combine(vector::ShuffleOp::create(rewriter, loc, row, row, low),
                    vector::ShuffleOp::create(rewriter, loc, row, row, high));
      lanes = half;
    }
    Value result = vector::ExtractOp::create(rewriter, loc, row, int64_t(0));
    rewriter.replaceOp(op, acc ? combine(result, acc) : result);
    return success();
  }
};

/// LLVM takes apart what has another number of lanes than a power of two: some lanes are taken twice
/// instead.
struct ReduceIntegers : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    using Kind = vector::CombiningKind;
    VectorType type = op.getSourceVectorType();
    int64_t lanes = type.getNumElements();
    if (!llvm::is_contained({Kind::MINSI, Kind::MAXSI, Kind::MINUI, Kind::MAXUI},
                            op.getKind()) ||
        type.isScalable() || llvm::isPowerOf2_64(lanes))
      return rewriter.notifyMatchFailure(op, "no greatest or least integer of odd rows");
    Location loc = op.getLoc();
    int64_t half = llvm::PowerOf2Ceil(lanes) / 2;
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, half));
    auto high = llvm::to_vector(llvm::seq<int64_t>(lanes - half, lanes));
    Value row = op.getVector();
    Value both = vector::makeArithReduction(
        rewriter, loc, op.getKind(), vector::ShuffleOp::create(rewriter, loc, row, row, low),
        vector::ShuffleOp::create(rewriter, loc, row, row, high));
    rewriter.replaceOpWithNewOp<vector::ReductionOp>(op, op.getKind(), both, op.getAcc());
    return success();
  }
};

/// 16-bit floats are compared as f32, which they are exactly.
struct ReduceWidened : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    using Kind = vector::CombiningKind;
    VectorType type = op.getSourceVectorType();
    if (!llvm::is_contained({Kind::MAXNUMF, Kind::MINNUMF, Kind::MAXIMUMF, Kind::MINIMUMF},
                            op.getKind()) ||
        type.isScalable() || !isa<Float16Type, BFloat16Type>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "no greatest or least number of 16-bit floats");
    Location loc = op.getLoc();
    Type wide = rewriter.getF32Type();
    Value row = arith::ExtFOp::create(rewriter, loc, type.clone(wide), op.getVector());
    Value acc = op.getAcc();
    if (acc)
      acc = arith::ExtFOp::create(rewriter, loc, wide, acc);
    Value result = vector::ReductionOp::create(rewriter, loc, op.getKind(), row, acc);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

LogicalResult tilewright::cpu::chooseExtrema(func::FuncOp func) {
  RewritePatternSet halves(func.getContext());
  halves.add<ReduceByHalves, ReduceIntegers, ReduceWidened>(func.getContext());
  populateFirstLanePatterns(halves);
  if (failed(applyPatternsBounded(func, std::move(halves), "lower", "reduction by halves")))
    return failure();
  dropTestsForNaN(func);
  return success();
}

namespace {
template <typename Op> struct CallOfRows : OpRewritePattern<Op> {
  CallOfRows(MLIRContext *context, StringRef name)
      : OpRewritePattern<Op>(context), name(name) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    // LLVM would compare them as they were before, by a call for each lane.
    if (llvm::any_of(op->getOperands(),
                     [](Value operand) { return operand.getDefiningOp<arith::ExtFOp>(); }))
      return rewriter.notifyMatchFailure(op, "an operand is widened");
    replaceByRows(rewriter, op, [&](ArrayRef<Value> rows) {
      return callIntrinsic(rewriter, op.getLoc(), name, rows.front().getType(), rows);
    });
    return success();
  }
  StringRef name;
};
} // namespace

void tilewright::cpu::populateExtremaCalls(RewritePatternSet &patterns) {
  patterns.add<CallOfRows<arith::MaxNumFOp>>(patterns.getContext(), "llvm.maxnum");
  patterns.add<CallOfRows<arith::MinNumFOp>>(patterns.getContext(), "llvm.minnum");
}
