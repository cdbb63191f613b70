// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VectorParts.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

SmallVector<VectorPart> tilewright::partsOf(Value vector) {
  SmallVector<VectorPart> parts;
  auto type = cast<VectorType>(vector.getType());
  int64_t elements = 0;
  Value rest = vector;
  while (auto insert = rest.getDefiningOp<vector::InsertStridedSliceOp>()) {
    SmallVector<int64_t> offsets;
    for (Attribute offset : insert.getOffsets())
      offsets.push_back(cast<IntegerAttr>(offset).getInt());
    parts.push_back({insert.getValueToStore(), offsets});
    elements += insert.getSourceVectorType().getNumElements();
    rest = insert.getDest();
  }
  if (parts.empty() || elements != type.getNumElements())
    return {{vector, SmallVector<int64_t>(type.getRank(), 0)}};
  std::reverse(parts.begin(), parts.end());
  return parts;
}

void tilewright::eraseParts(Value vector) {
  while (auto insert = vector.getDefiningOp<vector::InsertStridedSliceOp>()) {
    if (!insert->use_empty())
      return;
    vector = insert.getDest();
    insert.erase();
  }
}
