// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variance sums up squares of distances to a mean, which is known only after all of the row has
// been read. Each lane of the vectors can do so around the mean of what it has seen, by Welford's
// method, and what the row's mean m changes in that is known afterwards:
//
//   %q = scf.for … iter_args(%a = 0) { %d = subf %x, %m, yield fma %d, %d, %a }
//   ->
//   %mean, %c = scf.for … iter_args(%mean = 0, %a = 0) {           // k: 1, 2, … for each step
//     %d = subf %x, %mean, %next = fma %d, 1 / k, %mean
//     yield %next, fma %d, (subf %x, %next), %a
//   }
//   %e = subf %mean, %m, %q = fma %e * steps, %e, %c
//
// sum (x - m)^2 = sum (x - mean)^2 + steps (mean - m)^2 holds for any m; there is nothing to
// cancel in it. The sum of x is steps times the mean: one number less that loops carry.
//
// Of a row with an infinity the running mean is NaN, as the distances of its elements to their mean
// are. The sum is not, so it stays where a result is computed of it that has no part in them.

#include "RunningMean.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Whether all steps of the nest have the same `value`: what it is computed from is looked at
/// once, and what differs ends all.
static bool isInvariant(Value value, scf::ForOp outermost, llvm::DenseSet<Value> &seen) {
  if (outermost.isDefinedOutsideOfLoop(value) || !seen.insert(value).second)
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isInvariant(operand, outermost, seen); });
}

static bool isInvariant(Value value, scf::ForOp outermost) {
  llvm::DenseSet<Value> seen;
  return isInvariant(value, outermost, seen);
}

/// d of a + d^2.
static Value squaredIn(Value sum, Value a) {
  Value square;
  if (auto fma = sum.getDefiningOp<mlir::math::FmaOp>())
    return fma.getC() == a && fma.getA() == fma.getB() ? fma.getA() : Value();
  if (auto add = sum.getDefiningOp<arith::AddFOp>())
    square = add.getLhs() == a ? add.getRhs() : add.getRhs() == a ? add.getLhs() : Value();
  auto product = square ? square.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return product && product.getLhs() == product.getRhs() ? product.getLhs() : Value();
}

/// Whether `loop` begins its number `i` with zero and adds `part` to it.
static bool addsUp(scf::ForOp loop, unsigned i, Value part) {
  auto add = loop.getYieldedValues()[i].getDefiningOp<arith::AddFOp>();
  Value carried = loop.getRegionIterArg(i);
  return add && matchPattern(loop.getInitArgs()[i], m_AnyZeroFloat()) &&
         ((add.getLhs() == carried && add.getRhs() == part) ||
          (add.getRhs() == carried && add.getLhs() == part));
}

/// The steps of all loops of a nest, as numbers of `type`.
static Value createSteps(OpBuilder &builder, Location loc, ArrayRef<int64_t> steps,
                         VectorType type) {
  double count = computeProduct(steps);
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), count)));
}

std::optional<SquaredDistances> tilewright::cpu::matchSquaredDistances(scf::ForOp innermost,
                                                                       size_t depth) {
  SquaredDistances sum;
  for (scf::ForOp loop = innermost; sum.nest.size() < depth;
       loop = dyn_cast<scf::ForOp>(loop->getParentOp())) {
    std::optional<int64_t> steps =
        loop && loop.getNumResults() == 1 ? commonSteps(loop, loop) : std::nullopt;
    if (!steps || !matchPattern(loop.getInitArgs().front(), m_AnyZeroFloat()) ||
        (!sum.nest.empty() && (!addsUp(loop, 0, sum.nest.back().getResult(0)) ||
                               &loop.getBody()->front() != sum.nest.back())))
      return std::nullopt;
    sum.nest.push_back(loop);
    sum.steps.push_back(*steps);
  }
  auto type = dyn_cast<VectorType>(innermost.getResult(0).getType());
  if (!type || type.isScalable() || type.getElementTypeBitWidth() < 32)
    return std::nullopt;
  Value d = squaredIn(innermost.getYieldedValues().front(), innermost.getRegionIterArg(0));
  auto distance = d ? d.getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!distance)
    return std::nullopt;
  std::tie(sum.x, sum.m) = std::pair(distance.getLhs(), distance.getRhs());
  if (!isInvariant(sum.m, sum.nest.back()))
    std::swap(sum.x, sum.m);
  if (!isInvariant(sum.m, sum.nest.back()))
    return std::nullopt;
  return sum;
}

static bool movesLanes(Operation *op) {
  return isa_and_present<vector::BroadcastOp, vector::ExtractOp, vector::ShapeCastOp,
                         vector::TransposeOp>(op);
}

static bool addsLanes(Operation *op) {
  if (auto rows = dyn_cast_if_present<vector::MultiDimReductionOp>(op))
    return rows.getKind() == vector::CombiningKind::ADD;
  auto row = dyn_cast_if_present<vector::ReductionOp>(op);
  return row && row.getKind() == vector::CombiningKind::ADD;
}

static bool isPositive(Value value) {
  FloatAttr number;
  DenseFPElementsAttr lanes;
  auto holds = [](const APFloat &lane) { return lane.isFiniteNonZero() && !lane.isNegative(); };
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    return isPositive(broadcast.getSource());
  return matchPattern(value, m_Constant(&number)) ? holds(number.getValue())
         : matchPattern(value, m_Constant(&lanes)) && llvm::all_of(lanes, holds);
}

/// Whether result `number` of the first nest is the sum of what the second one's x is.
static bool isSumOf(Value x, unsigned number, const LoopPairs &pairs, ArrayAttr access) {
  for (auto [inner, outer] : llvm::zip(pairs, llvm::drop_begin(pairs))) {
    scf::ForOp loop = inner.first;
    if (!addsUp(outer.first, number, loop.getResult(number)))
      return false;
  }
  auto [innermost, second] = pairs.front();
  auto add = innermost.getYieldedValues()[number].getDefiningOp<arith::AddFOp>();
  Twins twins(innermost, second, access);
  return add && llvm::any_of(add->getOperands(), [&](Value part) {
           return addsUp(innermost, number, part) && twins.areEqual(part, x);
         });
}

bool tilewright::cpu::isMeanOf(const SquaredDistances &sum, const LoopPairs &pairs,
                               ArrayAttr access) {
  llvm::SetVector<Value> parts;
  parts.insert(sum.m);
  for (size_t next = 0; next < parts.size(); ++next) {
    Operation *op = parts[next].getDefiningOp();
    if (op && op == pairs.back().first) {
      if (isSumOf(sum.x, cast<OpResult>(parts[next]).getResultNumber(), pairs, access))
        return true;
    } else if (isa_and_present<arith::AddFOp>(op)) {
      parts.insert_range(op->getOperands());
    } else if (movesLanes(op) || addsLanes(op) ||
               isa_and_present<arith::ExtFOp, arith::TruncFOp>(op)) {
      parts.insert(op->getOperand(0));
    } else if (isa_and_present<arith::MulFOp, arith::DivFOp>(op)) {
      if (isPositive(op->getOperand(1)))
        parts.insert(op->getOperand(0));
      else if (isa<arith::MulFOp>(op) && isPositive(op->getOperand(0)))
        parts.insert(op->getOperand(1));
    }
  }
  return false;
}

SmallVector<Operation *> tilewright::cpu::opsFor(const SquaredDistances &sum, Value value) {
  llvm::SmallDenseSet<Value> needed = {value};
  SmallVector<Operation *> ops;
  scf::ForOp innermost = sum.nest.front();
  for (Operation &op : llvm::reverse(*innermost.getBody()))
    if (llvm::any_of(op.getResults(), [&](Value result) { return needed.contains(result); })) {
      needed.insert(op.operand_begin(), op.operand_end());
      ops.push_back(&op);
    }
  return SmallVector<Operation *>(llvm::reverse(ops));
}

/// 1 / k in the k-th step of a nest, innermost loop first.
static Value createShare(OpBuilder &builder, Location loc, ArrayRef<scf::ForOp> nest,
                         ArrayRef<int64_t> steps, VectorType type) {
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, n);
  };
  Value k = number(1);
  int64_t inside = 1;
  for (auto [own, count] : llvm::zip_equal(nest, steps)) {
    scf::ForOp loop = own;
    Value step = loop.getInductionVar();
    step = arith::DivUIOp::create(builder, loc, step, loop.getStep());
    step = arith::MulIOp::create(builder, loc, step, number(inside));
    k = arith::AddIOp::create(builder, loc, k, step);
    inside *= count;
  }
  Type element = type.getElementType();
  k = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), k);
  k = arith::SIToFPOp::create(builder, loc, element, k);
  Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, 1.0));
  Value share = arith::DivFOp::create(builder, loc, one, k);
  return vector::BroadcastOp::create(builder, loc, type, share);
}

/// The mean and the sum of squared distances after a step.
static std::array<Value, 2> createStep(OpBuilder &builder, Location loc, Value x, Value share,
                                       Value mean, Value squares) {
  Value d = arith::SubFOp::create(builder, loc, x, mean);
  Value next = mlir::math::FmaOp::create(builder, loc, d, share, mean);
  Value after = arith::SubFOp::create(builder, loc, x, next);
  return {next, mlir::math::FmaOp::create(builder, loc, d, after, squares)};
}

/// The loops of the nest, each with both numbers, and a step in the innermost one.
static scf::ForOp createNest(const SquaredDistances &sum, VectorType type) {
  scf::ForOp outermost = sum.nest.back();
  Location loc = outermost.getLoc();
  OpBuilder builder(outermost);
  Value zero = outermost.getInitArgs().front();
  SmallVector<Value> carried = {zero, zero};
  SmallVector<scf::ForOp> made;
  IRMapping mapping;
  for (scf::ForOp loop : llvm::reverse(sum.nest)) {
    made.insert(made.begin(),
                scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep(), carried));
    mapping.map(loop.getInductionVar(), made.front().getInductionVar());
    carried = SmallVector<Value>(made.front().getRegionIterArgs());
    builder.setInsertionPointToEnd(made.front().getBody());
  }
  for (Operation *op : opsFor(sum, sum.x))
    builder.clone(*op, mapping);
  Value share = createShare(builder, loc, made, sum.steps, type);
  std::array<Value, 2> after = createStep(builder, loc, mapping.lookupOrDefault(sum.x), share,
                                          carried[0], carried[1]);
  scf::YieldOp::create(builder, loc, ValueRange(after));
  for (auto [inner, outer] : llvm::zip(made, llvm::drop_begin(made))) {
    builder.setInsertionPointToEnd(outer.getBody());
    scf::YieldOp::create(builder, loc, inner.getResults());
  }
  return made.back();
}

scf::ForOp tilewright::cpu::takeRunningMean(const SquaredDistances &sum) {
  scf::ForOp outermost = sum.nest.back();
  Location loc = outermost.getLoc();
  auto type = cast<VectorType>(outermost.getResult(0).getType());
  scf::ForOp loop = createNest(sum, type);
  OpBuilder builder(outermost);
  IRMapping mapping;
  for (Operation *op : opsFor(sum, sum.m))
    builder.clone(*op, mapping);
  Value steps = createSteps(builder, loc, sum.steps, type);
  Value e = arith::SubFOp::create(builder, loc, loop.getResult(0),
                                  mapping.lookupOrDefault(sum.m));
  Value scaled = arith::MulFOp::create(builder, loc, e, steps);
  Value total = mlir::math::FmaOp::create(builder, loc, scaled, e, loop.getResult(1));
  outermost.getResult(0).replaceAllUsesWith(total);
  outermost.erase();
  return loop;
}

/// Whether a NaN in any operand is one in the result.
static bool passesNaNs(Operation *op) {
  return movesLanes(op) || addsLanes(op) ||
         isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::ExtFOp, arith::TruncFOp, arith::MaximumFOp, arith::MinimumFOp,
             mlir::math::FmaOp, mlir::math::SqrtOp, mlir::math::RsqrtOp>(op);
}

/// All that is NaN where `value` is.
static llvm::DenseSet<Value> resultsOf(Value value) {
  llvm::SetVector<Value> results;
  results.insert(value);
  for (size_t next = 0; next < results.size(); ++next)
    for (Operation *user : results[next].getUsers())
      if (passesNaNs(user))
        results.insert_range(user->getResults());
  return llvm::DenseSet<Value>(results.begin(), results.end());
}

/// Whether whatever comes of `sum` is computed together with `squares`, the squared distances to
/// its mean, so that it is NaN where an element is an infinity.
static bool isOnlyBeside(Value sum, Value squares) {
  llvm::DenseSet<Value> known = resultsOf(squares);
  llvm::SetVector<Value> values;
  values.insert(sum);
  for (size_t next = 0; next < values.size(); ++next)
    for (Operation *user : values[next].getUsers()) {
      if (!passesNaNs(user))
        return false;
      if (!llvm::any_of(user->getResults(), [&](Value value) { return known.contains(value); }))
        values.insert_range(user->getResults());
    }
  return true;
}

void tilewright::cpu::takeSumsFromMean(scf::ForOp innermost, ArrayRef<int64_t> steps) {
  SmallVector<scf::ForOp> nest = {innermost};
  while (nest.size() < steps.size())
    nest.push_back(cast<scf::ForOp>(nest.back()->getParentOp()));
  unsigned own = innermost.getNumResults() - 2;
  auto step = innermost.getYieldedValues()[own].getDefiningOp<mlir::math::FmaOp>();
  Value x = step.getA().getDefiningOp<arith::SubFOp>().getLhs();
  scf::ForOp outermost = nest.back();
  OpBuilder builder(outermost->getContext());
  builder.setInsertionPointAfter(outermost);
  Location loc = outermost.getLoc();
  Operation *squares = *outermost.getResult(own + 1).user_begin();
  for (unsigned i = 0; i < own; ++i) {
    bool isSum = addsUp(innermost, i, x) &&
                 isOnlyBeside(outermost.getResult(i), squares->getResult(0));
    for (auto [inner, outer] : llvm::zip(nest, llvm::drop_begin(nest)))
      isSum &= addsUp(outer, i, inner.getResult(i));
    if (!isSum)
      continue;
    for (scf::ForOp loop : nest)
      loop.getBody()->getTerminator()->setOperand(i, loop.getRegionIterArg(i));
    Value mean = outermost.getResult(own);
    Value count = createSteps(builder, loc, steps, cast<VectorType>(mean.getType()));
    Value sum = arith::MulFOp::create(builder, loc, mean, count);
    outermost.getResult(i).replaceAllUsesWith(sum);
  }
}
