// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest element and where it is, as front ends write it, is one reduction
// of two results with a combiner that no machine instruction is, and that would
// have to take its terms one by one:
//
//   %v, %i = linalg.generic ins(%x) outs(%v0, %i0) {
//     %c = arith.cmpf ogt, %in, %best
//     %b = arith.select %c, %in, %best     // or arith.maximumf, maxnumf, maxsi
//     … %a = arith.select %c, %index, %at linalg.yield %b, %a }
// becomes reductions by combiners that are associative, commutative and have a
// neutral element, which share a kernel and the elements that it holds:
//
//   %v = maxnumf of %x, from %v0
//   %p = minsi of (%x == %v ? %index : largest index), maxsi where the last of equals wins
//   %i = %v > %v0 ? %p : %i0          // or minsi of %p and %i0: ties by place
//
// NaNs, by what the body does with them:
//   ogt, select                   they are passed over
//   ugt and the best is no NaN    the first one wins: it counts as equal to the best
//   ogt, or the element is a NaN  the last one wins, as if its place were -1 - place
//   ogt, maximumf                 the value is a NaN, the index that of the largest
//                                 element in front of the first one: two more reductions
//
// Where the best elements are zeros of both signs, the value is either zero.

#include "MatchArgReduction.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DECOMPOSEARGREDUCTIONSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

namespace {
/// Writes reductions over the loops of `match.op`.
struct Writer {
  Writer(RewriterBase &b, const ArgReduction &match)
      : b(b), match(match), op(match.op), loc(op.getLoc()) {}

  /// What a body gets: the element, its place, and `more` as elements.
  using Body = llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange,
                                                     ValueRange)>;

  /// A reduction whose results begin with `inits`; `more` lie as results do.
  SmallVector<Value> reduce(ValueRange more, ValueRange inits, Body body) {
    SmallVector<Value> inputs = op.getDpsInputs();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap out = maps.back();
    maps.resize(inputs.size());
    llvm::append_range(inputs, more);
    maps.append(more.size() + inits.size(), out);
    auto generic = linalg::GenericOp::create(
        b, loc, inits.getTypes(), inputs, inits, maps,
        op.getIteratorTypesArray(),
        [&](OpBuilder &, Location, ValueRange arguments) {
          IRMapping mapping;
          unsigned own = op.getNumDpsInputs();
          for (unsigned i = 0; i < own; ++i)
            mapping.map(op.getBody()->getArgument(i), arguments[i]);
          cloneFor({match.element, match.position}, mapping);
          SmallVector<Value> results =
              body(mapping.lookupOrDefault(match.element),
                   mapping.lookupOrDefault(match.position),
                   arguments.slice(own, more.size()),
                   arguments.drop_front(own + more.size()));
          linalg::YieldOp::create(b, loc, results);
        });
    // Not every reduction asks for the place.
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*generic.getBody())))
      if (isOpTriviallyDead(&inner))
        b.eraseOp(&inner);
    return llvm::to_vector_of<Value>(generic.getResults());
  }

  /// Of `values` of the same shape, element by element, in place of `init`.
  Value compute(ValueRange values, Value init,
                llvm::function_ref<Value(ValueRange)> body) {
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<AffineMap> maps(values.size() + 1,
                                b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> types(type.getRank(),
                                           utils::IteratorType::parallel);
    Value empty = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, init), type.getElementType());
    return linalg::GenericOp::create(
               b, loc, TypeRange{type}, values, ValueRange{empty}, maps, types,
               [&](OpBuilder &, Location, ValueRange arguments) {
                 linalg::YieldOp::create(b, loc, body(arguments));
               })
        .getResult(0);
  }

  Value filled(Value like, TypedAttr value) {
    auto type = cast<RankedTensorType>(like.getType());
    Value empty = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, like), type.getElementType());
    return linalg::FillOp::create(b, loc, ValueRange{constant(value)},
                                  ValueRange{empty})
        .getResult(0);
  }

  Value constant(TypedAttr value) {
    return arith::ConstantOp::create(b, loc, value);
  }

  RewriterBase &b;
  const ArgReduction &match;
  linalg::GenericOp op;
  Location loc;

private:
  /// Clones what `values` are computed by.
  void cloneFor(ValueRange values, IRMapping &mapping) {
    llvm::SmallPtrSet<Operation *, 16> needed;
    SmallVector<Value> open(values);
    while (!open.empty()) {
      Operation *def = open.pop_back_val().getDefiningOp();
      if (!def || def->getBlock() != op.getBody() || !needed.insert(def).second)
        continue;
      llvm::append_range(open, def->getOperands());
      SetVector<Value> captured;
      getUsedValuesDefinedAbove(def->getRegions(), captured);
      llvm::append_range(open, captured);
    }
    for (Operation &inner : *op.getBody())
      if (needed.contains(&inner))
        b.clone(inner, mapping);
  }
};
} // namespace

/// The better one of two elements; `nans`: a NaN is better than anything.
static Value better(Writer &w, Value x, Value y, bool nans) {
  OpBuilder &b = w.b;
  const ArgReduction &match = w.match;
  if (match.isFloat() && nans)
    return match.isMax ? arith::MaximumFOp::create(b, w.loc, x, y).getResult()
                       : arith::MinimumFOp::create(b, w.loc, x, y).getResult();
  if (match.isFloat())
    return match.isMax ? arith::MaxNumFOp::create(b, w.loc, x, y).getResult()
                       : arith::MinNumFOp::create(b, w.loc, x, y).getResult();
  if (match.isSigned)
    return match.isMax ? arith::MaxSIOp::create(b, w.loc, x, y).getResult()
                       : arith::MinSIOp::create(b, w.loc, x, y).getResult();
  return match.isMax ? arith::MaxUIOp::create(b, w.loc, x, y).getResult()
                     : arith::MinUIOp::create(b, w.loc, x, y).getResult();
}

/// Whether `best` beats what everything began with.
static Value isBetter(Writer &w, Value best, Value init) {
  OpBuilder &b = w.b;
  const ArgReduction &match = w.match;
  if (match.isFloat()) {
    using P = arith::CmpFPredicate;
    // A NaN that wins is better than anything.
    bool wins = match.nansWin();
    P predicate =
        match.isMax ? (wins ? P::UGT : P::OGT) : (wins ? P::ULT : P::OLT);
    return arith::CmpFOp::create(b, w.loc, predicate, best, init);
  }
  using P = arith::CmpIPredicate;
  P predicate = match.isSigned ? (match.isMax ? P::sgt : P::slt)
                               : (match.isMax ? P::ugt : P::ult);
  return arith::CmpIOp::create(b, w.loc, predicate, best, init);
}

static Value isNan(Writer &w, Value x) {
  return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::UNO, x, x);
}

static Value equals(Writer &w, Value x, Value best) {
  if (!w.match.isFloat())
    return arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, x, best);
  Value same =
      arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, x, best);
  if (!w.match.nansWin())
    return same;
  return arith::OrIOp::create(w.b, w.loc, same, isNan(w, x));
}

/// -1 - position, which is less than any, of a NaN, else the position.
static Value invertedWhereNan(Writer &w, Value x, Value position) {
  Value nan = isNan(w, x);
  Value ones = w.constant(w.b.getIntegerAttr(position.getType(), -1));
  Value inverted = arith::XOrIOp::create(w.b, w.loc, position, ones);
  return arith::SelectOp::create(w.b, w.loc, nan, inverted, position);
}

/// The index of a result: of the `place` of what is equal to its `best`, and of what the
/// search began with.
static Value chooseIndex(Writer &w, Value best, Value init, Value place, Value indexInit,
                         TypedAttr nowhere) {
  OpBuilder &b = w.b;
  const ArgReduction &match = w.match;
  if (match.lastNanFirst())
    place = invertedWhereNan(w, best, place);
  if (!match.lastWins) {
    Value otherwise = indexInit;
    if (match.tiesByPlace)
      otherwise = arith::MinSIOp::create(b, w.loc, place, indexInit);
    return arith::SelectOp::create(b, w.loc, isBetter(w, best, init), place, otherwise);
  }
  Value found = arith::CmpIOp::create(b, w.loc, arith::CmpIPredicate::ne, place,
                                      w.constant(nowhere));
  if (match.tiesByPlace) {
    Value later = arith::MaxSIOp::create(b, w.loc, place, indexInit);
    place = arith::SelectOp::create(b, w.loc, isBetter(w, best, init), place, later);
  }
  return arith::SelectOp::create(b, w.loc, found, place, indexInit);
}

static Value isInFront(Writer &w, Value position, Value end) {
  return arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::slt, position, end);
}

/// The best of what is in front of `end`.
static Value bestInFront(Writer &w, Value end, Value init) {
  auto type = cast<FloatType>(w.match.element.getType());
  TypedAttr worst =
      w.b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), w.match.isMax));
  return w.reduce(end, {init}, [&](Value x, Value position, ValueRange end, ValueRange acc) {
    Value seen = arith::SelectOp::create(w.b, w.loc, isInFront(w, position, end[0]), x,
                                         w.constant(worst));
    return SmallVector<Value>{better(w, seen, acc[0], /*nans=*/false)};
  })[0];
}

void tilewright::decomposeArgReduction(RewriterBase &b, linalg::GenericOp op) {
  std::optional<ArgReduction> match = matchArgReduction(op);
  if (!match)
    return;
  b.setInsertionPoint(op);
  Writer w(b, *match);
  Value valueInit = match->init(match->value),
        indexInit = match->init(match->index);
  Type indexType = getElementTypeOrSelf(indexInit.getType());
  // No element's place: the neutral element of looking for the first, or the
  // last.
  TypedAttr nowhere = b.getIntegerAttr(
      indexType,
      match->lastWins
          ? APInt::getAllOnes(indexType.getIntOrFloatBitWidth())
          : APInt::getSignedMaxValue(indexType.getIntOrFloatBitWidth()));
  Value places = w.filled(indexInit, nowhere);
  auto first = [&](Value found, Value position, Value acc) -> Value {
    Value place =
        arith::SelectOp::create(b, w.loc, found, position, w.constant(nowhere));
    if (match->lastWins)
      return arith::MaxSIOp::create(b, w.loc, place, acc);
    return arith::MinSIOp::create(b, w.loc, place, acc);
  };

  // Of floats whose NaNs end the search: the value, and where the first of them
  // is.
  bool ends = match->nans == Nans::EndIndex;
  SmallVector<Value> values =
      ends ? w.reduce({}, {valueInit, places},
                      [&](Value x, Value position, ValueRange, ValueRange acc) {
                        return SmallVector<Value>{
                            better(w, x, acc[0], /*nans=*/true),
                            first(isNan(w, x), position, acc[1])};
                      })
           : w.reduce({}, {valueInit},
                      [&](Value x, Value, ValueRange, ValueRange acc) {
                        return SmallVector<Value>{better(
                            w, x, acc[0], match->nansWin())};
                      });
  Value best = ends ? bestInFront(w, values[1], valueInit) : values[0];
  SmallVector<Value> more{best};
  if (ends)
    more.push_back(values[1]);
  Value place =
      w.reduce(more, {places},
               [&](Value x, Value position, ValueRange row, ValueRange acc) {
                 Value found = equals(w, x, row[0]);
                 // Behind the best, and in front of all that are found before.
                 if (match->lastNanFirst())
                   position = invertedWhereNan(w, x, position);
                 if (ends)
                   found = arith::AndIOp::create(b, w.loc, found,
                                                 isInFront(w, position, row[1]));
                 return SmallVector<Value>{first(found, position, acc[0])};
               })[0];
  Value index = w.compute({best, valueInit, place, indexInit}, indexInit,
                          [&](ValueRange in) {
                            return chooseIndex(w, in[0], in[1], in[2], in[3], nowhere);
                          });
  SmallVector<Value> results(2);
  results[match->value] = values[0];
  results[match->index] = index;
  b.replaceOp(op, results);
}

/// Whether `value` is computed of indices alone: numbers of places, as front ends write
/// them beside the elements.
static bool isOfIndices(Value value) {
  auto producer = value.getDefiningOp<linalg::GenericOp>();
  return producer && producer.getNumDpsInputs() == 0 && producer.hasPureTensorSemantics() &&
         producer.hasIndexSemantics() &&
         producer.getNumParallelLoops() == producer.getNumLoops();
}

/// `op` with what is computed of indices in its own body.
static linalg::GenericOp mergeIndices(RewriterBase &b, linalg::GenericOp op) {
  if (op.getNumDpsInits() != 2 || op.getNumReductionLoops() != 1 || op->hasAttr(kConfigAttr))
    return op;
  for (bool isMerged = true; isMerged;) {
    isMerged = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isOfIndices(input->get()) || !linalg::areElementwiseOpsFusable(input))
        continue;
      b.setInsertionPoint(op);
      FailureOr<linalg::ElementwiseOpFusionResult> merged = linalg::fuseElementwiseOps(b, input);
      if (failed(merged))
        continue;
      auto fused = cast<linalg::GenericOp>(merged->fusedOp);
      fused->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      b.replaceOp(op, fused->getResults().take_back(op->getNumResults()));
      op = fused;
      // An index of the same loop.
      for (auto apply : llvm::make_early_inc_range(op.getBody()->getOps<affine::AffineApplyOp>()))
        if (auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0)))
          b.replaceOp(apply, apply.getMapOperands()[dim.getPosition()]);
      isMerged = true;
      break;
    }
  }
  return op;
}

namespace {
struct DecomposeArgReductionsPass
    : public tilewright::impl::DecomposeArgReductionsPassBase<
          DecomposeArgReductionsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      decomposeArgReduction(rewriter, mergeIndices(rewriter, op));
  }
};
} // namespace
