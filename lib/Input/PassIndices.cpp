// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of indices are passed to functions and returned as those of i64 that they are in memory:
//
//   func.func @f(%i: tensor<8xindex>) -> tensor<8xindex> { … }
// becomes
//   func.func @f(%n: tensor<8xi64>) -> tensor<8xi64> {
//     %i = arith.index_cast %n : tensor<8xi64> to tensor<8xindex>
//     …
//   }
//
// and calls likewise.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PASSINDICESPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// As a type of what is passed; null: `type` is passed as it is.
static Type passedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isIndex()
             ? tensor.clone(IntegerType::get(type.getContext(), 64))
             : Type();
}

static SmallVector<Type> passedTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) {
    Type passed = passedType(type);
    return passed ? passed : type;
  });
}

/// What `op` passes on.
static void passOperands(Operation *op) {
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands())
    if (Type passed = passedType(operand.get().getType()))
      operand.set(arith::IndexCastOp::create(b, op->getLoc(), passed, operand.get()));
}

/// Makes `value` what is passed, and indices of it for those that use it.
static void receive(OpBuilder &b, Value value) {
  Type type = value.getType(), passed = passedType(type);
  if (!passed)
    return;
  value.setType(passed);
  auto indices = arith::IndexCastOp::create(b, value.getLoc(), type, value);
  value.replaceAllUsesExcept(indices, indices);
}

namespace {
struct PassIndicesPass : tilewright::impl::PassIndicesPassBase<PassIndicesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<func::CallOp, func::ReturnOp>(op))
        passOperands(op);
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      if (isa<func::CallOp>(op))
        for (Value result : op->getResults())
          receive(b, result);
    });
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (!func.isExternal()) {
        OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
        for (BlockArgument argument : func.getArguments())
          receive(b, argument);
      }
      func.setFunctionType(FunctionType::get(&getContext(), passedTypes(func.getArgumentTypes()),
                                             passedTypes(func.getResultTypes())));
    }
  }
};
} // namespace
