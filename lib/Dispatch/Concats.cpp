// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Concats.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace tilewright;

using Size = ValueBoundsConstraintSet::Variable;

/// Whether `insert` fills all of dim `dim`.
static bool fillsDim(tensor::InsertSliceOp insert, int64_t dim) {
  if (!isConstantIntValue(insert.getMixedOffsets()[dim], 0) ||
      !isConstantIntValue(insert.getMixedStrides()[dim], 1))
    return false;
  OpFoldResult size = insert.getMixedSizes()[dim];
  int64_t extent = insert.getDestType().getDimSize(dim);
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return *known == extent;
  FailureOr<bool> equal =
      ValueBoundsConstraintSet::areEqual(Size(size), Size(insert.getDest(), dim));
  return succeeded(equal) && *equal;
}

/// The insertions that `value` is made by, from a new tensor on, the last first.
static SmallVector<tensor::InsertSliceOp> insertionsOf(Value value) {
  SmallVector<tensor::InsertSliceOp> inserts;
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!inserts.empty() && !insert->hasOneUse())
      return {};
    inserts.push_back(insert);
    value = insert.getDest();
  }
  if (!value.getDefiningOp<tensor::EmptyOp>())
    inserts.clear();
  return inserts;
}

/// The dim that `insert` fills a part of, and no other.
static std::optional<int64_t> dimOfParts(tensor::InsertSliceOp insert) {
  std::optional<int64_t> found;
  for (int64_t dim = 0; dim < insert.getDestType().getRank(); ++dim) {
    if (fillsDim(insert, dim))
      continue;
    if (found || ShapedType::isDynamic(insert.getStaticOffsets()[dim]) ||
        ShapedType::isDynamic(insert.getStaticSizes()[dim]) ||
        insert.getStaticStrides()[dim] != 1)
      return std::nullopt;
    found = dim;
  }
  return found;
}

static std::optional<Concat> matchInsertions(Value value) {
  SmallVector<tensor::InsertSliceOp> inserts = insertionsOf(value);
  if (inserts.size() < 2)
    return std::nullopt;
  std::optional<int64_t> dim = dimOfParts(inserts.front());
  if (!dim)
    return std::nullopt;
  Concat concat{*dim, {}};
  for (tensor::InsertSliceOp insert : inserts) {
    if (dimOfParts(insert) != dim)
      return std::nullopt;
    concat.parts.push_back(
        {insert.getSource(), insert.getStaticOffsets()[*dim], insert.getStaticSizes()[*dim]});
  }
  llvm::sort(concat.parts,
             [](const ConcatPart &a, const ConcatPart &b) { return a.offset < b.offset; });
  int64_t end = 0;
  for (const ConcatPart &part : concat.parts) {
    if (part.offset != end)
      return std::nullopt;
    end += part.size;
  }
  if (end != inserts.front().getDestType().getDimSize(*dim))
    return std::nullopt;
  return concat;
}

std::optional<SmallVector<int64_t>> tilewright::keptDims(tensor::CollapseShapeOp collapse) {
  SmallVector<int64_t> kept;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    int64_t found = group.front();
    for (int64_t dim : group)
      if (collapse.getSrcType().getDimSize(dim) != 1) {
        if (collapse.getSrcType().getDimSize(found) != 1 && found != dim)
          return std::nullopt;
        found = dim;
      }
    kept.push_back(found);
  }
  return kept;
}

/// Parts of one element each, inside of another dim that they are collapsed with: every n-th
/// element of that is of one of them.
static std::optional<Concat> matchInterleaved(tensor::CollapseShapeOp collapse) {
  std::optional<Concat> concat = matchInsertions(collapse.getSrc());
  if (!concat || llvm::any_of(concat->parts, [](const ConcatPart &part) { return part.size != 1; }))
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    int64_t wide = llvm::count_if(
        group, [&](int64_t inner) { return collapse.getSrcType().getDimSize(inner) != 1; });
    if (group.back() == concat->dim && wide == 2)
      found = dim;
    else if (wide > 1)
      return std::nullopt;
  }
  int64_t size = found ? collapse.getResultType().getDimSize(*found) : ShapedType::kDynamic;
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  concat->dim = *found;
  concat->step = concat->parts.size();
  for (ConcatPart &part : concat->parts)
    part.size = size / concat->step;
  return concat;
}

std::optional<Concat> tilewright::matchConcat(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return matchInsertions(value);
  std::optional<SmallVector<int64_t>> kept = keptDims(collapse);
  if (!kept)
    return matchInterleaved(collapse);
  std::optional<Concat> concat = matchInsertions(collapse.getSrc());
  if (!concat || !llvm::is_contained(*kept, concat->dim))
    return std::nullopt;
  concat->dim = llvm::find(*kept, concat->dim) - kept->begin();
  return concat;
}
