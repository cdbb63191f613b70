// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FragmentAccess.h.

#include "FragmentAccess.h"

#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Padding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// Strides of a memref, and what they and its first element's place are known to
/// be multiples of.
struct Memory {
  SmallVector<int64_t> strides; // kDynamic where only the launch tells
  SmallVector<int64_t> divisors;
  int64_t offset = kAnyDivisor;
};
} // namespace

std::string tilewright::nameBuffer(Value memref) {
  auto argument = dyn_cast<BlockArgument>(memref);
  if (!argument)
    return "shared memory";
  int64_t number = 0;
  for (BlockArgument before : argument.getOwner()->getArguments())
    if (before.getArgNumber() < argument.getArgNumber())
      number += isa<MemRefType>(before.getType());
  return "operand " + std::to_string(number);
}

bool tilewright::isAccumulator(Operation *op, const DistributedLayout &layout,
                               Type element) {
  TargetAttr target = getTarget(op);
  auto names = target ? target.getFacts().getAs<ArrayAttr>("mma") : ArrayAttr();
  VectorType type = fragmentType(layout, element);
  return names && llvm::any_of(names.getAsRange<StringAttr>(),
                               [&](StringAttr name) {
    auto known = MatrixInstruction::parse(op->getContext(), name);
    return known && known->opaque && known->m == type.getDimSize(0) &&
           known->n == type.getDimSize(1) && known->accumulator == element;
  });
}

/// What is known of a kernel's buffer or of its shared memory; `whyNot` is set
/// where fragments cannot be there.
static Memory describe(Value base, std::string &whyNot) {
  Memory memory;
  auto type = cast<MemRefType>(base.getType());
  int64_t offset;
  if (auto argument = dyn_cast<BlockArgument>(base)) {
    auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!kernel) {
      whyNot = "its memory is no operand of the kernel";
      return memory;
    }
    if (getPadding(argument))
      whyNot = nameBuffer(base) + " is padded";
    TargetAttr target = getTarget(kernel);
    BufferDivisors known = argumentDivisors(
        kernel, argument, target ? target.getFact("access_bytes", 16) : 16);
    memory.divisors.assign(known.strides.begin(), known.strides.end());
    memory.offset = known.offset;
    if (getWindowStrides(type, memory.strides))
      return memory;
    if (failed(type.getStridesAndOffset(memory.strides, offset)))
      whyNot = nameBuffer(base) + " has no strides";
    return memory;
  }
  auto space = dyn_cast_or_null<SharedAttr>(type.getMemorySpace());
  if (!space || !space.getSwizzle().empty() ||
      failed(type.getStridesAndOffset(memory.strides, offset)) ||
      llvm::any_of(memory.strides, ShapedType::isDynamic)) {
    whyNot = "shared memory is swizzled, or has no static strides";
    return memory;
  }
  memory.divisors = memory.strides;
  // Stages follow each other at multiples of their rows.
  if (auto stage = base.getDefiningOp<memref::SubViewOp>()) {
    auto whole = cast<MemRefType>(stage.getSource().getType());
    SmallVector<int64_t> strides;
    if (failed(whole.getStridesAndOffset(strides, offset)) ||
        !stage.getSource().getDefiningOp<memref::AllocOp>()) {
      whyNot = "shared memory is a view of a view";
      return memory;
    }
    for (auto [at, stride] : llvm::zip_equal(stage.getMixedOffsets(), strides))
      if (getConstantIntValue(at) != 0)
        memory.offset = std::gcd(memory.offset, stride);
  }
  return memory;
}

FragmentAccess tilewright::planFragmentAccess(VectorTransferOpInterface op,
                                              const DistributedLayout &layout) {
  FragmentAccess result;
  auto refuse = [&](const Twine &why) {
    result.whyNot = why.str();
    return result;
  };
  auto type = dyn_cast<MemRefType>(op.getShapedType());
  VectorType vector = op.getVectorType();
  if (!type || vector.getRank() != 2)
    return refuse("the tile has " + Twine(vector.getRank()) + " dims");
  std::string buffer = nameBuffer(op.getBase());
  if (op.getMask())
    return refuse("the access to " + buffer + " is masked");
  if (op.hasBroadcastDim())
    return refuse(buffer + " is broadcast along rows or columns");
  if (!vector.getElementType().isIntOrFloat() ||
      vector.getElementTypeBitWidth() < 8)
    return refuse(buffer + " has elements of less than a byte");
  std::string whyNot;
  Memory memory = describe(op.getBase(), whyNot);
  if (!whyNot.empty())
    return refuse(whyNot);

  // The vector dim along which memory has no gaps, and the other one.
  AffineMap map = op.getPermutationMap();
  unsigned dims[] = {map.getDimPosition(0), map.getDimPosition(1)};
  int along = memory.strides[dims[1]] == 1 ? 1 : 0;
  if (memory.strides[dims[along]] != 1)
    return refuse("neither rows nor columns of " + buffer + " are without gaps");
  std::vector<int64_t> atom = layout.atomShape();
  int64_t bytes = elementBytes(vector.getElementType());
  int64_t aligned = std::max<int64_t>(
      1, std::min<int64_t>(16, atom[along] * bytes) / bytes);
  int64_t stride = memory.strides[dims[1 - along]];
  if (!ShapedType::isDynamic(stride) && stride < atom[along])
    return refuse("rows of " + buffer + " overlap");
  auto isAligned = [&](int64_t divisor) { return divisor % aligned == 0; };
  bool all = isAligned(memory.offset) && isAligned(atom[along]) &&
             isAligned(memory.divisors[dims[1 - along]]);
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    int64_t known = knownDivisor(index);
    all &= isAligned(known) || isAligned(memory.divisors[dim]) ||
           isAligned(known * memory.divisors[dim]);
  }
  if (!all)
    return refuse("rows of " + buffer + " are not known to begin at multiples of " +
                  Twine(aligned * bytes) + " bytes");
  for (int64_t dim : {0, 1}) {
    if (op.isDimInBounds(dim))
      continue;
    int64_t size = type.getDimSize(dims[dim]);
    if (!ShapedType::isDynamic(size) && size < vector.getDimSize(dim))
      return refuse("no tile is whole: " + buffer + " has " + Twine(size) +
                    (dim ? " columns" : " rows") + ", tiles " +
                    Twine(vector.getDimSize(dim)));
    result.clipped.push_back(dim);
  }
  return result;
}
