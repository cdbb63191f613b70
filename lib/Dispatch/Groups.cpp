// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms groups of structured ops; the rules are in Groups.h. Here is its table, and what joins
// groups by it; chains, fused producers and dual products have rules of their own.

#include "DualProducts.h"
#include "GroupMembers.h"

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Configure/TileFusion.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// The table of Groups.h
//===----------------------------------------------------------------------===//

/// The right column of the table: what may be done with a product's tile.
static Refusal checkProduct(const Group &group, linalg::LinalgOp op, ArrayRef<unsigned> loops,
                            TargetAttr target) {
  // What no op reduces is spread over blocks, and everybody has it.
  for (unsigned loop = 0; loop < group.reduced.size(); ++loop)
    if (group.summed[loop] ? llvm::is_contained(loops, loop)
                           : !group.reduced[loop] && !llvm::is_contained(loops, loop))
      return unrelated();
  if (classify(op) == GroupKind::Elementwise)
    return llvm::is_sorted(loops) ? Refusal() : unrelated();
  SmallVector<unsigned> reduced;
  for (auto [loop, type] : llvm::zip_equal(loops, op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      reduced.push_back(loop);
  // A second reduction has the loops of the first, or all others lose theirs.
  for (unsigned loop = 0; loop < group.reduced.size(); ++loop)
    if (!group.summed[loop] && group.reduced[loop] &&
        !llvm::is_contained(reduced, loop))
      return unrelated();
  if (countContractions(group) > 1)
    return refuse(Refused::NotContraction,
                  "the result of two products in one kernel is not reduced there");
  return checkReducedTile(firstContraction(group), reduced, target);
}

/// The table of Groups.h, where `group` is of no product.
static bool kindsAllow(const Group &group, linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  GroupKind kind = classify(op);
  unsigned parallelCovered = 0, reducedCovered = 0;
  for (unsigned loop : loops)
    ++(group.reduced[loop] ? reducedCovered : parallelCovered);
  unsigned allReduced = llvm::count(group.reduced, true);
  unsigned allParallel = group.reduced.size() - allReduced;
  switch (group.kind) {
  case GroupKind::Elementwise:
    // A full reduction is the work of few blocks; what others read of its
    // inputs is better computed by all.
    return loops.size() == group.reduced.size() &&
           (kind == GroupKind::Reduction ? op.getNumParallelLoops() > 0
                                         : llvm::is_sorted(loops));
  case GroupKind::Contraction:
    return false;
  case GroupKind::Reduction:
    if (parallelCovered != allParallel)
      return false;
    if (kind == GroupKind::Elementwise)
      return reducedCovered == 0 || reducedCovered == allReduced;
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (group.reduced[loops[loop]] !=
          (type == utils::IteratorType::reduction))
        return false;
    return reducedCovered == allReduced;
  }
  return false;
}

/// The table of Groups.h.
static Refusal checkKinds(const Group &group, linalg::LinalgOp op, ArrayRef<unsigned> loops,
                          TargetAttr target) {
  GroupKind kind = classify(op);
  // What goes term by term would hold up the others.
  if (kind == GroupKind::Contraction ||
      (isSequentialReduction(op) && group.kind != GroupKind::Elementwise) ||
      (kind == GroupKind::Reduction && llvm::any_of(group.ops, isSequentialReduction)))
    return unrelated();
  if (group.kind == GroupKind::Contraction)
    return checkProduct(group, op, loops, target);
  return kindsAllow(group, op, loops) ? Refusal() : unrelated();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static Group openGroup(linalg::LinalgOp op) {
  Group group;
  group.kind = classify(op);
  group.reduced.resize(op.getNumLoops(), false);
  group.summed.resize(op.getNumLoops(), false);
  addMember(group, op,
            llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops())));
  return group;
}

/// Whether a kernel of `ops` reads and writes few enough tensors. Results that another of them
/// reads count where there are others who do.
static bool hasRoomFor(ArrayRef<linalg::LinalgOp> ops) {
  llvm::SmallPtrSet<Operation *, 16> members(llvm::from_range, ops);
  llvm::SmallPtrSet<Value, 16> tensors;
  for (linalg::LinalgOp op : ops) {
    for (Value input : op.getDpsInputs())
      if (!members.contains(input.getDefiningOp()))
        tensors.insert(input);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        tensors.insert(result);
  }
  return tensors.size() <= kMostTensors;
}

static bool hasRoomFor(ArrayRef<linalg::LinalgOp> ops, ArrayRef<linalg::LinalgOp> others) {
  SmallVector<linalg::LinalgOp> all(ops);
  all.append(others.begin(), others.end());
  return hasRoomFor(all);
}

/// The loops of the group that `op` has there, if it may join.
static OrRefusal<SmallVector<unsigned>> mayJoin(const Group &group, linalg::LinalgOp op,
                                                TargetAttr target) {
  for (OpOperand &init : op.getDpsInitsMutable())
    if (Operation *producer = init.get().getDefiningOp())
      if (group.contains(producer))
        return unrelated();
  if (!mayMoveTo(group, op) || !extentsFollowFromInputs(op) ||
      !llvm::all_of(group.ops, extentsFollowFromInputs))
    return unrelated();
  std::optional<SmallVector<unsigned>> matched = matchLoops(group, op);
  if (!matched)
    return unrelated();
  if (Refusal why = checkKinds(group, op, *matched, target))
    return why;
  if (!hasRoomFor(group.ops, op))
    return refuse(Refused::TileSize, "a kernel of both would have more than " +
                                         std::to_string(kMostTensors) + " tensors");
  return *matched;
}

/// Loop l of `other` is loop `result[l]` of `base`: by the loops of `op`, which are `loops` of
/// `base`, and by inputs that both groups read. Nothing if some loop is left open.
static std::optional<SmallVector<std::optional<unsigned>>>
lineUpLoops(const Group &base, ArrayRef<unsigned> loops, Group &other, linalg::LinalgOp op) {
  std::optional<SmallVector<unsigned>> otherLoops = matchLoops(other, op);
  if (!otherLoops)
    return std::nullopt;
  SmallVector<std::optional<unsigned>> toBase(other.reduced.size());
  for (auto [mine, theirs] : llvm::zip_equal(loops, *otherLoops))
    toBase[theirs] = mine;
  for (linalg::LinalgOp member : other.ops)
    for (Value input : member.getDpsInputs()) {
      auto known = base.dims.find(input);
      if (known == base.dims.end())
        continue;
      for (auto [theirs, mine] :
           llvm::zip_equal(other.dims.lookup(input), known->second))
        if (!toBase[theirs] && !llvm::is_contained(toBase, mine))
          toBase[theirs] = mine;
    }
  if (!llvm::all_of(toBase, [](auto loop) { return loop.has_value(); }) ||
      toBase.size() != base.reduced.size())
    return std::nullopt;
  return toBase;
}

/// Moves the members of `other` into `base` if the loops of `op`, which has
/// joined `base` with `loops`, and common inputs line up all loops of both.
static bool tryAbsorb(Group &base, ArrayRef<unsigned> loops, Group &other,
                      linalg::LinalgOp op) {
  if (base.kind == GroupKind::Contraction ||
      other.kind == GroupKind::Contraction || !mayMoveTo(other, op))
    return false;
  auto toBase = lineUpLoops(base, loops, other, op);
  if (!toBase || !hasRoomFor(base.ops, other.ops))
    return false;
  // Two reductions share a kernel only over the same loops.
  bool otherReduces = llvm::is_contained(other.reduced, true);
  if (otherReduces && llvm::is_contained(base.reduced, true)) {
    if (llvm::any_of(base.ops, isSequentialReduction) ||
        llvm::any_of(other.ops, isSequentialReduction) || isSequentialReduction(op))
      return false;
    for (auto [theirs, mine] : llvm::enumerate(*toBase))
      if (other.reduced[theirs] != base.reduced[*mine])
        return false;
  }
  for (linalg::LinalgOp member : other.ops)
    addMember(base, member, mapLoops(other, member, *toBase));
  if (otherReduces)
    base.kind = GroupKind::Reduction;
  sortMembers(base);
  other.ops.clear();
  return true;
}

/// Whether `op` has joined a group; else `apart` says why not.
static bool joinSomeGroup(MutableArrayRef<Group> groups, linalg::LinalgOp op, TargetAttr target,
                          std::string &apart) {
  SmallVector<Group *> producers = producersOf(groups, op);
  for (Group *base : producers) {
    Refusal notChained = tryChain(*base, op, target);
    if (!notChained)
      return true;
    say(notChained, apart);
    OrRefusal<SmallVector<unsigned>> loops = mayJoin(*base, op, target);
    say(loops.why(), apart);
    if (!loops)
      continue;
    bool isDual = false;
    for (Group *other : producers) {
      if (other == base || tryAbsorb(*base, *loops, *other, op))
        continue;
      Refusal why = tryFuseDual(*base, *loops, *other, op, target);
      isDual |= !why;
      say(why, other->apart);
    }
    addMember(*base, op, *loops);
    if (isDual)
      fuseSharedProducer(groups, *base, target);
    if (classify(op) == GroupKind::Reduction &&
        base->kind == GroupKind::Elementwise)
      base->kind = GroupKind::Reduction;
    return true;
  }
  return false;
}

SmallVector<Group, 0> tilewright::formGroups(Block &block, TargetAttr target,
                                          bool fuse) {
  SmallVector<Group, 0> groups;
  for (Operation &candidate : block) {
    auto op = dyn_cast<linalg::LinalgOp>(&candidate);
    if (!op || !op.hasPureTensorSemantics())
      continue;
    auto fill = dyn_cast<linalg::FillOp>(&candidate);
    if (fill && isOnlyInit(fill))
      continue;
    std::string apart;
    if (!fill && fuse && joinSomeGroup(groups, op, target, apart))
      continue;
    Group group = openGroup(op);
    group.apart = apart;
    if (fuse && group.kind == GroupKind::Contraction)
      for (Group *producer : producersOf(groups, op))
        say(tryFuseProducers(group, *producer, op, target), producer->apart);
    groups.push_back(std::move(group));
  }
  llvm::erase_if(groups, [](const Group &group) { return group.ops.empty(); });
  llvm::sort(groups, [](const Group &a, const Group &b) {
    Operation *other = linalg::LinalgOp(b.ops.back());
    return linalg::LinalgOp(a.ops.back())->isBeforeInBlock(other);
  });
  return groups;
}
