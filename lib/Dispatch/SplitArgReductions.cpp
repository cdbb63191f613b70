// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The best element of few long rows and its place are searched for in parts, which read
// their elements once; in each on its own, the rows would be read for the element, and once
// more for the place of what equals it:
//
//   %v = linalg.generic (j) ins(%x : 8388608) outs(%v0) { maxnumf }
//   %p = linalg.generic (j) ins(%x, %v) outs(%p0) { minsi of (x == v ? j : none) }
// becomes
//   %y = tensor.expand_shape %x [[0, 1]] : 8388608 into 1024 x 8192
//   %w = linalg.generic (i, j) -> (i) ins(%y) outs(filled) { maxnumf }
//   %q = linalg.generic (i, j) -> (i) ins(%y, %w) outs(filled) { minsi of (y == w ? i * 8192 + j : none) }
//   %v = linalg.generic (i) ins(%w) outs(%v0) { maxnumf }
//   %p = linalg.generic (i) ins(%w, %v, %q) outs(%p0) { minsi of (w == v ? q : none) }
//
// The first two are a kernel that holds its rows, the last two another one. Where the best
// of a part is the best of all, the same elements of the part equal both.

#include "CombineParts.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Dialect/SameValues.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITARGREDUCTIONSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Elements of a part, at most: those that a block of threads holds, or a cache.
static constexpr int64_t kGpuPart = 8192, kCpuPart = 65536;
/// Parts, at most, that one block combines.
static constexpr int64_t kMaxParts = 32768;

namespace {
/// A reduction to the places of what equals the result of another one.
struct PlaceSearch {
  linalg::GenericOp op;
  /// Its input that is the best element.
  OpOperand *best = nullptr;
  /// What finds the place, of the elements that equal the best.
  Operation *combiner = nullptr;
  arith::SelectOp choice;
  Value element;
  bool withNans = false;
};
} // namespace

static Operation *onlyCombiner(linalg::GenericOp op) {
  SmallVector<Operation *> combiners = matchCombiners(cast<linalg::LinalgOp>(op.getOperation()));
  return combiners.size() == 1 ? combiners[0] : nullptr;
}

/// What `combiner`, the last of `op`'s body, combines with the accumulator.
static Value termOf(linalg::GenericOp op, Operation *combiner) {
  Value accumulator = op.getRegionOutputArgs()[0];
  return combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
}

/// Whether `p` and `q`, arguments of the bodies of two ops, are the same elements.
static bool areSameElements(linalg::GenericOp first, BlockArgument p, linalg::GenericOp second,
                            BlockArgument q) {
  if (p.getArgNumber() >= first.getNumDpsInputs() || q.getArgNumber() >= second.getNumDpsInputs())
    return false;
  OpOperand *read = first.getDpsInputOperand(p.getArgNumber()),
            *other = second.getDpsInputOperand(q.getArgNumber());
  return read->get() == other->get() &&
         first.getMatchingIndexingMap(read) == second.getMatchingIndexingMap(other);
}

/// Whether `x` in the body of the first and `y` in that of the second are computed in the same
/// way of the same elements.
static bool areSame(linalg::GenericOp first, Value x, linalg::GenericOp second, Value y) {
  auto decide = [&](Value x, Value y) -> std::optional<bool> {
    auto p = dyn_cast<BlockArgument>(x), q = dyn_cast<BlockArgument>(y);
    if (p && q && p.getOwner() == first.getBody() && q.getOwner() == second.getBody())
      return areSameElements(first, p, second, q);
    Operation *def = x.getDefiningOp(), *other = y.getDefiningOp();
    if (x == y || !def || !other || def->getBlock() != first.getBody() ||
        other->getBlock() != second.getBody())
      return x == y;
    return std::nullopt;
  };
  return SameValues().areSame(x, y, decide);
}

/// Whether `condition` is that an element equals `best`, or is a NaN as it may be.
static bool matchEqual(PlaceSearch &search, Value condition, Value best) {
  auto other = [&](Operation *compare) {
    return compare->getOperand(0) == best ? compare->getOperand(1) : compare->getOperand(0);
  };
  auto readsBest = [&](Operation *compare) {
    return compare->getOperand(0) == best || compare->getOperand(1) == best;
  };
  if (auto integers = condition.getDefiningOp<arith::CmpIOp>()) {
    search.element = other(integers);
    return integers.getPredicate() == arith::CmpIPredicate::eq && readsBest(integers);
  }
  if (auto either = condition.getDefiningOp<arith::OrIOp>()) {
    auto nan = either.getRhs().getDefiningOp<arith::CmpFOp>();
    if (!nan || nan.getPredicate() != arith::CmpFPredicate::UNO || nan.getLhs() != nan.getRhs())
      return false;
    search.withNans = true;
    return matchEqual(search, either.getLhs(), best) && nan.getLhs() == search.element;
  }
  auto floats = condition.getDefiningOp<arith::CmpFOp>();
  if (!floats || floats.getPredicate() != arith::CmpFPredicate::OEQ || !readsBest(floats))
    return false;
  search.element = other(floats);
  return true;
}

/// What `user` searches for, if it is the place of what equals the result of `op`.
static std::optional<PlaceSearch> matchPlaceSearch(Operation *user, linalg::GenericOp op) {
  auto reader = dyn_cast<linalg::GenericOp>(user);
  if (!reader || reader.getNumDpsInits() != 1 || reader->hasAttr(kConfigAttr) ||
      reader.getIteratorTypesArray() != op.getIteratorTypesArray() ||
      !reader.hasPureTensorSemantics() || llvm::is_contained(reader.getOutputs(), op.getResult(0)))
    return std::nullopt;
  PlaceSearch search;
  search.op = reader;
  for (OpOperand *input : reader.getDpsInputOperands())
    if (input->get() == op.getResult(0)) {
      if (search.best)
        return std::nullopt;
      search.best = input;
    }
  AffineMap results = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  search.combiner = onlyCombiner(reader);
  if (!search.best || !search.combiner ||
      !isa<arith::MinSIOp, arith::MaxSIOp>(search.combiner) ||
      reader.getMatchingIndexingMap(search.best) != results ||
      reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)) != results)
    return std::nullopt;
  search.choice = termOf(reader, search.combiner).getDefiningOp<arith::SelectOp>();
  Value best = reader.getMatchingBlockArgument(search.best);
  auto neutral = arith::getNeutralElement(search.combiner);
  Attribute none;
  if (!search.choice || !matchPattern(search.choice.getFalseValue(), m_Constant(&none)) ||
      !neutral || none != *neutral || !matchEqual(search, search.choice.getCondition(), best))
    return std::nullopt;
  // Parts are searched in front of `op`.
  DominanceInfo dominance;
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(reader.getRegion(), captured);
  for (OpOperand *input : reader.getDpsInputOperands())
    if (input != search.best)
      captured.insert(input->get());
  if (!llvm::all_of(captured, [&](Value value) { return dominance.properlyDominates(value, op); }))
    return std::nullopt;
  Operation *better = onlyCombiner(op);
  // Where the best passes NaNs over, a part with the first of them may have another best, and its
  // places are not asked for.
  if (search.withNans && isa<arith::MaxNumFOp, arith::MinNumFOp>(better))
    return std::nullopt;
  // The place itself does not depend on the best.
  if (!best.hasOneUse() || !areSame(op, termOf(op, better), reader, search.element))
    return std::nullopt;
  return search;
}

namespace {
/// Cuts loop `loop` of reductions into `parts`.
class ArgSplitter {
public:
  ArgSplitter(RewriterBase &b, linalg::GenericOp op, unsigned loop, int64_t parts)
      : b(b), op(op), loc(op.getLoc()), loop(loop), parts(parts),
        length(op.getStaticLoopRanges()[loop] / parts) {}
  void split(ArrayRef<PlaceSearch> searches);

private:
  AffineMap cut(AffineMap map);
  Value expand(Value input, AffineMap map);
  Value partsOf(linalg::GenericOp whole, Operation *combiner);
  linalg::GenericOp computeParts(linalg::GenericOp whole, OpOperand *replaced, Value with,
                                 Operation *combiner);
  linalg::GenericOp combine(linalg::GenericOp whole, ValueRange partial, ValueRange results,
                            llvm::function_ref<Value(OpBuilder &, ValueRange)> body);

  RewriterBase &b;
  linalg::GenericOp op;
  Location loc;
  unsigned loop;
  int64_t parts, length;
  /// Inputs in parts, which the kernel of all reductions of a part reads once.
  llvm::DenseMap<std::pair<Value, AffineMap>, Value> expanded;
};
} // namespace

/// (…, loop, …) with the part in front of the loop.
AffineMap ArgSplitter::cut(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    if (dim == loop)
      results.push_back(b.getAffineDimExpr(dim));
    results.push_back(b.getAffineDimExpr(dim < loop ? dim : dim + 1));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, b.getContext());
}

Value ArgSplitter::expand(Value input, AffineMap map) {
  Value &known = expanded[{input, map}];
  if (known)
    return known;
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input), all;
  for (auto [dim, result] : llvm::enumerate(map.getResults())) {
    groups.emplace_back();
    if (cast<AffineDimExpr>(result).getPosition() == loop) {
      groups.back().push_back(shape.size());
      shape.push_back(parts);
      all.push_back(b.getIndexAttr(parts));
      sizes[dim] = b.getIndexAttr(length);
    }
    groups.back().push_back(shape.size());
    shape.push_back(cast<AffineDimExpr>(result).getPosition() == loop ? length
                                                                      : type.getDimSize(dim));
    all.push_back(sizes[dim]);
  }
  if (shape.size() == size_t(type.getRank()))
    return known = input;
  return known = tensor::ExpandShapeOp::create(
             b, loc, RankedTensorType::get(shape, type.getElementType()), input, groups, all);
}

/// Results that nothing was found of yet, those of parts last; they lie as those of `op`.
Value ArgSplitter::partsOf(linalg::GenericOp whole, Operation *combiner) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, op.getOutputs()[0]);
  sizes.push_back(b.getIndexAttr(parts));
  Value empty = tensor::EmptyOp::create(b, loc, sizes,
                                        getElementTypeOrSelf(whole.getResult(0).getType()));
  Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
  return linalg::FillOp::create(b, loc, neutral, empty).getResult(0);
}

/// `whole` of each part; `with` is read in place of what `replaced` is.
linalg::GenericOp ArgSplitter::computeParts(linalg::GenericOp whole, OpOperand *replaced,
                                            Value with, Operation *combiner) {
  AffineMap results = cut(whole.getMatchingIndexingMap(whole.getDpsInitOperand(0)));
  results = results.insertResult(b.getAffineDimExpr(loop), results.getNumResults());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : whole.getDpsInputOperands()) {
    AffineMap map = whole.getMatchingIndexingMap(input);
    inputs.push_back(input == replaced ? with : expand(input->get(), map));
    maps.push_back(input == replaced ? results : cut(map));
  }
  maps.push_back(results);
  SmallVector<utils::IteratorType> iterators = whole.getIteratorTypesArray();
  iterators.insert(iterators.begin() + loop, utils::IteratorType::parallel);
  Value init = partsOf(whole, combiner);
  auto partial = linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, iterators);
  b.cloneRegionBefore(whole.getRegion(), partial.getRegion(), partial.getRegion().end());
  OpBuilder::InsertionGuard guard(b);
  for (auto index : llvm::make_early_inc_range(partial.getBody()->getOps<linalg::IndexOp>())) {
    b.setInsertionPoint(index);
    unsigned dim = index.getDim();
    Value now = linalg::IndexOp::create(b, loc, dim < loop ? dim : dim + 1);
    if (dim == loop) {
      Value part = linalg::IndexOp::create(b, loc, loop);
      Value size = arith::ConstantIndexOp::create(b, loc, length);
      now = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, part, size), now);
    }
    b.replaceOp(index, now);
  }
  return partial;
}

/// `whole`, of the results of parts, and of `results` of all of them.
linalg::GenericOp
ArgSplitter::combine(linalg::GenericOp whole, ValueRange partial, ValueRange results,
                     llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  PartsCombination combination = combineParts(whole, /*partsFirst=*/false);
  SmallVector<AffineMap> maps(partial.size(), combination.maps[0]);
  maps.append(results.size() + 1, combination.maps[1]);
  SmallVector<Value> inputs(partial);
  llvm::append_range(inputs, results);
  return linalg::GenericOp::create(b, loc, whole.getResultTypes(), inputs, whole.getOutputs(),
                                   maps, combination.loops,
                                   [&](OpBuilder &inner, Location, ValueRange arguments) {
                                     linalg::YieldOp::create(inner, loc, body(inner, arguments));
                                   });
}

void ArgSplitter::split(ArrayRef<PlaceSearch> searches) {
  auto combineBy = [&](OpBuilder &inner, Operation *combiner, Value x, Value y) {
    OperationState state(loc, combiner->getName(), ValueRange{x, y}, combiner->getResultTypes(),
                         combiner->getAttrs());
    return inner.create(state)->getResult(0);
  };
  Operation *better = onlyCombiner(op);
  b.setInsertionPoint(op);
  linalg::GenericOp partial = computeParts(op, nullptr, {}, better);
  Value parts = partial.getResult(0);
  SmallVector<Value> places;
  for (const PlaceSearch &search : searches)
    places.push_back(
        computeParts(search.op, search.best, parts, search.combiner).getResult(0));
  linalg::GenericOp all =
      combine(op, parts, {}, [&](OpBuilder &inner, ValueRange arguments) {
        return combineBy(inner, better, arguments[0], arguments[1]);
      });
  for (auto [search, place] : llvm::zip(searches, places)) {
    b.setInsertionPoint(search.op);
    linalg::GenericOp first = combine(
        search.op, {parts, place}, all.getResult(0),
        [&](OpBuilder &inner, ValueRange arguments) {
          Value element = arguments[0], best = arguments[2], found;
          if (isa<FloatType>(element.getType()))
            found = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, element, best);
          else
            found = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, element, best);
          if (search.withNans)
            found = arith::OrIOp::create(
                inner, loc, found,
                arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::UNO, element, element));
          Value none = arith::ConstantOp::create(inner, loc,
                                                 *arith::getNeutralElement(search.combiner));
          Value place = arith::SelectOp::create(inner, loc, found, arguments[1], none);
          return combineBy(inner, search.combiner, place, arguments[3]);
        });
    b.replaceOp(search.op, first);
  }
  b.replaceOp(op, all);
}

/// The parts of equal length that are nearest to `wanted`, 0 where there are none near.
static int64_t divideEvenly(int64_t extent, int64_t wanted) {
  for (int64_t more = 0; more <= wanted / 2; ++more)
    for (int64_t parts : {wanted + more, wanted - more})
      if (parts > 1 && extent % parts == 0)
        return parts;
  return 0;
}

/// Splits `op` where it pays and its readers are searches for places, which are `gone` then.
static void splitArgReduction(RewriterBase &b, linalg::GenericOp op, TargetAttr target,
                              llvm::SmallPtrSetImpl<Operation *> &gone) {
  Operation *combiner = onlyCombiner(op);
  if (!combiner || op->hasAttr(kConfigAttr) || op.getNumReductionLoops() != 1 ||
      !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
           arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(combiner) ||
      !arith::getNeutralElement(combiner) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  SmallVector<PlaceSearch> searches;
  for (Operation *user : op->getUsers())
    if (std::optional<PlaceSearch> search = matchPlaceSearch(user, op))
      searches.push_back(*search);
  if (searches.empty())
    return;
  OrRefusal<Split> split = chooseSplit(cast<linalg::LinalgOp>(op.getOperation()), target);
  if (!split)
    return;
  int64_t extent = op.getStaticLoopRanges()[split->loop];
  if (ShapedType::isDynamic(extent))
    return;
  int64_t part = target.getFact("subgroup", 1) > 1 ? kGpuPart : kCpuPart;
  int64_t parts =
      divideEvenly(extent, std::max<int64_t>(split->parts, llvm::divideCeil(extent, part)));
  if (parts == 0 || parts > kMaxParts)
    return;
  for (const PlaceSearch &search : searches)
    gone.insert(search.op);
  ArgSplitter(b, op, split->loop, parts).split(searches);
}

namespace {
struct SplitArgReductionsPass
    : public tilewright::impl::SplitArgReductionsPassBase<SplitArgReductionsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (isKernel(getOperation()) || !target)
      return;
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 && !op->hasAttr(kSplitAttr))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (linalg::GenericOp op : ops)
      if (!gone.contains(op))
        splitArgReduction(rewriter, op, target, gone);
  }
};
} // namespace
