// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage where block-level vectors become per-thread code:
//   load-fragments   operands of matrix instructions are read into vectors;
//   keep-fragments   what is done to a product while it is in opaque fragments;
//   assign-layouts   every vector gets a layout, conversions become explicit;
//   distribute       vectors become the registers of one thread;
//   place-shared-memory  what is never alive together has the same bytes;
//   place-barriers   threads meet between accesses to the same bytes.

#ifndef TILEWRIGHT_DISTRIBUTE_DISTRIBUTE_H
#define TILEWRIGHT_DISTRIBUTE_DISTRIBUTE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Distribute/Passes.h.inc"

/// Reads operands of matrix instructions into vectors (see LoadFragmentsPass).
void loadFragments(mlir::func::FuncOp kernel);
/// Decides what stays in opaque fragments (see KeepFragmentsPass).
mlir::LogicalResult keepFragments(mlir::func::FuncOp kernel);
/// Assigns layouts to a kernel in block form (see AssignLayoutsPass).
mlir::LogicalResult assignLayouts(mlir::func::FuncOp kernel);

/// Rewrites a kernel with layouts into thread form (see DistributePass).
mlir::LogicalResult distributeKernel(mlir::func::FuncOp kernel);

/// Combines loads with warpgroups' sums one by one (see UseLoadsEarlyPass).
void useLoadsEarly(mlir::func::FuncOp kernel);

/// Counts stages of rings where loops divide positions (see CountStagesPass).
void countStages(mlir::func::FuncOp kernel);

/// Computes scalars in each role that changes its registers (see RecomputeScalarsPass).
void recomputeScalars(mlir::func::FuncOp kernel);

/// Gives each buffer its place in shared memory (see PlaceSharedMemoryPass).
mlir::LogicalResult placeSharedMemory(mlir::func::FuncOp kernel);

/// Lets threads meet between accesses to the same bytes (see PlaceBarriersPass).
void placeBarriers(mlir::func::FuncOp kernel);

/// Draws the layouts of a kernel in block form: owners of vectors' elements, and
/// banks of shared memory. Rows and columns beyond the limits are elided.
mlir::LogicalResult printLayouts(mlir::func::FuncOp kernel,
                                 llvm::raw_ostream &os, int64_t maxRows,
                                 int64_t maxColumns);
/// Draws one layout given as text; `error` says what is wrong with it.
mlir::FailureOr<std::string> drawLayout(llvm::StringRef text, int64_t maxRows,
                                        int64_t maxColumns, std::string &error);

void registerDistributePasses();

/// Block form to thread form.
void populateDistributePipeline(mlir::OpPassManager &pm);

} // namespace tilewright

#endif
