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

  PassManager pm(kernel->getContext(), ModuleOp::getOperationName());
  backend->buildLowering(pm, target, options);
  {
    ObservedStep step(options.observer, "lower", "lower");
    if (failed(runLowering(pm, *module, options.observer)))
      return failure();
  }
  ObservedStep step(options.observer, "emit", "generate code");
  return backend->emit(*module, options);
}
