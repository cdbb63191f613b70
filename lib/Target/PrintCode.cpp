// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// -tilewright-print-code: lowers every kernel of a program by the back end of
// its `tilewright.target` and prints the code, one kernel after the other. The
// module itself stays as it is. It is how tests look at emitted code:
//
//   tilewright-opt k.mlir -tilewright-print-code -o /dev/null | FileCheck k.mlir

#include "tilewright/Target/Compile.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct PrintCodePass : PassWrapper<PrintCodePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintCodePass)

  PrintCodePass() = default;
  PrintCodePass(const PrintCodePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tilewright-print-code"; }
  StringRef getDescription() const override {
    return "prints the code of every kernel: PTX, SPIR-V assembly, assembly";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    createTargetRegistry().registerDialects(registry);
  }

  void runOnOperation() override {
    TargetRegistry registry = createTargetRegistry();
    BackendOptions options;
    options.debugInfo = debug;
    options.keepText = true;
    ModuleOp module = getOperation();
    Attribute before = module->getAttr(kTargetAttr);
    if (!target.empty()) {
      llvm::Expected<ParsedTarget> parsed =
          registry.parse(&getContext(), target);
      if (!parsed) {
        module.emitError() << llvm::toString(parsed.takeError());
        return signalPassFailure();
      }
      module->setAttr(kTargetAttr, parsed->variants.front().target);
    }
    for (auto kernel : module.getOps<FunctionOpInterface>()) {
      if (!isKernel(kernel))
        continue;
      FailureOr<KernelCode> code = compileKernel(registry, kernel, options);
      if (failed(code))
        return signalPassFailure();
      llvm::outs() << "// kernel " << code->entry << ": "
                   << getExtension(code->kind)
                   << ", dynamic shared memory " << code->dynamicShared << "\n";
      llvm::outs() << (llvm ? code->llvm
                            : code->kind == CodeKind::PTX ? code->bytes
                                                          : code->assembly);
    }
    if (before)
      module->setAttr(kTargetAttr, before);
    else
      module->removeAttr(kTargetAttr);
  }

  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("compile for this target, not for the program's")};
  Option<bool> llvm{*this, "llvm",
                    llvm::cl::desc("print LLVM IR instead of the code")};
  Option<bool> debug{*this, "debug",
                     llvm::cl::desc("with line tables, as -g does")};
};
} // namespace

namespace tilewright {
void registerTargetsPasses() { PassRegistration<PrintCodePass>(); }
} // namespace tilewright
