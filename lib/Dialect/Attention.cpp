// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, defaults and verification of tilewright.attention.

#include "tilewright/Dialect/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/AttentionOp.cpp.inc"

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The loop that result `expr` of operand `number`'s map counts, and how many steps of it
/// an element is; nothing of pages in a pool and of rows in a page.
static std::optional<std::pair<unsigned, int64_t>> countedLoop(AttentionOp op, unsigned number,
                                                               AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    if (op.isPool(number) && dim.getPosition() == op.getKeyLoop())
      return std::nullopt;
    return std::pair(dim.getPosition(), int64_t(1));
  }
  if (op.isPool(number) || expr.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto pages = cast<AffineBinaryOpExpr>(expr);
  return std::pair(cast<AffineDimExpr>(pages.getLHS()).getPosition(),
                   cast<AffineConstantExpr>(pages.getRHS()).getValue());
}

SmallVector<int64_t> AttentionOp::getLoopExtents() {
  SmallVector<int64_t> extents(getNumLoops(), ShapedType::kDynamic);
  for (auto [number, operand] : llvm::enumerate(getOperands()))
    for (auto [dim, expr] : llvm::enumerate(getMap(number).getResults()))
      if (auto loop = countedLoop(*this, number, expr);
          loop && !typeOf(operand).isDynamicDim(dim))
        extents[loop->first] = typeOf(operand).getDimSize(dim) * loop->second;
  return extents;
}

/// The first operand, and its dim, that counts `loop`, and how many steps an element is: of the
/// keys, one of a mask, and a page of a table.
static std::optional<std::tuple<Value, unsigned, int64_t>> findCount(AttentionOp op,
                                                                     unsigned loop) {
  for (auto [number, operand] : llvm::enumerate(op.getOperands()))
    for (auto [dim, expr] : llvm::enumerate(op.getMap(number).getResults()))
      if (auto counted = countedLoop(op, number, expr); counted && counted->first == loop)
        return std::tuple(operand, unsigned(dim), counted->second);
  return std::nullopt;
}

std::pair<Value, unsigned> AttentionOp::getOperandOfLoop(unsigned loop) {
  auto count = findCount(*this, loop);
  return count ? std::pair(std::get<Value>(*count), std::get<unsigned>(*count))
               : std::pair(Value(), 0u);
}

int64_t AttentionOp::getStepsOfLoop(unsigned loop) {
  auto count = findCount(*this, loop);
  return count ? std::get<int64_t>(*count) : 1;
}

int64_t AttentionOp::getPageSize() {
  if (!getTable())
    return 0;
  for (AffineExpr expr : getTableMap().getResults())
    if (auto pages = dyn_cast<AffineBinaryOpExpr>(expr);
        pages && expr.getKind() == AffineExprKind::FloorDiv)
      if (auto size = dyn_cast<AffineConstantExpr>(pages.getRHS()))
        return std::max<int64_t>(1, size.getValue());
  return 1;
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

std::optional<unsigned> tilewright::findResult(AffineMap map, AffineExpr expr) {
  const AffineExpr *found = llvm::find(map.getResults(), expr);
  if (found == map.getResults().end())
    return std::nullopt;
  return found - map.getResults().begin();
}

std::optional<unsigned> tilewright::findGroupLoop(AttentionOp op) {
  std::optional<unsigned> group;
  SmallVector<int64_t> extents = op.getLoopExtents();
  for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop)
    if (op.getQueryMap().isFunctionOfDim(loop) && !op.getKeyMap().isFunctionOfDim(loop) &&
        !op.getValueMap().isFunctionOfDim(loop) && extents[loop] > 1 &&
        !(op.getTable() && op.getTableMap().isFunctionOfDim(loop)) &&
        !(op.getLengths() && op.getLengthsMap().isFunctionOfDim(loop)) &&
        (!group || extents[loop] > extents[*group]))
      group = loop;
  return group;
}

Value tilewright::createExtent(OpBuilder &b, AttentionOp op, unsigned loop) {
  Location loc = op.getLoc();
  int64_t known = op.getLoopExtents()[loop];
  if (ShapedType::isStatic(known))
    return arith::ConstantIndexOp::create(b, loc, known);
  auto [tensor, dim] = op.getOperandOfLoop(loop);
  Value extent = tensor::DimOp::create(b, loc, tensor, dim);
  int64_t steps = op.getStepsOfLoop(loop);
  if (steps == 1)
    return extent;
  return arith::MulIOp::create(b, loc, extent, arith::ConstantIndexOp::create(b, loc, steps));
}

Value tilewright::createNumPages(OpBuilder &b, AttentionOp op) {
  auto type = typeOf(op.getKey());
  AffineExpr pages = getAffineDimExpr(op.getKeyLoop(), b.getContext()).floorDiv(op.getPageSize());
  unsigned dim = *findResult(op.getKeyMap(), pages);
  if (!type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(b, op.getLoc(), type.getDimSize(dim));
  return tensor::DimOp::create(b, op.getLoc(), op.getKey(), dim);
}

Value tilewright::createMostKeys(OpBuilder &b, AttentionOp op) {
  Location loc = op.getLoc();
  Value keys = createExtent(b, op, op.getKeyLoop());
  if (!op.getTable())
    return keys;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), pages = createNumPages(b, op);
  Value isEmpty = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, pages, zero);
  return b.createOrFold<arith::SelectOp>(loc, isEmpty, zero, keys);
}

/// An index of 32 bits has no more than these of an integer.
static Value toIndex(OpBuilder &b, Location loc, Value number) {
  auto type = cast<IntegerType>(number.getType());
  if (type.getWidth() > 32) {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
    };
    number = arith::MaxSIOp::create(b, loc, number, constant(INT32_MIN));
    number = arith::MinSIOp::create(b, loc, number, constant(INT32_MAX));
  }
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

Value tilewright::createNumKeys(OpBuilder &b, Location loc, Value length, Value mostKeys) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value keys = arith::MaxSIOp::create(b, loc, toIndex(b, loc, length), zero);
  return arith::MinSIOp::create(b, loc, keys, mostKeys);
}

Value tilewright::createDiagonalEnd(OpBuilder &b, Location loc, Value length) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        most = arith::ConstantIndexOp::create(b, loc, int64_t(1) << 30);
  Value end = arith::MaxSIOp::create(b, loc, toIndex(b, loc, length), zero);
  return arith::MinSIOp::create(b, loc, end, most);
}

Value tilewright::createPage(OpBuilder &b, Location loc, Value entry, Value numPages) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, numPages, one);
  Value page = arith::MinSIOp::create(b, loc, toIndex(b, loc, entry), last);
  return arith::MaxSIOp::create(b, loc, page, zero);
}

Value tilewright::createPartLength(OpBuilder &b, AttentionOp op, Value keys) {
  Location loc = op.getLoc();
  int64_t multiple = *op.getKeyParts();
  Value all = arith::ConstantIndexOp::create(b, loc, multiple * op.getNumKeyParts());
  Value unit = arith::ConstantIndexOp::create(b, loc, multiple);
  Value units = arith::CeilDivUIOp::create(b, loc, keys, all);
  return arith::MulIOp::create(b, loc, units, unit);
}

/// The map of an operand with its key loop in place of `j floordiv n` and, of a pool, of
/// `j mod n`, which stand there together; null where they do not.
static AffineMap withoutPages(AttentionOp op, unsigned number) {
  AffineMap map = op.getMap(number);
  bool isTable = op.getTable() && number == op.getTableNumber();
  int64_t size = op.isPool(number) || isTable ? op.getPageSize() : 0;
  if (size <= 1)
    return map;
  AffineExpr j = getAffineDimExpr(op.getKeyLoop(), map.getContext());
  AffineExpr page = j.floorDiv(size), row = j % size;
  auto position = findResult(map, page);
  if (!position)
    return {};
  SmallVector<AffineExpr> exprs(map.getResults());
  exprs[*position] = j;
  if (!isTable) {
    auto rows = findResult(map, row);
    if (!rows || *rows == *position)
      return {};
    exprs.erase(exprs.begin() + *rows);
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), exprs, map.getContext());
}

/// Each map leads from all loops to distinct ones, of which `needed` are there and
/// `refused` are not.
static LogicalResult checkMap(AttentionOp op, unsigned number, StringRef name,
                              ArrayRef<unsigned> needed, ArrayRef<unsigned> refused) {
  AffineMap map = op.getMap(number);
  AffineMap plain = withoutPages(op, number);
  if (!plain || plain.getNumDims() != op.getNumLoops() || plain.getNumSymbols() ||
      !plain.isProjectedPermutation())
    return op.emitOpError() << "the map of its " << name << ", "
                            << AffineMapAttr::get(map)
                            << ", is no projected permutation of the " << op.getNumLoops()
                            << " loops"
                            << (op.getTable() ? ", with pages by 'j floordiv n' and 'j mod n'"
                                              : "")
                            << (llvm::any_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>)
                                    ? "; leave out dims of one (tensor.collapse_shape), those of "
                                      "pages of one key, too"
                                    : "");
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

/// Pages of keys and of values are as many, and as long as the maps say.
static LogicalResult checkPages(AttentionOp op) {
  int64_t size = op.getPageSize(), pages = ShapedType::kDynamic;
  if (size == 0)
    return success();
  AffineExpr j = getAffineDimExpr(op.getKeyLoop(), op.getContext());
  for (unsigned number : {1, 2}) {
    auto type = typeOf(op->getOperand(number));
    AffineMap map = op.getMap(number);
    if (auto dim = findResult(map, j % size);
        size > 1 && type.getDimSize(*dim) != size)
      return op.emitOpError() << "has pages of " << size << " keys by its maps, but operand "
                              << number << " is " << type;
    int64_t count = type.getDimSize(*findResult(map, j.floorDiv(size)));
    if (ShapedType::isStatic(count) && ShapedType::isStatic(pages) && count != pages)
      return op.emitOpError() << "has " << pages << " pages of keys and " << count
                              << " of values";
    pages = ShapedType::isStatic(count) ? count : pages;
  }
  return success();
}

static LogicalResult checkMaps(AttentionOp op) {
  unsigned count = op.getNumInputs() + op.getOutputs().size();
  if (op.getIndexingMaps().size() != count)
    return op.emitOpError() << "has " << op.getIndexingMaps().size()
                            << " indexing maps for " << count
                            << " operands: query, key, value, mask, keep, table and lengths if "
                               "given, outputs";
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
      (op.getKeep() && failed(checkMap(op, next++, "keep", {}, {d, e}))) ||
      (op.getTable() && failed(checkMap(op, next++, "table", {j}, {i, d, e}))) ||
      (op.getLengths() && failed(checkMap(op, next++, "lengths", {}, {i, j, d, e}))) ||
      failed(checkMap(op, next++, "output", out, {j, d})) ||
      (op.hasLogSumExp() && failed(checkMap(op, next, "log-sum-exp", lse, {j, d, e}))))
    return failure();
  for (auto [number, operand] : llvm::enumerate(op.getOperands()))
    if (int64_t(op.getMap(number).getNumResults()) != typeOf(operand).getRank())
      return op.emitOpError() << "operand " << number << " has rank "
                              << typeOf(operand).getRank() << " but its map has "
                              << op.getMap(number).getNumResults() << " results";
  SmallVector<int64_t> extents = op.getLoopExtents();
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    AffineMap map = op.getMap(number);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = countedLoop(op, number, expr);
          loop && !typeOf(operand).isDynamicDim(dim) &&
          typeOf(operand).getDimSize(dim) * loop->second != extents[loop->first])
        return op.emitOpError() << "operand " << number << " has "
                                << typeOf(operand).getDimSize(dim) << " along loop "
                                << loop->first << ", another operand "
                                << extents[loop->first];
  }
  return checkPages(op);
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
  for (Value numbers : {op.getTable(), op.getLengths()})
    if (numbers && !typeOf(numbers).getElementType().isInteger(32) &&
        !typeOf(numbers).getElementType().isInteger(64))
      return op.emitOpError() << "has a table or lengths of "
                              << typeOf(numbers).getElementType()
                              << "; they are of i32 or i64";
  Type out = typeOf(op.getOutputs()[0]).getElementType(), score = op.getScoreType();
  if (out != query && out != score) {
    InFlightDiagnostic error = op.emitOpError() << "gives " << out << "; it may give " << query;
    if (score != query)
      error << " or " << score;
    return error;
  }
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
  if (op.getKeep() && (!op.getMask() || typeOf(op.getMask()).getElementType().isInteger(1) ||
                       !typeOf(op.getKeep()).getElementType().isInteger(1)))
    return op.emitOpError("has 'keep', of i1, which stands beside a mask of floats: where it is "
                          "false the mask takes the score's place");
  return success();
}

static LogicalResult checkKeyParts(AttentionOp op) {
  if (!op.getKeyParts())
    return success();
  if (static_cast<int64_t>(*op.getKeyParts()) < 1)
    return op.emitOpError("'key_parts' is what the length of parts is a multiple of, 1 "
                          "or more");
  unsigned inputs = op.getNumInputs();
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
    return emitOpError("needs 'scale' where the depth is not known, or zero");
  if (!std::isfinite(getScaleValue()))
    return emitOpError("'scale' is a finite number");
  if (!std::isfinite(getSoftcapValue()) || getSoftcapValue() < 0)
    return emitOpError("'softcap' is a positive number, or 0 for none");
  return success();
}
