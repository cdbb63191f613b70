// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How operands of a product by instructions of warps come to shared memory: by asynchronous
// copies, or by way of registers. What `pipeline` finds of the tiles is here found of the plan,
// by the same functions (AsyncCopies.h).

#include "MatrixUnit.h"
#include "Footprint.h"
#include "tilewright/Dialect/AsyncCopies.h"
#include "tilewright/Dialect/Padding.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

static int64_t elementBits(OpOperand &operand) {
  Type type = getElementTypeOrSelf(operand.get().getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

static int64_t rankOf(OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  return type ? type.getRank() : 0;
}

/// Whether `operand` is stored as it is loaded: an argument that is only read, whose rows are
/// rows of shared memory. Halves are loaded as matrices either way, others along the sum.
static bool isCopiedAsItIs(const KernelInfo &info, OpOperand &operand, TargetAttr target) {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  int64_t bits = elementBits(operand);
  if (!argument || !rankOf(operand) || bits < 8 || !isReadOnly(info.kernel, argument))
    return false;
  std::optional<Padding> padding = getPadding(argument);
  return (!padding || isZeroFill(padding->fill)) &&
         ((bits == 16 && target.has("load_matrices")) || runsAlongSum(operand));
}

/// Elements at multiples of which rows of an argument's tile begin in memory, for accesses of
/// at most 16 bytes; 0: its elements are no neighbours.
static int64_t alignedElements(const KernelInfo &info, const TilePlan &plan,
                               OpOperand &operand, TargetAttr target) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  int64_t row = map.getNumResults() - 1;
  SmallVector<int64_t> starts, extents;
  for (AffineExpr dim : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(dim).getPosition();
    const ClassTile &tile = plan.classes[info.getClasses(op)[loop]];
    starts.push_back(tile.loop ? tile.inner : kAnyDivisor);
    extents.push_back(tile.inner);
  }
  BufferDivisors divisors = argumentDivisors(info.kernel, cast<BlockArgument>(operand.get()),
                                             target.getFact("access_bytes", 16));
  return divisors.strides[row] != 1
             ? 0
             : std::gcd(alignmentOfRows(divisors, starts, extents, row), extents[row]);
}

int64_t tilewright::copyBytes(const KernelInfo &info, const TilePlan &plan, OpOperand &operand,
                              TargetAttr target) {
  if (!target.has("async_copy") || !isCopiedAsItIs(info, operand, target))
    return 0;
  int64_t bytes = elementBits(operand) / 8,
          aligned = alignedElements(info, plan, operand, target);
  int64_t length = aligned ? lengthOfRuns(bytes, aligned, aligned) : 0;
  // Copies of several elements would begin in front of what there is.
  std::optional<Padding> padding = getPadding(operand.get());
  return length > 1 && padding && padding->constrains(rankOf(operand) - 1) ? 0
                                                                           : length * bytes;
}

bool tilewright::isRegisterStaged(const KernelInfo &info, TargetAttr target) {
  linalg::LinalgOp root = info.getRoot();
  const Contraction *contraction = info.getContraction(root);
  if (contraction && target.has("load_matrices"))
    for (linalg::LinalgOp op : info.rootProducts)
      for (unsigned number : {contraction->a, contraction->b}) {
        OpOperand &operand = op->getOpOperand(number);
        if (elementBits(operand) == 8 && !runsAlongSum(operand))
          return true;
      }
  return llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return isFusedProducer(info, op);
  });
}
