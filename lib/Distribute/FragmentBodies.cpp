// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FragmentBodies.h.

#include "FragmentBodies.h"

#include "FragmentAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

Type FragmentBodies::elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// "arith.addf"
static std::string nameOf(Operation *op) {
  return op->getName().getStringRef().str();
}

static bool isArithmetic(Operation *op) {
  return op && isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumResults() == 1 && isPure(op) &&
         laidOutType(op->getResult(0).getType());
}

/// Casts that instructions do with whole matrices. (Not those of integers without
/// sign: see chooseSigns in Target/SPIRV/Fragments.cpp.)
static bool isAcrossTypes(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(
      op);
}

std::string FragmentBodies::reasonFor(Operation *op) const {
  if (!op)
    return "it is an argument";
  auto it = reasons.find(op);
  return it != reasons.end() ? it->second : nameOf(op) + " needs coordinates";
}

//===----------------------------------------------------------------------===//
// 1. Hold
//===----------------------------------------------------------------------===//

bool FragmentBodies::requestRead(vector::TransferReadOp read,
                                 const DistributedLayout &layout) {
  FragmentAccess plan = planFragmentAccess(read, layout);
  if (plan.isPossible() &&
      cast<MemRefType>(read.getBase().getType()).getMemorySpace())
    plan.whyNot = "a tile in shared memory";
  if (plan.isPossible() &&
      !isAccumulator(kernel, layout, elementOf(read.getVector())))
    plan.whyNot = "the target has no fragments like those of the sum with the "
                  "elements of " +
                  nameBuffer(read.getBase());
  if (!plan.isPossible()) {
    refuse(read, plan.whyNot);
    return false;
  }
  hold(read.getVector(), layout);
  reads.insert(read);
  return true;
}

/// A product's result that a loop carries to the next step.
bool FragmentBodies::requestCarried(BlockArgument argument,
                                    const DistributedLayout &layout) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar())
    return false;
  const DistributedLayout *yielded =
      layoutOf(loop.getTiedLoopYieldedValue(argument)->get());
  if (!yielded || *yielded != layout)
    return false;
  Value init = loop.getTiedLoopInit(argument)->get();
  if (!isSplat(init) && !request(init, layout))
    return false;
  hold(argument, layout);
  return true;
}

bool FragmentBodies::requestInit(Value value, const DistributedLayout &layout) {
  Operation *op = value.getDefiningOp();
  if (isArithmetic(op))
    for (Value operand : op->getOperands()) {
      if (layoutOf(operand))
        continue;
      if (auto argument = dyn_cast<BlockArgument>(operand))
        requestCarried(argument, layout);
      else if (operand.getDefiningOp<vector::BroadcastOp>() && !isSplat(operand) &&
               isAccumulator(kernel, layout, elementOf(operand)))
        hold(operand, layout);
    }
  return request(value, layout);
}

bool FragmentBodies::request(Value value, const DistributedLayout &layout) {
  if (const DistributedLayout *known = layoutOf(value))
    return *known == layout;
  Operation *op = value.getDefiningOp();
  VectorType type = laidOutType(value.getType());
  if (!op || !type || type.getRank() != 2)
    return false;
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return requestRead(read, layout);
  if (!isArithmetic(op))
    return false;
  Type base;
  for (Value operand : op->getOperands()) {
    if (!laidOutType(operand.getType()) || isSplat(operand))
      continue;
    if (!request(operand, layout)) {
      Operation *from = operand.getDefiningOp();
      refuse(op, nameOf(op) + " takes what is no fragment" +
                     (from ? " (" + reasonFor(from) + ")" : ""));
      return false;
    }
    Type other = held.find(operand)->second.base;
    if (base && base != other) {
      refuse(op, nameOf(op) + " takes fragments of two types");
      return false;
    }
    base = other;
  }
  if (!base)
    return false;
  Type element = type.getElementType();
  if (isAcrossTypes(op) && isFragment(op->getOperand(0)) &&
      isAccumulator(kernel, layout, element))
    base = element;
  held.insert({value, {layout, base}});
  kept.insert(op);
  return true;
}

//===----------------------------------------------------------------------===//
// 2. Prune
//===----------------------------------------------------------------------===//

bool FragmentBodies::isConversion(Operation *op) const {
  return isAcrossTypes(op) && isFragment(op->getResult(0)) &&
         elementOf(op->getOperand(0)) != elementOf(op->getResult(0)) &&
         isFragment(op->getOperand(0));
}

/// Whether a kept op has its operands, and users that take what it yields.
bool FragmentBodies::isUsable(Operation *op) const {
  for (Value operand : op->getOperands())
    if (laidOutType(operand.getType()) && !isSplat(operand) &&
        !held.contains(operand))
      return false;
  return isFragment(op->getResult(0)) ||
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return kept.contains(user) && !isConversion(user);
         });
}

void FragmentBodies::prune() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : llvm::to_vector(kept)) {
      if (isUsable(op))
        continue;
      Value result = op->getResult(0);
      std::string type;
      llvm::raw_string_ostream(type) << elementOf(result);
      if (!reasons.contains(op))
        refuse(op, isFragment(result)
                       ? nameOf(op) + " takes what is no fragment"
                       : "the target has no accumulator of " + type +
                             " in the product's shape");
      kept.remove(op);
      held.erase(result);
      changed = true;
    }
  }
}

//===----------------------------------------------------------------------===//
// 3. Write down
//===----------------------------------------------------------------------===//

bool FragmentBodies::isRoot(Operation *op) const {
  return isFragment(op->getResult(0)) &&
         llvm::any_of(op->getUsers(), [&](Operation *user) {
           return !kept.contains(user) || isConversion(user);
         });
}

/// The map_fragments of a root and what it alone can see: kept ops in front of it
/// up to other roots.
Value FragmentBodies::outline(Operation *root) {
  OpBuilder b(root);
  Location loc = root->getLoc();
  Value result = root->getResult(0);
  llvm::SetVector<Value> leaves;
  llvm::SmallPtrSet<Operation *, 16> body{root};
  SmallVector<Operation *> stack{root};
  while (!stack.empty())
    for (Value operand : stack.pop_back_val()->getOperands()) {
      if (!laidOutType(operand.getType()) || isSplat(operand))
        continue;
      Operation *from = operand.getDefiningOp();
      if (!from || !kept.contains(from) || isConversion(from) || isRoot(from))
        leaves.insert(operand);
      else if (body.insert(from).second)
        stack.push_back(from);
    }
  auto map = MapFragmentsOp::create(b, loc, result.getType(),
                                    leaves.getArrayRef());
  map->setAttr(kLayoutsAttr,
               ArrayAttr::get(b.getContext(),
                              toAttr(b.getContext(), *layoutOf(result))));
  Block &block = map.getBody().emplaceBlock();
  IRMapping scalars;
  for (Value leaf : leaves)
    scalars.map(leaf, block.addArgument(elementOf(leaf), loc));
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  b.setInsertionPoint(map);
  for (Operation *op : kept) { // operands first
    if (!body.contains(op))
      continue;
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands()) {
      DenseElementsAttr constant;
      Value scalar = scalars.lookupOrDefault(operand);
      if (auto broadcast = operand.getDefiningOp<vector::BroadcastOp>();
          broadcast && isSplat(operand))
        scalar = broadcast.getSource();
      else if (matchPattern(operand, m_Constant(&constant)))
        scalar = arith::ConstantOp::create(
            b, loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
      state.operands.push_back(scalar);
    }
    state.addTypes(elementOf(op->getResult(0)));
    state.addAttributes(op->getAttrDictionary().getValue());
    scalars.map(op->getResult(0), inside.create(state)->getResult(0));
  }
  YieldOp::create(inside, loc, scalars.lookup(result));
  return map.getResult();
}

void FragmentBodies::outline() {
  SmallVector<Operation *> inOrder;
  kernel.walk([&](Operation *op) {
    if (kept.contains(op))
      inOrder.push_back(op);
  });
  for (Operation *op : inOrder) {
    Value result = op->getResult(0);
    if (isConversion(op)) {
      op->setAttr(kLayoutsAttr,
                  ArrayAttr::get(op->getContext(),
                                 toAttr(op->getContext(), *layoutOf(result))));
      continue;
    }
    if (!isRoot(op))
      continue;
    Value mapped = outline(op);
    hold(mapped, *layoutOf(result));
    result.replaceAllUsesWith(mapped);
  }
  for (Operation *op : llvm::reverse(inOrder))
    if (op->use_empty()) {
      held.erase(op->getResult(0));
      kept.remove(op);
      op->erase();
    }
}

SmallVector<std::pair<vector::TransferReadOp, DistributedLayout>>
FragmentBodies::takeReads() {
  SmallVector<std::pair<vector::TransferReadOp, DistributedLayout>> result;
  for (Operation *op : reads) {
    auto read = cast<vector::TransferReadOp>(op);
    bool wanted = llvm::any_of(read->getUsers(), [](Operation *user) {
      return isa<MapFragmentsOp, MmaOp, scf::ForOp>(user) ||
             user->hasAttr(kLayoutsAttr);
    });
    if (wanted)
      result.push_back({read, *layoutOf(read.getVector())});
    else
      held.erase(read.getVector());
  }
  return result;
}

void FragmentBodies::replaceRead(vector::TransferReadOp read, Value by) {
  // Others keep their own read of the same memory.
  read.getVector().replaceUsesWithIf(by, [](OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<MapFragmentsOp, MmaOp, scf::ForOp>(user) ||
           user->hasAttr(kLayoutsAttr);
  });
  hold(by, *layoutOf(read.getVector()));
  held.erase(read.getVector());
  if (read->use_empty())
    read->erase();
}
