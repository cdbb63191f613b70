// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest of few long rows, and the sum of exponentials of what is below it (softmax of the
// logits of a few queries, log-sum-exp): each part of a row has its own of both, of one reading,
// where cutting the two reductions one by one would write the exponentials and read them again.
//
//   %m = max along j of %x[i, j]
//   %s = sum along j of exp(%x[i, j] - %m[i])
// becomes, in 32 parts,
//   %p = expand_shape %x                              : 8x32x4096
//   %n = max along k of %p[i, a, k]
//   %t = sum along k of exp(%p[i, a, k] - %n[i, a])
//   %m = max along a of %n[i, a]
//   %s = sum along a of %t[i, a] * exp(%n[i, a] - %m[i])
//
// A part whose largest is -inf has exponentials of -inf, zeros: there, zero is taken off and not
// -inf. Where all of a row is -inf, the sum is NaN in either form. Exponentials that something
// else reads are computed there.

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITEXPONENTIALSUMSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

namespace {
struct Match {
  linalg::GenericOp largest, sum;
  Operation *max = nullptr; // in the body of `largest`
  OpOperand *rows = nullptr; // the input of `largest`
  unsigned loop = 0;
};
} // namespace

/// The input of `op` that `value` of its body is, widened or not.
static OpOperand *inputOf(linalg::GenericOp op, Value value) {
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody() ? op.getMatchingOpOperand(argument)
                                                         : nullptr;
}

/// What is added to the result of `op` in each step; null if it is no plain sum.
static Value addendOf(linalg::GenericOp op) {
  auto add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  Value acc = op.getBody()->getArguments().back();
  if (!add || (add.getLhs() != acc) == (add.getRhs() != acc))
    return {};
  return add.getLhs() == acc ? add.getRhs() : add.getLhs();
}

static bool isPlain(linalg::GenericOp op, unsigned reductions) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getNumReductionLoops() == reductions && !op->hasAttr(kConfigAttr) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); });
}

/// Whether `largest` is the plain maximum of one tensor.
static bool matchLargest(Match &match) {
  linalg::GenericOp op = match.largest;
  if (!op || !isPlain(op, 1) || op.getNumDpsInputs() != 1)
    return false;
  match.max = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!match.max || !isa<arith::MaximumFOp, arith::MaxNumFOp>(match.max))
    return false;
  Value acc = op.getBody()->getArguments().back();
  unsigned side = match.max->getOperand(0) == acc;
  match.rows = inputOf(op, match.max->getOperand(side));
  return match.max->getOperand(1 - side) == acc && match.rows && op.isDpsInput(match.rows);
}

/// The sum of exponentials `sum`, of its own or of what an elementwise op computes for it.
static std::optional<Match> matchSum(linalg::GenericOp sum) {
  if (!isPlain(sum, 1))
    return {};
  Value addend = addendOf(sum);
  linalg::GenericOp powers = sum;
  if (OpOperand *input = addend ? inputOf(sum, addend) : nullptr) {
    powers = input->get().getDefiningOp<linalg::GenericOp>();
    if (!powers || !isPlain(powers, 0) || !isa<BlockArgument>(addend) ||
        !sum.getMatchingIndexingMap(input).isIdentity() ||
        !powers.getMatchingIndexingMap(powers.getDpsInitOperand(0)).isIdentity())
      return {};
    addend = powers.getBody()->getTerminator()->getOperand(0);
  }
  auto exp = addend ? addend.getDefiningOp<math::ExpOp>() : math::ExpOp();
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  OpOperand *row = difference ? inputOf(powers, difference.getLhs()) : nullptr;
  auto subtrahend = difference ? dyn_cast<BlockArgument>(difference.getRhs()) : BlockArgument();
  OpOperand *most = subtrahend ? inputOf(powers, subtrahend) : nullptr;
  if (!row || !most)
    return {};
  Match match{most->get().getDefiningOp<linalg::GenericOp>(), sum};
  if (!matchLargest(match))
    return {};
  linalg::GenericOp largest = match.largest;
  SmallVector<utils::IteratorType> types = largest.getIteratorTypesArray();
  match.loop = llvm::find(types, utils::IteratorType::reduction) - types.begin();
  auto mapOf = [](linalg::GenericOp op, OpOperand *operand) {
    return op.getMatchingIndexingMap(operand);
  };
  bool isSame = sum.getIteratorTypesArray() == types &&
                match.rows->get() == row->get() &&
                mapOf(largest, match.rows) == mapOf(powers, row) &&
                mapOf(largest, largest.getDpsInitOperand(0)) == mapOf(powers, most) &&
                mapOf(largest, largest.getDpsInitOperand(0)) ==
                    mapOf(sum, sum.getDpsInitOperand(0)) &&
                largest.getResultTypes() == sum.getResultTypes();
  return isSame ? std::optional(match) : std::nullopt;
}

/// As many parts as `wanted`, or about, that `extent` has whole, in vectors if possible.
static int64_t choosePartsOf(int64_t extent, int64_t wanted) {
  constexpr int64_t kVector = 8;
  for (int64_t unit : {kVector, int64_t(1)})
    for (int64_t distance = 0; distance <= wanted; ++distance)
      for (int64_t parts : {wanted - distance, wanted + distance})
        if (parts > wanted / 2 && extent % (parts * unit) == 0)
          return parts;
  return 1;
}

namespace {
/// Writes both reductions in parts.
class Splitter {
public:
  Splitter(IRRewriter &b, Match match, int64_t parts)
      : b(b), match(match), parts(parts), loc(this->match.sum.getLoc()),
        context(match.sum.getContext()), loops(match.largest.getNumLoops()) {}

  void run() {
    linalg::GenericOp largest = match.largest, sum = match.sum;
    b.setInsertionPoint(largest);
    expandRows();
    Value ofParts = ofPart(largest, {rows}, {rowsMap}, [&](OpBuilder &at, ValueRange x) {
      return combine(at, x[1], widen(at, x[0]));
    });
    Value sums = ofPart(sum, {rows, ofParts}, {rowsMap, resultMap()},
                        [&](OpBuilder &at, ValueRange x) { return addPower(at, x); });
    Value whole =
        ofWhole(largest, {ofParts}, [&](OpBuilder &at, ValueRange x) {
          return combine(at, x[1], x[0]);
        });
    b.replaceOp(largest, whole);
    b.setInsertionPoint(sum);
    Value total = ofWhole(sum, {ofParts, sums, whole}, [&](OpBuilder &at, ValueRange x) {
      Value by = math::ExpOp::create(at, loc, arith::SubFOp::create(at, loc, x[0], x[2]));
      Value own = arith::MulFOp::create(at, loc, x[1], by);
      return arith::AddFOp::create(at, loc, x[3], own).getResult();
    });
    b.replaceOp(sum, total);
  }

private:
  using Body = llvm::function_ref<Value(OpBuilder &, ValueRange)>;

  FloatType type() { return cast<FloatType>(getElementTypeOrSelf(match.sum.getResult(0))); }

  /// The rows, whose dim along the loop becomes two; loop `loops` counts inside of a part.
  void expandRows() {
    auto whole = cast<RankedTensorType>(match.rows->get().getType());
    AffineMap map = match.largest.getMatchingIndexingMap(match.rows);
    AffineExpr along = getAffineDimExpr(match.loop, context);
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> exprs;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      int64_t size = whole.getDimSize(dim), next = shape.size();
      exprs.push_back(expr);
      if (expr != along) {
        groups.push_back({next});
        shape.push_back(size);
        continue;
      }
      groups.push_back({next, next + 1});
      shape.append({parts, size / parts});
      exprs.push_back(getAffineDimExpr(loops, context));
    }
    rows = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(shape, whole.getElementType()), match.rows->get(), groups);
    rowsMap = AffineMap::get(loops + 1, 0, exprs, context);
  }

  /// Of what a part has one: the results' dims, then the parts.
  AffineMap resultMap() {
    SmallVector<AffineExpr> exprs(
        match.sum.getMatchingIndexingMap(match.sum.getDpsInitOperand(0)).getResults());
    exprs.push_back(getAffineDimExpr(match.loop, context));
    return AffineMap::get(loops + 1, 0, exprs, context);
  }

  Value widen(OpBuilder &at, Value value) {
    return value.getType() == type() ? value
                                     : arith::ExtFOp::create(at, loc, type(), value).getResult();
  }

  Value combine(OpBuilder &at, Value acc, Value value) {
    OperationState state(loc, match.max->getName(), {acc, value}, {type()},
                         match.max->getAttrs());
    return at.create(state)->getResult(0);
  }

  Value addPower(OpBuilder &at, ValueRange x) {
    auto number = [&](double value) {
      return arith::ConstantOp::create(at, loc, at.getFloatAttr(type(), value));
    };
    Value isLowest = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, x[1],
                                           number(-std::numeric_limits<double>::infinity()));
    Value most = arith::SelectOp::create(at, loc, isLowest, number(0), x[1]);
    Value below = arith::SubFOp::create(at, loc, widen(at, x[0]), most);
    return arith::AddFOp::create(at, loc, x[2], math::ExpOp::create(at, loc, below));
  }

  /// What `op` reduces to, of each part.
  Value ofPart(linalg::GenericOp op, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, Body body) {
    Value start = op.getDpsInits()[0];
    auto whole = cast<RankedTensorType>(start.getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, start);
    sizes.push_back(b.getIndexAttr(parts));
    Value empty = tensor::EmptyOp::create(b, loc, sizes, whole.getElementType());
    Value neutral = arith::ConstantOp::create(
        b, loc, *arith::getNeutralElement(op.getBody()->getTerminator()->getOperand(0)
                                              .getDefiningOp()));
    Value init = linalg::FillOp::create(b, loc, neutral, empty).getResult(0);
    SmallVector<AffineMap> all(maps);
    all.push_back(resultMap());
    SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
    types[match.loop] = utils::IteratorType::parallel;
    types.push_back(utils::IteratorType::reduction);
    return reduce(init, inputs, all, types, body);
  }

  /// What `op` reduces to, of what its parts have: of those loop `match.loop` counts the parts.
  Value ofWhole(linalg::GenericOp op, ArrayRef<Value> inputs, Body body) {
    AffineMap ofResult = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    SmallVector<AffineMap> maps;
    for (Value input : inputs)
      maps.push_back(input.getType() == op.getResultTypes()[0]
                         ? ofResult
                         : AffineMap::get(loops, 0, resultMap().getResults(), context));
    maps.push_back(ofResult);
    return reduce(op.getDpsInits()[0], inputs, maps, op.getIteratorTypesArray(), body);
  }

  Value reduce(Value init, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
               ArrayRef<utils::IteratorType> types, Body body) {
    return linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, types,
                                     [&](OpBuilder &at, Location, ValueRange x) {
                                       linalg::YieldOp::create(at, loc, body(at, x));
                                     })
        .getResult(0);
  }

  IRRewriter &b;
  Match match;
  int64_t parts;
  Location loc;
  MLIRContext *context;
  unsigned loops;
  Value rows;
  AffineMap rowsMap;
};

struct SplitExponentialSumsPass
    : public tilewright::impl::SplitExponentialSumsPassBase<SplitExponentialSumsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (isKernel(getOperation()) || !target)
      return;
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    bool hasSplit = false;
    for (linalg::GenericOp op : ops) {
      std::optional<Match> match = matchSum(op);
      if (!match)
        continue;
      OrRefusal<Split> split =
          chooseSplit(cast<linalg::LinalgOp>(match->largest.getOperation()), target);
      int64_t extent = op.getStaticLoopRanges()[match->loop];
      if (!split || split->loop != match->loop || ShapedType::isDynamic(extent))
        continue;
      if (int64_t parts = choosePartsOf(extent, split->parts); parts > 1) {
        Splitter(rewriter, *match, parts).run();
        hasSplit = true;
      }
    }
    // Exponentials have one reader less, which may compute them.
    OpPassManager fuse(func::FuncOp::getOperationName());
    fuse.addPass(createFuseElementwisePass());
    if (hasSplit && failed(runPipeline(fuse, getOperation())))
      signalPassFailure();
  }
};
} // namespace
