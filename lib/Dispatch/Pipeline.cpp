// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `dispatch` as a pipeline.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_REGISTRATION
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

void tilewright::populateDispatchPipeline(OpPassManager &pm,
                                          const DispatchOptions &options) {
  if (options.fuse) {
    pm.addPass(createInlineNormsPass());
    OpPassManager &func = pm.nest<func::FuncOp>();
    func.addPass(createRaiseAttentionPass());
    func.addPass(createCanonicalizePass("dispatch"));
  }
  pm.nest<func::FuncOp>().addPass(createSplitAttentionPass());
  pm.nest<func::FuncOp>().addPass(createSplitKeysPass());
  if (options.fuse)
    pm.nest<func::FuncOp>().addPass(createPickMatricesPass());
  pm.nest<func::FuncOp>().addPass(createPackInt4ProductsPass());
  pm.nest<func::FuncOp>().addPass(createWinogradPass());
  pm.nest<func::FuncOp>().addPass(createCallBlasPass());
  pm.nest<func::FuncOp>().addPass(createPackWeightsPass());
  pm.addPass(createComputeAtLoadPass());
  pm.nest<func::FuncOp>().addPass(createSplitMarkedPass());
  if (options.fuse) {
    OpPassManager &func = pm.nest<func::FuncOp>();
    func.addPass(createPackOperandsPass());
    func.addPass(createFuseElementwisePass());
    func.addPass(createSplitConcatReadersPass());
    // Parts of the same tensor are one slice, and what computes a part is merged into its reader.
    func.addPass(createCSEPass());
    func.addPass(createFuseElementwisePass());
    func.addPass(createJoinConcatPartsPass());
    func.addPass(createTransposeOperandsPass()); // what computes such an operand writes it so
    func.addPass(createFuseElementwisePass()); // equal operands of what is joined are one
    func.addPass(createExpandOperandsPass());
    // A merged body may be an identity now (x - 3 + 3): it is no kernel.
    func.addPass(createCanonicalizePass("dispatch"));
  }
  pm.nest<func::FuncOp>().addPass(createSplitArgReductionsPass());
  if (options.fuse)
    pm.nest<func::FuncOp>().addPass(createSplitExponentialSumsPass());
  pm.nest<func::FuncOp>().addPass(createSplitReductionsPass());
  pm.nest<func::FuncOp>().addPass(createSplitScansPass());
  pm.nest<func::FuncOp>().addPass(createUpdateInPlacePass());
  pm.nest<func::FuncOp>().addPass(createPadChannelsPass());
  pm.nest<func::FuncOp>().addPass(createFlattenWindowsPass());
  // Slices that an op reads with more dims than it was found with.
  pm.nest<func::FuncOp>().addPass(createExpandSlicesPass());
  pm.nest<func::FuncOp>().addPass(createMaterializeWindowsPass());
  // Of what has been copied, dims are one that were not as windows.
  pm.nest<func::FuncOp>().addPass(createCollapseLoopsPass());
  pm.nest<func::FuncOp>().addPass(createCanonicalizePass("dispatch"));
  pm.addPass(createOutlineAttentionPass());
  pm.addPass(createOutlineIrregularPass());
  FormDispatchesPassOptions form;
  form.fuse = options.fuse;
  pm.addPass(createFormDispatchesPass(form));
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createCanonicalizePass("dispatch"));
  func.addPass(createCSEPass());
  pm.addPass(createLoadDispatchesPass());
  pm.addPass(createIdentifyLoadedPass());
  pm.nest<func::FuncOp>().addPass(createCheckHostPass());
}

void tilewright::registerDispatchPasses() {
  registerTilewrightDispatchPasses();
  PassPipelineRegistration<>(
      "tilewright-dispatch", "The stage dispatch",
      [](OpPassManager &pm) { populateDispatchPipeline(pm); });
}
