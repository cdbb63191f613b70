// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-identify-loaded: what functions at load compute gets a name that says how it is
// computed, so that the runtime has it once for all programs that compute the same.
//
//   func.func private @main.at_load() -> tensor<64x96xf32> attributes {tilewright.at_load} {
//     %w = arith.constant dense_resource<"w"> : tensor<96x64xf32>
//     %t = tilewright.dispatch @main_copy_0(%w) …
//     return %t
// becomes
//   func.func private @main.at_load() -> (tensor<64x96xf32> {tilewright.identity = "5e0c…"})
//
// A result's identity is the SHA-256 of the ops that it comes from, with the bodies of kernels in
// the place of their names, and of the module's attributes. Which target it is for is not in it,
// for host code is one for all variants of a target. Constants of the parameter file are their
// names there, for what it says of them is the runtime's to know; others are their values.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_IDENTIFYLOADEDPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static std::string hashOf(StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

namespace {
class Identities {
public:
  Identities(ModuleOp module, SymbolTable &symbols);
  /// After those of the operands.
  void add(Operation *op);
  /// Empty where `value` is not known by what computes it.
  std::string of(Value value) const;

private:
  std::string ofConstant(arith::ConstantOp op) const;
  std::string ofKernel(func::FuncOp kernel);
  std::string ofOp(Operation *op);

  SymbolTable &symbols;
  /// What holds of all.
  std::string common;
  llvm::DenseMap<Operation *, std::string> known;
};
} // namespace

template <typename T> static std::string textOf(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

Identities::Identities(ModuleOp module, SymbolTable &symbols) : symbols(symbols) {
  NamedAttrList attributes(module->getDiscardableAttrDictionary());
  attributes.erase(kParametersAttr);
  attributes.erase(kTargetAttr);
  common = textOf(Attribute(attributes.getDictionary(module.getContext())));
}

std::string Identities::ofConstant(arith::ConstantOp op) const {
  std::string type = textOf(op.getType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return hashOf("parameter" + resource.getRawHandle().getKey().str() + "\n" + type);
    ArrayRef<char> data = blob->getData();
    return hashOf("data" + type + hashOf(StringRef(data.data(), data.size())));
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    ArrayRef<char> data = dense.getRawData();
    return hashOf((dense.isSplat() ? "splat" : "data") + type +
                  hashOf(StringRef(data.data(), data.size())));
  }
  return hashOf("constant" + textOf(op.getValue()));
}

std::string Identities::ofKernel(func::FuncOp kernel) {
  std::string &hash = known[kernel];
  if (hash.empty()) {
    OwningOpRef<func::FuncOp> unnamed(kernel.clone());
    unnamed->setName("kernel");
    std::string text;
    llvm::raw_string_ostream stream(text);
    unnamed->print(stream, OpPrintingFlags().useLocalScope());
    hash = hashOf(text);
  }
  return hash;
}

std::string Identities::ofOp(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return ofConstant(constant);
  if (op->getNumRegions())
    return "";
  std::string text = op->getName().getStringRef().str();
  NamedAttrList attributes(op->getAttrDictionary());
  if (auto dispatch = dyn_cast<DispatchOp>(op)) {
    auto kernel = symbols.lookup<func::FuncOp>(dispatch.getCallee());
    if (!kernel)
      return "";
    attributes.erase(dispatch.getCalleeAttrName());
    text += ofKernel(kernel);
  }
  text += textOf(Attribute(attributes.getDictionary(op->getContext())));
  for (Type type : op->getResultTypes())
    text += textOf(type);
  for (Value operand : op->getOperands()) {
    std::string its = of(operand);
    if (its.empty())
      return "";
    text += its;
  }
  return hashOf(text);
}

void Identities::add(Operation *op) {
  if (std::string hash = ofOp(op); !hash.empty())
    known[op] = hash;
}

std::string Identities::of(Value value) const {
  auto result = dyn_cast<OpResult>(value);
  auto found = result ? known.find(result.getOwner()) : known.end();
  return found == known.end()
             ? std::string()
             : hashOf(common + found->second + std::to_string(result.getResultNumber()));
}

namespace {
struct IdentifyLoadedPass : tilewright::impl::IdentifyLoadedPassBase<IdentifyLoadedPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    Identities identities(getOperation(), symbols);
    Builder b(&getContext());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (!func->hasAttr(kAtLoadAttr))
        continue;
      for (Operation &op : func.getBody().front().without_terminator())
        identities.add(&op);
      for (OpOperand &result : func.getBody().front().getTerminator()->getOpOperands())
        if (std::string hash = identities.of(result.get()); !hash.empty())
          func.setResultAttr(result.getOperandNumber(), kIdentityAttr, b.getStringAttr(hash));
    }
  }
};
} // namespace
