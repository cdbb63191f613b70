// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel to code: copy, lower, emit.

#include "tilewright/Target/Compile.h"

#include "tilewright/Target/Observer.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tilewright;

FailureOr<KernelCode> tilewright::compileKernel(const TargetRegistry &registry,
                                                FunctionOpInterface kernel,
                                                const BackendOptions &options) {
  TargetAttr target = getTarget(kernel);
  if (!target)
    return kernel->emitOpError()
           << "is in no program: a module with '" << kTargetAttr << "'";
  const TargetBackend *backend = registry.lookup(target);
  if (!backend)
    return kernel->emitOpError() << "this build has no back end '"
                                 << target.getBackend() << "'";

  OwningOpRef<ModuleOp> module(ModuleOp::create(kernel->getLoc()));
  if (auto program = kernel->getParentOfType<ModuleOp>())
    module.get()->setAttrs(program->getAttrs());
  module.get()->removeAttr(SymbolTable::getSymbolAttrName());
  module.get()->setAttr(kTargetAttr, target);
  module->push_back(kernel->clone());
  // What was said of it is known; what lowering says is not.
  module->getBody()->back().removeAttr(kExplainAttr);

  PassManager pm(kernel->getContext(), ModuleOp::getOperationName());
  backend->buildLowering(pm, target, options);
  {
    ObservedStep step(options.observer, "lower", "lower");
    if (failed(runLowering(pm, *module, options.observer)))
      return failure();
  }
  std::vector<std::string> explanation;
  for (Operation &op : *module->getBody())
    if (auto lines = dyn_cast_or_null<ArrayAttr>(op.removeAttr(kExplainAttr)))
      for (auto line : lines.getAsRange<StringAttr>())
        explanation.push_back(line.str());
  ObservedStep step(options.observer, "emit", "generate code");
  FailureOr<KernelCode> code = backend->emit(*module, options);
  if (succeeded(code))
    code->explanation = std::move(explanation);
  return code;
}
