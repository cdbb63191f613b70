// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms groups of structured ops; the rules are in Groups.h.

#include "DualProducts.h"
#include "GroupMembers.h"

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Configure/TileFusion.h"

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

/// True if the inputs alone tell every loop's extent; needed of ops whose result
/// is not a result of the kernel.
static bool extentsFollowFromInputs(linalg::LinalgOp op) {
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
// Groups
//===----------------------------------------------------------------------===//

/// Adds `op`, whose loop l is loop `loops[l]` of the group.
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

static Group openGroup(linalg::LinalgOp op) {
  Group group;
  group.kind = classify(op);
  group.reduced.resize(op.getNumLoops(), false);
  group.summed.resize(op.getNumLoops(), false);
  addMember(group, op,
            llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops())));
  return group;
}

/// The loop of `group` that each loop of `op` is, as far as the tensors that
/// both know tell; nothing if they contradict or leave a loop open.
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

/// Nobody outside of `group` that stands before `op` reads a result, and `op` reads
/// none of them other than by its maps.
bool tilewright::mayMoveTo(const Group &group, Operation *op) {
  for (linalg::LinalgOp member : group.ops)
    for (Operation *user : member->getUsers()) {
      Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
      // What a body reads by coordinates of its own it needs whole, in memory.
      if (!ancestor || (ancestor == op && user != op) || (ancestor != op && !group.contains(ancestor) &&
                        ancestor->isBeforeInBlock(op)))
        return false;
    }
  return true;
}

bool tilewright::isProduct(linalg::LinalgOp op) {
  return classify(op) == GroupKind::Contraction;
}

unsigned tilewright::countProducts(const Group &group) {
  return llvm::count_if(group.ops, isProduct);
}

/// The product that opened `group`; what computes its operands stands before it.
linalg::LinalgOp tilewright::firstProduct(const Group &group) {
  return *llvm::find_if(group.ops, isProduct);
}

/// It has nothing to do with the group, which nobody has to be told.
static Refusal unrelated() { return refuse(Refused::Unrelated, ""); }

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
  if (countProducts(group) > 1)
    return refuse(Refused::NotContraction,
                  "the result of two products in one kernel is not reduced there");
  return checkReducedTile(firstProduct(group), reduced, target);
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
  return *matched;
}

/// The loops of `member` of `group`, loop l of which becomes `to[l]`.
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

/// Moves the members of `other` into `base` if the loops of `op`, which has
/// joined `base` with `loops`, and common inputs line up all loops of both.
static bool tryAbsorb(Group &base, ArrayRef<unsigned> loops, Group &other,
                      linalg::LinalgOp op) {
  if (base.kind == GroupKind::Contraction ||
      other.kind == GroupKind::Contraction || !mayMoveTo(other, op))
    return false;
  std::optional<SmallVector<unsigned>> otherLoops = matchLoops(other, op);
  if (!otherLoops)
    return false;
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
    return false;
  // Two reductions share a kernel only over the same loops.
  bool baseReduces = llvm::is_contained(base.reduced, true);
  bool otherReduces = llvm::is_contained(other.reduced, true);
  if (baseReduces && otherReduces &&
      (llvm::any_of(base.ops, isSequentialReduction) ||
       llvm::any_of(other.ops, isSequentialReduction) ||
       isSequentialReduction(op)))
    return false;
  if (baseReduces && otherReduces)
    for (auto [theirs, mine] : llvm::enumerate(toBase))
      if (other.reduced[theirs] != base.reduced[*mine])
        return false;
  for (linalg::LinalgOp member : other.ops)
    addMember(base, member, mapLoops(other, member, toBase));
  if (otherReduces)
    base.kind = GroupKind::Reduction;
  llvm::sort(base.ops, [](linalg::LinalgOp a, linalg::LinalgOp b) {
    return a->isBeforeInBlock(b);
  });
  other.ops.clear();
  return true;
}

/// Groups that compute inputs of `op`, the latest first, each once.
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

/// Joins `op`, a product of what the product in `group` becomes, if it may: its
/// columns are a new loop of the group.
static Refusal tryChain(Group &group, linalg::LinalgOp op, TargetAttr target) {
  if (group.kind != GroupKind::Contraction ||
      classify(op) != GroupKind::Contraction || countProducts(group) != 1 ||
      !mayMoveTo(group, op) || !extentsFollowFromInputs(op))
    return unrelated();
  OpOperand *operand = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    // A tensor that both read would tie the loops of both.
    if (!group.dims.contains(input->get()))
      continue;
    if (operand || !input->get().getDefiningOp() ||
        !group.contains(input->get().getDefiningOp()))
      return unrelated();
    operand = input;
  }
  linalg::LinalgOp first = group.ops.front();
  if (!operand)
    return unrelated();
  if (group.reduced != group.summed)
    return refuse(Refused::Neighbours, "the product of a product cannot be computed in the kernel "
                                       "of the latter: between them, its result is reduced");
  if (!isProduct(first))
    return refuse(Refused::Neighbours,
                  "the product of a product cannot be computed in the kernel of the "
                  "latter: there, an operand is computed on its way into the tiles");
  // Nothing but the chain's end is a result.
  for (linalg::LinalgOp member : group.ops)
    for (Operation *user : member->getUsers())
      if (user != op.getOperation() && !group.contains(user))
        return unrelated();
  if (Refusal why = checkChain(first, op, operand->getOperandNumber(), target))
    return why;
  SmallVector<std::optional<unsigned>> known(op.getNumLoops());
  for (auto [result, loop] :
       llvm::zip_equal(op.getMatchingIndexingMap(operand).getResults(),
                       group.dims.lookup(operand->get())))
    known[cast<AffineDimExpr>(result).getPosition()] = loop;
  SmallVector<unsigned> loops;
  for (std::optional<unsigned> loop : known) {
    loops.push_back(loop.value_or(group.reduced.size()));
    if (!loop) {
      group.reduced.push_back(false);
      group.summed.push_back(false);
    }
  }
  addMember(group, op, loops);
  return {};
}

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

/// Moves the members of `producer` into `group`, which `product` has just opened, if
/// they compute one of its operands and that is better done tile by tile.
Refusal tilewright::tryFuseProducers(Group &group, Group &producer, linalg::LinalgOp product,
                                     TargetAttr target) {
  if (producer.kind == GroupKind::Contraction || !mayMoveTo(producer, product) ||
      !extentsFollowFromInputs(product) ||
      !llvm::all_of(producer.ops, extentsFollowFromInputs))
    return unrelated();
  OpOperand *operand = nullptr;
  // All products of a dual product read the operand that they share.
  auto readsOperand = [&](OpOperand &use) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return reader && group.contains(reader) && isProduct(reader) && reader.isDpsInput(&use) &&
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
  SmallVector<std::optional<unsigned>> toGroup(producer.reduced.size());
  for (auto [result, loop] :
       llvm::zip_equal(product.getMatchingIndexingMap(operand).getResults(),
                       producer.dims.lookup(operand->get())))
    toGroup[loop] = cast<AffineDimExpr>(result).getPosition();
  bool normalizes = producer.kind == GroupKind::Reduction;
  if (llvm::is_contained(toGroup, std::nullopt) || !reducesWholeRows(producer, product, toGroup))
    return unrelated();
  OrRefusal<std::string> saved = (normalizes ? mayFuseNorm : mayFuseProducers)(
      producer.ops, product, operand->getOperandNumber(), countProducts(group), target);
  if (!saved)
    return saved.why();
  for (linalg::LinalgOp member : producer.ops)
    addMember(group, member, mapLoops(producer, member, toGroup));
  llvm::sort(group.ops, [](linalg::LinalgOp a, linalg::LinalgOp b) {
    return a->isBeforeInBlock(b);
  });
  group.notes.push_back(*saved);
  producer.ops.clear();
  return {};
}

void tilewright::say(const Refusal &why, std::string &apart) {
  if (!why.str().empty())
    apart = why.str();
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
