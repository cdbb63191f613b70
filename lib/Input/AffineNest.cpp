// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests of scf.for with loads and stores of memref as those of affine, from 0 by 1, whose
// loops carry nothing:
//
//   scf.for %i = %c2 to %n step %c1 {
//     %r = scf.for %k … iter_args(%s = %z) { %x = memref.load %a[%i, %k] … }
// becomes
//   affine.for %i = 0 to %n - 2 {
//     affine.store %z, %m[%i]
//     affine.for %k … { %s = affine.load %m[%i];  %x = affine.load %a[%i + 2, %k] … }
//     %r = affine.load %m[%i]

#include "NestRaiser.h"
#include "tilewright/Dialect/Divisions.h"

#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

/// Whether `op` is an integer division that each iteration of the nest does: others would also
/// divide by what no iteration does.
static bool dividesAlways(Operation *op, Operation *nest) {
  if (!isIntegerDivision(op))
    return false;
  for (Operation *around = op->getParentOp(); nest->isAncestor(around);
       around = around->getParentOp())
    if (!isa<affine::AffineForOp, scf::ForOp>(around))
      return false;
  // As many iterations as loops of their own say.
  return !nest
              ->walk([&](Operation *loop) {
                if (!isa<affine::AffineForOp, scf::ForOp>(loop))
                  return WalkResult::advance();
                bool isFixed = llvm::all_of(loop->getOperands(), [&](Value operand) {
                  return !operand.getType().isIntOrIndex() || getConstantIntValue(operand) ||
                         !nest->isAncestor(operand.getParentRegion()->getParentOp());
                });
                return isFixed ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Only loops, loads, stores and what is computed between them.
std::optional<NestRefusal> NestRaiser::checkOps() {
  std::optional<NestRefusal> refusal;
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<affine::AffineForOp, scf::ForOp>(op)) {
      if (llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrFloat(); }))
        return WalkResult::advance();
      refusal = refuse(op, "carries what is no number of a tensor");
      return WalkResult::interrupt();
    }
    if (isa<affine::AffineLoadOp, affine::AffineStoreOp, memref::LoadOp, memref::StoreOp>(
            op)) {
      Value memref = isa<affine::AffineLoadOp, memref::LoadOp>(op) ? op->getOperand(0)
                                                                   : op->getOperand(1);
      if (!nest->isAncestor(memref.getParentRegion()->getParentOp()))
        return WalkResult::advance();
      refusal = refuse(op, "is of a memref that is made in the loops");
      return WalkResult::interrupt();
    }
    if (isa<affine::AffineIfOp, scf::IfOp>(op) &&
        llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrFloat(); }))
      return WalkResult::advance();
    if (op->hasTrait<OpTrait::IsTerminator>() ||
        ((isPure(op) || dividesAlways(op, nest)) && op->getNumRegions() == 0 &&
         op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndexOrFloat()))
      return WalkResult::advance();
    refusal = refuse(op, isIntegerDivision(op)
                             ? "divides by what may be 0, under a condition or in loops whose "
                               "bounds other loops say"
                             : "is no load, store or arithmetic of scalars");
    return WalkResult::interrupt();
  });
  return refusal;
}

/// `value` as a sum of loops and of values from outside of the nest.
std::optional<AffineExpr> NestRaiser::exprOf(Value value,
                                             SmallVectorImpl<Value> &operands) {
  DenseMap<Value, AffineExpr> known;
  return exprOf(value, operands, known);
}

/// The same; `known` has the expressions of values that were met before.
std::optional<AffineExpr> NestRaiser::exprOf(Value value, SmallVectorImpl<Value> &operands,
                                             DenseMap<Value, AffineExpr> &known) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return b.getAffineConstantExpr(*constant);
  if (AffineExpr before = known.lookup(value))
    return before;
  Operation *op = value.getDefiningOp();
  auto both = [&](auto combine) -> std::optional<AffineExpr> {
    std::optional<AffineExpr> left = exprOf(op->getOperand(0), operands, known);
    if (!left)
      return std::nullopt;
    std::optional<AffineExpr> right = exprOf(op->getOperand(1), operands, known);
    if (!right)
      return std::nullopt;
    // A sum of operands, however often they are met.
    return known[value] = simplifyAffineExpr(combine(*left, *right), operands.size(), 0);
  };
  if (isa_and_nonnull<arith::AddIOp>(op))
    return both([](AffineExpr x, AffineExpr y) { return x + y; });
  if (isa_and_nonnull<arith::SubIOp>(op))
    return both([](AffineExpr x, AffineExpr y) { return x - y; });
  if (isa_and_nonnull<arith::MulIOp>(op) && (getConstantIntValue(op->getOperand(0)) ||
                                             getConstantIntValue(op->getOperand(1))))
    return both([](AffineExpr x, AffineExpr y) { return x * y; });
  Value met = value;
  if (!affine::isValidDim(value)) {
    if (!value.getType().isIndex() ||
        nest->isAncestor(value.getParentRegion()->getParentOp()))
      return std::nullopt;
    value = standInFor(value);
  }
  operands.push_back(value);
  return known[met] = b.getAffineDimExpr(operands.size() - 1);
}

/// Affine forms have sizes and loops of their own kind only. A value from a loop of the
/// host around the nest is one of the function's top level until the nest is built.
Value NestRaiser::standInFor(Value value) {
  if (affine::isValidSymbol(value))
    return value;
  for (auto [standIn, real] : standIns)
    if (real == value)
      return standIn;
  OpBuilder top(b.getContext());
  top.setInsertionPointToStart(&nest->getParentOfType<func::FuncOp>().getBody().front());
  Value standIn = UnrealizedConversionCastOp::create(top, value.getLoc(),
                                                     TypeRange(value.getType()), ValueRange())
                      .getResult(0);
  standIns.push_back({standIn, value});
  return standIn;
}

void NestRaiser::dropStandIns() {
  for (auto [standIn, real] : standIns) {
    standIn.replaceAllUsesWith(real);
    standIn.getDefiningOp()->erase();
  }
  standIns.clear();
}

/// Loops that count in integers count in indices, which are cast back.
std::optional<NestRefusal> NestRaiser::countInIndices(scf::ForOp loop) {
  Type type = loop.getInductionVar().getType();
  if (type.isIndex())
    return std::nullopt;
  if (loop.getUnsignedCmp())
    return refuse(loop, "counts in integers without a sign");
  b.setInsertionPoint(nest);
  for (OpOperand *bound : {&loop.getLowerBoundMutable(), &loop.getUpperBoundMutable(),
                           &loop.getStepMutable()}) {
    Value value = bound->get();
    if (std::optional<int64_t> known = getConstantIntValue(value))
      bound->set(arith::ConstantIndexOp::create(b, loop.getLoc(), *known));
    else if (!nest->isAncestor(value.getParentRegion()->getParentOp()))
      bound->set(arith::IndexCastOp::create(b, loop.getLoc(), b.getIndexType(), value));
    else
      return refuse(loop, "counts in integers as far as another loop says");
  }
  Value counter = loop.getInductionVar();
  counter.setType(b.getIndexType());
  b.setInsertionPointToStart(loop.getBody());
  auto number = arith::IndexCastOp::create(b, loop.getLoc(), type, counter);
  counter.replaceAllUsesExcept(number, number);
  for (Operation *user : llvm::make_early_inc_range(number->getUsers()))
    if (isa<arith::IndexCastOp>(user)) {
      user->getResult(0).replaceAllUsesWith(counter);
      user->erase();
    }
  return std::nullopt;
}

/// `values` as a map of `operands`; null where one is no sum of loops and sizes.
AffineMap NestRaiser::mapOf(ValueRange values, SmallVectorImpl<Value> &operands) {
  SmallVector<AffineExpr> exprs;
  for (Value value : values) {
    std::optional<AffineExpr> expr = exprOf(value, operands);
    if (!expr)
      return AffineMap();
    exprs.push_back(*expr);
  }
  return AffineMap::get(operands.size(), 0, exprs, b.getContext());
}

std::optional<NestRefusal> NestRaiser::loopToAffine(scf::ForOp loop) {
  SmallVector<Value> lowerOperands, upperOperands;
  AffineMap lower = mapOf(loop.getLowerBound(), lowerOperands),
            upper = mapOf(loop.getUpperBound(), upperOperands);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step < 1)
    return refuse(loop, "has bounds that are no sums of loops and sizes, or a step that is "
                        "no constant");
  b.setInsertionPoint(loop);
  auto made = affine::AffineForOp::create(b, loop.getLoc(), lowerOperands, lower,
                                          upperOperands, upper, *step, loop.getInitArgs());
  Block *body = made.getBody();
  for (auto [from, to] :
       llvm::zip_equal(loop.getBody()->getArguments(), body->getArguments()))
    from.replaceAllUsesWith(to);
  if (!body->empty())
    body->getTerminator()->erase();
  Operation *yield = loop.getBody()->getTerminator();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  b.setInsertionPoint(yield);
  affine::AffineYieldOp::create(b, yield->getLoc(), yield->getOperands());
  yield->erase();
  loop.replaceAllUsesWith(made.getResults());
  if (loop == nest)
    nest = made;
  loop.erase();
  return std::nullopt;
}

std::optional<NestRefusal> NestRaiser::accessToAffine(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  auto store = dyn_cast<memref::StoreOp>(op);
  SmallVector<Value> operands;
  AffineMap map = mapOf(load ? load.getIndices() : store.getIndices(), operands);
  if (!map)
    return refuse(op, "is at a place that is no sum of loops");
  b.setInsertionPoint(op);
  if (load)
    load.replaceAllUsesWith(
        affine::AffineLoadOp::create(b, op->getLoc(), load.getMemRef(), map, operands)
            .getResult());
  else
    affine::AffineStoreOp::create(b, op->getLoc(), store.getValueToStore(),
                                  store.getMemRef(), map, operands);
  op->erase();
  return std::nullopt;
}

/// scf.for, memref.load and memref.store as those of affine; all loops from 0 by 1.
std::optional<NestRefusal> NestRaiser::toAffine() {
  SmallVector<scf::ForOp> loops;
  nest->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (std::optional<NestRefusal> refusal = countInIndices(loop))
      return refusal;
  for (scf::ForOp loop : loops)
    if (std::optional<NestRefusal> refusal = loopToAffine(loop))
      return refusal;
  splitConditions();
  SmallVector<Operation *> accesses;
  nest->walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses)
    if (std::optional<NestRefusal> refusal = accessToAffine(op))
      return refusal;
  if (std::optional<NestRefusal> refusal = selectValues())
    return refusal;
  // Loops of one iteration stay: one of them may be the nest. So do those that begin where
  // another loop says: what they store would be along a diagonal.
  nest->walk<WalkOrder::PreOrder>([&](affine::AffineForOp loop) {
    AffineMap map = loop.getLowerBoundMap();
    SmallVector<Value> operands(loop.getLowerBoundOperands());
    affine::fullyComposeAffineMapAndOperands(&map, &operands);
    if (loop.getStepAsInt() == 1 &&
        llvm::any_of(operands, [](Value value) { return affine::isAffineForInductionVar(value); }))
      return;
    (void)affine::normalizeAffineFor(loop, /*promoteSingleIter=*/false);
  });
  return keepCarried();
}

/// The loop in `loop` that goes on with all that it carries, and gives all that it yields: a sum
/// over several dims. Null if there is none.
static affine::AffineForOp carryingOn(affine::AffineForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  auto inner = yield->getNumOperands() ? yield->getOperand(0).getDefiningOp<affine::AffineForOp>()
                                       : affine::AffineForOp();
  if (!inner || inner->getParentOp() != loop || inner.getNumResults() != loop.getNumResults())
    return {};
  for (auto [argument, init, result, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), inner.getInits(), inner.getResults(),
                       yield->getOperands()))
    if (init != argument || !argument.hasOneUse() || yielded != result || !result.hasOneUse())
      return {};
  return inner;
}

namespace {
/// Where what a loop carries is kept: elements of memrefs, one for each iteration of the loops
/// around it.
struct CarriedElements {
  SmallVector<Value> memrefs, places;
};
} // namespace

/// What loops carry is kept in memory, an element for each iteration of the loops around
/// them:
///   %r = affine.for %k iter_args(%s = %z) { …; affine.yield %t }
/// becomes
///   store %z, %m[%i]; affine.for %k { %s = load %m[%i]; …; store %t, %m[%i] }; %r = load %m[%i]
/// A loop that carries on what one around it does has the same elements.
std::optional<NestRefusal> NestRaiser::keepCarried() {
  SmallVector<affine::AffineForOp> carrying;
  nest->walk<WalkOrder::PreOrder>([&](affine::AffineForOp loop) {
    if (loop.getNumResults())
      carrying.push_back(loop);
  });
  // Of loops that carry on, the elements of those around them. Others may come in between.
  DenseMap<Operation *, CarriedElements> keptAround;
  for (affine::AffineForOp loop : carrying) {
    auto known = keptAround.find(loop);
    bool carriesOn = known != keptAround.end();
    CarriedElements elements = carriesOn ? known->second : CarriedElements();
    SmallVector<Value> &memrefs = elements.memrefs, &places = elements.places;
    affine::AffineForOp inner = carryingOn(loop);
    SmallVector<affine::AffineForOp> around;
    for (Operation *op = loop->getParentOp(); nest->isAncestor(op); op = op->getParentOp())
      if (auto outer = dyn_cast<affine::AffineForOp>(op))
        around.insert(around.begin(), outer);
    if (!carriesOn) {
      b.setInsertionPoint(nest);
      if (std::optional<NestRefusal> refusal = setTrips(around))
        return refusal;
      // Also where no iteration ever stores one.
      for (OpFoldResult &trip : trips)
        if (isZeroInteger(trip))
          trip = b.getIndexAttr(1);
      auto [shape, sizes] = decomposeMixedValues(trips);
      for (Type type : loop.getResultTypes())
        memrefs.push_back(
            memref::AllocOp::create(b, loop.getLoc(), MemRefType::get(shape, type), sizes));
      for (affine::AffineForOp outer : around)
        places.push_back(outer.getInductionVar());
    }
    if (inner)
      keptAround[inner] = elements;
    AffineMap map = b.getMultiDimIdentityMap(places.size());
    auto load = [&](Value memref) -> Value {
      return affine::AffineLoadOp::create(b, loop.getLoc(), memref, map, places);
    };
    auto store = [&](Value value, Value memref) {
      affine::AffineStoreOp::create(b, loop.getLoc(), value, memref, map, places);
    };
    b.setInsertionPoint(loop);
    if (!carriesOn)
      for (auto [init, memref] : llvm::zip_equal(loop.getInits(), memrefs))
        store(init, memref);
    auto made = affine::AffineForOp::create(
        b, loop.getLoc(), loop.getLowerBoundOperands(), loop.getLowerBoundMap(),
        loop.getUpperBoundOperands(), loop.getUpperBoundMap(), loop.getStepAsInt());
    loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
    Operation *yield = loop.getBody()->getTerminator();
    b.setInsertionPoint(made.getBody()->getTerminator());
    Operation *end = b.getInsertionBlock()->getTerminator();
    for (auto [argument, init, memref] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInits(), memrefs))
      argument.replaceAllUsesWith(inner ? init : load(memref));
    end->getBlock()->getOperations().splice(end->getIterator(),
                                            loop.getBody()->getOperations());
    if (!inner)
      for (auto [value, memref] : llvm::zip_equal(yield->getOperands(), memrefs))
        store(value, memref);
    yield->erase();
    b.setInsertionPointAfter(made);
    if (loop == nest) {
      nest = made;
      given = memrefs;
    } else if (!carriesOn) {
      for (auto [result, memref] : llvm::zip_equal(loop.getResults(), memrefs))
        result.replaceAllUsesWith(load(memref));
    }
    loop.erase();
  }
  return std::nullopt;
}

std::optional<NestRefusal> NestRaiser::setTrips(ArrayRef<affine::AffineForOp> loops) {
  trips.clear();
  for (affine::AffineForOp loop : loops) {
    AffineMap map = loop.getUpperBoundMap();
    SmallVector<Value> operands(loop.getUpperBoundOperands());
    affine::fullyComposeAffineMapAndOperands(&map, &operands);
    affine::canonicalizeMapAndOperands(&map, &operands);
    if (!loop.hasConstantLowerBound() || loop.getConstantLowerBound() != 0 ||
        loop.getStepAsInt() != 1)
      return refuse(loop, "begins where another loop says, and carries or steps");
    if (llvm::any_of(operands, [](Value v) { return affine::isAffineForInductionVar(v); }))
      return refuse(loop, "goes as far as another loop says, around one that carries");
    SmallVector<OpFoldResult> inputs = getAsOpFoldResult(operands);
    OpFoldResult trip =
        map.getNumResults() == 1
            ? affine::makeComposedFoldedAffineApply(b, loop.getLoc(), map, inputs)
            : affine::makeComposedFoldedAffineMin(b, loop.getLoc(), map, inputs);
    // A loop whose bounds pass each other has no iteration. Sizes are never negative.
    auto value = dyn_cast<Value>(trip);
    if (!value)
      trip = b.getIndexAttr(std::max<int64_t>(0, *getConstantIntValue(trip)));
    else if (!value.getDefiningOp<memref::DimOp>())
      trip = affine::makeComposedFoldedAffineMax(
          b, loop.getLoc(),
          AffineMap::get(0, 1, {b.getAffineSymbolExpr(0), b.getAffineConstantExpr(0)},
                         b.getContext()),
          {trip});
    trips.push_back(trip);
  }
  return std::nullopt;
}
