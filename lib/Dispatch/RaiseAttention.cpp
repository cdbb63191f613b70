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
// Coordinates are the loops of the second contraction; the depth is one more. Reshapes
// that cut a loop make several of it (atoms), which become loops of the op: heads that a
// product has joined with the batch, heads that repeat those of keys and values.

#include "ScoreMask.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

using Expression = ElementExpression;

namespace {

/// A tensor and where its element is.
struct Place {
  Value tensor;
  Coordinates at;
};

class Raiser {
public:
  Raiser(linalg::GenericOp second, const Contraction &contraction)
      : second(second), contraction(contraction) {}
  /// Puts the op in place of `second`, and of what rounds or transposes its result; or
  /// false, with the reason in `reason` if there is a softmax in front of the contraction.
  bool raise(OpBuilder &b, TargetAttr target);

  std::string reason;

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchSoftmax(OpOperand &weights);
  const Expression *findTerm(const Expression &value, StringRef combiner, StringRef other,
                             Value &init);
  bool matchReduction(const Expression &value, StringRef combiner, StringRef other,
                      const Expression &element, double &start);
  bool matchGuard();
  bool matchScores(const Expression &score);
  bool matchScaled(const Expression &score);
  bool matchProduct(const Expression &score);
  bool isOfScores(const Expression &expression);
  bool isUsedElsewhere(Operation *op, llvm::SmallPtrSetImpl<Operation *> &seen);
  bool matchLogSum(linalg::GenericOp op);
  Place findFactor(linalg::GenericOp op, OpOperand &operand, ArrayRef<unsigned> loops,
                   double &factor);
  bool chooseLoops();
  void followResult();
  AttentionOp create(OpBuilder &b);
  void replace(OpBuilder &b, Value result, ArrayRef<unsigned> at, Operation *by);

  linalg::GenericOp second, first;
  const Contraction &contraction;
  ElementExpressions expressions;
  std::optional<ScoreMask> hiding;
  unsigned key = 0, depth = 0, query = 0, column = 0;
  Coordinates weightsAt, resultAt; // of the second contraction
  Coordinates order;               // its loops, then those of the op
  Place queries, keys, values;
  const Expression *shifted = nullptr; // what is in the exponent before the largest
  const Expression *largest = nullptr, *total = nullptr;
  const Expression *added = nullptr; // what is added to the scores, last
  const Expression *guard = nullptr; // where it is true, weights are zeros
  double scale = 1, softcap = 0;
  Type rounded; // what the text rounds scores to
  std::string note;
  // An op that computes log-sum-exps, if there is one.
  linalg::GenericOp logSum;
  Coordinates logSumAt;
  // What is replaced, and where its element is; the tensor that it is written to.
  Operation *last = nullptr;
  Coordinates lastAt;
  Place init;
};

} // namespace

/// What `value` is a reduction of, along the keys, by an op called `combiner` or `other`,
/// and what it starts from; or null.
const Expression *Raiser::findTerm(const Expression &value, StringRef combiner,
                                   StringRef other, Value &init) {
  auto result = value.kind == Expression::Element ? dyn_cast<OpResult>(value.tensor)
                                                  : OpResult();
  auto op = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  if (!op || op.getNumReductionLoops() != 1 || op->getNumResults() != 1)
    return nullptr;
  Operation *combine = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument acc = op.getBody()->getArguments().back();
  if (!combine || combine->getNumOperands() != 2 ||
      !llvm::is_contained(combine->getOperands(), acc) ||
      (combine->getName().getStringRef() != combiner &&
       combine->getName().getStringRef() != other))
    return nullptr;
  init = op.getDpsInits()[0];
  Value term = combine->getOperand(combine->getOperand(0) == acc ? 1 : 0);
  return expressions.ofScalar(op, term, loopsAt(op, result, value.coordinates, key));
}

/// The same of `element`; `start` is the number that it begins with.
bool Raiser::matchReduction(const Expression &value, StringRef combiner, StringRef other,
                            const Expression &element, double &start) {
  Value init;
  const Expression *term = findTerm(value, combiner, other, init);
  if (!term || !expressions.isSame(*term, element))
    return false;
  auto number = expressions.ofElement(init, {})->getConstant();
  start = number.value_or(0);
  return number.has_value();
}

static const Expression *withoutConversions(const Expression *expression,
                                            Type *narrowest = nullptr) {
  while (expression->is("arith.extf") || expression->is("arith.truncf")) {
    if (narrowest && expression->is("arith.truncf"))
      *narrowest = expression->type;
    expression = expression->operands[0];
  }
  return expression;
}

bool Raiser::matchSoftmax(OpOperand &weights) {
  weightsAt = coordinatesOf(second, weights, order);
  const Expression *weight =
      withoutConversions(expressions.ofElement(weights.get(), weightsAt));
  guard = nullptr;
  if (weight->is("arith.select") && weight->operands[1]->getConstant() == 0.0) {
    guard = weight->operands[0];
    weight = withoutConversions(weight->operands[2]);
  }
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
  largest = difference->operands[1];
  total = sum;
  double start = 0;
  if (!matchReduction(*largest, "arith.maximumf", "arith.maxnumf", *shifted,
                      start) ||
      (start > -1e30 && !hidesKeys(start, shifted->type)))
    return false; // what takes the larger number begins with NaN, too
  return matchReduction(*sum, "arith.addf", "", *part, start) && start == 0;
}

/// Weights may be zeros where a query sees no key, as those of the op are: where the largest
/// of the scores, or of what is added to them, is -inf, or all of them are.
bool Raiser::matchGuard() {
  if (!guard)
    return true;
  auto operandIfInfinite = [](const Expression &compare) -> const Expression * {
    auto op = compare.kind == Expression::Scalar ? dyn_cast<arith::CmpFOp>(compare.op)
                                                 : arith::CmpFOp();
    return op && op.getPredicate() == arith::CmpFPredicate::OEQ &&
                   compare.operands[1]->getConstant() == -INFINITY
               ? withoutConversions(compare.operands[0])
               : nullptr;
  };
  auto hides = [&](const Expression &element) {
    return llvm::any_of(ArrayRef{added, shifted}, [&](const Expression *of) {
      return of && expressions.isSame(*withoutConversions(of), element);
    });
  };
  Value init;
  if (const Expression *most = operandIfInfinite(*guard)) {
    const Expression *term = findTerm(*most, "arith.maximumf", "arith.maxnumf", init);
    // A number is never so low.
    if (term && (hides(*withoutConversions(term)) ||
                 std::isfinite(term->getConstant().value_or(NAN))))
      return true;
  } else if (const Expression *term = findTerm(*guard, "arith.andi", "", init)) {
    const Expression *element = operandIfInfinite(*term);
    if (element && hides(*element))
      return true;
  }
  return refuse("weights are replaced by zeros on a condition that is not known to mean "
                "that a query sees no key");
}

/// The scores' product is in it.
bool Raiser::isOfScores(const Expression &expression) {
  if (expression.isElement()) {
    auto op = expression.tensor.getDefiningOp<linalg::GenericOp>();
    return op && tilewright::matchProduct(op) && llvm::is_contained(expression.coordinates, key);
  }
  return llvm::any_of(expression.operands,
                      [&](const Expression *operand) { return isOfScores(*operand); });
}

/// From what goes into the exponent inwards to the contraction.
bool Raiser::matchScores(const Expression &score) {
  if (score.is("arith.extf") || score.is("arith.truncf")) {
    if (score.is("arith.truncf"))
      rounded = score.type;
    return matchScores(*score.operands[0]);
  }
  if (score.is("arith.select")) {
    for (unsigned side : {1, 2})
      if (auto hidden = score.operands[side]->getConstant();
          hidden && hidesKeys(*hidden, score.type)) {
        hiding->hide(*score.operands[0], side == 1, *hidden);
        return matchScores(*score.operands[3 - side]);
      }
    return refuse("scores are chosen between, and neither choice hides a key: the number "
                  "is no less than -1e9");
  }
  if (score.is("arith.addf")) {
    for (unsigned side : {0, 1})
      if (isOfScores(*score.operands[side])) {
        if (score.type.getIntOrFloatBitWidth() < 32)
          rounded = score.type;
        added = added ? added : score.operands[1 - side];
        hiding->add(*score.operands[1 - side]);
        return matchScores(*score.operands[side]);
      }
    return refuse("no term of the scores is a contraction of queries and keys");
  }
  return matchScaled(score);
}

bool Raiser::matchScaled(const Expression &given) {
  const Expression &score = *withoutConversions(&given, &rounded);
  if (score.is("arith.mulf") || score.is("arith.divf")) {
    bool divides = score.is("arith.divf");
    for (unsigned side : {1, 0}) {
      auto factor = score.operands[side]->getConstant();
      if (!factor || (divides && side == 0))
        continue;
      const Expression *inner = withoutConversions(score.operands[1 - side], &rounded);
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

/// What `operand` of a contraction is read from: itself, or what has only been moved,
/// repeated, converted from the same type, and multiplied by `factor`.
Place Raiser::findFactor(linalg::GenericOp op, OpOperand &operand,
                         ArrayRef<unsigned> loops, double &factor) {
  Place itself{operand.get(), coordinatesOf(op, operand, loops)};
  const Expression *read = expressions.ofElement(itself.tensor, itself.at);
  double product = 1;
  while (true) {
    read = withoutConversions(read);
    std::optional<double> by;
    const Expression *inner = nullptr;
    if (read->is("arith.mulf"))
      for (unsigned side : {0, 1})
        if ((by = read->operands[side]->getConstant())) {
          inner = read->operands[1 - side];
          break;
        }
    if (read->is("arith.divf") && (by = read->operands[1]->getConstant())) {
      inner = read->operands[0];
      by = 1 / *by;
    }
    if (!inner || !by || !std::isfinite(*by))
      break;
    product *= *by;
    read = inner;
  }
  if (!read->tensor || !isa<RankedTensorType>(read->tensor.getType()) ||
      getElementTypeOrSelf(read->tensor.getType()) !=
          getElementTypeOrSelf(operand.get().getType()))
    return itself;
  factor *= product;
  return {read->tensor, read->coordinates};
}

bool Raiser::matchProduct(const Expression &score) {
  auto result = score.kind == Expression::Element ? dyn_cast<OpResult>(score.tensor)
                                                  : OpResult();
  first = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  auto product = first ? tilewright::matchProduct(first) : std::nullopt;
  if (!product || product->perElement != 1)
    return refuse("the scores are no contraction, or computed in a way that is not known");
  if (first.getNumReductionLoops() != 1)
    return refuse("the scores are sums over several loops");
  if (expressions.ofElement(first.getDpsInits()[0], {})->getConstant() != 0.0)
    return refuse("the scores do not start from zero");
  for (auto [loop, type] : llvm::enumerate(first.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      depth = expressions.addCoordinate(first.getStaticLoopRanges()[loop]);
  Coordinates loops = loopsAt(first, result, score.coordinates, depth);
  for (unsigned number : {product->a, product->b}) {
    OpOperand &operand = first->getOpOperand(number);
    double factor = 1;
    Place place = findFactor(first, operand, loops, factor);
    bool isKey = llvm::is_contained(coordinatesOf(first, operand, loops), key);
    (isKey ? keys : queries) = place;
    scale *= factor;
  }
  return queries.tensor && keys.tensor
             ? true
             : refuse("the keys are no loop of one operand of the scores");
}

/// Loops of the op: batch loops in the order of the result, then query, key, depth and
/// column. The query's is that of a causal mask, or the last that keys and values lack.
bool Raiser::chooseLoops() {
  Coordinates outAt = expressions.atomsOf(lastAt), queryAt = expressions.atomsOf(queries.at),
              keyAt = expressions.atomsOf(keys.at), valueAt = expressions.atomsOf(values.at),
              ofWeights = expressions.atomsOf(weightsAt);
  if (!expressions.isAtom(key) || !expressions.isAtom(depth))
    return refuse("a reshape cuts the loop of the keys, or the depth");
  Coordinates columns;
  for (unsigned at : valueAt)
    if (llvm::is_contained(outAt, at) && !llvm::is_contained(ofWeights, at))
      columns.push_back(at);
  if (columns.size() != 1)
    return refuse("the values have " + Twine(columns.size()) +
                  " loops of their own, not one");
  column = columns.front();
  auto isOwn = [&](unsigned at) {
    return at != depth && llvm::is_contained(queryAt, at) && llvm::is_contained(outAt, at) &&
           !llvm::is_contained(keyAt, at) && !llvm::is_contained(valueAt, at);
  };
  std::optional<unsigned> found = hiding->getQuery();
  if (found && !isOwn(*found))
    return refuse("the causal mask compares keys with a loop that is not of the queries alone");
  // Behind the heads that repeat those of keys and values.
  for (unsigned at : expressions.atomsOf(resultAt))
    if (isOwn(at) && !hiding->getQuery())
      found = at;
  // One query a head: a loop of one.
  query = found ? *found : expressions.addCoordinate(1);
  if (!found) {
    for (Coordinates *at : {&queries.at, &init.at, &lastAt})
      for (unsigned &coordinate : *at)
        if (coordinate == depth || coordinate == column)
          coordinate = expressions.join({query, coordinate});
    if (logSum && logSumAt.empty())
      return refuse("one query of one head gives a log-sum-exp without dims");
    if (logSum)
      logSumAt.back() = expressions.join({logSumAt.back(), query});
    outAt = expressions.atomsOf(lastAt);
    queryAt = expressions.atomsOf(queries.at);
  }
  order.clear();
  for (unsigned at : outAt)
    if (at != query && at != column)
      order.push_back(at);
  order.append({query, key, depth, column});
  auto isKnown = [&](unsigned at) { return llvm::is_contained(order, at); };
  if (!llvm::all_of(queryAt, isKnown) || !llvm::all_of(keyAt, isKnown) ||
      !llvm::all_of(valueAt, isKnown))
    return refuse("queries, keys or values have loops that the result lacks");
  return true;
}

/// Steps behind ops that do no more than round the result, cut or move its dims, if each is
/// the only one that reads it.
void Raiser::followResult() {
  Type type = getElementTypeOrSelf(queries.tensor.getType());
  Operation *end = last;
  Coordinates at = lastAt;
  Place written = init;
  while (end->getResult(0).hasOneUse()) {
    Operation *user = *end->getResult(0).user_begin();
    Coordinates next;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
      for (auto [coordinate, group] :
           llvm::zip_equal(at, expand.getReassociationIndices())) {
        SmallVector<int64_t> sizes;
        for (int64_t dim : group)
          sizes.push_back(expand.getResultType().getDimSize(dim));
        Coordinates parts;
        if (!expressions.split(coordinate, sizes, parts))
          return;
        next.append(parts);
      }
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      for (ArrayRef<int64_t> group : collapse.getReassociationIndices()) {
        Coordinates parts;
        for (int64_t dim : group)
          parts.push_back(at[dim]);
        next.push_back(expressions.join(parts));
      }
    } else {
      auto op = dyn_cast<linalg::GenericOp>(user);
      if (!op || op.getNumReductionLoops() || op.getNumDpsInputs() != 1 ||
          op->getNumResults() != 1 || op.getDpsInputs()[0] != end->getResult(0) ||
          !llvm::all_of(op.getIndexingMapsArray(),
                        [](AffineMap map) { return map.isPermutation(); }))
        return;
      Value yielded = op.getBody()->getTerminator()->getOperand(0);
      if (auto truncation = yielded.getDefiningOp<arith::TruncFOp>();
          truncation && truncation.getType() == type)
        yielded = truncation.getIn();
      if (yielded != op.getBody()->getArgument(0))
        return;
      OpOperand &input = op->getOpOperand(0);
      Coordinates loops(op.getNumLoops());
      for (auto [expr, coordinate] :
           llvm::zip_equal(op.getMatchingIndexingMap(&input).getResults(), at))
        loops[cast<AffineDimExpr>(expr).getPosition()] = coordinate;
      next = coordinatesOf(op, *op.getDpsInitOperand(0), loops);
      written = {op.getDpsInits()[0], next};
    }
    end = user;
    at = next;
    if (llvm::is_contained(at, kUnitCoordinate))
      continue;
    last = end;
    lastAt = at;
    init = written;
  }
}

/// `op` computes log(total) + largest.
bool Raiser::matchLogSum(linalg::GenericOp op) {
  if (logSum == op)
    return true;
  if (logSum || op.getNumReductionLoops() || op->getNumResults() != 1)
    return false;
  for (OpOperand *operand : op.getDpsInputOperands())
    for (const Expression *of : {largest, total}) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (operand->get() != of->tensor || !map.isPermutation())
        continue;
      Coordinates loops(op.getNumLoops());
      for (auto [expr, at] : llvm::zip_equal(map.getResults(), of->coordinates))
        loops[cast<AffineDimExpr>(expr).getPosition()] = at;
      const Expression *sum =
          expressions.ofScalar(op, op.getBody()->getTerminator()->getOperand(0), loops);
      if (!sum->is("arith.addf"))
        continue;
      for (unsigned side : {0, 1})
        if (const Expression *log = sum->operands[side];
            log->is("math.log") && expressions.isSame(*log->operands[0], *total) &&
            expressions.isSame(*sum->operands[1 - side], *largest)) {
          logSum = op;
          logSumAt = coordinatesOf(op, *op.getDpsInitOperand(0), loops);
          return true;
        }
    }
  return false;
}

/// Something behind `op` reads what comes of it and is not in front of the second
/// contraction, nor of log-sum-exps.
bool Raiser::isUsedElsewhere(Operation *op, llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (Operation *user : op->getUsers()) {
    if (user == second || !seen.insert(user).second)
      continue;
    bool isInside = isa<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                        tensor::CastOp, tensor::DimOp>(user) &&
                    user->getBlock() == op->getBlock();
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (isInside && generic && matchLogSum(generic))
      continue;
    if (!isInside || (generic && tilewright::matchProduct(generic)) ||
        (!isa<tensor::DimOp>(user) && isUsedElsewhere(user, seen)))
      return true;
  }
  return false;
}

static std::string spell(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

AttentionOp Raiser::create(OpBuilder &b) {
  b.setInsertionPoint(last);
  MLIRContext *context = b.getContext();
  auto queryType = cast<RankedTensorType>(queries.tensor.getType()).getElementType();
  auto scoreType = cast<FloatType>(queryType.isF64() ? queryType : b.getF32Type());
  auto isSizeOf = [&](Value value, unsigned atom) {
    auto dim = value.getDefiningOp<tensor::DimOp>();
    auto index = dim ? dim.getConstantIndex() : std::nullopt;
    if (!index)
      return false;
    for (const Place &place : {queries, keys, values})
      if (dim.getSource() == place.tensor && place.at[*index] == atom)
        return true;
    return false;
  };
  ScoreMask::Result mask;
  if (!hiding->resolve(
          b, second.getLoc(), query, queryType, scoreType,
          [&](Value value) { return isSizeOf(value, key); },
          [&](Value value) { return isSizeOf(value, query); }, mask, reason))
    return {};
  SmallVector<AffineMap> maps;
  auto addMap = [&](ArrayRef<unsigned> atoms) {
    SmallVector<AffineExpr> exprs;
    for (unsigned at : atoms) {
      auto found = llvm::find(order, at);
      if (found == order.end() || llvm::is_contained(exprs, getAffineDimExpr(found - order.begin(), context)))
        return false;
      exprs.push_back(getAffineDimExpr(found - order.begin(), context));
    }
    maps.push_back(AffineMap::get(order.size(), 0, exprs, context));
    return true;
  };
  SmallVector<Value> operands;
  for (const Place &place : {queries, keys, values}) {
    Coordinates atoms;
    operands.push_back(reshapeToAtoms(b, place.tensor, place.at, expressions, atoms));
    if (!operands.back() || !addMap(atoms))
      return refuse("a reshape has sizes that are not known"), AttentionOp();
  }
  if (mask.mask && !addMap(mask.maskAt))
    return refuse("the mask has a loop that is not of the scores"), AttentionOp();
  // Where the result was added to what a fill had written, only its shape counts.
  Value out = init.tensor;
  if (auto fill = out.getDefiningOp<linalg::FillOp>())
    out = fill.getOutputs()[0];
  Coordinates outAt;
  out = reshapeToAtoms(b, out, init.at, expressions, outAt);
  if (!out || !addMap(outAt))
    return refuse("a reshape has sizes that are not known"), AttentionOp();
  SmallVector<Value> outs{out};
  if (logSum) {
    Coordinates atoms = expressions.atomsOf(logSumAt);
    SmallVector<OpFoldResult> sizes;
    for (unsigned atom : atoms)
      sizes.push_back(tensor::getMixedSize(b, second.getLoc(), out,
                                           llvm::find(outAt, atom) - outAt.begin()));
    outs.push_back(tensor::EmptyOp::create(b, second.getLoc(), sizes, scoreType));
    addMap(atoms);
  }
  bool hasWindow = mask.before >= 0 || mask.behind >= 0;
  auto op = AttentionOp::create(
      b, second.getLoc(), ValueRange(outs).getTypes(), operands[0], operands[1], operands[2],
      mask.mask, outs, b.getAffineMapArrayAttr(maps), b.getF64FloatAttr(scale),
      mask.isTopLeft       ? b.getStringAttr("top_left")
      : mask.isBottomRight ? b.getStringAttr("bottom_right")
                           : StringAttr(),
      hasWindow ? b.getDenseI64ArrayAttr({mask.before, mask.behind}) : DenseI64ArrayAttr(),
      softcap != 0 ? b.getF64FloatAttr(softcap) : FloatAttr(), IntegerAttr());
  op->setAttr(kRaisedAttr, b.getUnitAttr());
  if (rounded && rounded != scoreType)
    addExplanation(op, "scores are " + spell(scoreType) + ", where the text rounds them to " +
                           spell(rounded));
  if (!mask.note.empty())
    addExplanation(op, mask.note);
  return op;
}

/// `result`, whose dims are atoms, for what `by` computes at `at`.
void Raiser::replace(OpBuilder &b, Value result, ArrayRef<unsigned> at, Operation *by) {
  Type type = by->getResult(0).getType();
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (unsigned coordinate : at) {
    ReassociationIndices group;
    for (size_t count = expressions.atomsOf(coordinate).size(); count-- > 0;)
      group.push_back(next++);
    groups.push_back(group);
  }
  Location loc = second.getLoc();
  if (next != int64_t(groups.size()))
    result = tensor::CollapseShapeOp::create(b, loc, result, groups);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, loc, type, result);
  by->getResult(0).replaceAllUsesWith(result);
}

bool Raiser::raise(OpBuilder &b, TargetAttr target) {
  if (second.getNumReductionLoops() != 1 || second->getNumResults() != 1)
    return false;
  for (auto [size, type] :
       llvm::zip_equal(second.getStaticLoopRanges(), second.getIteratorTypesArray())) {
    order.push_back(expressions.addCoordinate(size));
    if (type == utils::IteratorType::reduction)
      key = order.back();
  }
  hiding.emplace(expressions, key);
  last = second;
  lastAt = coordinatesOf(second, *second.getDpsInitOperand(0), order);
  resultAt = lastAt;
  init = {second.getDpsInits()[0], lastAt};
  OpOperand *weights = nullptr;
  for (auto [number, other] : {std::pair(contraction.a, contraction.b),
                               std::pair(contraction.b, contraction.a)})
    if (!weights && matchSoftmax(second->getOpOperand(number))) {
      weights = &second->getOpOperand(number);
      double factor = 1;
      OpOperand &operand = second->getOpOperand(other);
      values = findFactor(second, operand, order, factor);
      if (factor != 1)
        values = {operand.get(), coordinatesOf(second, operand, order)};
    }
  if (!weights)
    return false;
  if (expressions.ofElement(second.getDpsInits()[0], {})->getConstant() != 0.0)
    return refuse("the result does not start from zero");
  if (!matchScores(*shifted) || !matchGuard())
    return false;
  llvm::SmallPtrSet<Operation *, 16> seen;
  if (isUsedElsewhere(first, seen))
    return refuse("the scores or weights are used elsewhere, too");
  auto elementType = [](Value value) { return getElementTypeOrSelf(value.getType()); };
  Type type = elementType(queries.tensor);
  if (elementType(keys.tensor) != type || elementType(values.tensor) != type)
    return refuse("queries, keys and values are of different types");
  if (elementType(weights->get()).getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return refuse("the weights are multiplied in a wider type than the values");
  followResult();
  // Log-sum-exps are there where the result is.
  if (logSum && (elementType(logSum.getResult(0)).isF64() != type.isF64() ||
                 !llvm::all_of(logSum->getUsers(), [&](Operation *user) {
                   user = last->getBlock()->findAncestorOpInBlock(*user);
                   return user && last->isBeforeInBlock(user);
                 })))
    return refuse("log-sum-exps are of another type than scores, or read in front of the result");
  if (!chooseLoops())
    return false;
  AttentionOp op = create(b);
  if (!op)
    return false;
  if (failed(op.verify()) || failed(chooseAttentionConfig(op, target, reason))) {
    op.erase();
    return false;
  }
  b.setInsertionPointAfter(op);
  replace(b, op.getResult(0), lastAt, last);
  if (logSum)
    replace(b, op.getResult(1), logSumAt, logSum);
  return true;
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
      auto contraction = tilewright::matchProduct(op);
      if (!contraction || contraction->perElement != 1 || op->hasAttr(kConfigAttr))
        continue;
      Raiser raiser(op, *contraction);
      if (!raiser.raise(b, target) && !raiser.reason.empty())
        op->setAttr(kDecomposedAttr, b.getStringAttr(raiser.reason));
    }
  }
};
} // namespace
