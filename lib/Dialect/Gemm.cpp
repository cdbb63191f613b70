// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification of tilewright.gemm, and what products CBLAS has a function for.

#include "tilewright/Dialect/Irregular.h"

using namespace mlir;
using namespace tilewright;

/// True if the last dim, along which elements are neighbours, is one of the two loops.
static bool endsIn(AffineMap map, unsigned first, unsigned second) {
  if (map.getNumResults() < 2)
    return false;
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  return last == first || last == second;
}

OrRefusal<GemmLoops> tilewright::matchGemm(ArrayRef<AffineMap> maps) {
  auto isMap = [&](AffineMap map) {
    return map.isProjectedPermutation() && map.getNumDims() == maps[0].getNumDims();
  };
  if (maps.size() != 3 || !llvm::all_of(maps, isMap))
    return refuse(Refused::Layout, "operands are not read by their loops as they are");
  GemmLoops loops;
  SmallVector<unsigned> m, n, k;
  for (unsigned loop = 0; loop < maps[0].getNumDims(); ++loop) {
    bool has[3];
    for (auto [number, map] : llvm::enumerate(maps))
      has[number] = map.isFunctionOfDim(loop);
    int count = has[0] + has[1] + has[2];
    if (count < 2)
      return refuse(Refused::NotContraction, "a loop belongs to one operand alone");
    (count == 3 ? loops.batch : !has[1] ? m : !has[0] ? n : k).push_back(loop);
  }
  if (m.empty() || n.empty())
    return refuse(Refused::NotContraction, "it is a product with a vector");
  if (m.size() != 1 || n.size() != 1 || k.size() != 1)
    return refuse(Refused::NotContraction, "its rows, its columns or its sum are several loops");
  loops.m = m.front(), loops.n = n.front(), loops.k = k.front();
  if (!endsIn(maps[0], loops.m, loops.k) || !endsIn(maps[1], loops.k, loops.n) ||
      !endsIn(maps[2], loops.n, loops.n))
    return refuse(Refused::Layout,
                  "neither rows nor columns of an operand lie side by side in memory");
  return loops;
}

void GemmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.getOperandNumber() == 2)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult GemmOp::verify() {
  SmallVector<AffineMap> maps(getMaps().getAsValueRange<AffineMapAttr>());
  if (OrRefusal<GemmLoops> loops = matchGemm(maps); !loops)
    return emitOpError() << "is nothing that CBLAS computes: " << loops.why().str();
  auto result = cast<ShapedType>(getC().getType());
  Type element = result.getElementType();
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "has elements of " << element << "; they are of f32 or f64";
  SmallVector<int64_t> extents(maps[0].getNumDims(), ShapedType::kDynamic);
  for (auto [operand, map] : llvm::zip_equal(getOperands(), maps)) {
    auto type = cast<ShapedType>(operand.getType());
    if (type.getElementType() != element || !type.hasRank() ||
        type.getRank() != map.getNumResults() ||
        isa<MemRefType>(type) != isa<MemRefType>(result))
      return emitOpError() << "has an operand of " << type << " beside a result of "
                           << result << " and map " << AffineMapAttr::get(map);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      int64_t &extent = extents[map.getDimPosition(dim)];
      if (ShapedType::isDynamic(extent))
        extent = size;
      if (!ShapedType::isDynamic(size) && size != extent)
        return emitOpError() << "has a loop of " << extent << " and of " << size;
    }
  }
  if (isa<MemRefType>(result) ? !getResults().empty()
                              : getResultTypes() != TypeRange(getC().getType()))
    return emitOpError() << "gives a result of its destination's type, " << result
                         << ", if that is a tensor, else none";
  return success();
}
