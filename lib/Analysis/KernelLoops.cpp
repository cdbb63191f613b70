// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a kernel's ops, its root and its split, and verifies what it updates; the classes
// of its loops are LoopClasses.cpp's.

#include "LoopClasses.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Packed.h"

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
  for (auto [number, result] : llvm::enumerate(info.results)) {
    auto owner = cast<linalg::LinalgOp>(result.getOwner());
    ArrayRef<unsigned> own =
        info.getClasses(*owner.getDpsInitOperand(result.getResultNumber()));
    for (OpOperand &use : info.getDestination(number).getUses()) {
      auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (reader && reader.payloadUsesValueFromOperand(&use) &&
          info.getClasses(use) != own)
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
  if (failed(buildLoopClasses(info)) || failed(findSplit(info)) ||
      failed(verifyUpdates(info)))
    return failure();
  return info;
}
