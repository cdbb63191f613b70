// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A norm in a private function that is called at several places is written where a product
// reads what it returns, as the product's kernel may compute it (Groups.h):
//
//   %n = call @normalise(%x, %gain)
//   %p = linalg.matmul ins(%n, %w) …
// becomes
//   %s = linalg.generic <squares> ins(%x) …
//   %n = linalg.generic <scale> ins(%x, %s, %gain) …
//   %p = linalg.matmul ins(%n, %w) …
//
// Other calls stay, whose kernels are compiled once. On CPUs, whose products do not reduce
// rows, all do: a norm in front of a product is a small part of its time, which each of the
// product's blocks would take again.

#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Dispatch/Groups.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_INLINENORMSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Whether `func` is a few reductions and elementwise ops.
static bool isNorm(func::FuncOp func) {
  constexpr unsigned kMostOps = 16;
  if (!func.isPrivate() || func.isExternal() || isKernel(func) ||
      !func.getBody().hasOneBlock() || !llvm::all_of(func.getArgumentTypes(), [](Type type) {
        return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
      }))
    return false;
  unsigned reductions = 0, ops = 0;
  for (Operation &op : func.getBody().front().without_terminator()) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && classify(structured) == GroupKind::Contraction)
      return false;
    ops += bool(structured);
    reductions += structured && structured.getNumReductionLoops();
    if (!structured && op.getNumRegions())
      return false;
  }
  return reductions && ops <= kMostOps;
}

static bool isReadByProduct(func::CallOp call) {
  return llvm::any_of(call->getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return reader && reader.isDpsInput(&use) &&
           classify(reader) == GroupKind::Contraction;
  });
}

namespace {
struct InlineNormsPass : public tilewright::impl::InlineNormsPassBase<InlineNormsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetAttr target = getTarget(module);
    if (!target)
      return;
    bool isCpu = target.getFact("subgroup", 1) <= 1;
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      std::optional<SymbolTable::UseRange> uses =
          SymbolTable::getSymbolUses(func, module);
      if (!uses || !isNorm(func))
        continue;
      bool stays = false;
      for (SymbolTable::SymbolUse use : *uses) {
        auto call = dyn_cast<func::CallOp>(use.getUser());
        bool isRead = call && isReadByProduct(call);
        if (isRead && !isCpu) {
          inlineCall(func, call);
          continue;
        }
        stays = true;
        if (isRead)
          addExplanation(call->getParentOfType<func::FuncOp>(),
                         "the norm @" + func.getSymName() + " is a kernel of its own: on CPUs, a "
                         "launch costs less than to reduce its rows in each block of a product");
      }
      if (!stays)
        func.erase();
    }
  }

  static void inlineCall(func::FuncOp func, func::CallOp call) {
    addExplanation(call->getParentOfType<func::FuncOp>(),
                   "the norm @" + func.getSymName() + " is written where a product reads it, "
                   "whose kernel may compute it");
    OpBuilder b(call);
    IRMapping mapping;
    mapping.map(func.getArguments(), call.getOperands());
    Block &body = func.getBody().front();
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [old, fresh] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      old.replaceAllUsesWith(mapping.lookupOrDefault(fresh));
    call.erase();
  }
};
} // namespace
