// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a kernel's ops, its root and its loop classes. Classes are computed by
// union-find over all (op, loop) pairs: first along values that flow between
// ops, which is what fusion needs, then through shared arguments and
// destinations, which is what makes independent ops run side by side.

#include "tilewright/Analysis/KernelLoops.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/Picks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// The ops of a kernel
//===----------------------------------------------------------------------===//

static LogicalResult verifyOp(Operation &op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (!linalgOp.hasPureTensorSemantics())
      return op.emitOpError("in a kernel must work on tensors");
    for (OpOperand &operand : op.getOpOperands())
      if (!linalgOp.getMatchingIndexingMap(&operand).isProjectedPermutation())
        return op.emitOpError()
               << "operand " << operand.getOperandNumber()
               << " is read through "
               << AffineMapAttr::get(linalgOp.getMatchingIndexingMap(&operand))
               << ", which is not a projected permutation; normalize it first";
    return success();
  }
  if (isa<tensor::EmptyOp, tensor::DimOp, tensor::CastOp, UnpackOp>(op) ||
      op.hasTrait<OpTrait::IsTerminator>())
    return success();
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::any_of(op.getOperandTypes(), isTensor) ||
      llvm::any_of(op.getResultTypes(), isTensor) || op.getNumRegions()) {
    DenseElementsAttr splat;
    if (matchPattern(&op, m_Constant(&splat)) && splat.isSplat())
      return success();
    return op.emitOpError("is not part of program form: kernels hold linalg "
                          "ops on tensors and scalar arithmetic; keep it on "
                          "the host or normalize it");
  }
  return success();
}

BlockArgument KernelLoops::getDestination(unsigned number) const {
  Block &body = const_cast<func::FuncOp &>(kernel).getBody().front();
  return body.getArgument(body.getNumArguments() - results.size() + number);
}

static LogicalResult collectOps(KernelLoops &info) {
  func::FuncOp kernel = info.kernel;
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitOpError("a kernel has one block");
  Block &body = kernel.getBody().front();
  for (Operation &op : body) {
    if (failed(verifyOp(op)))
      return failure();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      info.ops.push_back(linalgOp);
  }
  Operation *terminator = body.getTerminator();
  if (terminator->getNumOperands() == 0)
    return kernel.emitOpError("a kernel in program form returns its results");
  if (terminator->getNumOperands() > body.getNumArguments())
    return kernel.emitOpError("a kernel has a destination argument per result");
  for (Value value : terminator->getOperands()) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || !isa<linalg::LinalgOp>(result.getOwner()))
      return terminator->emitOpError()
             << "returns a value that no linalg op of the kernel computes";
    info.results.push_back(result);
  }
  for (unsigned i = 0, e = info.results.size(); i < e; ++i)
    if (info.getDestination(i).getType() != info.results[i].getType())
      return terminator->emitOpError()
             << "result " << i << " has type " << info.results[i].getType()
             << " but its destination argument has "
             << info.getDestination(i).getType();
  return success();
}

/// The root: the op with a config, else the last contraction, else the reduction of
/// highest rank, else the result op of highest rank.
static void chooseRoot(KernelLoops &loops) {
  auto better = [](linalg::LinalgOp op, linalg::LinalgOp than) {
    return !than || op.getNumLoops() >= than.getNumLoops();
  };
  linalg::LinalgOp pinned, contraction, reduction, result;
  for (linalg::LinalgOp op : loops.ops) {
    if (op->hasAttr(kConfigAttr))
      pinned = op;
    if (std::optional<Contraction> found = matchContraction(op)) {
      contraction = op;
      loops.products.push_back(op);
      loops.contractions.try_emplace(op, *found);
    } else if (op.getNumReductionLoops() && better(op, reduction))
      reduction = op;
  }
  for (OpResult value : loops.results)
    if (auto op = cast<linalg::LinalgOp>(value.getOwner()); better(op, result))
      result = op;
  loops.root = pinned        ? pinned
               : contraction ? contraction
               : reduction   ? reduction
                             : result;
  for (linalg::LinalgOp op : loops.getProducts())
    if (op == loops.root || sharedOperand(op, loops.root))
      loops.rootProducts.push_back(op);
}

//===----------------------------------------------------------------------===//
// Loop classes
//===----------------------------------------------------------------------===//

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

static Value lookThroughCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

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

static LogicalResult buildClasses(KernelLoops &info) {
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

std::optional<Contraction> KernelLoops::getOriented(LoweringConfigAttr config) const {
  const Contraction *contraction = getContraction(root);
  return contraction ? std::optional(orient(*contraction, config)) : std::nullopt;
}

bool tilewright::isFusedProducer(const KernelLoops &info, linalg::LinalgOp op) {
  linalg::LinalgOp root = info.root;
  if (op == root || op.getNumReductionLoops() || isa<linalg::FillOp>(op.getOperation()))
    return false;
  return !op->use_empty() && llvm::all_of(op->getUses(), [&](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return user && user.isDpsInput(&use) &&
           (user == root || info.isRootProduct(user)
                         ? matchProduct(root).has_value()
                         : isFusedProducer(info, user));
  });
}

bool tilewright::isFusedReduction(const KernelLoops &info, linalg::LinalgOp op) {
  linalg::LinalgOp root = info.root;
  if (op == root || isa<linalg::FillOp>(op.getOperation()) || matchContraction(op) ||
      isFusedProducer(info, op))
    return false;
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<linalg::LinalgOp>(user);
    return reader && (isFusedProducer(info, reader) || isFusedReduction(info, reader));
  });
}

llvm::SmallPtrSet<Operation *, 8>
tilewright::bodyOfRows(linalg::LinalgOp op, llvm::function_ref<bool(OpOperand &)> isOfRow) {
  llvm::SmallPtrSet<Operation *, 8> ops;
  llvm::SmallDenseSet<Value> ofRow;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isOfRow(*input))
      ofRow.insert(op.getMatchingBlockArgument(input));
  if (ofRow.empty())
    return ops;
  for (Operation &inner : op.getBlock()->without_terminator())
    if (inner.getNumOperands() && isPure(&inner) &&
        llvm::all_of(inner.getOperands(), [&](Value operand) {
          return ofRow.contains(operand) || matchPattern(operand, m_Constant());
        })) {
      ops.insert(&inner);
      ofRow.insert(inner.result_begin(), inner.result_end());
    }
  return ops;
}

unsigned KernelLoops::getNumConfigLoops() const {
  return const_cast<linalg::LinalgOp &>(root).getNumLoops() -
         (split.has_value() ? 1 : 0);
}

/// Reads `tilewright.split` off the root.
static LogicalResult findSplit(KernelLoops &info) {
  for (linalg::LinalgOp op : info.ops)
    if (op->hasAttr(kSplitAttr) && op != info.root)
      return op.emitOpError() << "has '" << kSplitAttr
                              << "' but is not the root of its kernel";
  Attribute attr = info.root->getAttr(kSplitAttr);
  if (!attr)
    return success();
  linalg::LinalgOp op = info.root;
  auto fail = [&](const Twine &why) {
    return op.emitOpError() << "'" << kSplitAttr << "' " << why;
  };
  auto values = dyn_cast<DenseI64ArrayAttr>(attr);
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  if (!values || values.size() != 2 || values[0] < 0 || values[1] < 1 ||
      values[0] >= int64_t(types.size()) ||
      types[values[0]] != utils::IteratorType::reduction ||
      types.back() != utils::IteratorType::parallel)
    return fail("names a reduction loop and the unit of its parts; the last "
                "loop counts the parts");
  ArrayRef<unsigned> own = info.getClasses(op);
  SplitClasses split{own.back(), own[values[0]], values[1]};
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isFunctionOfDim(types.size() - 1))
      return fail("counts parts by a loop that an input has");
  // What computes an operand runs over the part that the product runs over.
  for (linalg::LinalgOp other : info.ops)
    if (other != op && llvm::is_contained(info.getClasses(other), split.reduced) &&
        !isFusedProducer(info, other))
      return fail("cuts a loop that another op of the kernel has");
  int64_t parts = info.classes[split.part].extent;
  if (ShapedType::isDynamic(parts) || parts < 1)
    return fail("needs a static number of parts");
  info.classes[split.reduced].parts = parts;
  info.split = split;
  return success();
}

/// A destination that is also read must be read where it is written, or blocks
/// would see each other's results.
static LogicalResult verifyUpdates(const KernelLoops &info) {
  auto classesOf = [&](OpOperand &operand) {
    auto op = cast<linalg::LinalgOp>(operand.getOwner());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<unsigned> classes;
    for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
      classes.push_back(info.getClasses(op)[map.getDimPosition(i)]);
    return classes;
  };
  for (auto [number, result] : llvm::enumerate(info.results)) {
    auto owner = cast<linalg::LinalgOp>(result.getOwner());
    SmallVector<unsigned> own =
        classesOf(*owner.getDpsInitOperand(result.getResultNumber()));
    for (OpOperand &use : info.getDestination(number).getUses()) {
      auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (reader && reader.payloadUsesValueFromOperand(&use) &&
          classesOf(use) != own)
        return reader.emitOpError()
               << "operand " << use.getOperandNumber()
               << " reads destination " << number
               << " elsewhere than where it is written; dispatch it as a "
                  "kernel of its own";
    }
  }
  return success();
}
FailureOr<KernelLoops> KernelLoops::get(func::FuncOp kernel) {
  KernelLoops info;
  info.kernel = kernel;
  if (kernel.isExternal())
    return kernel.emitOpError("a kernel has a body");
  if (failed(collectOps(info)))
    return failure();
  chooseRoot(info);
  if (failed(buildClasses(info)) || failed(findSplit(info)) ||
      failed(verifyUpdates(info)))
    return failure();
  return info;
}
