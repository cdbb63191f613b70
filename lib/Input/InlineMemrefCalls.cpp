// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of memrefs are written where they are called:
//
//   func.func private @double(%x: memref<8xf32>) { affine.for … }
//   call @double(%v)
// becomes
//   affine.for … %v …
//
// Which memrefs overlap is known there, and what is written of them becomes a tensor
// (RaiseMemrefs.cpp). Calls of functions that call themselves, that have several blocks, or that
// are elsewhere stay.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_INLINEMEMREFCALLSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// Of all bodies that are written out, together. Functions that each call the next twice grow
/// exponentially.
static constexpr int64_t kMaxOps = 1 << 16;

namespace {
class Inliner {
public:
  explicit Inliner(ModuleOp module) : symbols(module) {}
  LogicalResult visit(func::FuncOp func);

private:
  func::FuncOp findCallee(func::CallOp call);
  LogicalResult inlineCall(func::CallOp call, func::FuncOp callee);

  SymbolTable symbols;
  llvm::SmallPtrSet<Operation *, 8> done;
  llvm::SmallPtrSet<Operation *, 8> entered;
  int64_t opsLeft = kMaxOps;
};
} // namespace

/// The function of memrefs that takes the place of `call`, or null.
func::FuncOp Inliner::findCallee(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() ||
      call->getParentOfType<linalg::LinalgOp>())
    return {};
  auto isMemref = [](Type type) { return isa<BaseMemRefType>(type); };
  return llvm::any_of(callee.getArgumentTypes(), isMemref) ||
                 llvm::any_of(callee.getResultTypes(), isMemref)
             ? callee
             : func::FuncOp();
}

LogicalResult Inliner::inlineCall(func::CallOp call, func::FuncOp callee) {
  callee.walk([&](Operation *) { --opsLeft; });
  if (opsLeft < 0)
    return call.emitOpError() << "makes the program too large: functions of memrefs are written "
                                 "where they are called, up to "
                              << kMaxOps << " ops; pass tensors, or call in a loop";
  OpBuilder b(call);
  IRMapping values;
  Block &body = callee.getBody().front();
  values.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    b.clone(op, values);
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(values.lookupOrDefault(result));
  call->replaceAllUsesWith(results);
  call.erase();
  return success();
}

/// Callees first, so that each body is complete where it is copied.
LogicalResult Inliner::visit(func::FuncOp func) {
  if (!done.insert(func).second)
    return success();
  entered.insert(func);
  SmallVector<func::CallOp> calls;
  func.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    func::FuncOp callee = findCallee(call);
    if (!callee)
      continue;
    if (failed(visit(callee)))
      return failure();
    if (!entered.contains(callee) && failed(inlineCall(call, callee)))
      return failure();
  }
  entered.erase(func);
  return success();
}

namespace {
struct InlineMemrefCallsPass
    : public tilewright::impl::InlineMemrefCallsPassBase<InlineMemrefCallsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Inliner inliner(module);
    for (auto func : module.getOps<func::FuncOp>())
      if (failed(inliner.visit(func)))
        return signalPassFailure();
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      bool hasMemrefs = llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<BaseMemRefType>) ||
                        llvm::any_of(func.getResultTypes(), llvm::IsaPred<BaseMemRefType>);
      if (func.isPrivate() && !func.isExternal() && hasMemrefs &&
          SymbolTable::symbolKnownUseEmpty(func, module))
        func.erase();
    }
  }
};
} // namespace
