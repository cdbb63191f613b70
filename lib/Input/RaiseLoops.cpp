// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over memrefs become structured ops, one for each store:
//
//   affine.for %i = 0 to 64 { affine.for %j = 0 to 48 { affine.for %k = 0 to 32 {
//     %x = affine.load %a[%i, %k];  %y = affine.load %b[%k, %j];  %z = affine.load %c[%i, %j]
//     %m = arith.mulf %x, %y;       %s = arith.addf %z, %m
//     affine.store %s, %c[%i, %j]
//   } } }
// becomes
//   linalg.generic {(i, j, k): (i, k), (k, j), (i, j)} ins(%a, %b) outs(%c) { mulf; addf }
//
// Loops that are in the place of the store are parallel, others are sums. Several stores are
// carried out one after the other, each for all iterations, where no dependence forbids it
// (LoopStatements.h). What is read is a view: offsets, and steps of one loop, are its own,
// sums of loops (windows) are the map's.
//
// affine.for becomes structured ops or is refused. scf.for around loads and stores stays
// host code where it does not, and a remark says why.

#include "NestRaiser.h"
#include "Views.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_RAISELOOPSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

FailureOr<AccessView> NestRaiser::viewOf(Operation *access, Statement &statement,
                                            bool isStore, std::string &reason) {
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
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> flat;
    if (failed(getFlattenedAffineExpr(expr, map.getNumDims(), map.getNumSymbols(), &flat)) ||
        flat.size() != map.getNumInputs() + 1)
      return fail("is at a place that is no sum of multiples of loops");
    AffineExpr offset = b.getAffineConstantExpr(flat.back()), place;
    SmallVector<std::pair<unsigned, int64_t>> terms;
    for (unsigned input = 0; input < map.getNumInputs(); ++input) {
      Value operand = places.getOperand(input);
      auto loop = llvm::find_if(statement.loops, [&](affine::AffineForOp loop) {
        return loop.getInductionVar() == operand;
      });
      if (loop == statement.loops.end())
        offset = offset + b.getAffineSymbolExpr(input) * flat[input];
      else if (flat[input] < 0)
        return fail("goes backwards along a loop");
      else if (flat[input])
        terms.push_back({unsigned(loop - statement.loops.begin()), flat[input]});
    }
    SmallVector<OpFoldResult> inputs = getAsOpFoldResult(places.getOperands());
    // A window without elements begins inside of the memref, too, wherever its loop would.
    bool mayBeEmpty = type.isDynamicDim(dim) && offset != b.getAffineConstantExpr(0) &&
                      llvm::any_of(terms, [&](auto term) {
                        return !getConstantIntValue(trips[term.first]);
                      });
    if (mayBeEmpty) {
      Value size = memref::DimOp::create(b, loc, at.memref, dim);
      inputs.push_back(size);
      offsets.push_back(affine::makeComposedFoldedAffineMin(
          b, loc,
          AffineMap::get(0, inputs.size(),
                         {offset, b.getAffineSymbolExpr(inputs.size() - 1)},
                         b.getContext()),
          inputs));
    } else {
      offsets.push_back(affine::makeComposedFoldedAffineApply(
          b, loc, AffineMap::get(0, map.getNumInputs(), offset), inputs));
    }
    if (terms.empty()) {
      sizes.push_back(b.getIndexAttr(1));
      whole = false;
      continue;
    }
    kept.push_back(dim);
    if (isStore && (terms.size() > 1 || !used.insert(terms.front().first).second))
      return fail("stores at a place that several iterations share, or along a diagonal");
    if (terms.size() == 1) {
      auto [loop, stride] = terms.front();
      strides[dim] = b.getIndexAttr(stride);
      sizes.push_back(trips[loop]);
      results.push_back(b.getAffineDimExpr(loop));
    } else {
      // The last element that the window reaches, and none where a loop has no iteration.
      AffineExpr last = b.getAffineConstantExpr(1);
      SmallVector<OpFoldResult> counts;
      place = b.getAffineConstantExpr(0);
      for (auto [loop, stride] : terms) {
        place = place + b.getAffineDimExpr(loop) * stride;
        last = last + (b.getAffineSymbolExpr(counts.size()) - 1) * stride;
        counts.push_back(trips[loop]);
      }
      sizes.push_back(affine::makeComposedFoldedAffineMax(
          b, loc,
          AffineMap::get(0, counts.size(), {last, b.getAffineConstantExpr(0)},
                         b.getContext()),
          counts));
      results.push_back(place);
    }
    auto isDim = [&, dim = int64_t(dim)](OpFoldResult size) {
      if (std::optional<int64_t> constant = getConstantIntValue(size))
        return *constant == type.getDimSize(dim);
      if (!type.isDynamicDim(dim))
        return false;
      auto value = dyn_cast<Value>(size);
      if (auto alloc = at.memref.getDefiningOp<memref::AllocOp>())
        return alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)] == value;
      auto of = value.getDefiningOp<memref::DimOp>();
      return of && of.getSource() == at.memref &&
             of.getConstantIndex() == std::optional<int64_t>(dim);
    };
    whole &= isZeroInteger(offsets.back()) && isOneInteger(strides[dim]) &&
             isDim(sizes.back());
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

void NestRaiser::buildBody(Statement &statement, const IRMapping &loads,
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
  Value value = statement.store.getValueToStore();
  linalg::YieldOp::create(b, loc, mapping.lookupOrDefault(value));
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

std::optional<Refusal> NestRaiser::build(Statement &statement) {
  Operation *store = statement.store;
  b.setInsertionPoint(nest);
  if (std::optional<Refusal> refusal = setTrips(statement.loops))
    return refusal;
  if (llvm::any_of(trips, [](OpFoldResult trip) {
        std::optional<int64_t> count = getConstantIntValue(trip);
        return count && *count <= 0;
      }))
    return std::nullopt;
  std::string reason;
  FailureOr<AccessView> out = viewOf(store, statement, /*isStore=*/true, reason);
  if (failed(out))
    return refuse(store, reason);
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
    FailureOr<AccessView> in = viewOf(load, statement, /*isStore=*/false, reason);
    if (failed(in))
      return refuse(load, reason);
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
      statement.slice.empty() && !affine::isAffineForInductionVar(value)) {
    linalg::FillOp::create(b, store->getLoc(), value, out->memref);
    return std::nullopt;
  }
  linalg::GenericOp::create(
      b, store->getLoc(), TypeRange(), inputs, ValueRange(out->memref), maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        IRMapping mapping;
        for (auto [load, number] : loads)
          mapping.map(load, number < 0 ? arguments.back() : arguments[number]);
        buildBody(statement, mapping, b, loc);
      });
  return std::nullopt;
}

LogicalResult NestRaiser::run(bool quiet) {
  Operation *original = nest;
  std::optional<Refusal> refusal = checkOps();
  bool isHost = isa<scf::ForOp>(original);
  // A loop around kernels and calls is the host's, and no nest of loads and stores.
  if (refusal && isHost && !isa<scf::ForOp, affine::AffineForOp>(refusal->op))
    return failure();
  if (!refusal) {
    // All is tried on a copy, behind the nest.
    b.setInsertionPointAfter(original);
    nest = b.clone(*original);
    refusal = toAffine();
  }
  if (!refusal) {
    SmallVector<Statement> statements = collectStatements(nest);
    if (std::optional<Conflict> conflict = findConflict(statements))
      refusal = refuse(conflict->first, conflict->reason, conflict->second);
    for (Statement &statement : statements)
      if (!refusal)
        refusal = build(statement);
  }
  if (refusal && !(isHost && quiet)) {
    said = true;
    InFlightDiagnostic why =
        isHost ? refusal->op->emitRemark() : refusal->op->emitOpError();
    if (isHost)
      why << "its loops run on the host, element by element: '" << refusal->op->getName()
           << "' op ";
    why << refusal->reason;
    if (refusal->other)
      why.attachNote(refusal->other->getLoc()) << "the other one of the two";
  }
  if (!refusal) {
    b.setInsertionPointAfter(nest);
    for (auto [result, memref] : llvm::zip_equal(original->getResults(), given))
      result.replaceAllUsesWith(
          memref::LoadOp::create(b, result.getLoc(), memref, ValueRange()).getResult());
    nest->erase();
    original->erase();
  } else if (nest != original) {
    // The copy, then what was built for it in front of it, the last first.
    Operation *last = nest->getPrevNode();
    for (Operation *op = nest; op != original; op = last, last = op->getPrevNode())
      op->erase();
  }
  return failure(refusal.has_value());
}

/// Raises the nests of a block and of what stands in it; of loops that were remarked on,
/// nothing more is said.
static LogicalResult raiseIn(Block &block, bool quiet = false) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool isAffine = isa<affine::AffineForOp>(op);
    // Host loops that only compute scalars stay.
    auto accesses = [&] {
      return op.walk([](Operation *inner) {
                 return isa<memref::LoadOp, memref::StoreOp, affine::AffineLoadOp,
                            affine::AffineStoreOp>(inner)
                            ? WalkResult::interrupt()
                            : WalkResult::advance();
               })
          .wasInterrupted();
    };
    bool said = quiet;
    if (isAffine || (isa<scf::ForOp>(op) && accesses())) {
      NestRaiser raiser(&op);
      if (succeeded(raiser.run(quiet)))
        continue;
      if (isAffine)
        return failure();
      said |= raiser.said;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (!isa<linalg::LinalgOp>(op) && failed(raiseIn(inner, said)))
          return failure();
  }
  return success();
}

/// affine.load and affine.store outside of loops as those of memref.
static void lowerAccesses(func::FuncOp func) {
  SmallVector<Operation *> accesses;
  func.walk([&](Operation *op) {
    if (isa<affine::AffineLoadOp, affine::AffineStoreOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    OpBuilder b(op);
    affine::MemRefAccess at(op);
    auto load = dyn_cast<affine::AffineLoadOp>(op);
    auto store = dyn_cast<affine::AffineStoreOp>(op);
    AffineMap map = load ? load.getAffineMap() : store.getAffineMap();
    SmallVector<Value> places = *affine::expandAffineMap(
        b, op->getLoc(), map, load ? load.getMapOperands() : store.getMapOperands());
    if (load)
      load.replaceAllUsesWith(
          memref::LoadOp::create(b, op->getLoc(), load.getMemRef(), places).getResult());
    else
      memref::StoreOp::create(b, op->getLoc(), store.getValueToStore(), store.getMemRef(),
                              places);
    op->erase();
  }
}

namespace {
struct RaiseLoopsPass : tilewright::impl::RaiseLoopsPassBase<RaiseLoopsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    for (Block &block : func.getBody())
      if (failed(raiseIn(block)))
        return signalPassFailure();
    lowerAccesses(func);
  }
};
} // namespace
