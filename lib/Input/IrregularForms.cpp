// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %x : tensor<2x3x40x5xf32> around dim 2:   %v : tensor<6x40x5xf32>
//   %x : tensor<40xf32> around dim 0:         %v : tensor<1x40x1xf32>

#include "IrregularForms.h"

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
