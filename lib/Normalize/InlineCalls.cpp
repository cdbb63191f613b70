// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A private function that is called at one place is written there.
//
//   func.func private @scale(%x) { %r = linalg.generic ins(%x) …; return %r }
//   %y = call @scale(%x)
// becomes
//   %y = linalg.generic ins(%x) …
//
// so that its ops share kernels with the caller's, and its memory the caller's plan.
// Functions with several calls stay: their kernels are compiled once. Those of memrefs are
// gone by then (tilewright-inline-memref-calls).

#include "tilewright/Normalize/Normalize.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_INLINECALLSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The only call of `func`, where its body can take the call's place.
static func::CallOp findSoleCall(func::FuncOp func, ModuleOp module) {
  if (!func.isPrivate() || func.isExternal() || !func.getBody().hasOneBlock())
    return {};
  auto isMemref = [](Type type) { return isa<BaseMemRefType>(type); };
  if (llvm::any_of(func.getArgumentTypes(), isMemref) ||
      llvm::any_of(func.getResultTypes(), isMemref))
    return {};
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(func, module);
  if (!uses || !llvm::hasSingleElement(*uses))
    return {};
  auto call = dyn_cast<func::CallOp>(uses->begin()->getUser());
  if (!call || func->isAncestor(call) || call->getParentOfType<linalg::LinalgOp>())
    return {};
  return call;
}

void tilewright::inlineCalls(RewriterBase &rewriter, ModuleOp module) {
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    func::CallOp call = findSoleCall(func, module);
    if (!call)
      continue;
    Operation *done = func.getBody().front().getTerminator();
    SmallVector<Value> results;
    rewriter.inlineBlockBefore(&func.getBody().front(), call, call.getOperands());
    llvm::append_range(results, done->getOperands());
    rewriter.eraseOp(done);
    rewriter.replaceOp(call, results);
    rewriter.eraseOp(func);
  }
}

namespace {
struct InlineCallsPass
    : public tilewright::impl::InlineCallsPassBase<InlineCallsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    inlineCalls(rewriter, getOperation());
  }
};
} // namespace
