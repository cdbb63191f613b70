// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `normalize` as a pipeline.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_REGISTRATION
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

void tilewright::populateNormalizePipeline(OpPassManager &pm,
                                           const NormalizeOptions &) {
  pm.addPass(createInlineCallsPass());
  OpPassManager &func = pm.nest<func::FuncOp>();
  // Equal operands are one, before what they cancel to is looked at.
  func.addPass(createCSEPass());
  func.addPass(createSimplifySizesPass());
  func.addPass(createCSEPass());
  func.addPass(createCarryConfigsPass());
  func.addPass(createDecomposeTensorOpsPass());
  // It asks for sizes of its own.
  func.addPass(createCSEPass());
  func.addPass(createSimplifySizesPass());
  func.addPass(createReadRotationsPass());
  func.addPass(createGeneralizePass());
  func.addPass(createWidenExtremaPass());
  func.addPass(createSimplifyBodiesPass());
  func.addPass(createEvaluateConstantsPass());
  func.addPass(createFoldScalarsPass());
  func.addPass(createReadExtractsPass());
  func.addPass(createWriteDiagonalsPass());
  func.addPass(createReadOtherMapsPass());
  func.addPass(createReadNarrowOperandsPass());
  func.addPass(createConvertOperandsPass());
  func.addPass(createSplitZeroPointsPass());
  func.addPass(createAddInitsLastPass());
  func.addPass(createChannelsLastPass());
  // The transposes at the edges.
  func.addPass(createGeneralizePass());
  pm.addPass(createComputeAtLoadPass());
  OpPassManager &rest = pm.nest<func::FuncOp>();
  rest.addPass(createHoistAssertsPass());
  // What an assert counts of positions, as that they are inside of a table.
  rest.addPass(createEvaluateConstantsPass());
  rest.addPass(createDecomposeArgReductionsPass());
  rest.addPass(createSliceConstantDimsPass());
  rest.addPass(createFoldRelayoutsPass());
  rest.addPass(createFoldReshapesPass());
  rest.addPass(createMergeProductsPass());
  rest.addPass(createWriteTransposedPass());
  rest.addPass(createExpandSlicesPass());
  rest.addPass(createReadWindowsPass());
  // tensor.dim of a result becomes tensor.dim of what its size came from.
  rest.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  rest.addPass(createCanonicalizePass("normalize"));
  rest.addPass(createCSEPass());
  rest.addPass(createSimplifySizesPass());
  rest.addPass(createSimplifyPowersPass());
  rest.addPass(createDropConstantSumsPass());
  rest.addPass(createOrderLoopsPass());
  rest.addPass(createCollapseLoopsPass());
  rest.addPass(createGuardDivisionsPass());
  rest.addPass(createCanonicalizePass("normalize"));
  rest.addPass(createCSEPass());
  rest.addPass(createCarryConfigsPass(CarryConfigsPassOptions{/*putDown=*/true}));
  rest.addPass(createCheckNormalizedPass());
}

void tilewright::registerNormalizePasses() {
  registerTilewrightNormalizePasses();
  PassPipelineRegistration<>(
      "tilewright-normalize", "The stage normalize",
      [](OpPassManager &pm) { populateNormalizePipeline(pm); });
}
