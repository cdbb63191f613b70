// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage that overlaps memory with computation.

#ifndef TILEWRIGHT_PIPELINE_PIPELINE_H
#define TILEWRIGHT_PIPELINE_PIPELINE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Pipeline/Passes.h.inc"

/// Double-buffers the kernel's loops as its lowering config asks.
mlir::LogicalResult pipelineLoops(mlir::func::FuncOp kernel);

/// Lets two products of a loop overlap that stand one behind the other in roles of warps.
void overlapProducts(mlir::func::FuncOp kernel);

/// Takes the steps that need no mask out of the kernel's loops, into loops without it.
void peelMasks(mlir::func::FuncOp kernel);

/// Leaves out releases of rings' stages that are never filled again.
void dropLastReleases(mlir::func::FuncOp kernel);

void registerPipelinePasses();

void populatePipelinePipeline(mlir::OpPassManager &pm);

} // namespace tilewright

#endif
