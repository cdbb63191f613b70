// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's bufferization visits functions in an order that changes from run to
// run, and with it the order and the names of the globals that it makes of dense
// constants. They get both from their first use:
//
//   memref.global "private" constant @__constant_8xi32_0 …
//     ->  memref.global "private" constant @__constant_0 …

#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
#define GEN_PASS_DEF_ORDERCONSTANTSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static constexpr StringLiteral kPrefix = "__constant_";

namespace {
struct OrderConstantsPass
    : tilewright::impl::OrderConstantsPassBase<OrderConstantsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::MapVector<memref::GlobalOp, SmallVector<memref::GetGlobalOp>> uses;
    module.walk([&](memref::GetGlobalOp use) {
      auto global = symbols.lookup<memref::GlobalOp>(use.getName());
      if (global && global.isPrivate() &&
          global.getSymName().starts_with(kPrefix))
        uses[global].push_back(use);
    });
    // First out of the way of each other's new names.
    for (auto &[global, users] : uses)
      symbols.remove(global);
    Operation *last = nullptr;
    unsigned number = 0;
    for (auto &[global, users] : uses) {
      do
        global.setSymName((kPrefix + Twine(number++)).str());
      while (symbols.lookup(global.getSymName()));
      for (memref::GetGlobalOp use : users)
        use.setName(global.getSymName());
      if (last)
        global->moveAfter(last);
      else
        global->moveBefore(module.getBody(), module.getBody()->begin());
      last = global;
    }
  }
};
} // namespace
