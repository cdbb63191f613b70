// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %x : tensor<2x3x40x5xf32> around dim 2:   %v : tensor<6x40x5xf32>
//   %x : tensor<40xf32> around dim 0:         %v : tensor<1x40x1xf32>

#include "IrregularForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

Value tilewright::collapse(OpBuilder &b, Location loc, Value value,
                           const Groups &groups) {
  if (cast<RankedTensorType>(value.getType()).getRank() ==
      int64_t(groups.size()))
    return value;
  return tensor::CollapseShapeOp::create(b, loc, value, groups);
}

Value tilewright::expand(OpBuilder &b, Location loc, Value value,
                         const Groups &groups, ArrayRef<OpFoldResult> sizes) {
  if (groups.size() == sizes.size())
    return value;
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return tensor::ExpandShapeOp::create(b, loc, type, value, groups, sizes);
}

void tilewright::addGroup(Groups &groups, int64_t first, int64_t count) {
  if (count)
    groups.push_back(llvm::to_vector(llvm::seq(first, first + count)));
}

Value tilewright::flattenAround(OpBuilder &b, Location loc, Value value,
                                int64_t dim) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  Groups joined, split{{}};
  addGroup(joined, 0, dim);
  addGroup(joined, dim, 1);
  addGroup(joined, dim + 1, rank - dim - 1);
  value = collapse(b, loc, value, joined);
  SmallVector<OpFoldResult> three = tensor::getMixedSizes(b, loc, value);
  if (dim == 0)
    three.insert(three.begin(), b.getIndexAttr(1));
  if (dim == rank - 1)
    three.push_back(b.getIndexAttr(1));
  // A new dim is joined with that of the scan.
  split.back().push_back(0);
  if (dim > 0)
    split.push_back({});
  split.back().push_back(1);
  if (dim < rank - 1)
    split.push_back({});
  split.back().push_back(2);
  return expand(b, loc, value, split, three);
}

Value tilewright::restoreAround(OpBuilder &b, Location loc, Value value,
                                ArrayRef<OpFoldResult> sizes, int64_t dim) {
  int64_t rank = sizes.size();
  Groups joined{{}}, split;
  joined.back().push_back(0);
  if (dim > 0)
    joined.push_back({});
  joined.back().push_back(1);
  if (dim < rank - 1)
    joined.push_back({});
  joined.back().push_back(2);
  addGroup(split, 0, dim);
  addGroup(split, dim, 1);
  addGroup(split, dim + 1, rank - dim - 1);
  return expand(b, loc, collapse(b, loc, value, joined), split, sizes);
}

Value tilewright::generic(OpBuilder &b, Location loc, ValueRange ins, Value out,
                          ArrayRef<AffineMap> maps, const LoopKinds &loops, Body body) {
  return linalg::GenericOp::create(b, loc, out.getType(), ins, out, maps, loops,
                                   [&](OpBuilder &b, Location loc, ValueRange scalars) {
                                     Value result = body(b, scalars);
                                     linalg::YieldOp::create(b, loc, result);
                                   })
      .getResult(0);
}

Value tilewright::integer(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

Value tilewright::countFlags(OpBuilder &b, Location loc, Value flags, Value count) {
  AffineMap each = b.getMultiDimIdentityMap(1), none = AffineMap::get(1, 0, b.getContext());
  Value zero = integer(b, loc, elementOf(flags), 0);
  Value nothing = linalg::FillOp::create(b, loc, zero, count).getResult(0);
  return generic(b, loc, flags, nothing, {each, none}, {utils::IteratorType::reduction},
                 [&](OpBuilder &b, ValueRange scalars) {
                   return arith::AddIOp::create(b, loc, scalars[0], scalars[1]).getResult();
                 });
}

ScanOp tilewright::sumFlags(OpBuilder &b, Location loc, Value flags) {
  Type type = elementOf(flags);
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, flags), type);
  auto scan = ScanOp::create(b, loc, TypeRange(empty.getType()), flags, Value(), Value(), empty,
                             ValueRange(), /*dim=*/0, false, false, false, false, false);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&scan.getCombiner(), {}, {type, type}, {loc, loc});
  Value sum = arith::AddIOp::create(b, loc, block->getArgument(0), block->getArgument(1));
  CombinedOp::create(b, loc, sum);
  return scan;
}

Value tilewright::findPlaces(OpBuilder &b, Location loc, Value flags, Value sums) {
  Type type = elementOf(flags);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, flags);
  AffineMap each = b.getMultiDimIdentityMap(1);
  Value unplaced = tensor::EmptyOp::create(b, loc, sizes, type);
  Value places = generic(b, loc, {flags, sums}, unplaced, {each, each, each},
                         {utils::IteratorType::parallel}, [&](OpBuilder &b, ValueRange scalars) {
                           Value one = integer(b, loc, type, 1);
                           Value place = arith::SubIOp::create(b, loc, scalars[1], one);
                           Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                               scalars[0], one);
                           return arith::SelectOp::create(b, loc, isSet, place,
                                                          integer(b, loc, type, -1))
                               .getResult();
                         });
  sizes.push_back(b.getIndexAttr(1));
  return expand(b, loc, places, {{0, 1}}, sizes);
}
