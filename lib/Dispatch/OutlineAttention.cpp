// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as a kernel and a dispatch, or, where no config fits, as linalg.
//
//   %o = tilewright.attention ins(%q, %k, %v) outs(%e) …
// becomes
//   %o = tilewright.dispatch @main_attention_0(%q, %k, %v) outs(%e)
//
//   func.func private @main_attention_0(%q, %k, %v, %out) attributes {tilewright.kernel,
//       tilewright.access = ["read", "read", "read", "write"]} {
//     %o = tilewright.attention ins(%q, %k, %v) outs(%out) …
//     return %o
//   }
//
// An elementwise op that computes the mask goes along where that pays (mayComputeMask).

#include "Kernels.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Normalize/DecomposeAttention.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_OUTLINEATTENTIONPASS
#define GEN_PASS_DEF_SPLITATTENTIONPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static Refusal whyNoKernel(AttentionOp op, TargetAttr target) {
  // A pinned config is checked, and refused, by `configure`.
  if (op->hasAttr(kConfigAttr))
    return {};
  if (!target)
    return refuse(Refused::Target, "the module has no target");
  return chooseAttentionConfig(op, target).why();
}

/// `producer` of the mask of `op`, and its constants, in the kernel that `mapping` leads to.
static void cloneMask(OpBuilder &b, AttentionOp op, linalg::GenericOp producer,
                      IRMapping &mapping) {
  auto type = cast<RankedTensorType>(producer.getResult(0).getType());
  AffineMap map = mapOfMask(op, producer.getResult(0));
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    auto [tensor, number] = op.getOperandOfLoop(map.getDimPosition(dim));
    sizes.push_back(tensor::getMixedSize(b, op.getLoc(), mapping.lookup(tensor), number));
  }
  mapping.map(producer.getDpsInits()[0],
              tensor::EmptyOp::create(b, op.getLoc(), sizes, type.getElementType()).getResult());
  llvm::SetVector<Value> constants;
  getUsedValuesDefinedAbove(producer.getRegion(), constants);
  for (Value constant : constants)
    b.clone(*constant.getDefiningOp(), mapping);
  b.clone(*producer, mapping);
}

static func::FuncOp outline(AttentionOp op, StringRef name, SymbolTable &symbols) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Attribute> said;
  if (op->removeAttr(kRaisedAttr))
    said.push_back(b.getStringAttr("found in linalg: contraction, softmax and contraction "
                                   "are one attention"));
  if (auto lines = dyn_cast_or_null<ArrayAttr>(op->removeAttr(kExplainAttr)))
    llvm::append_range(said, lines);
  llvm::SetVector<linalg::GenericOp> producers;
  for (Value mask : masksOf(op))
    if (auto producer = mask.getDefiningOp<linalg::GenericOp>()) {
      OrRefusal<std::string> computed = mayComputeMask(op, producer, getTarget(op));
      auto text = b.getStringAttr(computed ? *computed : computed.why().str());
      if (!llvm::is_contained(said, text))
        said.push_back(text);
      if (computed)
        producers.insert(producer);
    }
  llvm::SetVector<Value> inputs;
  for (OpOperand &operand : op->getOpOperands())
    if (op.isDpsInput(&operand) &&
        !producers.contains(operand.get().getDefiningOp<linalg::GenericOp>()))
      inputs.insert(operand.get());
  for (linalg::GenericOp producer : producers)
    inputs.insert_range(producer.getDpsInputs());
  SmallVector<Value> outs; // which nothing else writes
  for (Value output : op.getOutputs())
    outs.push_back(createEmptyLike(b, loc, output));
  SmallVector<Attribute> access(inputs.size(), b.getStringAttr("read"));
  access.append(outs.size(), b.getStringAttr("write"));
  func::FuncOp kernel = createKernel(symbols, loc, name, inputs.getArrayRef(),
                                     op->getResultTypes(), access);
  if (!said.empty())
    kernel->setAttr(kExplainAttr, b.getArrayAttr(said));

  OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), kernel.getArguments().take_front(inputs.size()));
  for (linalg::GenericOp producer : producers)
    cloneMask(body, op, producer, mapping);
  auto copy = cast<AttentionOp>(body.clone(*op, mapping));
  copy.getOutputsMutable().assign(kernel.getArguments().take_back(outs.size()));
  func::ReturnOp::create(body, loc, copy->getResults());

  auto dispatch = DispatchOp::create(b, loc, op->getResultTypes(), kernel.getSymName(),
                                     inputs.getArrayRef(), outs);
  op->replaceAllUsesWith(dispatch.getResults());
  op.erase();
  for (linalg::GenericOp producer : producers)
    if (producer.use_empty())
      producer.erase();
  return kernel;
}

namespace {
struct SplitAttentionPass
    : public tilewright::impl::SplitAttentionPassBase<SplitAttentionPass> {
  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      Refusal why = whyNoKernel(op, getTarget(op));
      if (!why)
        continue;
      OpBuilder b(op);
      SmallVector<Value> results = decomposeAttention(b, op);
      results.front().getDefiningOp()->setAttr(kDecomposedAttr, b.getStringAttr(why.str()));
      op->replaceAllUsesWith(results);
      op.erase();
    }
  }
};

struct OutlineAttentionPass
    : public tilewright::impl::OutlineAttentionPassBase<OutlineAttentionPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto host : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (isKernel(host))
        continue;
      SmallVector<AttentionOp> ops;
      host.walk([&](AttentionOp op) { ops.push_back(op); });
      for (auto [number, op] : llvm::enumerate(ops))
        outline(op, kernelName(host, "attention", number), symbols);
    }
  }
};
} // namespace
