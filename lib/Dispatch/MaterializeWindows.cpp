// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of windows (Windows.h), made by kernels, where no kernel can use them
// in place.
//
//   %w = tensor.extract_slice %x[2] [8] [1]
//   %r = linalg.generic ins(%w) …               // reads the window
//   return %w                                   // needs a dense tensor
// becomes
//   %w = tensor.extract_slice %x[2] [8] [1]
//   %c = linalg.generic ins(%w) outs(%e) { tilewright.identity }
//   %r = linalg.generic ins(%w) …
//   return %c
//
// Likewise for what is put into a window by tensor.insert_slice, or into a
// memref with strides, unless a structured op computes it for this alone: then
// its kernel writes there.

#include "Kernels.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_MATERIALIZEWINDOWSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// A dense copy of `value`, made by a kernel.
static Value createCopy(OpBuilder &b, Location loc, Value value,
                        const Twine &reason) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = createEmptyLike(b, loc, value);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, loc, type, value, empty, maps, loops,
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        Value same = IdentityOp::create(inner, at, arguments[0]);
        linalg::YieldOp::create(inner, at, same);
      });
  copy->setAttr(kCopiesAttr, b.getStringAttr(reason));
  return copy.getResult(0);
}

/// The structured op that computes `value` for one user in its own block.
static linalg::LinalgOp soleProducer(Value value, Operation *user,
                                     OpOperand *&init) {
  auto result = dyn_cast<OpResult>(value);
  auto op = result ? dyn_cast<linalg::LinalgOp>(result.getOwner())
                   : linalg::LinalgOp();
  // What its body reads may lie in the memory that it would write.
  if (!op || !op.hasPureTensorSemantics() || !result.hasOneUse() ||
      op->getBlock() != user->getBlock() || gathers(op))
    return {};
  init = op.getDpsInitOperand(result.getResultNumber());
  return op;
}

static bool isDefinedBefore(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  Operation *above = def ? op->getBlock()->findAncestorOpInBlock(*def) : nullptr;
  return !above || above->isBeforeInBlock(op);
}

/// True if `op` alone computes what is put into windows of `root`, up to `insert`.
static bool isWrittenBy(linalg::LinalgOp op, tensor::InsertSliceOp insert, Value root) {
  while (true) {
    OpOperand *init;
    if (soleProducer(insert.getSource(), insert, init) != op)
      return false;
    if (insert.getDest() == root)
      return true;
    insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>();
  }
}

/// True if a kernel can write the window that `insert` fills.
static bool isComputedInPlace(tensor::InsertSliceOp insert) {
  OpOperand *init;
  linalg::LinalgOp op = soleProducer(insert.getSource(), insert, init);
  if (!op)
    return false;
  if (readsOutsideInit(op, *init)) {
    auto slice = init->get().getDefiningOp<tensor::ExtractSliceOp>();
    return slice && isSameWindow(slice, insert);
  }
  // A new tensor that parts are put into can be made before all of them.
  Value dest = insert.getDest(), root = getInsertionRoot(insert);
  SmallVector<Value> needed(insert->getOperands().drop_front(2));
  auto empty = root.getDefiningOp<tensor::EmptyOp>();
  if (empty)
    llvm::append_range(needed, empty.getDynamicSizes());
  else
    needed.push_back(isWrittenBy(op, insert, root) ? root : dest);
  return llvm::all_of(needed, [&](Value value) { return isDefinedBefore(value, op); });
}

/// True if `value` is made in the memory of `memref`.
static bool isComputedIn(Value value, Value memref, Operation *store) {
  if (auto tensor = value.getDefiningOp<bufferization::ToTensorOp>())
    return tensor.getBuffer() == memref;
  if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    return isComputedIn(insert.getDest(), memref, insert);
  OpOperand *init;
  linalg::LinalgOp op = soleProducer(value, store, init);
  if (!op)
    return false;
  if (readsOutsideInit(op, *init))
    return isComputedIn(init->get(), memref, op);
  return llvm::none_of(op.getDpsInputs(), [&](Value input) {
    auto tensor =
        getWindowSource(input).getDefiningOp<bufferization::ToTensorOp>();
    return tensor && tensor.getBuffer() == memref;
  });
}

/// The vectors of a CPU read what lies side by side, and a convolution reads each element
/// many times: padding, and elements that a stride picks, are copied for it once. Rows
/// and columns of the copy are one loop of the product.
static bool needsRows(OpOperand &use) {
  TargetAttr target = getTarget(use.getOwner());
  if (!target || !target.getFact("vector_bytes", 0))
    return false;
  if (isa<Im2colOp>(use.getOwner()))
    return bool(getPad(use.get()));
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op || !op.isDpsInput(&use) || !op.getNumReductionLoops() ||
      !op.getNumParallelLoops())
    return false;
  if (auto slice = use.get().getDefiningOp<tensor::ExtractSliceOp>())
    return llvm::any_of(slice.getStaticStrides(), [](int64_t step) { return step != 1; });
  // Windows of one element each, which do not lie over each other.
  auto windows = use.get().getDefiningOp<Im2colOp>();
  int64_t rank = windows ? windows.getType().getRank() : 0;
  if (!rank || windows.getSource().getType().getRank() != rank)
    return false;
  return llvm::any_of(llvm::seq<int64_t>(0, rank), [&](int64_t dim) {
    return llvm::any_of(windows.getSteps(dim), [](int64_t step) { return step > 1; });
  });
}

/// True if `use`, of a window, needs no dense tensor.
static bool acceptsWindow(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp>(user))
    return true;
  if (needsRows(use))
    return false;
  if (isa<Im2colOp>(user))
    return true;
  // Of padded tensors only windows know what is inside.
  if (isa<tensor::ExtractSliceOp, tensor::PadOp>(user))
    return !getPad(use.get());
  if (isa<tensor::CastOp>(user))
    return llvm::all_of(user->getUses(), acceptsWindow);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
    // The tensor of a memref with strides, updated where it lies.
    return &use == &insert.getDestMutable() &&
           use.get().getDefiningOp<bufferization::ToTensorOp>();
  if (isa<bufferization::MaterializeInDestinationOp>(user))
    return true; // handled from that side
  if (isa<AttentionOp>(user) || isIrregular(user))
    return cast<DestinationStyleOpInterface>(user).isDpsInput(&use) && !getPad(use.get());
  auto op = dyn_cast<linalg::LinalgOp>(user);
  if (!op || !op.hasPureTensorSemantics())
    return false;
  if (!op.isDpsInit(&use) || !readsOutsideInit(op, use))
    return true;
  if (use.get().getDefiningOp<bufferization::ToTensorOp>())
    return true;
  auto slice = use.get().getDefiningOp<tensor::ExtractSliceOp>();
  Value result = op.getTiedOpResult(&use);
  auto insert = result.hasOneUse()
                    ? dyn_cast<tensor::InsertSliceOp>(*result.getUsers().begin())
                    : tensor::InsertSliceOp();
  return slice && insert && isSameWindow(slice, insert);
}

/// Computes sizes and offsets as soon as they can be: a kernel in front of others writes windows
/// whose places are known then.
static void hoistScalars(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto isScalar = [](Type type) { return type.isIntOrIndex(); };
    if (op.getNumRegions() || !op.getNumResults() || !isPure(&op) ||
        !llvm::all_of(op.getResultTypes(), isScalar))
      continue;
    Operation *last = nullptr;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block)
        if (!last || last->isBeforeInBlock(def))
          last = def;
    if (last)
      op.moveAfter(last);
    else
      op.moveBefore(&block, block.begin());
  }
}

/// Copies windows of tensors where kernels cannot use them in place; see
/// tilewright-materialize-windows.
static void materializeWindows(func::FuncOp func) {
  if (!func.isExternal())
    hoistScalars(func.front());
  OpBuilder b(func.getContext());
  func.walk([&](Operation *op) {
    b.setInsertionPoint(op);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (!isComputedInPlace(insert))
        insert.getSourceMutable().assign(
            createCopy(b, op->getLoc(), insert.getSource(),
                       "tensor.insert_slice puts a tensor into a window that no "
                       "kernel computes there"));
      return;
    }
    auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op);
    auto memref = store ? dyn_cast<MemRefType>(store.getDest().getType())
                        : MemRefType();
    if (memref && !memref.getLayout().isIdentity() &&
        !isComputedIn(store.getSource(), store.getDest(), store))
      store.getSourceMutable().assign(
          createCopy(b, op->getLoc(), store.getSource(),
                     "the result goes to a memref with strides"));
  });
  SmallVector<Value> windows;
  func.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isWindow(op->getResult(0)) &&
        !isa<tensor::CastOp>(op))
      windows.push_back(op->getResult(0));
  });
  for (Value window : windows) {
    SmallVector<OpOperand *> others;
    for (OpOperand &use : window.getUses())
      if (!acceptsWindow(use))
        others.push_back(&use);
    if (others.empty())
      continue;
    b.setInsertionPointAfterValue(window);
    Value copy = createCopy(b, window.getLoc(), window,
                            others.back()->getOwner()->getName().getStringRef() +
                                (getPad(window) ? " needs the padded tensor in memory"
                                                : " needs the window as a dense tensor"));
    for (OpOperand *use : others)
      use->set(copy);
  }
}

namespace {
struct MaterializeWindowsPass
    : public tilewright::impl::MaterializeWindowsPassBase<
          MaterializeWindowsPass> {
  void runOnOperation() override {
    if (!isKernel(getOperation()))
      materializeWindows(getOperation());
  }
};
} // namespace
