// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `vectorize`: the code of one block on tensors -> on vectors.

#ifndef TILEWRIGHT_VECTORIZE_VECTORIZE_H
#define TILEWRIGHT_VECTORIZE_VECTORIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Vectorize/Passes.h.inc"

/// Vectorizes one tiled kernel; emits an error that names the op and the
/// reason where it cannot. The kernel is left in an undefined state then.
mlir::LogicalResult vectorizeKernel(mlir::func::FuncOp kernel);

/// Widens the accumulators of every loop under `root` that allows it.
void delayReductions(mlir::Operation *root);

/// Takes the sums that the kernel is marked with in the loops of their maxima; a remark says
/// so where these are not all there.
void fuseOnlineSums(mlir::func::FuncOp kernel);

void populateVectorizePipeline(mlir::OpPassManager &pm);

void registerVectorizePasses();

} // namespace tilewright

#endif
