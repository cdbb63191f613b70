// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, defaults and verification of tilewright.attention.

#include "tilewright/Dialect/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/AttentionOp.cpp.inc"

/// Operands that have a map, in the order of the maps.
static SmallVector<Value> mappedOperands(AttentionOp op) {
  SmallVector<Value> operands{op.getQuery(), op.getKey(), op.getValue()};
  if (op.getMask())
    operands.push_back(op.getMask());
  llvm::append_range(operands, op.getOutputs());
  return operands;
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

SmallVector<int64_t> AttentionOp::getLoopExtents() {
  SmallVector<int64_t> extents(getNumLoops(), ShapedType::kDynamic);
  for (auto [number, operand] : llvm::enumerate(mappedOperands(*this)))
    for (auto [dim, loop] : llvm::enumerate(getMap(number).getResults()))
      if (!typeOf(operand).isDynamicDim(dim))
        extents[cast<AffineDimExpr>(loop).getPosition()] =
            typeOf(operand).getDimSize(dim);
  return extents;
}

std::pair<Value, unsigned> AttentionOp::getOperandOfLoop(unsigned loop) {
  for (auto [number, operand] : llvm::enumerate(mappedOperands(*this)))
    if (auto dim =
            getMap(number).getResultPosition(getAffineDimExpr(loop, getContext())))
      return {operand, *dim};
  return {};
}

double AttentionOp::getScaleValue() {
  if (getScale())
    return getScale()->convertToDouble();
  return 1.0 / std::sqrt(double(getLoopExtents()[getDepthLoop()]));
}

FloatType AttentionOp::getScoreType() {
  Builder b(getContext());
  return typeOf(getQuery()).getElementType().isF64() ? FloatType(b.getF64Type())
                                                     : FloatType(b.getF32Type());
}

int64_t AttentionOp::getKeysBefore() { return getWindow() ? (*getWindow())[0] : -1; }

int64_t AttentionOp::getKeysBehind() {
  int64_t behind = getWindow() ? (*getWindow())[1] : -1;
  return getCausal() ? 0 : behind;
}

std::optional<unsigned> tilewright::findGroupLoop(AttentionOp op) {
  std::optional<unsigned> group;
  SmallVector<int64_t> extents = op.getLoopExtents();
  for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop)
    if (op.getQueryMap().isFunctionOfDim(loop) && !op.getKeyMap().isFunctionOfDim(loop) &&
        !op.getValueMap().isFunctionOfDim(loop) && extents[loop] > 1 &&
        (!group || extents[loop] > extents[*group]))
      group = loop;
  return group;
}

Value tilewright::createPartLength(OpBuilder &b, AttentionOp op, Value keys) {
  Location loc = op.getLoc();
  int64_t multiple = *op.getKeyParts();
  Value all = arith::ConstantIndexOp::create(b, loc, multiple * op.getNumKeyParts());
  Value unit = arith::ConstantIndexOp::create(b, loc, multiple);
  Value units = arith::CeilDivUIOp::create(b, loc, keys, all);
  return arith::MulIOp::create(b, loc, units, unit);
}

/// Each map leads from all loops to distinct ones, of which `needed` are there and
/// `refused` are not.
static LogicalResult checkMap(AttentionOp op, unsigned number, StringRef name,
                              ArrayRef<unsigned> needed, ArrayRef<unsigned> refused) {
  AffineMap map = op.getMap(number);
  if (map.getNumDims() != op.getNumLoops() || map.getNumSymbols() ||
      !map.isProjectedPermutation())
    return op.emitOpError() << "the map of its " << name << ", "
                            << AffineMapAttr::get(map)
                            << ", is no projected permutation of the " << op.getNumLoops()
                            << " loops";
  for (unsigned loop : needed)
    if (!map.isFunctionOfDim(loop))
      return op.emitOpError() << "the map of its " << name << " lacks loop " << loop
                              << "; the last four loops are query, key, depth and "
                                 "column of the values";
  for (unsigned loop : refused)
    if (map.isFunctionOfDim(loop))
      return op.emitOpError() << "the map of its " << name << " has loop " << loop
                              << "; the last four loops are query, key, depth and "
                                 "column of the values";
  return success();
}

static LogicalResult checkMaps(AttentionOp op) {
  unsigned count = 3 + bool(op.getMask()) + op.getOutputs().size();
  if (op.getIndexingMaps().size() != count)
    return op.emitOpError() << "has " << op.getIndexingMaps().size()
                            << " indexing maps for " << count
                            << " operands: query, key, value, mask if given, outputs";
  if (op.getNumLoops() < 4)
    return op.emitOpError("has maps over fewer than four loops: query, key, depth and "
                          "column of the values");
  unsigned i = op.getQueryLoop(), j = op.getKeyLoop(), d = op.getDepthLoop(),
           e = op.getColumnLoop();
  SmallVector<unsigned> batch;
  for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop)
    batch.push_back(loop);
  SmallVector<unsigned> out(batch), lse(batch);
  out.append({i, e});
  lse.push_back(i);
  unsigned next = 3;
  if (failed(checkMap(op, 0, "query", {i, d}, {j, e})) ||
      failed(checkMap(op, 1, "key", {j, d}, {i, e})) ||
      failed(checkMap(op, 2, "value", {j, e}, {i, d})) ||
      (op.getMask() && failed(checkMap(op, next++, "mask", {}, {d, e}))) ||
      failed(checkMap(op, next++, "output", out, {j, d})) ||
      (op.hasLogSumExp() && failed(checkMap(op, next, "log-sum-exp", lse, {j, d, e}))))
    return failure();
  SmallVector<int64_t> extents = op.getLoopExtents();
  for (auto [number, operand] : llvm::enumerate(mappedOperands(op))) {
    AffineMap map = op.getMap(number);
    if (int64_t(map.getNumResults()) != typeOf(operand).getRank())
      return op.emitOpError() << "operand " << number << " has rank "
                              << typeOf(operand).getRank() << " but its map has "
                              << map.getNumResults() << " results";
    for (auto [dim, loop] : llvm::enumerate(map.getResults()))
      if (int64_t extent = extents[cast<AffineDimExpr>(loop).getPosition()];
          !typeOf(operand).isDynamicDim(dim) &&
          typeOf(operand).getDimSize(dim) != extent)
        return op.emitOpError() << "operand " << number << " has "
                                << typeOf(operand).getDimSize(dim) << " along loop "
                                << cast<AffineDimExpr>(loop).getPosition()
                                << ", another operand " << extent;
  }
  return success();
}

static LogicalResult checkTypes(AttentionOp op) {
  Type query = typeOf(op.getQuery()).getElementType();
  if (!query.isF16() && !query.isBF16() && !query.isF32() && !query.isF64())
    return op.emitOpError() << "has queries of " << query
                            << "; accepted are f16, bf16, f32 and f64";
  if (typeOf(op.getKey()).getElementType() != query ||
      typeOf(op.getValue()).getElementType() != query)
    return op.emitOpError("has queries, keys and values of different types; convert "
                          "them first");
  Type out = typeOf(op.getOutputs()[0]).getElementType(), score = op.getScoreType();
  if (out != query && out != score)
    return op.emitOpError() << "gives " << out << "; it may give " << query << " or "
                            << score;
  if (op.hasLogSumExp() && typeOf(op.getOutputs()[1]).getElementType() != score)
    return op.emitOpError() << "gives log-sum-exps of "
                            << typeOf(op.getOutputs()[1]).getElementType()
                            << "; they are " << score;
  if (op.getMask()) {
    Type mask = typeOf(op.getMask()).getElementType();
    if (!mask.isInteger(1) && mask != query && mask != score)
      return op.emitOpError() << "has a mask of " << mask << "; it is of i1, "
                              << query << " or " << score;
  }
  return success();
}

static LogicalResult checkKeyParts(AttentionOp op) {
  if (!op.getKeyParts())
    return success();
  if (static_cast<int64_t>(*op.getKeyParts()) < 1)
    return op.emitOpError("'key_parts' is what the length of parts is a multiple of, 1 "
                          "or more");
  unsigned inputs = 3 + bool(op.getMask());
  bool isRead = llvm::any_of(llvm::seq(inputs), [&](unsigned number) {
    return op.getMap(number).isFunctionOfDim(0);
  });
  if (op.getNumBatchLoops() == 0 || isRead || !op.hasLogSumExp() ||
      ShapedType::isDynamic(op.getLoopExtents()[0]))
    return op.emitOpError("has 'key_parts': its first loop then counts the parts, has a "
                          "known extent and is in the maps of the results alone, and "
                          "log-sum-exps are one of these");
  return success();
}

LogicalResult AttentionOp::verify() {
  if (getOutputs().empty() || getOutputs().size() > 2 ||
      getResults().size() != getOutputs().size())
    return emitOpError("has one or two outputs, the second of which is the "
                       "log-sum-exp, and a result for each");
  for (auto [output, result] : llvm::zip_equal(getOutputs(), getResults()))
    if (output.getType() != result.getType())
      return emitOpError() << "has a result of " << result.getType()
                           << " for an output of " << output.getType();
  if (failed(checkMaps(*this)) || failed(checkTypes(*this)) ||
      failed(checkKeyParts(*this)))
    return failure();
  if (getCausal() && *getCausal() != "top_left" && *getCausal() != "bottom_right")
    return emitOpError() << "'causal' is \"" << *getCausal()
                         << "\"; accepted are \"top_left\" and \"bottom_right\"";
  if (getWindow() && (getWindow()->size() != 2 || (*getWindow())[0] < -1 ||
                      (*getWindow())[1] < -1))
    return emitOpError("'window' is [left, right]: keys before and behind the diagonal, "
                       "or -1 for no limit");
  int64_t depth = getLoopExtents()[getDepthLoop()];
  if (!getScale() && (ShapedType::isDynamic(depth) || depth == 0))
    return emitOpError("needs 'scale' where the depth is not known");
  if (!std::isfinite(getScaleValue()))
    return emitOpError("'scale' is a finite number");
  if (!std::isfinite(getSoftcapValue()) || getSoftcapValue() < 0)
    return emitOpError("'softcap' is a positive number, or 0 for none");
  return success();
}
