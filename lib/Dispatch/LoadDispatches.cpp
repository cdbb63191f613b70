// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-load-dispatches: kernels that read constants alone run once, when the program is
// loaded.
//
//   func.func @main(%x: tensor<8x64xf32>) -> tensor<8x32xf32> {
//     %t = tilewright.dispatch @main_copy_0(%w) outs(%e)         // %w: a constant
//     %r = tilewright.dispatch @main_matmul_1(%x, %t) outs(%f)
// becomes
//   func.func private @main.at_load() -> … { %t = tilewright.dispatch @main_copy_0(%w) … }
//   func.func @main(%x: tensor<8x64xf32>) -> tensor<8x32xf32> {
//     %t = tilewright.loaded @main.at_load[0]
//     %r = tilewright.dispatch @main_matmul_1(%x, %t) outs(%f)
//
// tilewright-compute-at-load has done so before kernels were formed with what is worth it for any
// reader. Here it is known which ops no reader took in, as a copy that only moves elements. What a
// kernel writes into, or a call returns, is made by each call, and so is a table that is larger
// than what it is computed from and kTableBytes.

#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_LOADDISPATCHESPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Whether `op` says what part of a tensor is meant, and in which shape.
static bool isView(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::CastOp>(op);
}

/// Whether kernels only read `value`, and nothing else has it.
static bool isOnlyRead(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (auto dispatch = dyn_cast<DispatchOp>(use.getOwner()))
      return use.getOperandNumber() < dispatch.getInputs().size();
    return isView(use.getOwner()) && isOnlyRead(use.getOwner()->getResult(0));
  });
}

namespace {
class DispatchesAtLoad {
public:
  explicit DispatchesAtLoad(func::FuncOp func) : func(func) {}
  void run(SymbolTable &symbols);

private:
  bool isKnown(Operation *op) const;
  bool mayMove(DispatchOp op) const;

  func::FuncOp func;
  /// What is known when the program is loaded, in order.
  llvm::SetVector<Operation *> known;
};
} // namespace

bool DispatchesAtLoad::mayMove(DispatchOp op) const {
  int64_t read = kTableBytes, written = 0;
  for (Value input : op.getInputs())
    read = std::max(read, getStaticBytes(input.getType()));
  for (Value result : op.getResults()) {
    if (!cast<RankedTensorType>(result.getType()).hasStaticShape() || !isOnlyRead(result))
      return false;
    written += getStaticBytes(result.getType());
  }
  return written <= read;
}

bool DispatchesAtLoad::isKnown(Operation *op) const {
  if (!llvm::all_of(op->getOperands(), [&](Value operand) {
        return operand.getDefiningOp() && known.contains(operand.getDefiningOp());
      }))
    return false;
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return mayMove(dispatch);
  return isa<arith::ConstantOp, LoadedOp, tensor::EmptyOp>(op) || isView(op);
}

void DispatchesAtLoad::run(SymbolTable &symbols) {
  for (Operation &op : func.getBody().front())
    if (isKnown(&op))
      known.insert(&op);
  if (llvm::none_of(known, llvm::IsaPred<DispatchOp>))
    return;
  func::FuncOp atLoad = getLoadFunction(func, symbols);
  auto done = cast<func::ReturnOp>(atLoad.getBody().front().getTerminator());
  OpBuilder b(done);
  IRMapping mapping;
  for (Operation *op : known) {
    if (auto loaded = dyn_cast<LoadedOp>(op))
      mapping.map(loaded.getResult(), done.getOperand(loaded.getNumber()));
    else
      b.clone(*op, mapping);
  }
  SmallVector<Value> results(done.getOperands());
  b.setInsertionPointToStart(&func.getBody().front());
  for (Operation *op : known)
    if (isa<DispatchOp>(op))
      for (Value result : op->getResults()) {
        if (llvm::all_of(result.getUsers(), [&](Operation *user) {
              return isa<DispatchOp>(user) && known.contains(user);
            }))
          continue;
        auto loaded = LoadedOp::create(b, result.getLoc(), result.getType(),
                                       atLoad.getName(), results.size());
        results.push_back(mapping.lookup(result));
        result.replaceUsesWithIf(loaded, [&](OpOperand &use) {
          return !isa<DispatchOp>(use.getOwner()) || !known.contains(use.getOwner());
        });
      }
  done.getOperandsMutable().assign(results);
  atLoad.setFunctionType(
      FunctionType::get(func.getContext(), {}, ValueRange(results).getTypes()));
  for (Operation *op : llvm::reverse(known))
    if (op->use_empty() && (isa<DispatchOp>(op) || isOpTriviallyDead(op)))
      op->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(atLoad.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct LoadDispatchesPass : tilewright::impl::LoadDispatchesPassBase<LoadDispatchesPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      // Without arguments all of it is constant, and calls are there to compute it.
      if (!isKernel(func) && !func.isExternal() && func.getBody().hasOneBlock() &&
          func.getNumArguments() && !func->hasAttr(kAtLoadAttr))
        DispatchesAtLoad(func).run(symbols);
  }
};
} // namespace
