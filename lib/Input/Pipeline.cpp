// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `input` as a pipeline.

#include "tilewright/Input/Input.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_REGISTRATION
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

void tilewright::populateInputPipeline(OpPassManager &pm,
                                       const InputOptions &) {
  pm.addPass(createResolveCalleesPass());
  pm.addPass(createDefineMemrefsPass());
  pm.addPass(createInlineMemrefCallsPass());
  pm.addPass(createPassIndicesPass());
  OpPassManager &func = pm.nest<func::FuncOp>();
  // In front of whatever folds.
  func.addPass(createGeneralizeIntegersPass());
  func.addPass(createExpandSwitchesPass());
  func.addPass(createDropAssertsPass());
  func.addPass(createSequenceParallelLoopsPass());
  func.addPass(createRaiseLoopsPass());
  func.addPass(createDefineFoldsPass());
  func.addPass(createDefineShiftsPass());
  func.addPass(createConvertTosaPass());
  func.addPass(createCropPadsPass());
  func.addPass(createDecomposeGathersPass());
  func.addPass(createDecomposeWinogradPass());
  func.addPass(createUnpackSubBytesPass());
  pm.addPass(createCheckInputPass());
  pm.nest<func::FuncOp>().addPass(createRaiseMemrefsPass());
  pm.addPass(createAliasArgumentsPass());
  pm.nest<func::FuncOp>().addPass(createPrepareIrregularPass());
}

void tilewright::registerInputPasses() {
  registerTilewrightInputPasses();
  PassPipelineRegistration<>(
      "tilewright-input", "The stage input",
      [](OpPassManager &pm) { populateInputPipeline(pm); });
}
