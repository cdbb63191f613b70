// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structured op that a statement of a nest becomes: views of what it reads and stores, and
// a body; see RaiseLoops.cpp.

#include "NestRaiser.h"
#include "Views.h"

#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

/// Where a window of `size` elements begins. One that no iteration reads or writes begins
/// inside of the memref, too, wherever its loops would.
OpFoldResult NestRaiser::offsetOf(Value memref, int64_t dim, AffineMap offset,
                                  SmallVector<OpFoldResult> inputs, OpFoldResult size) {
  Location loc = memref.getLoc();
  OpFoldResult begin = affine::makeComposedFoldedAffineApply(b, loc, offset, inputs);
  std::optional<int64_t> constant = getConstantIntValue(begin);
  bool mayBeEmpty = llvm::any_of(
      trips, [](OpFoldResult trip) { return !getConstantIntValue(trip); });
  bool dynamic = cast<MemRefType>(memref.getType()).isDynamicDim(dim);
  if (!mayBeEmpty || (constant && (*constant == 0 || !dynamic)))
    return begin;
  AffineExpr first = b.getAffineSymbolExpr(0), extent = b.getAffineSymbolExpr(1),
             length = b.getAffineSymbolExpr(2);
  OpFoldResult all = memref::getMixedSize(b, loc, memref, dim);
  begin = affine::makeComposedFoldedAffineMin(
      b, loc, AffineMap::get(0, 3, {first, extent - length}, b.getContext()),
      {begin, all, size});
  return affine::makeComposedFoldedAffineMax(
      b, loc, AffineMap::get(0, 1, {first, b.getAffineConstantExpr(0)}, b.getContext()),
      {begin});
}

namespace {
/// Where an access is along a dim: a sum of multiples of loops, by their numbers, and what no
/// loop changes.
struct PlaceAlongDim {
  AffineExpr offset;
  SmallVector<std::pair<unsigned, int64_t>> terms;
};
} // namespace

static OrRefusal<PlaceAlongDim> placeOf(AffineExpr expr, const affine::AffineValueMap &places,
                                        ArrayRef<affine::AffineForOp> loops) {
  AffineMap map = places.getAffineMap();
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, map.getNumDims(), map.getNumSymbols(), &flat)) ||
      flat.size() != map.getNumInputs() + 1)
    return Refusal(Refused::Layout, kNoSumOfLoops);
  MLIRContext *context = expr.getContext();
  PlaceAlongDim place{getAffineConstantExpr(flat.back(), context), {}};
  for (unsigned input = 0; input < map.getNumInputs(); ++input) {
    Value operand = places.getOperand(input);
    auto loop = llvm::find_if(
        loops, [&](affine::AffineForOp loop) { return loop.getInductionVar() == operand; });
    if (loop == loops.end())
      place.offset = place.offset + getAffineSymbolExpr(input, context) * flat[input];
    else if (flat[input] < 0)
      return Refusal(Refused::Layout, kGoesBackwards);
    else if (flat[input])
      place.terms.push_back({unsigned(loop - loops.begin()), flat[input]});
  }
  return place;
}

/// Whether `size` is that of the memref's dim.
static bool isSizeOf(OpFoldResult size, Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant == type.getDimSize(dim);
  if (!type.isDynamicDim(dim))
    return false;
  auto value = dyn_cast<Value>(size);
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)] == value;
  auto of = value.getDefiningOp<memref::DimOp>();
  return of && of.getSource() == memref && of.getConstantIndex() == std::optional<int64_t>(dim);
}

/// Up to the last element that several loops, each with its stride, reach together; none where
/// a loop has no iteration.
OpFoldResult NestRaiser::reachOf(ArrayRef<std::pair<unsigned, int64_t>> terms, Location loc) {
  AffineExpr last = b.getAffineConstantExpr(1);
  SmallVector<OpFoldResult> counts;
  for (auto [loop, stride] : terms) {
    last = last + (b.getAffineSymbolExpr(counts.size()) - 1) * stride;
    counts.push_back(trips[loop]);
  }
  return affine::makeComposedFoldedAffineMax(
      b, loc,
      AffineMap::get(0, counts.size(), {last, b.getAffineConstantExpr(0)}, b.getContext()),
      counts);
}

OrRefusal<AccessView> NestRaiser::viewOf(Operation *access, Statement &statement, bool isStore) {
  Location loc = access->getLoc();
  affine::MemRefAccess at(access);
  affine::AffineValueMap places;
  at.getAccessMap(&places);
  AffineMap map = places.getAffineMap();
  auto type = cast<MemRefType>(at.memref.getType());
  unsigned numLoops = statement.loops.size();
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> kept;
  SmallVector<AffineExpr> results;
  llvm::SmallDenseSet<unsigned> used;
  bool whole = true;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    OrRefusal<PlaceAlongDim> place = placeOf(expr, places, statement.loops);
    if (!place)
      return place.why();
    ArrayRef<std::pair<unsigned, int64_t>> terms = place->terms;
    AffineMap begin = AffineMap::get(0, map.getNumInputs(), place->offset);
    SmallVector<OpFoldResult> inputs = getAsOpFoldResult(places.getOperands());
    if (terms.empty()) {
      sizes.push_back(b.getIndexAttr(1));
      offsets.push_back(offsetOf(at.memref, dim, begin, inputs, sizes.back()));
      whole = false;
      continue;
    }
    kept.push_back(dim);
    if (isStore && (terms.size() > 1 || !used.insert(terms.front().first).second))
      return Refusal(Refused::Neighbours,
                     "stores at a place that several iterations share, or along a diagonal");
    if (terms.size() == 1) {
      auto [loop, stride] = terms.front();
      strides[dim] = b.getIndexAttr(stride);
      sizes.push_back(trips[loop]);
      results.push_back(b.getAffineDimExpr(loop));
    } else {
      AffineExpr within = b.getAffineConstantExpr(0);
      for (auto [loop, stride] : terms)
        within = within + b.getAffineDimExpr(loop) * stride;
      sizes.push_back(reachOf(terms, loc));
      results.push_back(within);
    }
    offsets.push_back(offsetOf(at.memref, dim, begin, inputs, sizes.back()));
    whole &= isZeroInteger(offsets.back()) && isOneInteger(strides[dim]) &&
             isSizeOf(sizes.back(), at.memref, dim);
  }
  AccessView view{at.memref, AffineMap::get(numLoops, 0, results, b.getContext())};
  if (whole)
    return view;
  SmallVector<int64_t> shape;
  for (int64_t dim : kept)
    shape.push_back(getConstantIntValue(sizes[dim]).value_or(ShapedType::kDynamic));
  auto made = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides));
  view.memref = memref::SubViewOp::create(b, loc, made, at.memref, offsets, sizes, strides);
  return view;
}

/// `value` where `condition` holds, else `old`. The terms of a sum become zeros instead, so
/// that it stays one.
static Value choose(Value condition, Value value, Value old, OpBuilder &b, Location loc) {
  Operation *op = value.getDefiningOp();
  if (auto inner = dyn_cast_or_null<arith::SelectOp>(op); inner && inner.getFalseValue() == old) {
    Value both = condition ? arith::AndIOp::create(b, loc, condition, inner.getCondition())
                                 .getResult()
                           : inner.getCondition();
    return choose(both, inner.getTrueValue(), old, b, loc);
  }
  if (!condition)
    return value;
  std::optional<TypedAttr> neutral;
  if (op && op->getNumOperands() == 2 && llvm::is_contained(op->getOperands(), old) &&
      !isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
    neutral = arith::getNeutralElement(op);
  if (!neutral)
    return arith::SelectOp::create(b, loc, condition, value, old);
  unsigned number = op->getOperand(0) == old ? 1 : 0;
  // The sum of -0 and x is x, whichever zero that is.
  if (isa<arith::AddFOp>(op))
    neutral = b.getFloatAttr(old.getType(), -0.0);
  Value none = arith::ConstantOp::create(b, loc, *neutral);
  Value term = arith::SelectOp::create(b, loc, condition, op->getOperand(number), none);
  Operation *sum = b.clone(*op);
  sum->setOperand(number, term);
  if (op->use_empty())
    op->erase();
  return sum->getResult(0);
}

void NestRaiser::buildBody(Statement &statement, const IRMapping &loads, Value old,
                           OpBuilder &b, Location loc) {
  IRMapping mapping(loads);
  auto mapLoops = [&](ValueRange values) {
    for (Value value : values)
      for (auto [number, loop] : llvm::enumerate(statement.loops))
        if (value == loop.getInductionVar() && !mapping.contains(value))
          mapping.map(value, linalg::IndexOp::create(b, loc, number));
  };
  for (Operation *op : statement.slice) {
    if (isa<affine::AffineLoadOp>(op))
      continue;
    mapLoops(op->getOperands());
    auto apply = dyn_cast<affine::AffineApplyOp>(op);
    if (!apply) {
      b.clone(*op, mapping);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(mapping.lookupOrDefault(operand));
    mapping.map(apply.getResult(),
                affine::expandAffineMap(b, loc, apply.getAffineMap(), operands)->front());
  }
  Value all;
  for (const Condition &condition : conditions) {
    mapLoops(condition.operands);
    SmallVector<Value> operands;
    for (Value operand : condition.operands)
      operands.push_back(mapping.lookupOrDefault(operand));
    Value holds = operands.front();
    if (condition.map) {
      Value place = affine::expandAffineMap(b, loc, condition.map, operands)->front();
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      holds = arith::CmpIOp::create(b, loc,
                                    condition.isEquality ? arith::CmpIPredicate::eq
                                                         : arith::CmpIPredicate::sge,
                                    place, zero);
    }
    all = all ? arith::AndIOp::create(b, loc, all, holds).getResult() : holds;
  }
  Value value = mapping.lookupOrDefault(statement.store.getValueToStore());
  linalg::YieldOp::create(b, loc, choose(all, value, old, b, loc));
}

/// How long loops are that have no dim of an operand of their own, by an operand of that
/// shape, which nothing reads: as the windows of poolings are given.
void NestRaiser::addWindow(Statement &statement, SmallVectorImpl<Value> &inputs,
                           SmallVectorImpl<AffineMap> &maps) {
  SmallVector<OpFoldResult> lengths;
  SmallVector<AffineExpr> places;
  for (unsigned loop = 0; loop < statement.loops.size(); ++loop) {
    bool isKnown = llvm::any_of(maps, [&](AffineMap map) {
      return map.getResultPosition(b.getAffineDimExpr(loop)).has_value();
    });
    if (isKnown)
      continue;
    lengths.push_back(trips[loop]);
    places.push_back(b.getAffineDimExpr(loop));
  }
  if (places.empty())
    return;
  auto [shape, sizes] = decomposeMixedValues(lengths);
  Type element =
      cast<MemRefType>(statement.store.getMemRef().getType()).getElementType();
  inputs.push_back(memref::AllocOp::create(b, statement.store.getLoc(),
                                           MemRefType::get(shape, element), sizes));
  maps.insert(maps.end() - 1,
              AffineMap::get(statement.loops.size(), 0, places, b.getContext()));
}

std::optional<NestRefusal> NestRaiser::build(Statement &statement) {
  conditions.clear();
  bool loadsAlways = llvm::any_of(statement.slice, [](Operation *op) {
    return op->hasAttr(kAlwaysLoaded);
  });
  if (loadsAlways || !isRectangle(statement))
    if (std::optional<NestRefusal> refusal = isolate(statement))
      return refusal;
  Operation *store = statement.store;
  b.setInsertionPoint(nest);
  if (std::optional<NestRefusal> refusal = setTrips(statement.loops))
    return refusal;
  if (llvm::any_of(trips, [](OpFoldResult trip) {
        std::optional<int64_t> count = getConstantIntValue(trip);
        return count && *count <= 0;
      }))
    return std::nullopt;
  OrRefusal<AccessView> out = viewOf(store, statement, /*isStore=*/true);
  if (!out)
    return refuse(store, out.why().str());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<std::pair<Value, int64_t>> loads;
  bool updates = false;
  for (Operation *op : statement.slice) {
    auto load = dyn_cast<affine::AffineLoadOp>(op);
    if (!load)
      continue;
    if (statement.isOwnElement(load)) {
      updates = true;
      loads.push_back({load, -1});
      continue;
    }
    OrRefusal<AccessView> in = viewOf(load, statement, /*isStore=*/false);
    if (!in)
      return refuse(load, in.why().str());
    // Elsewhere in what is stored: as it was before.
    if (rootOf(load.getMemRef()) == rootOf(statement.store.getMemRef())) {
      auto type = cast<MemRefType>(in->memref.getType());
      SmallVector<Value> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(memref::DimOp::create(b, load.getLoc(), in->memref, dim));
      Value before = memref::AllocOp::create(
          b, load.getLoc(), MemRefType::get(type.getShape(), type.getElementType()), sizes);
      memref::CopyOp::create(b, load.getLoc(), in->memref, before);
      in->memref = before;
    }
    loads.push_back({load, int64_t(inputs.size())});
    inputs.push_back(in->memref);
    maps.push_back(in->map);
  }
  maps.push_back(out->map);
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop < statement.loops.size(); ++loop) {
    bool parallel = out->map.isFunctionOfDim(loop);
    iterators.push_back(parallel ? utils::IteratorType::parallel
                                 : utils::IteratorType::reduction);
    if (!parallel && !updates)
      return refuse(store, "stores an element in several iterations, of which only the last "
                           "one counts; take that loop away",
                    statement.loops[loop]);
  }
  addWindow(statement, inputs, maps);
  // The same number everywhere.
  if (Value value = statement.store.getValueToStore();
      statement.slice.empty() && conditions.empty() &&
      !affine::isAffineForInductionVar(value)) {
    linalg::FillOp::create(b, store->getLoc(), value, out->memref);
    return std::nullopt;
  }
  linalg::GenericOp::create(
      b, store->getLoc(), TypeRange(), inputs, ValueRange(out->memref), maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        IRMapping mapping;
        for (auto [load, number] : loads)
          mapping.map(load, number < 0 ? arguments.back() : arguments[number]);
        buildBody(statement, mapping, arguments.back(), b, loc);
      });
  return std::nullopt;
}
