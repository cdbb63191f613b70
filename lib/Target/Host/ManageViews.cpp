// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References to views in host code. The rules, for every tensor value:
//
//   1. A value that an op of the block produces, or that a loop carries, owns
//      one reference. Function arguments own none: the caller keeps them.
//   2. After its last use in the block of its definition it is released.
//   3. A terminator passes one reference per operand on. It takes the value's
//      own where that is its last use, and retains otherwise.
//   4. A loop takes a reference to each initial value of its own.
//
//   func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//     %e = tensor.empty() : tensor<4xf32>
//     %r = tilewright.dispatch @k(%x …) outs(%e …) -> tensor<4xf32>
//     return %r
//
//   func.func @f(%context: !llvm.ptr, %x: …) … {
//     %e = tensor.empty() : tensor<4xf32>
//     %r = tilewright.dispatch @k(%x …) outs(%e …) -> tensor<4xf32>
//     llvm.call @twh_release(%context, %e)       // %r has its own
//     return %r
//
// Temporaries that the plan has given a place become views of one allocation,
// which they keep alive.

#include "tilewright/Target/Host/Passes.h"

#include "tilewright/Target/Host/Host.h"
#include "tilewright/Target/Host/HostCalls.h"

#include "tilewright/Dialect/Temporaries.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {
#define GEN_PASS_DEF_MANAGEVIEWSPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

static void emitCall(OpBuilder &builder, Location loc, StringRef name,
                     Value context, Value tensor) {
  Value view =
      UnrealizedConversionCastOp::create(builder, loc, context.getType(), tensor)
          .getResult(0);
  callSupport(builder, loc, name, Type(), {context, view});
}

static void manageBlock(Block &block, Value context) {
  Operation *terminator = block.getTerminator();
  bool isEntry = isa<func::FuncOp>(block.getParentOp());
  SmallVector<Value> owned;
  if (!isEntry)
    llvm::copy_if(block.getArguments(), std::back_inserter(owned), isTensor);
  for (Operation &op : block)
    llvm::copy_if(op.getResults(), std::back_inserter(owned), isTensor);

  DenseMap<Value, int64_t> passedOn;
  for (Value operand : terminator->getOperands())
    if (isTensor(operand))
      ++passedOn[operand];

  OpBuilder builder(terminator);
  for (Value value : owned) {
    if (int64_t count = passedOn.lookup(value)) {
      for (; count > 1; --count)
        emitCall(builder, terminator->getLoc(), "twh_retain", context, value);
      passedOn.erase(value);
      continue;
    }
    Operation *last = value.getDefiningOp();
    for (Operation *user : value.getUsers()) {
      Operation *top = block.findAncestorOpInBlock(*user);
      if (top && (!last || last->isBeforeInBlock(top)))
        last = top;
    }
    OpBuilder::InsertionGuard guard(builder);
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&block);
    emitCall(builder, value.getLoc(), "twh_release", context, value);
  }
  // What is left belongs to somebody else. In the terminator's order.
  for (Value operand : terminator->getOperands())
    for (int64_t count = passedOn.lookup(operand); count > 0; --count) {
      emitCall(builder, terminator->getLoc(), "twh_retain", context, operand);
      passedOn[operand] = count - 1;
    }
}

/// Rule 4.
static void retainInitialValues(Operation *loop, Value context) {
  OpBuilder builder(loop);
  auto retain = [&](ValueRange values) {
    for (Value value : values)
      if (isTensor(value))
        emitCall(builder, loop->getLoc(), "twh_retain", context, value);
  };
  if (auto forOp = dyn_cast<scf::ForOp>(loop))
    retain(forOp.getInitArgs());
  else if (auto whileOp = dyn_cast<scf::WhileOp>(loop))
    retain(whileOp.getInits());
}

/// A static shape as an array of i64.
static Value createShape(OpBuilder &builder, Location loc,
                         ArrayRef<int64_t> shape) {
  SmallVector<Value> dims;
  for (int64_t size : shape)
    dims.push_back(createI64(builder, loc, size));
  return createArray(builder, loc, builder.getI64Type(), dims);
}

/// Allocates what `tilewright.arena` says, and takes planned temporaries from it.
static void placeTemporaries(func::FuncOp func, Value context) {
  auto size = func->getAttrOfType<DenseI64ArrayAttr>(kArenaAttr);
  SmallVector<tensor::EmptyOp> temporaries;
  for (auto empty : func.getBody().front().getOps<tensor::EmptyOp>())
    if (empty->hasAttr(kTemporaryAttr))
      temporaries.push_back(empty);
  if (!size || temporaries.empty())
    return;
  Type pointer = context.getType();
  OpBuilder builder(temporaries.front());
  auto allocate = [&](StringRef name, SmallVector<Value> operands,
                      RankedTensorType type, Location loc) {
    operands.append({createI32(builder, loc, getDTypeNumber(type.getElementType())),
                     createI32(builder, loc, type.getRank()),
                     createShape(builder, loc, type.getShape())});
    return callSupport(builder, loc, name, pointer, operands);
  };
  Value arena = allocate("twh_alloc", {context},
                         RankedTensorType::get(size[0], builder.getI8Type()),
                         func.getLoc());
  for (tensor::EmptyOp op : temporaries) {
    builder.setInsertionPoint(op);
    int64_t offset = op->getAttrOfType<DenseI64ArrayAttr>(kTemporaryAttr)[1];
    Value view = allocate("twh_place",
                          {context, arena, createI64(builder, op.getLoc(), offset)},
                          op.getType(), op.getLoc());
    auto tensor = UnrealizedConversionCastOp::create(builder, op.getLoc(),
                                                     Type(op.getType()), view);
    op.replaceAllUsesWith(tensor);
    op.erase();
    builder.setInsertionPointAfter(tensor);
  }
  callSupport(builder, func.getLoc(), "twh_release", Type(), {context, arena});
}

/// Host code is straight-line code in structured control flow.
static LogicalResult checkStructure(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has unstructured control flow (cf.br), which host "
                            "code cannot have; write it with scf");
  WalkResult result = func.walk([](Operation *op) {
    bool hasTensors = llvm::any_of(op->getResults(), isTensor);
    if (op->getNumRegions() == 0 || isa<func::FuncOp>(op) ||
        isa<scf::ForOp, scf::IfOp, scf::WhileOp, tensor::PadOp>(op))
      return WalkResult::advance();
    if (isa<scf::IndexSwitchOp, scf::ExecuteRegionOp>(op) && !hasTensors)
      return WalkResult::advance();
    op->emitOpError("cannot run on the host; scf.for, scf.if and scf.while can");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ManageViewsPass
    : tilewright::impl::ManageViewsPassBase<ManageViewsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    SmallVector<func::FuncOp> funcs;
    for (auto func : module.getOps<func::FuncOp>())
      if (!isKernel(func) && !func.isExternal())
        funcs.push_back(func);

    for (func::FuncOp func : funcs) {
      if (failed(checkStructure(func)) ||
          failed(func.insertArgument(0, pointer, {}, func.getLoc())))
        return signalPassFailure();
    }
    for (func::FuncOp func : funcs) {
      Value context = func.getArgument(0);
      SmallVector<func::CallOp> calls;
      SmallVector<Operation *> loops;
      SmallVector<Block *> blocks;
      func.walk([&](Operation *op) {
        if (auto call = dyn_cast<func::CallOp>(op))
          calls.push_back(call);
        if (isa<scf::ForOp, scf::WhileOp>(op))
          loops.push_back(op);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
      });
      for (func::CallOp call : calls) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (callee && !callee.isExternal())
          call.getOperandsMutable().assign([&] {
            SmallVector<Value> operands = {context};
            llvm::append_range(operands, call.getOperands());
            return operands;
          }());
      }
      placeTemporaries(func, context);
      for (Block *block : blocks)
        manageBlock(*block, context);
      for (Operation *loop : loops)
        retainInitialValues(loop, context);
    }
  }
};
} // namespace
