// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which contractions warps with roles can multiply, and what copy engines bring of their operands:
// rows of 32, 64 or 128 bytes along the sum (or, of 16-bit types, rows of whole boxes along m or
// n), at multiples of 16 bytes in memory. One operand that is computed (dequantized, cast), or that
// lies otherwise, goes through registers, where `promote` leaves it out.

#include "WarpSpecialized.h"
#include "CostModel.h"
#include "TensorMaps.h"
#include "WarpgroupRegisters.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/UserNames.h"

using namespace mlir;
using namespace tilewright;

OpOperand *tilewright::copiedOperand(const KernelInfo &info, unsigned number,
                                     const Contraction &product,
                                     const MatrixLoops &loops) {
  linalg::LinalgOp root = info.getRoot();
  OpOperand &operand = root->getOpOperand(number);
  if (isa<BlockArgument>(operand.get()))
    return &operand;
  ArrayRef<unsigned> rootClasses = info.getClasses(root);
  unsigned rows = rootClasses[number == product.a ? loops.m : loops.n];
  OpOperand *found = nullptr;
  for (linalg::LinalgOp op : info.ops) {
    if (!isFusedProducer(info, op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      SmallVector<unsigned> classes;
      for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
        classes.push_back(info.getClasses(op)[cast<AffineDimExpr>(expr).getPosition()]);
      if (!isa<BlockArgument>(bytesOf(input->get())) ||
          !llvm::is_contained(classes, rows) ||
          !llvm::is_contained(classes, rootClasses[loops.k]))
        continue;
      if (found)
        return nullptr;
      found = input;
    }
  }
  return found;
}

Refusal tilewright::whyNotCopied(const KernelInfo &info, LoweringConfigAttr config, unsigned number,
                                 const MatrixLoops &loops, const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  bool inRegisters = number == product.a && hasAInRegisters(config, product);
  std::string what = numberOperand(root->getOpOperand(number));
  if (!isa<BlockArgument>(root->getOpOperand(number).get()) && !inRegisters)
    return refuse(Refused::Neighbours,
                  what + " is computed in the kernel; copy engines bring what lies in memory");
  OpOperand *copied = copiedOperand(info, number, product, loops);
  if (!copied)
    return refuse(Refused::Layout,
                  what + " is not computed from one tensor in memory of its shape");
  OpOperand &operand = *copied;
  auto owner = cast<linalg::LinalgOp>(operand.getOwner());
  if (owner != root)
    what += ", or what it is computed from,";
  auto argument = cast<BlockArgument>(bytesOf(operand.get()));
  bool isPacked = argument != operand.get();
  if (Refusal why = whyNoTensorMap(info.kernel, argument))
    return why.after(what);
  AffineMap map = owner.getMatchingIndexingMap(&operand);
  int64_t bytes = bytesPerElement(argument.getType());
  ArrayRef<unsigned> classes = info.getClasses(root);
  unsigned rows = number == product.a ? loops.m : loops.n;
  unsigned dim = map.getDimPosition(map.getNumResults() - 1);
  unsigned last = info.getClasses(owner)[dim];
  if (last != classes[rows] && last != classes[loops.k])
    return refuse(Refused::Layout, what + " has neighbours in memory along loop " +
                                       std::to_string(dim) + ", of which a tile has one element");
  int64_t neighbours = config.getBlock()[last == classes[rows] ? rows : loops.k] * bytes;
  neighbours /= isPacked ? 2 : 1;
  bool isShort = neighbours == 16 && last == classes[loops.k];
  if (inRegisters && !isShort && !llvm::is_contained({32, 64}, neighbours) &&
      neighbours % 128)
    return refuse(
        Refused::Layout,
        what + " has tiles of " + std::to_string(neighbours) +
            " bytes a row; to be read into registers they have 32, 64 or whole 128, along "
            "the sum 16, too");
  if (last == classes[rows] && bytes != 2 && !inRegisters)
    return refuse(Refused::Layout,
                  what +
                      " has its sums across the rows of memory, where only 16-bit types are "
                      "read as matrices; one such operand is taken out of registers, if 'promote' "
                      "leaves it out");
  return {};
}

/// Why the products of a dual product are not multiplied out of one ring: operands of all of
/// them are brought by copy engines, and lie as those of the root do.
static Refusal whyNotDual(const KernelInfo &info, LoweringConfigAttr config,
                          const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  if (!config.isForWarpgroups() || config.getTwoLevelSums() ||
      hasAInRegisters(config, product))
    return refuse(Refused::Config,
                  "the kernel has two products of one operand, which roles of warps multiply by "
                  "instructions of warpgroups alone, out of shared memory and in one level");
  for (linalg::LinalgOp op : info.rootProducts)
    for (unsigned number : {product.a, product.b}) {
      OpOperand &operand = op->getOpOperand(number);
      std::string what = numberOperand(operand) + " of one of two products";
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (!argument)
        return refuse(Refused::Neighbours,
                      what + " is computed in the kernel; copy engines bring what lies in memory");
      if (op.getMatchingIndexingMap(&operand) !=
          root.getMatchingIndexingMap(&root->getOpOperand(number)))
        return refuse(Refused::Layout,
                      what + " does not lie in memory as that of the other one does");
      if (Refusal why = whyNoTensorMap(info.kernel, argument))
        return why.after(what);
    }
  return {};
}

Refusal tilewright::whyNotOneProduct(const KernelInfo &info, LoweringConfigAttr config,
                                     const MatrixLoops &loops, const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  // Of several loops along the sum, the tile's and others, one is made.
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  bool several = llvm::any_of(product.k, [&](unsigned loop) {
    return loop != loops.k && extents[loop] != 1;
  });
  if (several && llvm::any_of(product.k, [&](unsigned loop) {
        return ShapedType::isDynamic(extents[loop]);
      }))
    return refuse(Refused::DynamicExtents, "the sum runs over several loops of dynamic extents");
  if (llvm::any_of(info.ops, [&](linalg::LinalgOp op) { return isFusedReduction(info, op); }))
    return refuse(Refused::Neighbours,
                  "rows of an operand are reduced before the product, and no role of warps does");
  if (info.isDual())
    return whyNotDual(info, config, product);
  if (info.getProducts().size() > 1 && !chainedProduct(info, config))
    return refuse(Refused::Neighbours,
                  "the kernel has two products, and roles of warps are for one");
  return {};
}

bool tilewright::sumsAlongMemory(const KernelInfo &info, unsigned number,
                                 const MatrixLoops &loops) {
  linalg::LinalgOp root = info.getRoot();
  AffineMap map = root.getMatchingIndexingMap(&root->getOpOperand(number));
  return map.getDimPosition(map.getNumResults() - 1) == loops.k;
}
