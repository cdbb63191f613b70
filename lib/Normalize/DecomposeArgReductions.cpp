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
//   %p = minsi of (%x == %v ? %index : largest index), maxsi where the last of
//   equals wins %i = %v > %v0 ? %p : %i0
//
// NaNs, by what the body does with them:
//   ogt, select                   they are passed over
//   ugt and the best is no NaN    the first one wins: it counts as equal to the
//   best ogt, maximumf                 the value is a NaN, the index that of
//   the largest
//                                 element in front of the first one: two more
//                                 reductions
//
// Where the best elements are zeros of both signs, the value is either zero.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DECOMPOSEARGREDUCTIONSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

namespace {
enum class Nans { None, PassedOver, FirstWins, EndIndex };

struct ArgReduction {
  linalg::GenericOp op;
  /// Results, and so inits: the best element, and where it is.
  unsigned value = 0, index = 1;
  /// In the body: the element and its index; they depend on no accumulator.
  Value element, position;
  bool isMax = true, isSigned = true, lastWins = false;
  Nans nans = Nans::None;

  bool isFloat() const { return isa<FloatType>(element.getType()); }
  Value init(unsigned result) const {
    return const_cast<linalg::GenericOp &>(op).getDpsInits()[result];
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// Whether `value` is computed without the accumulators of `op`.
static bool isOfElements(linalg::GenericOp op, Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  auto isAccumulator = [&](Value used) {
    auto argument = dyn_cast<BlockArgument>(used);
    return argument && argument.getOwner() == op.getBody() &&
           argument.getArgNumber() >= op.getNumDpsInputs();
  };
  options.filter = [&](Operation *inner) {
    return inner->getBlock() == op.getBody();
  };
  if (isAccumulator(value))
    return false;
  if (Operation *def = value.getDefiningOp())
    if (def->getBlock() == op.getBody()) {
      if (failed(getBackwardSlice(def, &slice, options)))
        return false;
      slice.insert(def);
    }
  return llvm::none_of(slice, [&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), isAccumulator);
  });
}

/// Whether `value` counts the reduction loop: its index, cast.
static bool isPosition(linalg::GenericOp op, Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && op.getIteratorTypesArray()[index.getDim()] ==
                      utils::IteratorType::reduction;
}

/// What a comparison says of an element and the best so far, the element first.
template <typename Compare, typename Invert>
static auto elementFirst(Compare compare, Value best, Invert invert,
                         Value &element) {
  bool isSwapped = compare.getLhs() == best;
  element = isSwapped ? compare.getRhs() : compare.getLhs();
  return isSwapped ? invert(compare.getPredicate()) : compare.getPredicate();
}

static bool matchFloats(ArgReduction &match, arith::CmpFOp compare,
                        Value best) {
  using P = arith::CmpFPredicate;
  auto swap = [](P predicate) {
    switch (predicate) {
    case P::OGT:
      return P::OLT;
    case P::OLT:
      return P::OGT;
    case P::OGE:
      return P::OLE;
    case P::OLE:
      return P::OGE;
    case P::UGT:
      return P::ULT;
    case P::ULT:
      return P::UGT;
    default:
      return P::AlwaysFalse;
    }
  };
  P predicate = elementFirst(compare, best, swap, match.element);
  match.isMax =
      predicate == P::OGT || predicate == P::OGE || predicate == P::UGT;
  match.lastWins = predicate == P::OGE || predicate == P::OLE;
  if (predicate == P::UGT || predicate == P::ULT)
    match.nans = Nans::FirstWins;
  else if (match.isMax || match.lastWins || predicate == P::OLT)
    match.nans = Nans::PassedOver;
  else
    return false;
  return true;
}

static bool matchIntegers(ArgReduction &match, arith::CmpIOp compare,
                          Value best) {
  using P = arith::CmpIPredicate;
  auto swap = [](P predicate) {
    switch (predicate) {
    case P::sgt:
      return P::slt;
    case P::slt:
      return P::sgt;
    case P::sge:
      return P::sle;
    case P::sle:
      return P::sge;
    case P::ugt:
      return P::ult;
    case P::ult:
      return P::ugt;
    case P::uge:
      return P::ule;
    case P::ule:
      return P::uge;
    default:
      return P::eq;
    }
  };
  P predicate = elementFirst(compare, best, swap, match.element);
  match.isSigned = predicate == P::sgt || predicate == P::sge ||
                   predicate == P::slt || predicate == P::sle;
  match.isMax = predicate == P::sgt || predicate == P::sge ||
                predicate == P::ugt || predicate == P::uge;
  match.lastWins = predicate == P::sge || predicate == P::sle ||
                   predicate == P::uge || predicate == P::ule;
  return predicate != P::eq && predicate != P::ne;
}

/// The comparison that decides, of `element` with `best`.
static bool matchCondition(ArgReduction &match, Value condition, Value best) {
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
    return matchIntegers(match, compare, best);
  if (auto compare = condition.getDefiningOp<arith::CmpFOp>())
    return matchFloats(match, compare, best) && match.nans == Nans::PassedOver;
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return false;
  for (unsigned side : {0, 1}) {
    auto compare = both->getOperand(side).getDefiningOp<arith::CmpFOp>();
    auto ordered = both->getOperand(1 - side).getDefiningOp<arith::CmpFOp>();
    if (compare && ordered &&
        ordered.getPredicate() == arith::CmpFPredicate::ORD &&
        ordered.getLhs() == best && ordered.getRhs() == best)
      return matchFloats(match, compare, best) && match.nans == Nans::FirstWins;
  }
  return false;
}

/// Whether `value` is the better one of `element` and `best`, by `condition`.
static bool matchValue(ArgReduction &match, Value value, Value condition,
                       Value best) {
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return select.getCondition() == condition &&
           select.getTrueValue() == match.element &&
           select.getFalseValue() == best;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2 ||
      !((op->getOperand(0) == match.element && op->getOperand(1) == best) ||
        (op->getOperand(1) == match.element && op->getOperand(0) == best)))
    return false;
  if (!match.isFloat())
    return match.isSigned ? (match.isMax ? isa<arith::MaxSIOp>(op)
                                         : isa<arith::MinSIOp>(op))
                          : (match.isMax ? isa<arith::MaxUIOp>(op)
                                         : isa<arith::MinUIOp>(op));
  if (match.isMax ? isa<arith::MaxNumFOp>(op) : isa<arith::MinNumFOp>(op))
    return match.nans == Nans::PassedOver;
  if (!(match.isMax ? isa<arith::MaximumFOp>(op) : isa<arith::MinimumFOp>(op)))
    return false;
  if (match.nans == Nans::FirstWins)
    return true;
  match.nans = Nans::EndIndex;
  return !match.lastWins;
}

/// A float that everything is compared with from the beginning on is known, and
/// no NaN.
static bool mayBegin(Value init) {
  if (!isa<FloatType>(getElementTypeOrSelf(init.getType())))
    return true;
  auto fill = init.getDefiningOp<linalg::FillOp>();
  FloatAttr value;
  return fill && matchPattern(fill.getInputs()[0], m_Constant(&value)) &&
         !value.getValue().isNaN();
}

static std::optional<ArgReduction> matchArgReduction(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) ||
      op.getNumDpsInits() != 2 || op.getNumReductionLoops() != 1 ||
      op.getNumDpsInputs() == 0)
    return std::nullopt;
  Operation *yield = op.getBody()->getTerminator();
  for (unsigned index : {1, 0}) {
    ArgReduction match;
    match.op = op;
    match.index = index;
    match.value = 1 - index;
    BlockArgument best = op.getRegionOutputArgs()[match.value];
    BlockArgument at = op.getRegionOutputArgs()[index];
    auto choice = yield->getOperand(index).getDefiningOp<arith::SelectOp>();
    if (!choice || choice.getFalseValue() != at || !at.hasOneUse() ||
        !isPosition(op, choice.getTrueValue()) ||
        !at.getType().isSignlessInteger() ||
        at.getType().getIntOrFloatBitWidth() < 32)
      continue;
    match.position = choice.getTrueValue();
    Type type = best.getType();
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8 ||
        (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 16) ||
        !matchCondition(match, choice.getCondition(), best) ||
        !isOfElements(op, match.element) ||
        !matchValue(match, yield->getOperand(match.value),
                    choice.getCondition(), best) ||
        !mayBegin(match.init(match.value)))
      continue;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (map != op.getMatchingIndexingMap(op.getDpsInitOperand(1)) ||
        !map.isProjectedPermutation())
      continue;
    return match;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

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
      if (def && def->getBlock() == op.getBody() && needed.insert(def).second)
        llvm::append_range(open, def->getOperands());
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
    bool wins = match.nans == Nans::FirstWins;
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
  if (w.match.nans != Nans::FirstWins)
    return same;
  return arith::OrIOp::create(w.b, w.loc, same, isNan(w, x));
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
                            w, x, acc[0], match->nans == Nans::FirstWins)};
                      });
  Value best = values[0];
  auto isInFront = [&](Value position, Value end) -> Value {
    return arith::CmpIOp::create(b, w.loc, arith::CmpIPredicate::slt, position,
                                 end);
  };
  if (ends) {
    auto type = cast<FloatType>(match->element.getType());
    TypedAttr worst = b.getFloatAttr(
        type, APFloat::getInf(type.getFloatSemantics(), match->isMax));
    best = w.reduce(
        values[1], {valueInit},
        [&](Value x, Value position, ValueRange end, ValueRange acc) {
          Value seen = arith::SelectOp::create(
              b, w.loc, isInFront(position, end[0]), x, w.constant(worst));
          return SmallVector<Value>{better(w, seen, acc[0], /*nans=*/false)};
        })[0];
  }
  SmallVector<Value> more{best};
  if (ends)
    more.push_back(values[1]);
  Value place =
      w.reduce(more, {places},
               [&](Value x, Value position, ValueRange row, ValueRange acc) {
                 Value found = equals(w, x, row[0]);
                 if (ends)
                   found = arith::AndIOp::create(b, w.loc, found,
                                                 isInFront(position, row[1]));
                 return SmallVector<Value>{first(found, position, acc[0])};
               })[0];
  Value index =
      w.compute({best, valueInit, place, indexInit}, indexInit,
                [&](ValueRange in) -> Value {
                  Value found = match->lastWins
                                    ? arith::CmpIOp::create(
                                          b, w.loc, arith::CmpIPredicate::ne,
                                          in[2], w.constant(nowhere))
                                          .getResult()
                                    : isBetter(w, in[0], in[1]);
                  return arith::SelectOp::create(b, w.loc, found, in[2], in[3]);
                });
  SmallVector<Value> results(2);
  results[match->value] = values[0];
  results[match->index] = index;
  b.replaceOp(op, results);
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
      decomposeArgReduction(rewriter, op);
  }
};
} // namespace
