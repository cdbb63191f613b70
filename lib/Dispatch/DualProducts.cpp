// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dual products (DualProducts.h). The group of the product that stands first joins that of
// the other where the op that reads both does.
//
//   %g = matmul(%x, %w)      group 1
//   %h = silu(%g)            group 1
//   %u = matmul(%x, %v)      group 2
//   %r = %h * %u             joins group 2, which takes in group 1

#include "DualProducts.h"
#include "GroupMembers.h"

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Configure/TileFusion.h"

using namespace mlir;
using namespace tilewright;

Refusal tilewright::tryFuseDual(Group &base, ArrayRef<unsigned> loops, Group &other,
                                linalg::LinalgOp op, TargetAttr target) {
  auto isPlain = [](const Group &group) {
    return group.kind == GroupKind::Contraction && countContractions(group) == 1 &&
           group.reduced == group.summed;
  };
  if (!isPlain(base) || !isPlain(other) || !mayMoveTo(other, op))
    return unrelated();
  linalg::LinalgOp product = firstContraction(base), second = firstContraction(other);
  std::optional<unsigned> shared = sharedOperand(second, product);
  std::optional<SmallVector<unsigned>> otherLoops = matchLoops(other, op);
  if (!shared || !otherLoops)
    return unrelated();
  auto fail = [](StringRef why) {
    return refuse(Refused::Neighbours,
                  "two products of one operand are not computed in one kernel: " + why);
  };
  // What is written anyway saves nothing.
  SmallVector<Value> between;
  for (linalg::LinalgOp member : other.ops)
    for (OpOperand &use : member->getUses()) {
      if (other.contains(use.getOwner()))
        continue;
      if (use.getOwner() != op)
        return fail("others than what combines the results read the first one's, too");
      if (!llvm::is_contained(between, use.get()))
        between.push_back(use.get());
    }
  // Loop l of either product is loop l of its group: it has opened it.
  SmallVector<std::optional<unsigned>> toBase;
  for (unsigned loop = 0; loop < other.reduced.size(); ++loop)
    toBase.push_back(loop);
  for (auto [mine, theirs] : llvm::zip_equal(loops, *otherLoops))
    if (mine != theirs)
      return fail("their results are combined along different loops");
  bool inMemory = true;
  for (linalg::LinalgOp one : {product, second})
    for (Value input : one.getDpsInputs())
      if (Operation *producer = input.getDefiningOp())
        inMemory &= !base.contains(producer) && !other.contains(producer);
  SmallVector<linalg::LinalgOp> after = base.ops;
  after.push_back(op);
  OrRefusal<std::string> saved =
      mayFuseDual(second, product, *shared, {other.ops, after, between, inMemory}, target);
  if (!saved)
    return saved.why();
  for (linalg::LinalgOp member : other.ops)
    addMember(base, member, mapLoops(other, member, toBase));
  sortMembers(base);
  llvm::append_range(base.notes, other.notes);
  base.notes.push_back(*saved);
  other.ops.clear();
  return {};
}

void tilewright::fuseSharedProducer(MutableArrayRef<Group> groups, Group &group,
                               TargetAttr target) {
  linalg::LinalgOp product = firstContraction(group);
  for (Group *producer : producersOf(groups, product))
    if (producer != &group && producer->kind != GroupKind::Contraction)
      say(tryFuseProducers(group, *producer, product, target), producer->apart);
}
