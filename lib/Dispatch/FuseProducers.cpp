// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Producer fusion: a contraction takes in the elementwise group, or the norm, that computes one of
// its operands, which is then computed tile by tile.
//
//   %h = relu(%x)            a group of its own, until
//   %r = matmul(%h, %w)      opens one: %h has no other reader, and each tile computes it

#include "GroupMembers.h"

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Configure/TileFusion.h"

using namespace mlir;
using namespace tilewright;

/// Whether what `producer` reduces, if anything, is the rows of an operand of `product`:
/// all that the product sums over, and nothing else. Loop l of the one is loop
/// `toGroup[l]` of the other.
static bool reducesWholeRows(const Group &producer, linalg::LinalgOp product,
                             ArrayRef<std::optional<unsigned>> toGroup) {
  if (!llvm::is_contained(producer.reduced, true))
    return true;
  SmallVector<utils::IteratorType> types = product.getIteratorTypesArray();
  return product.getNumReductionLoops() == unsigned(llvm::count(producer.reduced, true)) &&
         llvm::none_of(producer.ops, isSequentialReduction) &&
         llvm::all_of(llvm::enumerate(toGroup), [&](auto loop) {
           return producer.reduced[loop.index()] ==
                  (types[*loop.value()] == utils::IteratorType::reduction);
         });
}

/// The operand of `product`, a member of `group`, which is all that others read of `producer`.
static OrRefusal<OpOperand *> onlyOperandRead(Group &group, Group &producer,
                                              linalg::LinalgOp product) {
  OpOperand *operand = nullptr;
  // All products of a dual product read the operand that they share.
  auto readsOperand = [&](OpOperand &use) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return reader && group.contains(reader) && isContraction(reader) && reader.isDpsInput(&use) &&
           (!operand || (operand->getOwner() != reader && operand->get() == use.get() &&
                         operand->getOperandNumber() == use.getOperandNumber()));
  };
  for (linalg::LinalgOp member : producer.ops) {
    if (isa<linalg::FillOp>(member.getOperation()) || gathers(member))
      return unrelated();
    for (OpOperand &init : member.getDpsInitsMutable())
      if (readsOutsideInit(member, init))
        return unrelated();
    for (OpOperand &use : member->getUses()) {
      if (producer.contains(use.getOwner()))
        continue;
      if (!readsOperand(use))
        return refuse(Refused::Neighbours, "others than one operand of the product read it, too");
      if (!operand || use.getOwner() == product)
        operand = &use;
    }
  }
  if (!operand || operand->getOwner() != product)
    return unrelated();
  return operand;
}

Refusal tilewright::tryFuseProducers(Group &group, Group &producer, linalg::LinalgOp product,
                                     TargetAttr target) {
  if (producer.kind == GroupKind::Contraction || !mayMoveTo(producer, product) ||
      !extentsFollowFromInputs(product) ||
      !llvm::all_of(producer.ops, extentsFollowFromInputs))
    return unrelated();
  OrRefusal<OpOperand *> operand = onlyOperandRead(group, producer, product);
  if (!operand)
    return operand.why();
  SmallVector<std::optional<unsigned>> toGroup(producer.reduced.size());
  for (auto [result, loop] :
       llvm::zip_equal(product.getMatchingIndexingMap(*operand).getResults(),
                       producer.dims.lookup((*operand)->get())))
    toGroup[loop] = cast<AffineDimExpr>(result).getPosition();
  if (llvm::is_contained(toGroup, std::nullopt) || !reducesWholeRows(producer, product, toGroup))
    return unrelated();
  bool normalizes = producer.kind == GroupKind::Reduction;
  OrRefusal<std::string> saved = (normalizes ? mayFuseNorm : mayFuseProducers)(
      producer.ops, product, (*operand)->getOperandNumber(), countContractions(group), target);
  if (!saved)
    return saved.why();
  for (linalg::LinalgOp member : producer.ops)
    addMember(group, member, mapLoops(producer, member, toGroup));
  sortMembers(group);
  group.notes.push_back(*saved);
  producer.ops.clear();
  return {};
}
