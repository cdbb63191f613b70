// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `place` as a pipeline.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Place/Place.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_REGISTRATION
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

void tilewright::populatePlacePipeline(OpPassManager &pm,
                                       const PlaceOptions &) {
  pm.nest<func::FuncOp>().addPass(createResolveDimsPass());
  pm.addPass(createWriteInPlacePass());
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createCanonicalizePass("place"));
  func.addPass(createCSEPass());
  func.addPass(createCollectChecksPass());
  pm.addPass(createPlaceWindowsPass());
  pm.nest<func::FuncOp>().addPass(createPlanTemporariesPass());
  pm.addPass(createNumberDispatchesPass());
}

void tilewright::registerPlacePasses() {
  registerTilewrightPlacePasses();
  PassPipelineRegistration<>(
      "tilewright-place", "The stage place",
      [](OpPassManager &pm) { populatePlacePipeline(pm); });
}
