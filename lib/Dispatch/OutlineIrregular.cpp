// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters, scans, sorts and products of a library as kernels and dispatches.
//
//   %r = tilewright.scatter ins(%u, %i) outs(%t) {dims = [0]}
// becomes
//   %r = tilewright.dispatch @main_scatter_0(%u, %i) outs(%t)
//
//   func.func private @main_scatter_0(%u, %i, %out) attributes {tilewright.kernel,
//       tilewright.access = ["read", "read", "readwrite"]} {
//     %r = tilewright.scatter ins(%u, %i) outs(%out) {dims = [0]}
//     return %r
//   }

#include "Kernels.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_OUTLINEIRREGULARPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static void outline(DestinationStyleOpInterface op, StringRef name, SymbolTable &symbols) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  // Tensors, then scalars; constants are repeated in the kernel.
  auto isConstant = [](Value value) { return matchPattern(value, m_Constant()); };
  llvm::SetVector<Value> inputs;
  for (bool scalars : {false, true})
    for (OpOperand *operand : op.getDpsInputOperands())
      if (isa<RankedTensorType>(operand->get().getType()) != scalars &&
          !(scalars && isConstant(operand->get())))
        inputs.insert(operand->get());
  SmallVector<Value> dests(op.getDpsInits());
  SmallVector<Attribute> access;
  for (Value input : inputs)
    if (isa<RankedTensorType>(input.getType()))
      access.push_back(b.getStringAttr("read"));
  auto gemm = dyn_cast<GemmOp>(op.getOperation());
  bool updates = isa<ScatterOp>(op) || (gemm && gemm.getAccumulate());
  access.append(dests.size(), b.getStringAttr(updates ? "readwrite" : "write"));
  // States, which are zero at the beginning.
  if (auto scan = dyn_cast<ScanOp>(op.getOperation()); scan && scan.getLookBack())
    access[access.size() - 2] = b.getStringAttr("readwrite");
  func::FuncOp kernel = createKernel(symbols, loc, name, inputs.getArrayRef(),
                                     op->getResultTypes(), access);

  OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), kernel.getArguments().take_front(inputs.size()));
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand) && !llvm::is_contained(dests, operand))
      mapping.map(operand, body.clone(*operand.getDefiningOp())->getResult(0));
  auto copy = cast<DestinationStyleOpInterface>(body.clone(*op, mapping));
  copy.getDpsInitsMutable().assign(kernel.getArguments().take_back(dests.size()));
  func::ReturnOp::create(body, loc, copy->getResults());

  auto dispatch = DispatchOp::create(b, loc, op->getResultTypes(), kernel.getSymName(),
                                     inputs.getArrayRef(), dests);
  op->replaceAllUsesWith(dispatch.getResults());
  op->erase();
}

namespace {
struct OutlineIrregularPass
    : public tilewright::impl::OutlineIrregularPassBase<OutlineIrregularPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto host : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (isKernel(host))
        continue;
      SmallVector<DestinationStyleOpInterface> ops;
      host.walk([&](DestinationStyleOpInterface op) {
        if (isIrregular(op))
          ops.push_back(op);
      });
      for (auto [number, op] : llvm::enumerate(ops))
        outline(op, kernelName(host, op->getName().stripDialect(), number), symbols);
    }
  }
};
} // namespace
