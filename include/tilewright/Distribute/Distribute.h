// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The room where block-level vectors become per-thread code:
//   assign-layouts   every vector gets a layout, conversions become explicit;
//   distribute       vectors become the registers of one thread.

#ifndef TILEWRIGHT_DISTRIBUTE_DISTRIBUTE_H
#define TILEWRIGHT_DISTRIBUTE_DISTRIBUTE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

/// Assigns layouts to a kernel in block form (see AssignLayoutsPass).
void loadFragments(mlir::func::FuncOp kernel);
mlir::LogicalResult assignLayouts(mlir::func::FuncOp kernel);

/// Rewrites a kernel with layouts into thread form (see DistributePass).
mlir::LogicalResult distributeKernel(mlir::func::FuncOp kernel);

std::unique_ptr<mlir::Pass> createAssignLayoutsPass();
std::unique_ptr<mlir::Pass> createDistributePass();
void registerDistributePasses();

struct DistributeOptions {};
/// Block form to thread form.
void populateDistributePipeline(mlir::OpPassManager &pm,
                                const DistributeOptions &options);

} // namespace tilewright

#endif
