// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Back-to-back GEMMs: a contraction joins the group of the one that computes its operand.
//
//   %g = matmul(%x, %w)      opens the group: (m, n, k)
//   %h = relu(%g)            joins it
//   %r = matmul(%h, %v)      joins it: its columns are a new loop of the group, (m, n, k, p)

#include "GroupMembers.h"

#include "tilewright/Configure/TileFusion.h"

using namespace mlir;
using namespace tilewright;

/// The input of `op` that `group` computes, if none other of them is known to the group: a tensor
/// that both read would tie the loops of both.
static OpOperand *chainedOperand(const Group &group, linalg::LinalgOp op) {
  OpOperand *operand = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!group.dims.contains(input->get()))
      continue;
    if (operand || !input->get().getDefiningOp() ||
        !group.contains(input->get().getDefiningOp()))
      return nullptr;
    operand = input;
  }
  return operand;
}

/// Whether nothing but the end of the chain is a result of the kernel.
static bool onlyFeeds(const Group &group, linalg::LinalgOp op) {
  for (linalg::LinalgOp member : group.ops)
    for (Operation *user : member->getUsers())
      if (user != op.getOperation() && !group.contains(user))
        return false;
  return true;
}

/// The loops of `group` that those of `op` are; what `operand` lacks is a new one.
static SmallVector<unsigned> addLoops(Group &group, linalg::LinalgOp op, OpOperand &operand) {
  SmallVector<std::optional<unsigned>> known(op.getNumLoops());
  for (auto [result, loop] :
       llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(),
                       group.dims.lookup(operand.get())))
    known[cast<AffineDimExpr>(result).getPosition()] = loop;
  SmallVector<unsigned> loops;
  for (std::optional<unsigned> loop : known) {
    loops.push_back(loop.value_or(group.reduced.size()));
    if (!loop) {
      group.reduced.push_back(false);
      group.summed.push_back(false);
    }
  }
  return loops;
}

Refusal tilewright::tryChain(Group &group, linalg::LinalgOp op, TargetAttr target) {
  if (group.kind != GroupKind::Contraction ||
      classify(op) != GroupKind::Contraction || countContractions(group) != 1 ||
      !mayMoveTo(group, op) || !extentsFollowFromInputs(op))
    return unrelated();
  OpOperand *operand = chainedOperand(group, op);
  if (!operand)
    return unrelated();
  linalg::LinalgOp first = group.ops.front();
  if (group.reduced != group.summed)
    return refuse(Refused::Neighbours, "the product of a product cannot be computed in the kernel "
                                       "of the latter: between them, its result is reduced");
  if (!isContraction(first))
    return refuse(Refused::Neighbours,
                  "the product of a product cannot be computed in the kernel of the "
                  "latter: there, an operand is computed on its way into the tiles");
  if (!onlyFeeds(group, op))
    return unrelated();
  if (Refusal why = checkChain(first, op, operand->getOperandNumber(), target))
    return why;
  addMember(group, op, addLoops(group, op, *operand));
  return {};
}
