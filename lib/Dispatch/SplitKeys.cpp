// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of few queries and many keys, as when a text is continued, in a form that
// fills a machine.
//
// 1. One query a head: the heads that share keys and values are the rows of one block.
//    The loops change places; no operand moves:
//      (h, g, i, j, d, e), i of 1  ->  (h, i, g, j, d, e), g the loop of queries
//    (Of several queries `configure` makes rows of both: lib/Configure/Attention/AttentionHeads.cpp.)
// 2. Keys in parts:
//      %o = tilewright.attention ins(%q, %k, %v) outs(%e)
//    becomes, with p counting parts,
//      %o_p, %s_p = tilewright.attention {key_parts = 128} ins(%q, %k, %v) …
//      %m, %l, %a = linalg.generic ins(%o_p, %s_p), for p:
//          m' = max(m, s_p);  c = exp(m - m');  w = exp(s_p - m')
//          l' = l c + w;      a' = a c + o_p w
//      %o = %a / %l, zeros where %l is zero
//    The order of parts is fixed, and with it each bit of the result.

#include "tilewright/Configure/Attention.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITKEYSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

//===----------------------------------------------------------------------===//
// Rows of grouped heads
//===----------------------------------------------------------------------===//

/// Makes the heads of a group the queries. The query sees all keys then, as the last one
/// does; what hides keys by its place would hide others from each row.
static void packHeads(AttentionOp op) {
  std::optional<unsigned> group = findGroupLoop(op);
  bool seesAll = op.getKeysBefore() < 0 && (op.getKeysBehind() < 0 || op.isBottomRight());
  if (op.getLoopExtents()[op.getQueryLoop()] != 1 || !group || !seesAll)
    return;
  Builder b(op.getContext());
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(b.getAffineDimExpr(loop));
  int64_t rows = op.getLoopExtents()[*group];
  std::swap(loops[*group], loops[op.getQueryLoop()]);
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMaps().getAsValueRange<AffineMapAttr>())
    maps.push_back(map.replaceDimsAndSymbols(loops, {}, loops.size(), 0));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.removeCausalAttr();
  op.removeWindowAttr();
  addExplanation(op, "one query a head: " + Twine(rows) +
                         " heads that share keys and values are rows of one block");
}

//===----------------------------------------------------------------------===//
// Parts of keys
//===----------------------------------------------------------------------===//

namespace {
/// Writes what puts partial results together.
class Combination {
public:
  Combination(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Of partial results with the dims (p, `rest`...) and log-sum-exps with p and, of
  /// `rest`, the dims `rows`: the weighted mean over p, as `output`.
  Value combine(Value partial, Value logSums, ArrayRef<unsigned> rows, Value output);
  /// Of log-sum-exps with the dims (p, rest...): that of all, as `output`.
  Value combine(Value logSums, Value output);

private:
  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value filled(Value like, double value);
  ValueRange reduce(ValueRange inputs, ArrayRef<AffineMap> maps, Value like,
                    unsigned results);
  Value finish(ValueRange inputs, Value output,
               llvm::function_ref<Value(ValueRange)> body);

  OpBuilder &b;
  Location loc;
};
} // namespace

/// A tensor of f32 that is as large as `like`.
Value Combination::filled(Value like, double value) {
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, like),
                                        b.getF32Type());
  return linalg::FillOp::create(b, loc, constant(value), empty).getResult(0);
}

/// Largest log-sum-exp, sum of weights and, of two inputs, weighted sum of the first,
/// over the last loop.
ValueRange Combination::reduce(ValueRange inputs, ArrayRef<AffineMap> maps, Value like,
                               unsigned results) {
  unsigned rank = cast<RankedTensorType>(like.getType()).getRank();
  constexpr double kLowest = -3.4028234663852886e38;
  SmallVector<Value> inits{filled(like, kLowest)};
  while (inits.size() < results)
    inits.push_back(filled(like, 0));
  SmallVector<AffineMap> allMaps(maps);
  allMaps.append(results, AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext())
                              .dropResult(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  auto body = [&](OpBuilder &inner, Location at, ValueRange x) {
    ValueRange so_far = x.take_back(results);
    Value logSum = x[inputs.size() - 1];
    Value largest = arith::MaximumFOp::create(inner, at, so_far[0], logSum);
    auto weigh = [&](Value exponent) -> Value {
      Value below = arith::SubFOp::create(inner, at, exponent, largest);
      return math::ExpOp::create(inner, at, below);
    };
    Value kept = weigh(so_far[0]), weight = weigh(logSum);
    Value shrunk = arith::MulFOp::create(inner, at, so_far[1], kept);
    SmallVector<Value> next{largest, arith::AddFOp::create(inner, at, shrunk, weight)};
    if (results == 3) {
      Value old = arith::MulFOp::create(inner, at, so_far[2], kept);
      Value own = arith::MulFOp::create(inner, at, x[0], weight);
      next.push_back(arith::AddFOp::create(inner, at, old, own));
    }
    linalg::YieldOp::create(inner, at, next);
  };
  return linalg::GenericOp::create(b, loc, ValueRange(inits).getTypes(), inputs, inits,
                                   allMaps, loops, body)
      .getResults();
}

/// Elementwise, in the type of `output`.
Value Combination::finish(ValueRange inputs, Value output,
                          llvm::function_ref<Value(ValueRange)> body) {
  auto type = cast<RankedTensorType>(output.getType());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, inputs, output, maps, loops,
             [&](OpBuilder &inner, Location at, ValueRange x) {
               OpBuilder::InsertionGuard guard(b);
               b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
               Value result = body(x);
               if (!type.getElementType().isF32())
                 result =
                     arith::TruncFOp::create(b, at, type.getElementType(), result);
               linalg::YieldOp::create(b, at, result);
             })
      .getResult(0);
}

Value Combination::combine(Value partial, Value logSums, ArrayRef<unsigned> rows,
                           Value output) {
  unsigned rank = cast<RankedTensorType>(output.getType()).getRank();
  SmallVector<AffineExpr> wide{b.getAffineDimExpr(rank)}, narrow(wide);
  for (unsigned dim = 0; dim < rank; ++dim)
    wide.push_back(b.getAffineDimExpr(dim));
  for (unsigned dim : rows)
    narrow.push_back(b.getAffineDimExpr(dim));
  AffineMap maps[] = {AffineMap::get(rank + 1, 0, wide, b.getContext()),
                      AffineMap::get(rank + 1, 0, narrow, b.getContext())};
  ValueRange sums = reduce({partial, logSums}, maps, output, 3);
  return finish({sums[1], sums[2]}, output, [&](ValueRange x) -> Value {
    Value zero = constant(0);
    Value isEmpty =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[0], zero);
    Value mean = arith::DivFOp::create(b, loc, x[1], x[0]);
    return arith::SelectOp::create(b, loc, isEmpty, zero, mean);
  });
}

Value Combination::combine(Value logSums, Value output) {
  unsigned rank = cast<RankedTensorType>(output.getType()).getRank();
  SmallVector<AffineExpr> exprs{b.getAffineDimExpr(rank)};
  for (unsigned dim = 0; dim < rank; ++dim)
    exprs.push_back(b.getAffineDimExpr(dim));
  ValueRange sums = reduce(logSums, AffineMap::get(rank + 1, 0, exprs, b.getContext()),
                           output, 2);
  return finish({sums[0], sums[1]}, output, [&](ValueRange x) -> Value {
    Value isEmpty =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[1], constant(0));
    Value sum =
        arith::AddFOp::create(b, loc, x[0], math::LogOp::create(b, loc, x[1]));
    return arith::SelectOp::create(b, loc, isEmpty, constant(-INFINITY), sum);
  });
}

/// Attention for each of `parts` parts of the keys: results and log-sum-exps, with the
/// dims of the results behind that of parts.
static AttentionOp createParts(OpBuilder &b, AttentionOp op, int64_t parts,
                               AffineMap logSumMap) {
  Location loc = op.getLoc();
  unsigned numLoops = op.getNumLoops() + 1;
  auto ofParts = [&](AffineMap map) {
    AffineMap shifted = map.shiftDims(1);
    SmallVector<AffineExpr> exprs{b.getAffineDimExpr(0)};
    llvm::append_range(exprs, shifted.getResults());
    return AffineMap::get(numLoops, 0, exprs, b.getContext());
  };
  auto empty = [&](AffineMap map) -> Value {
    SmallVector<OpFoldResult> sizes{b.getIndexAttr(parts)};
    for (AffineExpr expr : map.getResults()) {
      auto [tensor, dim] =
          op.getOperandOfLoop(cast<AffineDimExpr>(expr).getPosition());
      sizes.push_back(tensor::getMixedSize(b, loc, tensor, dim));
    }
    return tensor::EmptyOp::create(b, loc, sizes, b.getF32Type());
  };
  SmallVector<AffineMap> maps;
  unsigned inputs = op.getNumInputs();
  for (unsigned number = 0; number < inputs; ++number)
    maps.push_back(op.getMap(number).shiftDims(1));
  maps.push_back(ofParts(op.getOutputMap()));
  maps.push_back(ofParts(logSumMap));
  SmallVector<Value> outputs{empty(op.getOutputMap()), empty(logSumMap)};
  auto partial = AttentionOp::create(
      b, loc, ValueRange(outputs).getTypes(), op.getQuery(), op.getKey(), op.getValue(),
      op.getMask(), op.getKeep(), op.getTable(), op.getLengths(), outputs,
      b.getAffineMapArrayAttr(maps), op.getScaleAttr(), op.getCausalAttr(), op.getWindowAttr(),
      op.getSoftcapAttr(),
      b.getI64IntegerAttr(kKeyPartUnit));
  partial->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return partial;
}

/// The values of `op` by parts of its keys.
static SmallVector<Value> splitKeys(OpBuilder &b, AttentionOp op, int64_t parts) {
  // Rows in the order that they have in the result.
  SmallVector<AffineExpr> rows;
  SmallVector<unsigned> rowDims;
  for (auto [dim, expr] : llvm::enumerate(op.getOutputMap().getResults()))
    if (cast<AffineDimExpr>(expr).getPosition() != op.getColumnLoop()) {
      rows.push_back(expr);
      rowDims.push_back(dim);
    }
  AffineMap logSumMap = op.hasLogSumExp()
                            ? op.getOutputMap(1)
                            : AffineMap::get(op.getNumLoops(), 0, rows, b.getContext());
  if (op.hasLogSumExp()) {
    rowDims.clear();
    for (AffineExpr expr : logSumMap.getResults())
      rowDims.push_back(*op.getOutputMap().getResultPosition(expr));
  }
  AttentionOp partial = createParts(b, op, parts, logSumMap);
  Combination combination(b, op.getLoc());
  SmallVector<Value> results{combination.combine(
      partial->getResult(0), partial->getResult(1), rowDims, op.getOutputs()[0])};
  if (op.hasLogSumExp())
    results.push_back(combination.combine(partial->getResult(1), op.getOutputs()[1]));
  return results;
}

/// Whether the host finds few blocks and many keys, as `split` has it; and in words.
static Value createGuard(OpBuilder &b, AttentionOp op, const KeySplit &split,
                         std::string &words) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value guard;
  auto demand = [&](Value value, arith::CmpIPredicate predicate, int64_t limit,
                    const Twine &what) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, value, constant(limit));
    guard = guard ? arith::AndIOp::create(b, loc, guard, holds).getResult() : holds;
    words += (words.empty() ? "" : " and ") + what.str();
  };
  if (!split.blockLoops.empty()) {
    Value blocks;
    for (unsigned loop : split.blockLoops) {
      Value extent = createExtent(b, op, loop);
      // No product of extents overflows: a result has as many rows.
      blocks = blocks ? b.createOrFold<arith::MulIOp>(loc, blocks, extent) : extent;
    }
    demand(blocks, arith::CmpIPredicate::sle, split.mostBlocks,
           Twine(split.mostBlocks) + " or fewer batches");
  }
  if (split.fewestKeys)
    demand(createExtent(b, op, op.getKeyLoop()), arith::CmpIPredicate::sge, split.fewestKeys,
           Twine(split.fewestKeys) + " or more keys");
  return guard;
}

/// Parts where the host finds that they pay, else one kernel.
static SmallVector<Value> splitKeysGuarded(OpBuilder &b, AttentionOp op,
                                           const KeySplit &split) {
  Location loc = op.getLoc();
  std::string words;
  Value guard = createGuard(b, op, split, words);
  auto branch = scf::IfOp::create(b, loc, op->getResultTypes(), guard,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder then = branch.getThenBodyBuilder();
  scf::YieldOp::create(then, loc, splitKeys(then, op, split.parts));
  OpBuilder otherwise = branch.getElseBodyBuilder();
  auto whole = cast<AttentionOp>(otherwise.clone(*op));
  addExplanation(whole, "another kernel takes the keys in " + Twine(split.parts) +
                            " parts, where the host finds " + words);
  scf::YieldOp::create(otherwise, loc, whole->getResults());
  return llvm::to_vector_of<Value>(branch.getResults());
}

namespace {
struct SplitKeysPass : public tilewright::impl::SplitKeysPassBase<SplitKeysPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (isKernel(getOperation()) || !target)
      return;
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      packHeads(op);
      OrRefusal<KeySplit> split = chooseKeySplit(op, target);
      if (!split)
        continue;
      OpBuilder b(op);
      op->replaceAllUsesWith(split->isGuarded() ? splitKeysGuarded(b, op, *split)
                                                : splitKeys(b, op, split->parts));
      op.erase();
    }
  }
};
} // namespace
