// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that replaces kernels by spirv.modules; KernelEmitter does the work.

#include "KernelEmitter.h"

#include "tilewright/Target/SPIRV/Passes.h"
#include "tilewright/Target/SPIRV/SPIRV.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTTOSPIRVPASS
#include "tilewright/Target/SPIRV/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

FailureOr<spirv::ModuleOp> tilewright::convertKernelToSPIRV(func::FuncOp kernel,
                                                            TargetAttr target) {
  return spirv_target::KernelEmitter(kernel, target).emit();
}

namespace {
struct ConvertToSPIRVPass
    : tilewright::impl::ConvertToSPIRVPassBase<ConvertToSPIRVPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (isKernel(func))
        kernels.push_back(func);
    for (func::FuncOp kernel : kernels) {
      TargetAttr target = getTarget(kernel);
      if (!target) {
        kernel.emitOpError(
            "is in no program: a module with 'tilewright.target'");
        return signalPassFailure();
      }
      if (kernel.isDeclaration()) {
        kernel.emitOpError("has no body");
        return signalPassFailure();
      }
      if (failed(convertKernelToSPIRV(kernel, target)))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace

void tilewright::registerTargetSPIRVPasses() {
  registerTilewrightTargetSPIRVPasses();
}
