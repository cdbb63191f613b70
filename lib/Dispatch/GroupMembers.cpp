// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of groups and their loops (GroupMembers.h).

#include "GroupMembers.h"

#include "tilewright/Analysis/Contractions.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// Questions about one op
//===----------------------------------------------------------------------===//

GroupKind tilewright::classify(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return GroupKind::Elementwise;
  // Products of nibbles have a body that upstream does not know.
  if (!linalg::isaContractionOpInterface(op)) {
    auto product = matchContraction(op);
    if (!product || product->perElement == 1)
      return GroupKind::Reduction;
  }
  // A sum of products of two tensors of the same shape reuses nothing: it is a
  // reduction. So is a product with everything reduced.
  bool reuses = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults() < op.getNumLoops();
  });
  return reuses ? GroupKind::Contraction : GroupKind::Reduction;
}

bool tilewright::readsInit(linalg::LinalgOp op, OpOperand &init) {
  return !isa<linalg::FillOp>(op.getOperation()) &&
         op.payloadUsesValueFromOperand(&init);
}

bool tilewright::gathers(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  return body && !body->getOps<tensor::ExtractOp>().empty();
}

bool tilewright::isOnlyInit(linalg::FillOp fill) {
  if (fill->use_empty())
    return false;
  return llvm::all_of(fill->getUses(), [&](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return user && user.isDpsInit(&use) &&
           !isa<linalg::FillOp>(user.getOperation()) &&
           user->getBlock() == fill->getBlock();
  });
}

bool tilewright::readsOutsideInit(linalg::LinalgOp op, OpOperand &init) {
  auto fill = init.get().getDefiningOp<linalg::FillOp>();
  return readsInit(op, init) && !(fill && isOnlyInit(fill));
}

bool tilewright::extentsFollowFromInputs(linalg::LinalgOp op) {
  llvm::SmallBitVector known(op.getNumLoops());
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr result : op.getMatchingIndexingMap(input).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        known.set(dim.getPosition());
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (ShapedType::isStatic(range))
      known.set(loop);
  return known.all();
}

//===----------------------------------------------------------------------===//
// Members and their loops
//===----------------------------------------------------------------------===//

void tilewright::addMember(Group &group, linalg::LinalgOp op,
                           ArrayRef<unsigned> loops) {
  group.ops.push_back(op);
  bool multiplies = classify(op) == GroupKind::Contraction;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction) {
      group.reduced[loops[loop]] = true;
      group.summed[loops[loop]] |= multiplies;
    }
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<unsigned> dims;
    for (AffineExpr result : op.getMatchingIndexingMap(&operand).getResults())
      dims.push_back(loops[cast<AffineDimExpr>(result).getPosition()]);
    if (op.isDpsInit(&operand))
      group.dims[op.getTiedOpResult(&operand)] = dims;
    else
      group.dims.try_emplace(operand.get(), dims);
  }
}

void tilewright::sortMembers(Group &group) {
  llvm::sort(group.ops, [](linalg::LinalgOp a, linalg::LinalgOp b) {
    return a->isBeforeInBlock(b);
  });
}

std::optional<SmallVector<unsigned>>
tilewright::matchLoops(const Group &group, linalg::LinalgOp op) {
  SmallVector<std::optional<unsigned>> loops(op.getNumLoops());
  auto follow = [&](OpOperand &operand) {
    auto known = group.dims.find(operand.get());
    if (known == group.dims.end())
      return true;
    SmallVector<std::optional<unsigned>> tried = loops;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [result, dim] : llvm::zip_equal(map.getResults(), known->second)) {
      std::optional<unsigned> &loop =
          tried[cast<AffineDimExpr>(result).getPosition()];
      if (loop ? *loop != dim : llvm::is_contained(tried, dim))
        return false;
      loop = dim;
    }
    loops = std::move(tried);
    return true;
  };
  auto isProduced = [&](Value value) {
    return value.getDefiningOp() && group.contains(value.getDefiningOp());
  };
  // What the group computes must line up; what it only reads may.
  for (OpOperand *input : op.getDpsInputOperands())
    if (isProduced(input->get()) && !follow(*input))
      return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isProduced(input->get()))
      (void)follow(*input);
  SmallVector<unsigned> result;
  for (std::optional<unsigned> loop : loops) {
    if (!loop)
      return std::nullopt;
    result.push_back(*loop);
  }
  return result;
}

SmallVector<unsigned> tilewright::mapLoops(const Group &group, linalg::LinalgOp member,
                                           ArrayRef<std::optional<unsigned>> to) {
  SmallVector<unsigned> loops(member.getNumLoops());
  for (OpOperand &operand : member->getOpOperands()) {
    Value value = member.isDpsInit(&operand)
                      ? Value(member.getTiedOpResult(&operand))
                      : operand.get();
    AffineMap map = member.getMatchingIndexingMap(&operand);
    for (auto [result, theirs] :
         llvm::zip_equal(map.getResults(), group.dims.lookup(value)))
      loops[cast<AffineDimExpr>(result).getPosition()] = *to[theirs];
  }
  return loops;
}

bool tilewright::mayMoveTo(const Group &group, Operation *op) {
  for (linalg::LinalgOp member : group.ops)
    for (Operation *user : member->getUsers()) {
      Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
      // What a body reads by coordinates of its own it needs whole, in memory.
      if (!ancestor || (ancestor == op && user != op) ||
          (ancestor != op && !group.contains(ancestor) && ancestor->isBeforeInBlock(op)))
        return false;
    }
  return true;
}

bool tilewright::isContraction(linalg::LinalgOp op) {
  return classify(op) == GroupKind::Contraction;
}

unsigned tilewright::countContractions(const Group &group) {
  return llvm::count_if(group.ops, isContraction);
}

linalg::LinalgOp tilewright::firstContraction(const Group &group) {
  return *llvm::find_if(group.ops, isContraction);
}

SmallVector<Group *> tilewright::producersOf(MutableArrayRef<Group> groups,
                                             linalg::LinalgOp op) {
  SmallVector<Group *> producers;
  for (Group &group : llvm::reverse(groups))
    if (llvm::any_of(op.getDpsInputs(), [&](Value input) {
          return input.getDefiningOp() &&
                 group.contains(input.getDefiningOp());
        }))
      producers.push_back(&group);
  return producers;
}

void tilewright::say(const Refusal &why, std::string &apart) {
  if (!why.str().empty())
    apart = why.str();
}
