// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of this stage and their order.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#define GEN_PASS_DEF_COUNTSTAGESPASS
#define GEN_PASS_DEF_DISTRIBUTEPASS
#define GEN_PASS_DEF_KEEPFRAGMENTSPASS
#define GEN_PASS_DEF_LOADFRAGMENTSPASS
#define GEN_PASS_DEF_PLACEBARRIERSPASS
#define GEN_PASS_DEF_PLACESHAREDMEMORYPASS
#define GEN_PASS_DEF_PRINTLAYOUTSPASS
#define GEN_PASS_DEF_RECOMPUTESCALARSPASS
#define GEN_PASS_DEF_USELOADSEARLYPASS
#define GEN_PASS_REGISTRATION
#include "tilewright/Distribute/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
struct AssignLayoutsPass
    : tilewright::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(assignLayouts(getOperation())))
      signalPassFailure();
  }
};

struct LoadFragmentsPass
    : tilewright::impl::LoadFragmentsPassBase<LoadFragmentsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      loadFragments(getOperation());
  }
};

struct KeepFragmentsPass
    : tilewright::impl::KeepFragmentsPassBase<KeepFragmentsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(keepFragments(getOperation())))
      signalPassFailure();
  }
};

struct PrintLayoutsPass
    : tilewright::impl::PrintLayoutsPassBase<PrintLayoutsPass> {
  using Base = tilewright::impl::PrintLayoutsPassBase<PrintLayoutsPass>;
  using Base::Base;
  void runOnOperation() override {
    if (!layout.empty()) {
      std::string error;
      FailureOr<std::string> drawn = drawLayout(layout, rows, columns, error);
      if (failed(drawn)) {
        getOperation().emitError() << "layout \"" << layout << "\": " << error;
        return signalPassFailure();
      }
      llvm::outs() << *drawn;
      return;
    }
    WalkResult result = getOperation().walk([&](func::FuncOp func) {
      return isKernel(func) ? WalkResult(printLayouts(func, llvm::outs(), rows,
                                                      columns))
                            : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

struct DistributePass : tilewright::impl::DistributePassBase<DistributePass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(distributeKernel(getOperation())))
      signalPassFailure();
  }
};

struct UseLoadsEarlyPass : tilewright::impl::UseLoadsEarlyPassBase<UseLoadsEarlyPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      useLoadsEarly(getOperation());
  }
};

struct CountStagesPass : tilewright::impl::CountStagesPassBase<CountStagesPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      countStages(getOperation());
  }
};

struct RecomputeScalarsPass
    : tilewright::impl::RecomputeScalarsPassBase<RecomputeScalarsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      recomputeScalars(getOperation());
  }
};

struct PlaceSharedMemoryPass
    : tilewright::impl::PlaceSharedMemoryPassBase<PlaceSharedMemoryPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(placeSharedMemory(getOperation())))
      signalPassFailure();
  }
};

struct PlaceBarriersPass : tilewright::impl::PlaceBarriersPassBase<PlaceBarriersPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      placeBarriers(getOperation());
  }
};
} // namespace

void tilewright::registerDistributePasses() {
  registerTilewrightDistributePasses();
}

void tilewright::populateDistributePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createLoadFragmentsPass());
  pm.addNestedPass<func::FuncOp>(createKeepFragmentsPass());
  pm.addNestedPass<func::FuncOp>(createAssignLayoutsPass());
  pm.addNestedPass<func::FuncOp>(createDistributePass());
  pm.addPass(createLowerAffinePass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizePass("distribute"));
  pm.addNestedPass<func::FuncOp>(createCountStagesPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createUseLoadsEarlyPass());
  pm.addNestedPass<func::FuncOp>(createPlaceSharedMemoryPass());
  pm.addNestedPass<func::FuncOp>(createPlaceBarriersPass());
  pm.addNestedPass<func::FuncOp>(createRecomputeScalarsPass());
}
