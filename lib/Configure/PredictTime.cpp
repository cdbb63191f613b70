// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops as a kernel in program form, in a module of its own, which is ranked and dropped:
//
//   %m = linalg.generic <matmul> ins(%x, %w) outs(%z)        %z = linalg.fill …
//   %r = linalg.generic <gelu> ins(%m) outs(%e)
//     ->
//   func.func private @predicted(%x, %w, %out) -> tensor<…> attributes {tilewright.kernel, …} {
//     %0 = tensor.empty()    %z = linalg.fill … outs(%0)
//     %m = linalg.generic <matmul> ins(%x, %w) outs(%z)
//     %r = linalg.generic <gelu> ins(%m) outs(%out)
//     return %r
//   }

#include "tilewright/Configure/PredictTime.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/KernelInfo.h"

#include "Bound.h"
#include "CostModel.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {
class KernelSketch {
public:
  explicit KernelSketch(ArrayRef<linalg::LinalgOp> ops) : ops(ops) {}
  /// Writes the kernel at the end of `module`; null where it cannot be told.
  func::FuncOp write(ModuleOp module);

private:
  bool isInside(Value value) const {
    return value.getDefiningOp() && llvm::is_contained(ops, value.getDefiningOp());
  }
  bool isResult(OpResult result) const {
    return result.use_empty() || llvm::any_of(result.getUsers(), [&](Operation *user) {
             return !llvm::is_contained(ops, user);
           });
  }
  /// The tensors that the kernel reads, and its results; false where it has others.
  bool findSignature();
  bool cloneConstants(OpBuilder &b, Operation *op, IRMapping &mapping);

  ArrayRef<linalg::LinalgOp> ops;
  llvm::SetVector<Value> tensors;
  SmallVector<OpResult> results;
};
} // namespace

bool KernelSketch::findSignature() {
  for (linalg::LinalgOp op : ops) {
    for (Value input : op.getDpsInputs())
      if (auto type = dyn_cast<RankedTensorType>(input.getType()); type && !isInside(input)) {
        if (!type.hasStaticShape())
          return false;
        tensors.insert(input);
      }
    for (OpResult result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.hasStaticShape())
        return false;
      if (isResult(result))
        results.push_back(result);
    }
  }
  return true;
}

/// Constants that `op` reads are repeated; false where it reads other scalars.
bool KernelSketch::cloneConstants(OpBuilder &b, Operation *op, IRMapping &mapping) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read) {
    if (mapping.contains(value) || isa<RankedTensorType>(value.getType()))
      continue;
    if (!matchPattern(value, m_Constant()))
      return false;
    b.clone(*value.getDefiningOp(), mapping);
  }
  return true;
}

func::FuncOp KernelSketch::write(ModuleOp module) {
  if (!findSignature())
    return {};
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> arguments, returned;
  SmallVector<StringRef> access(tensors.size(), "read");
  for (Value tensor : tensors)
    arguments.push_back(tensor.getType());
  for (OpResult result : results) {
    returned.push_back(result.getType());
    access.push_back("write");
  }
  llvm::append_range(arguments, returned);
  auto kernel = func::FuncOp::create(b, module.getLoc(), "predicted",
                                     b.getFunctionType(arguments, returned));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, b.getUnitAttr());
  kernel->setAttr(kAccessAttr, b.getStrArrayAttr(access));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  IRMapping mapping;
  for (auto [tensor, argument] : llvm::zip(tensors, kernel.getArguments()))
    mapping.map(tensor, argument);
  for (linalg::LinalgOp op : ops) {
    IRMapping own = mapping;
    if (!cloneConstants(b, op, own))
      return {};
    for (OpOperand &init : op.getDpsInitsMutable()) {
      OpResult result = op.getTiedOpResult(&init);
      auto fill = init.get().getDefiningOp<linalg::FillOp>();
      if (!fill && op.payloadUsesValueFromOperand(&init))
        return {};
      const auto *position = llvm::find(results, result);
      Value memory =
          position != results.end()
              ? Value(kernel.getArgument(tensors.size() + (position - results.begin())))
              : tensor::EmptyOp::create(b, op.getLoc(),
                                        cast<RankedTensorType>(result.getType()), ValueRange())
                    .getResult();
      if (fill) {
        IRMapping ofFill;
        if (!cloneConstants(b, fill, ofFill))
          return {};
        ofFill.map(fill.getOutputs()[0], memory);
        memory = b.clone(*fill, ofFill)->getResult(0);
      }
      own.map(init.get(), memory);
    }
    Operation *copy = b.clone(*op, own);
    mapping.map(op->getResults(), copy->getResults());
  }
  func::ReturnOp::create(
      b, module.getLoc(), llvm::map_to_vector(results, [&](OpResult result) {
        return mapping.lookup(Value(result));
      }));
  return kernel;
}

/// What is ranked first for a kernel of `ops`.
static std::optional<Candidate> predict(ArrayRef<linalg::LinalgOp> ops, TargetAttr target) {
  auto program = ops.front()->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(program.getLoc());
  (*module)->setDiscardableAttrs(program->getDiscardableAttrDictionary());
  func::FuncOp kernel = KernelSketch(ops).write(*module);
  if (!kernel)
    return std::nullopt;
  FailureOr<KernelInfo> info = KernelInfo::get(kernel);
  if (failed(info))
    return std::nullopt;
  std::vector<Candidate> candidates = listConfigs(*info, target);
  if (candidates.empty() || candidates.front().refused)
    return std::nullopt;
  return candidates.front();
}

std::optional<PredictedKernel> tilewright::predictKernel(ArrayRef<linalg::LinalgOp> ops,
                                                         TargetAttr target) {
  std::optional<Candidate> first = predict(ops, target);
  if (!first)
    return std::nullopt;
  return PredictedKernel{first->cost * 1e-3, first->config};
}

double tilewright::launchTime(TargetAttr target) { return chipOf(target).kernelMicroseconds; }

std::optional<double> tilewright::predictTime(ArrayRef<linalg::LinalgOp> ops,
                                              TargetAttr target) {
  std::optional<PredictedKernel> kernel = predictKernel(ops, target);
  return kernel ? std::optional(kernel->time) : std::nullopt;
}

LoweringConfigAttr tilewright::predictConfig(ArrayRef<linalg::LinalgOp> ops,
                                             TargetAttr target) {
  std::optional<Candidate> first = predict(ops, target);
  return first ? first->config : LoweringConfigAttr();
}
