// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-raise-attention: finds attention that is written in linalg. It starts at a
// contraction and asks what one operand is computed from (ElementExpression.h):
//
//   %o[b, i, e] = sum over j of %w[b, i, j] * %v[b, j, e]
//     %w = exp(t - max) / sum, rounded or not       softmax along j
//       max, sum: reductions along j of the same t, the same exp(t - max)
//       t = hidden, masked, capped, scaled %s       what tilewright.attention can say
//         %s[b, i, j] = sum over d of %q[b, i, d] * %k[b, j, d]
//
// Coordinates are the loops of the second contraction; the depth is one more.

#include "ElementExpression.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

using Expression = ElementExpression;

/// Numbers that hide a key: their exponentials are zeros beside that of any score.
static constexpr double kHides = -1e9;

namespace {

class Raiser {
public:
  Raiser(linalg::GenericOp second, const Contraction &contraction)
      : second(second), contraction(contraction) {}
  /// The op in place of `second`, or of what rounds its result; or null, with the reason
  /// in `reason` if there is a softmax in front of the contraction.
  AttentionOp raise(OpBuilder &b, TargetAttr target);

  std::string reason;

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchSoftmax(OpOperand &weights);
  linalg::GenericOp matchReduction(const Expression &value, StringRef combiner,
                                   StringRef other, const Expression &element,
                                   double &start);
  bool matchScores(const Expression &score);
  bool matchHidden(const Expression &visible, bool isInverted, double hidden);
  bool matchScaled(const Expression &score);
  bool matchProduct(const Expression &score);
  bool chooseQuery();
  AffineMap mapOf(ArrayRef<unsigned> coordinates, MLIRContext *context);
  AttentionOp create(OpBuilder &b);

  linalg::GenericOp second;
  const Contraction &contraction;
  ElementExpressions expressions;
  unsigned key = 0, depth = 0, query = 0, column = 0;
  Coordinates weightsAt, valueAt, outAt, queryAt, keyAt, maskAt;
  Value queries, keys, values, mask;
  const Expression *shifted = nullptr; // what is in the exponent before the largest
  double scale = 1, softcap = 0;
  std::optional<unsigned> causalQuery;
  bool isCausal = false;
};

} // namespace

/// `value` is an element of a reduction along the keys of `element`, by an op called
/// `combiner` or `other`; `start` is what it begins with.
linalg::GenericOp Raiser::matchReduction(const Expression &value, StringRef combiner,
                                         StringRef other, const Expression &element,
                                         double &start) {
  auto result = value.kind == Expression::Element ? dyn_cast<OpResult>(value.tensor)
                                                  : OpResult();
  auto op = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  if (!op || op.getNumReductionLoops() != 1 || op->getNumResults() != 1)
    return {};
  Operation *combine = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument acc = op.getBody()->getArguments().back();
  if (!combine || combine->getNumOperands() != 2 || !llvm::is_contained(combine->getOperands(), acc) ||
      (combine->getName().getStringRef() != combiner &&
       combine->getName().getStringRef() != other))
    return {};
  Value term = combine->getOperand(combine->getOperand(0) == acc ? 1 : 0);
  Coordinates loops = loopsAt(op, result, value.coordinates, key);
  if (!isSame(*expressions.ofScalar(op, term, loops), element))
    return {};
  auto init = expressions.ofElement(op.getDpsInits()[0], {})->getConstant();
  if (!init)
    return {};
  start = *init;
  return op;
}

bool Raiser::matchSoftmax(OpOperand &weights) {
  weightsAt = coordinatesOf(second, weights, llvm::to_vector(llvm::seq(second.getNumLoops())));
  const Expression *weight = expressions.ofElement(weights.get(), weightsAt);
  if (weight->is("arith.truncf"))
    weight = weight->operands[0];
  const Expression *part = nullptr, *sum = nullptr;
  if (weight->is("arith.divf")) {
    part = weight->operands[0];
    sum = weight->operands[1];
  } else if (weight->is("arith.mulf")) {
    for (unsigned side : {0, 1})
      if (const Expression *inverse = weight->operands[side];
          inverse->is("arith.divf") && inverse->operands[0]->getConstant() == 1.0) {
        part = weight->operands[1 - side];
        sum = inverse->operands[1];
      }
  }
  if (!part || !part->is("math.exp") || !part->operands[0]->is("arith.subf"))
    return false;
  const Expression *difference = part->operands[0];
  shifted = difference->operands[0];
  double start = 0;
  if (!matchReduction(*difference->operands[1], "arith.maximumf", "arith.maxnumf", *shifted,
                      start) ||
      start > -1e30)
    return false;
  return bool(matchReduction(*sum, "arith.addf", "", *part, start)) && start == 0;
}

/// A condition on the coordinates of query and key, or a boolean mask.
bool Raiser::matchHidden(const Expression &visible, bool isInverted, double hidden) {
  if (visible.kind == Expression::Element && !isInverted && !mask &&
      isa<RankedTensorType>(visible.tensor.getType()) &&
      getElementTypeOrSelf(visible.tensor.getType()).isInteger(1)) {
    // A finite number leaves a row of which all is hidden an average.
    if (!std::isinf(hidden))
      return refuse("a boolean mask hides keys by a finite number, which counts where a "
                    "query sees no key");
    mask = visible.tensor;
    maskAt = visible.coordinates;
    return true;
  }
  auto compare = visible.kind == Expression::Scalar ? dyn_cast<arith::CmpIOp>(visible.op)
                                                    : arith::CmpIOp();
  if (!compare || visible.operands[0]->kind != Expression::Coordinate ||
      visible.operands[1]->kind != Expression::Coordinate)
    return refuse("keys are hidden by a condition that is neither a mask nor causal");
  arith::CmpIPredicate predicate = compare.getPredicate();
  unsigned left = visible.operands[0]->coordinate, right = visible.operands[1]->coordinate;
  if (isInverted)
    predicate = arith::invertPredicate(predicate);
  using P = arith::CmpIPredicate;
  bool isAtMost = predicate == P::sle || predicate == P::ule;
  bool isAtLeast = predicate == P::sge || predicate == P::uge;
  if (right == key) { // query >= key
    std::swap(left, right);
    std::swap(isAtMost, isAtLeast);
  }
  if (left != key || right == key || isCausal || !isAtMost)
    return refuse("keys are hidden by a comparison of coordinates that is not causal");
  isCausal = true;
  causalQuery = right;
  return true;
}

static const Expression *withoutExtension(const Expression *expression) {
  return expression->is("arith.extf") ? expression->operands[0] : expression;
}

/// From what goes into the exponent inwards to the contraction.
bool Raiser::matchScores(const Expression &score) {
  if (score.is("arith.select")) {
    for (unsigned side : {1, 2})
      if (auto hidden = score.operands[side]->getConstant(); hidden && *hidden <= kHides)
        return matchHidden(*score.operands[0], side == 1, *hidden) &&
               matchScores(*score.operands[3 - side]);
    return refuse("scores are chosen between, and neither choice hides a key");
  }
  if (score.is("arith.addf")) {
    for (unsigned side : {0, 1}) {
      const Expression *added = score.operands[side];
      // 0 where a key is seen.
      if (added->is("arith.select")) {
        auto seen = added->operands[1]->getConstant(), hidden = added->operands[2]->getConstant();
        bool isInverted = seen && *seen <= kHides;
        if (isInverted)
          std::swap(seen, hidden);
        if (seen && hidden && *seen == 0 && *hidden <= kHides)
          return matchHidden(*added->operands[0], isInverted, *hidden) &&
                 matchScores(*score.operands[1 - side]);
      }
      added = withoutExtension(added);
      if (added->kind != Expression::Element || mask ||
          isa_and_nonnull<linalg::LinalgOp>(added->tensor.getDefiningOp()) ||
          !isa<RankedTensorType>(added->tensor.getType()))
        continue;
      mask = added->tensor;
      maskAt = added->coordinates;
      return matchScores(*score.operands[1 - side]);
    }
    return refuse("what is added to the scores is computed");
  }
  return matchScaled(score);
}

bool Raiser::matchScaled(const Expression &score) {
  if (score.is("arith.mulf") || score.is("arith.divf")) {
    bool divides = score.is("arith.divf");
    for (unsigned side : {1, 0}) {
      auto factor = score.operands[side]->getConstant();
      if (!factor || (divides && side == 0))
        continue;
      const Expression *inner = score.operands[1 - side];
      scale *= divides ? 1 / *factor : *factor;
      if (!inner->is("math.tanh"))
        return matchScaled(*inner);
      if (scale != *factor || softcap != 0 || *factor <= 0)
        return refuse("scores are bent by tanh and multiplied more than once");
      softcap = *factor;
      return matchScaled(*inner->operands[0]);
    }
    return refuse("scores are multiplied by a number that is not known when compiling");
  }
  return matchProduct(score);
}

bool Raiser::matchProduct(const Expression &score) {
  auto result = score.kind == Expression::Element ? dyn_cast<OpResult>(score.tensor)
                                                  : OpResult();
  auto first = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  auto product = first ? matchContraction(first) : std::nullopt;
  if (!product || product->perElement != 1)
    return refuse("the scores are no contraction, or are rounded, or computed in a way that "
                  "is not known");
  if (first.getNumReductionLoops() != 1)
    return refuse("the scores are sums over several loops");
  if (expressions.ofElement(first.getDpsInits()[0], {})->getConstant() != 0.0)
    return refuse("the scores do not start from zero");
  depth = second.getNumLoops();
  Coordinates loops = loopsAt(first, result, score.coordinates, depth);
  for (unsigned number : {product->a, product->b}) {
    OpOperand &operand = first->getOpOperand(number);
    Coordinates at = coordinatesOf(first, operand, loops);
    bool isKey = llvm::is_contained(at, key);
    (isKey ? keys : queries) = operand.get();
    (isKey ? keyAt : queryAt) = at;
  }
  return queries && keys ? true : refuse("the keys are no loop of one operand of the scores");
}

/// The loop of the queries: that of the causal mask, or the last that keys and values lack.
bool Raiser::chooseQuery() {
  std::optional<unsigned> found;
  for (unsigned at : queryAt)
    if (at != depth && llvm::is_contained(outAt, at) && !llvm::is_contained(keyAt, at) &&
        !llvm::is_contained(valueAt, at))
      found = std::max(found.value_or(0), at);
  if (causalQuery && (!found || llvm::is_contained(keyAt, *causalQuery) ||
                      llvm::is_contained(valueAt, *causalQuery)))
    return refuse("the causal mask compares keys with a loop that is not of the queries alone");
  found = causalQuery ? causalQuery : found;
  query = found.value_or(0);
  return found ? true : refuse("there is no loop of the queries alone");
}

/// Loops of the op: batch loops in the order of the result, then query, key, depth, column.
AffineMap Raiser::mapOf(ArrayRef<unsigned> coordinates, MLIRContext *context) {
  Coordinates order;
  for (unsigned at : outAt)
    if (at != query && at != column)
      order.push_back(at);
  order.append({query, key, depth, column});
  SmallVector<AffineExpr> exprs;
  for (unsigned at : coordinates)
    exprs.push_back(getAffineDimExpr(llvm::find(order, at) - order.begin(), context));
  return AffineMap::get(order.size(), 0, exprs, context);
}

/// The op that does no more than round the result, if it is the only one that reads it.
static linalg::GenericOp findRounding(linalg::GenericOp op, Type type) {
  Value result = op.getResult(0);
  auto user = result.hasOneUse() ? dyn_cast<linalg::GenericOp>(*result.user_begin())
                                 : linalg::GenericOp();
  if (!user || user.getNumReductionLoops() || user.getNumDpsInputs() != 1 ||
      user->getNumResults() != 1 || user.getDpsInputs()[0] != result ||
      getElementTypeOrSelf(user.getResult(0).getType()) != type ||
      !llvm::all_of(user.getIndexingMapsArray(), [](AffineMap map) { return map.isPermutation(); }))
    return {};
  auto truncation =
      user.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::TruncFOp>();
  return truncation && truncation.getIn() == user.getBody()->getArgument(0)
             ? user
             : linalg::GenericOp();
}

AttentionOp Raiser::create(OpBuilder &b) {
  linalg::GenericOp last = second;
  if (auto rounding = findRounding(second, getElementTypeOrSelf(queries.getType()))) {
    OpOperand &input = rounding->getOpOperand(0);
    Coordinates loops(rounding.getNumLoops());
    for (auto [expr, at] :
         llvm::zip_equal(rounding.getMatchingIndexingMap(&input).getResults(), outAt))
      loops[cast<AffineDimExpr>(expr).getPosition()] = at;
    outAt = coordinatesOf(rounding, *rounding.getDpsInitOperand(0), loops);
    last = rounding;
  }
  b.setInsertionPoint(last);
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps{mapOf(queryAt, context), mapOf(keyAt, context),
                              mapOf(valueAt, context)};
  if (mask)
    maps.push_back(mapOf(maskAt, context));
  maps.push_back(mapOf(outAt, context));
  // Where the result was added to what a fill had written, only its shape counts.
  Value out = last.getDpsInits()[0];
  if (auto fill = out.getDefiningOp<linalg::FillOp>())
    out = fill.getOutputs()[0];
  auto op = AttentionOp::create(
      b, second.getLoc(), TypeRange{last.getResult(0).getType()}, queries, keys, values, mask,
      ValueRange{out}, b.getAffineMapArrayAttr(maps), b.getF64FloatAttr(scale),
      isCausal ? b.getStringAttr("top_left") : StringAttr(), DenseI64ArrayAttr(),
      softcap != 0 ? b.getF64FloatAttr(softcap) : FloatAttr(), IntegerAttr());
  op->setAttr(kRaisedAttr, b.getUnitAttr());
  return op;
}

AttentionOp Raiser::raise(OpBuilder &b, TargetAttr target) {
  if (second.getNumReductionLoops() != 1 || second->getNumResults() != 1)
    return {};
  Coordinates loops = llvm::to_vector(llvm::seq(second.getNumLoops()));
  for (auto [loop, type] : llvm::enumerate(second.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      key = loop;
  outAt = coordinatesOf(second, *second.getDpsInitOperand(0), loops);
  OpOperand *weights = nullptr;
  for (auto [number, other] : {std::pair(contraction.a, contraction.b),
                               std::pair(contraction.b, contraction.a)})
    if (!weights && matchSoftmax(second->getOpOperand(number))) {
      weights = &second->getOpOperand(number);
      values = second->getOperand(other);
      valueAt = coordinatesOf(second, second->getOpOperand(other), loops);
    }
  if (!weights)
    return {};
  if (!weights->get().hasOneUse())
    return refuse("the weights are used elsewhere, too"), AttentionOp();
  if (expressions.ofElement(second.getDpsInits()[0], {})->getConstant() != 0.0)
    return refuse("the result does not start from zero"), AttentionOp();
  if (!matchScores(*shifted) || !chooseQuery())
    return {};
  Coordinates columns;
  for (unsigned at : valueAt)
    if (llvm::is_contained(outAt, at) && !llvm::is_contained(weightsAt, at))
      columns.push_back(at);
  if (columns.size() != 1)
    return refuse("the values have " + Twine(columns.size()) +
                  " loops of their own, not one"),
           AttentionOp();
  column = columns.front();
  AttentionOp op = create(b);
  if (succeeded(op.verify()) && succeeded(chooseAttentionConfig(op, target, reason)))
    return op;
  op.erase();
  return {};
}

namespace {
struct RaiseAttentionPass
    : public tilewright::impl::RaiseAttentionPassBase<RaiseAttentionPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (isKernel(getOperation()) || !target)
      return;
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    OpBuilder b(&getContext());
    for (linalg::GenericOp op : ops) {
      auto contraction = matchContraction(op);
      if (!contraction || contraction->perElement != 1 || op->hasAttr(kConfigAttr))
        continue;
      Raiser raiser(op, *contraction);
      if (AttentionOp raised = raiser.raise(b, target)) {
        // In front of what it replaces: the contraction, or what rounds its result.
        raised->getNextNode()->replaceAllUsesWith(raised->getResults());
      } else if (!raiser.reason.empty()) {
        op->setAttr(kDecomposedAttr, b.getStringAttr(raiser.reason));
      }
    }
  }
};
} // namespace
