// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes a kernel's loop classes by union-find over all (op, loop) pairs: first along
// values that flow between ops, which is what fusion needs, then through shared arguments
// and destinations, which is what makes independent ops run side by side.

#include "LoopClasses.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Windows.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// Numbers all loops of all ops and joins them.
struct Joiner {
  explicit Joiner(KernelLoops &info) : info(info) {
    for (linalg::LinalgOp op : info.ops) {
      firstLoop[op] = owner.size();
      owner.append(op.getNumLoops(), op.getOperation());
    }
    parent.resize(owner.size());
    for (unsigned i = 0; i < parent.size(); ++i)
      parent[i] = i;
  }

  unsigned find(unsigned loop) const {
    while (parent[loop] != loop)
      loop = parent[loop];
    return loop;
  }
  void join(unsigned a, unsigned b) {
    a = find(a), b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  /// True if some op would have two loops in one class.
  bool clash(unsigned a, unsigned b) const {
    a = find(a), b = find(b);
    llvm::SmallPtrSet<Operation *, 8> owners;
    for (unsigned i = 0; i < parent.size(); ++i)
      if (find(i) == a)
        owners.insert(owner[i]);
    for (unsigned i = 0; i < parent.size(); ++i)
      if (find(i) == b && owners.contains(owner[i]))
        return true;
    return false;
  }
  /// The loop that runs over dim `dim` of `operand`.
  unsigned loopOf(OpOperand &operand, unsigned dim) const {
    auto op = cast<linalg::LinalgOp>(operand.getOwner());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return firstLoop.lookup(op) + map.getDimPosition(dim);
  }
  unsigned loopOf(OpResult result, unsigned dim) const {
    auto op = cast<linalg::LinalgOp>(result.getOwner());
    return loopOf(*op.getDpsInitOperand(result.getResultNumber()), dim);
  }

  KernelLoops &info;
  DenseMap<Operation *, unsigned> firstLoop;
  SmallVector<Operation *> owner;
  SmallVector<unsigned> parent;
};
} // namespace

static LogicalResult joinAlongValues(Joiner &joiner) {
  for (linalg::LinalgOp op : joiner.info.ops)
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      auto result = dyn_cast<OpResult>(lookThroughCasts(operand.get()));
      if (!type || !result || !isa<linalg::LinalgOp>(result.getOwner()))
        continue;
      for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
        unsigned from = joiner.loopOf(result, dim);
        unsigned to = joiner.loopOf(operand, dim);
        if (joiner.find(from) == joiner.find(to))
          continue;
        if (joiner.clash(from, to))
          return op.emitOpError()
                 << "reads a fused value along two different loops (operand "
                 << operand.getOperandNumber() << ", dim " << dim
                 << "); dispatch it as a kernel of its own";
        joiner.join(from, to);
      }
    }
  return success();
}

/// Those of a dual product run side by side.
static LogicalResult joinDuals(Joiner &joiner) {
  linalg::LinalgOp root = joiner.info.root;
  for (linalg::LinalgOp op : joiner.info.rootProducts)
    for (unsigned loop = 0; op != root && loop < op.getNumLoops(); ++loop) {
      unsigned from = joiner.firstLoop.lookup(op) + loop;
      unsigned to = joiner.firstLoop.lookup(root) + loop;
      if (joiner.find(from) == joiner.find(to))
        continue;
      if (joiner.clash(from, to))
        return op.emitOpError() << "and another product of the same operand have their "
                                   "results combined along different loops (loop " << loop
                                << "); dispatch it as a kernel of its own";
      joiner.join(from, to);
    }
  return success();
}

/// Joins loops that run over the same dim of the same argument (or of the same
/// destination) unless that would put two loops of an op in one class.
static void joinThroughArguments(Joiner &joiner) {
  KernelLoops &info = joiner.info;
  // Of two products, what one sums may be a result of the other: x w v + x.
  if (info.isChained())
    return;
  Block &body = info.kernel.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
      std::optional<unsigned> first;
      for (linalg::LinalgOp op : info.ops)
        for (OpOperand *operand : op.getDpsInputOperands()) {
          if (operand->get() != argument)
            continue;
          unsigned loop = joiner.loopOf(*operand, dim);
          if (!first)
            first = loop;
          else if (joiner.find(*first) != joiner.find(loop) &&
                   !joiner.clash(*first, loop))
            joiner.join(*first, loop);
        }
    }
  }
}

static void findExtents(Joiner &joiner) {
  KernelLoops &info = joiner.info;
  SmallVector<bool> found(info.classes.size(), false);
  auto note = [&](unsigned loop, RankedTensorType type, unsigned dim,
                  BlockArgument argument) {
    unsigned number = info.getClasses(joiner.owner[loop])
        [loop - joiner.firstLoop.lookup(joiner.owner[loop])];
    LoopClass &loopClass = info.classes[number];
    if (!type.isDynamicDim(dim))
      loopClass.extent = type.getDimSize(dim);
    if (argument && !found[number]) {
      found[number] = true;
      loopClass.argument = argument.getArgNumber();
      loopClass.dim = dim;
    }
  };
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
        for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
          auto argument = dyn_cast<BlockArgument>(lookThroughCasts(operand.get()));
          // As many matrices as its table has entries.
          if (std::optional<Pick> pick = !dim && argument ? getPick(argument) : std::nullopt)
            argument = pick->table;
          note(joiner.loopOf(operand, dim), type, dim, argument);
        }
  for (auto [number, result] : llvm::enumerate(info.results)) {
    auto type = cast<RankedTensorType>(result.getType());
    for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim)
      note(joiner.loopOf(result, dim), type, dim, info.getDestination(number));
  }
  // What is left must be static: the error is the caller's.
  for (auto [number, loopClass] : llvm::enumerate(info.classes))
    if (!found[number] && loopClass.extent == ShapedType::kDynamic)
      loopClass.argument = ~0u;
}

LogicalResult tilewright::buildLoopClasses(KernelLoops &info) {
  Joiner joiner(info);
  if (failed(joinAlongValues(joiner)))
    return failure();
  if (failed(joinDuals(joiner)))
    return failure();
  joinThroughArguments(joiner);

  DenseMap<unsigned, unsigned> numbers;
  for (linalg::LinalgOp op : info.ops) {
    SmallVector<unsigned> &loops = info.loopClasses[op];
    for (unsigned loop = 0, e = op.getNumLoops(); loop < e; ++loop) {
      unsigned leader = joiner.find(joiner.firstLoop[op] + loop);
      loops.push_back(
          numbers.try_emplace(leader, numbers.size()).first->second);
    }
  }
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>))
        continue;
      SmallVector<unsigned> &classes = info.operandClasses[&operand];
      for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
        classes.push_back(info.getClasses(op)[map.getDimPosition(i)]);
    }
  info.classes.resize(numbers.size());
  findExtents(joiner);
  for (linalg::LinalgOp op : info.ops)
    for (unsigned number : info.getClasses(op))
      if (info.classes[number].argument == ~0u)
        return op.emitOpError("runs over a loop whose extent is the dim of no "
                              "argument; dispatch it as a kernel of its own");

  for (auto [loop, iterator] :
       llvm::enumerate(info.root.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      info.classes[info.getClasses(info.root)[loop]].parallel = true;
  for (linalg::LinalgOp op : info.ops) {
    bool isSequential = isSequentialReduction(op);
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if (iterator != utils::IteratorType::parallel) {
        info.classes[info.getClasses(op)[loop]].parallel = false;
        info.classes[info.getClasses(op)[loop]].sequential |= isSequential;
      }
  }

  for (OpResult result : info.results) {
    auto op = cast<linalg::LinalgOp>(result.getOwner());
    ArrayRef<unsigned> own = info.getClasses(op);
    for (auto [number, loopClass] : llvm::enumerate(info.classes))
      if (loopClass.parallel && loopClass.extent != 1 &&
          !llvm::is_contained(own, unsigned(number)))
        return op.emitOpError("is a result of the kernel but does not run over "
                              "all loops that are spread over blocks; dispatch "
                              "it as a kernel of its own");
  }
  return success();
}
