// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels get the numbers by which host code and manifest know them.

#include "tilewright/Place/Place.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_NUMBERDISPATCHESPASS
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

namespace {
struct NumberDispatchesPass
    : public tilewright::impl::NumberDispatchesPassBase<NumberDispatchesPass> {
  void runOnOperation() override {
    ModuleOp program = getOperation();
    llvm::DenseSet<StringAttr> used;
    program.walk([&](DispatchOp op) {
      used.insert(op.getCalleeAttr().getAttr());
    });
    OpBuilder b(program.getContext());
    int64_t number = 0;
    for (auto func : llvm::make_early_inc_range(program.getOps<func::FuncOp>())) {
      if (!isKernel(func))
        continue;
      if (used.contains(func.getSymNameAttr()))
        func->setAttr("tilewright.dispatch_id", b.getI64IntegerAttr(number++));
      else
        func.erase();
    }
  }
};
} // namespace
