// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is spread over threads as memory has it: vectors along the innermost dim first, then
// lanes, then warps, and what is left is a thread's own.
//
//   32 x 256 elements of f32, 4 warps: 4 side by side, 32 lanes along the row and 1 row of a warp
//   at a time; a thread has 8 rows of 2 times 4 elements

#include "ThreadTiles.h"
#include "Footprint.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

ThreadTiles::ThreadTiles(const KernelInfo &info, const TilePlan &plan, TargetAttr target,
                         OpOperand &leading)
    : own(info.classes.size(), 1), warps(info.classes.size(), 1), info(info), plan(plan),
      target(target) {
  llvm::SmallSetVector<unsigned, 4> order;
  for (unsigned number : llvm::reverse(info.getClasses(leading)))
    order.insert(number);
  for (unsigned number : llvm::reverse(info.getClasses(info.getRoot())))
    order.insert(number);
  for (unsigned number = 0; number < info.classes.size(); ++number)
    order.insert(number);
  int64_t elements = 1;
  for (unsigned number : info.getClasses(leading))
    elements *= std::max<int64_t>(1, plan.classes[number].vector);
  int64_t width = std::max<int64_t>(1, target.getFact("access_bytes", 16) /
                                           bytesPerElement(leading.get().getType()));
  while (width > 1 && width * plan.threads > elements)
    width /= 2;
  int64_t lanes = plan.subgroup, left = std::max<int64_t>(1, plan.threads / plan.subgroup);
  bool isFirst = true;
  for (unsigned number : order) {
    int64_t extent = std::max<int64_t>(1, plan.classes[number].vector);
    if (isFirst && extent > 1)
      innermost = number;
    int64_t each = isFirst && extent > 1 ? std::min(width, extent) : 1;
    isFirst &= extent == 1;
    extent = llvm::divideCeil(extent, each);
    int64_t along = std::min(lanes, extent);
    lanes /= along;
    extent = llvm::divideCeil(extent, along);
    warps[number] = std::min(left, extent);
    left /= warps[number];
    own[number] = each * llvm::divideCeil(extent, warps[number]);
  }
}

bool tilewright::isLoaded(OpOperand &operand) {
  return isa<BlockArgument>(operand.get()) && isa<RankedTensorType>(operand.get().getType()) &&
         cast<linalg::LinalgOp>(operand.getOwner()).payloadUsesValueFromOperand(&operand);
}

/// Whether its elements may begin anywhere, so that each is read alone.
bool ThreadTiles::isOfView(OpOperand &operand) const {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  auto aligned = info.kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
  return argument && getView(info.kernel, operandNumber(argument)) &&
         !(aligned && llvm::is_contained(aligned.asArrayRef(), operandNumber(argument)));
}

int64_t tilewright::countAtEdges(const KernelInfo &info, const TilePlan &plan,
                                 OpOperand &operand, int64_t elements, int64_t width) {
  ArrayRef<unsigned> classes = info.getClasses(operand);
  bool isPartial = llvm::any_of(classes, [&](unsigned number) {
    int64_t extent = info.classes[number].extent, tile = plan.classes[number].vector;
    return tile > 1 && (ShapedType::isDynamic(extent) || extent % tile);
  });
  if (!isPartial)
    return 0;
  while (width > 1 &&
         !hasRowsOf(info, operand, width * bytesPerElement(operand.get().getType())))
    width /= 2;
  return llvm::divideCeil(elements, width);
}

int64_t ThreadTiles::countAtEdges(OpOperand &operand) const {
  ArrayRef<unsigned> classes = info.getClasses(operand);
  if (classes.empty())
    return 0;
  int64_t bytes = bytesPerElement(operand.get().getType());
  int64_t width = std::max<int64_t>(1, target.getFact("access_bytes", 16) / bytes);
  return tilewright::countAtEdges(info, plan, operand, elementsOf(classes),
                                  std::min(width, own[classes.back()]));
}

int64_t ThreadTiles::countAtEdges(ArrayRef<OpOperand *> loads) const {
  int64_t most = 0;
  for (OpOperand *load : loads)
    most = std::max(most, countAtEdges(*load));
  return most;
}

int64_t ThreadTiles::wordsInMemory(OpOperand &operand) const {
  Type type = operand.get().getType();
  ArrayRef<unsigned> classes = info.getClasses(operand);
  int64_t elements = elementsOf(classes), bytes = bytesPerElement(type);
  if (isReadAlone(info, operand))
    return elements * getIndexBits(info.kernel) / 32;
  if (isOfView(operand))
    return elements;
  if (bytes >= 4 || (!classes.empty() && classes.back() == innermost))
    return llvm::divideCeil(elements * bytes, 4);
  return elements;
}
