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

#include "RaiseAttention.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static std::string spell(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// Loops of the op: batch loops in the order of the result, then query, key, depth and
/// column. The query's is that of a causal mask, or the last that keys and values lack.
bool AttentionRaiser::chooseLoops() {
  Coordinates outAt = expressions.atomsOf(lastAt);
  Coordinates queryAt = expressions.atomsOf(queries.at);
  Coordinates keyAt = expressions.atomsOf(keys.at);
  Coordinates valueAt = expressions.atomsOf(values.at);
  Coordinates ofWeights = expressions.atomsOf(weightsAt);
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
    return at != depth && llvm::is_contained(queryAt, at) &&
           llvm::is_contained(outAt, at) && !llvm::is_contained(keyAt, at) &&
           !llvm::is_contained(valueAt, at);
  };
  std::optional<unsigned> found = hiding->getQuery();
  if (found && !isOwn(*found))
    return refuse("the causal mask compares keys with a loop that is not of the queries "
                  "alone");
  // Behind the heads that repeat those of keys and values.
  for (unsigned at : expressions.atomsOf(resultAt))
    if (isOwn(at) && !hiding->getQuery())
      found = at;
  // One query a head: a loop of one.
  query = found ? *found : expressions.addCoordinate({1, {}, -1});
  if (!found) {
    // In front of the depth or column, which dims of a head may have been joined with.
    for (Coordinates *at : {&queries.at, &init.at, &lastAt})
      for (unsigned &coordinate : *at) {
        Coordinates atoms = expressions.atomsOf(coordinate);
        auto inner = llvm::find_if(
            atoms, [&](unsigned atom) { return atom == depth || atom == column; });
        if (inner == atoms.end())
          continue;
        atoms.insert(inner, query);
        coordinate = expressions.join(atoms);
      }
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
void AttentionRaiser::followResult() {
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
        SmallVector<Extent> sizes;
        for (int64_t dim : group)
          sizes.push_back(extentOf(expand.getResult(), dim));
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

/// Whether `value` is the size of the loop that is `atom`.
bool AttentionRaiser::isSizeOf(Value value, unsigned atom) const {
  auto dim = value.getDefiningOp<tensor::DimOp>();
  auto index = dim ? dim.getConstantIndex() : std::nullopt;
  if (!index)
    return false;
  for (const Place &place : {queries, keys, values})
    if (dim.getSource() == place.tensor && place.at[*index] == atom)
      return true;
  return false;
}

AttentionOp AttentionRaiser::createOp(OpBuilder &b, ArrayRef<Value> operands,
                                      const ScoreMask::Result &mask, ArrayRef<Value> outs,
                                      ArrayRef<AffineMap> maps, FloatType scoreType) {
  bool hasWindow = mask.before >= 0 || mask.behind >= 0;
  auto op = AttentionOp::create(
      b, second.getLoc(), ValueRange(outs).getTypes(), operands[0], operands[1],
      operands[2], mask.mask, mask.keep, /*table=*/Value(), mask.lengths, outs,
      b.getAffineMapArrayAttr(maps), b.getF64FloatAttr(scale),
      mask.isTopLeft       ? b.getStringAttr("top_left")
      : mask.isBottomRight ? b.getStringAttr("bottom_right")
                           : StringAttr(),
      hasWindow ? b.getDenseI64ArrayAttr({mask.before, mask.behind}) : DenseI64ArrayAttr(),
      softcap != 0 ? b.getF64FloatAttr(softcap) : FloatAttr(), IntegerAttr());
  op->setAttr(kRaisedAttr, b.getUnitAttr());
  if (rounded && rounded != scoreType)
    addExplanation(op, "scores are " + spell(scoreType) +
                           ", where the text rounds them to " + spell(rounded));
  if (!mask.note.empty())
    addExplanation(op, mask.note);
  if (mask.mayHideAll && !givesZeros)
    addExplanation(op, "a query that sees no key gets zeros, where the text gives NaN");
  if (mayStartAbove)
    addExplanation(op, "a query whose scores are all below the number that the largest begins with "
                       "gets their softmax, where the text gives NaN");
  return op;
}

AttentionOp AttentionRaiser::create(OpBuilder &b) {
  b.setInsertionPoint(last);
  MLIRContext *context = b.getContext();
  auto queryType = cast<RankedTensorType>(queries.tensor.getType()).getElementType();
  auto scoreType = cast<FloatType>(queryType.isF64() ? queryType : b.getF32Type());
  SmallVector<AffineMap> maps;
  auto addMap = [&](ArrayRef<unsigned> atoms) {
    SmallVector<AffineExpr> exprs;
    for (unsigned at : atoms) {
      auto found = llvm::find(order, at);
      AffineExpr loop = getAffineDimExpr(found - order.begin(), context);
      if (found == order.end() || llvm::is_contained(exprs, loop))
        return false;
      exprs.push_back(loop);
    }
    maps.push_back(AffineMap::get(order.size(), 0, exprs, context));
    return true;
  };
  SmallVector<Value> operands;
  SmallVector<Coordinates> operandsAt;
  for (const Place &place : {queries, keys, values}) {
    operandsAt.emplace_back();
    operands.push_back(
        reshapeToAtoms(b, place.tensor, place.at, expressions, operandsAt.back()));
    if (!operands.back() || !addMap(operandsAt.back()))
      return refuse("a reshape has sizes that are not known"), AttentionOp();
  }
  auto sizeOf = [&](unsigned atom) -> OpFoldResult {
    if (!ShapedType::isDynamic(expressions.sizeOf(atom)))
      return b.getIndexAttr(expressions.sizeOf(atom));
    for (auto [operand, at] : llvm::zip_equal(operands, operandsAt))
      if (auto dim = llvm::find(at, atom); dim != at.end())
        return tensor::getMixedSize(b, second.getLoc(), operand, dim - at.begin());
    return {};
  };
  ScoreMask::Result mask;
  if (Refusal why = hiding->resolve(b, second.getLoc(), query, queryType, scoreType,
                                    {[&](Value value) { return isSizeOf(value, key); },
                                     [&](Value value) { return isSizeOf(value, query); }, sizeOf},
                                    mask))
    return refuse(why.str()), AttentionOp();
  if (mask.mask && !addMap(mask.maskAt))
    return refuse("the mask has a loop that is not of the scores"), AttentionOp();
  if (mask.keep && !addMap(mask.keepAt))
    return refuse("the mask has a loop that is not of the scores"), AttentionOp();
  if (mask.lengths && !addMap(mask.lengthsAt))
    return refuse("the lengths have a loop that is not of the scores"), AttentionOp();
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
  return createOp(b, operands, mask, outs, maps, scoreType);
}

/// `tensor`, each element rounded to `element`.
static Value roundTo(OpBuilder &b, Location loc, Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), element);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), tensor, empty, maps, loops,
                                   [&](OpBuilder &inner, Location at, ValueRange x) {
                                     Value narrow =
                                         arith::TruncFOp::create(inner, at, element, x[0]);
                                     linalg::YieldOp::create(inner, at, narrow);
                                   })
      .getResult(0);
}

/// `result`, whose dims are atoms, for what `by` computes at `at`.
void AttentionRaiser::replace(OpBuilder &b, Value result, ArrayRef<unsigned> at,
                              Operation *by) {
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
  // Log-sum-exps are f32.
  if (Type element = getElementTypeOrSelf(type); element != getElementTypeOrSelf(result))
    result = roundTo(b, loc, result, element);
  if (next != int64_t(groups.size()))
    result = tensor::CollapseShapeOp::create(b, loc, result, groups);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, loc, type, result);
  by->getResult(0).replaceAllUsesWith(result);
}

/// The operand of the second product that is a softmax, null where none is; `values` is the
/// other one then.
OpOperand *AttentionRaiser::matchWeights() {
  for (auto [number, other] : {std::pair(contraction.a, contraction.b),
                               std::pair(contraction.b, contraction.a)}) {
    OpOperand &operand = second->getOpOperand(other);
    element = getElementTypeOrSelf(operand.get().getType());
    foreign = {};
    if (!matchSoftmax(second->getOpOperand(number)))
      continue;
    double factor = 1;
    values = findFactor(second, operand, order, factor);
    if (factor != 1)
      values = {operand.get(), coordinatesOf(second, operand, order)};
    return &second->getOpOperand(number);
  }
  return nullptr;
}

bool AttentionRaiser::raise(OpBuilder &b, TargetAttr target) {
  if (second.getNumReductionLoops() != 1 || second->getNumResults() != 1)
    return false;
  for (auto [loop, type] : llvm::enumerate(second.getIteratorTypesArray())) {
    order.push_back(expressions.addCoordinate(extentOfLoop(second, loop)));
    if (type == utils::IteratorType::reduction)
      key = order.back();
  }
  // Of keys in pages, say, the op reads the tensor that they were gathered to.
  expressions.keepWhole(key);
  hiding.emplace(expressions, key);
  last = second;
  lastAt = coordinatesOf(second, *second.getDpsInitOperand(0), order);
  resultAt = lastAt;
  init = {second.getDpsInits()[0], lastAt};
  OpOperand *weights = matchWeights();
  if (!weights)
    return false;
  if (expressions.ofElement(second.getDpsInits()[0], {})->getConstant() != 0.0)
    return refuse("the result does not start from zero");
  if (!matchScores(*shifted) || !matchMask() || !matchGuard() || !matchStart())
    return false;
  if (foreign)
    return refuse("scores or weights are rounded to " + spell(foreign) +
                  ", which queries, keys and values are not of");
  // Weights that something else reads are in memory anyway, and all that leads to them is
  // behind the largest scores. Scores alone are a contraction of their own then.
  llvm::SmallPtrSet<Operation *, 16> seen;
  if (isUsedElsewhere(cast<OpResult>(largest->tensor).getOwner(), seen))
    return refuse("the weights are used elsewhere, too");
  seen.clear();
  bool readsScores = isUsedElsewhere(first, seen);
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
    return refuse("log-sum-exps are of another type than scores, or read in front of the "
                  "result");
  if (logSum && mayStartAbove)
    return refuse("the largest score, of which log-sum-exps are, begins with a number that may be "
                  "above scores");
  if (!chooseLoops())
    return false;
  AttentionOp op = create(b);
  if (!op)
    return false;
  bool isValid = succeeded(op.verify());
  if (isValid)
    reason = chooseAttentionConfig(op, target).why().str();
  if (!isValid || !reason.empty()) {
    op.erase();
    return false;
  }
  if (readsScores)
    addExplanation(op, "scores are computed in front of it, too: something else reads them");
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
      AttentionRaiser raiser(op, *contraction);
      if (!raiser.raise(b, target) && !raiser.reason.empty())
        op->setAttr(kDecomposedAttr, b.getStringAttr(raiser.reason));
    }
  }
};
} // namespace
