// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `place`: what the manifest and the host program must know about
// the dispatches of a program.

#ifndef TILEWRIGHT_PLACE_PLACE_H
#define TILEWRIGHT_PLACE_PLACE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Place/Passes.h.inc"

struct PlaceOptions {};

/// Adds the stage to `pm`, which is anchored on a program (`builtin.module`).
void populatePlacePipeline(mlir::OpPassManager &pm,
                           const PlaceOptions &options = {});

void registerPlacePasses();

/// tensor.dim of a dispatch's result to tensor.dim of its destination.
void populateResolveDimsPatterns(mlir::RewritePatternSet &patterns);

/// Gives temporaries of a host function, which has one block, their places in
/// one allocation.
void planTemporaries(mlir::func::FuncOp func);

/// Two dims that must be equal when a kernel is launched: dim `dimA` of tensor
/// operand `operandA` (tensors counted from 0, scalars left out) and so on.
struct DimCheck {
  int64_t operandA, dimA, operandB, dimB;
  std::string message;
};

/// The checks of `kernel` that types do not decide, in a fixed order. Emits an
/// error and fails if types say that dims differ.
mlir::FailureOr<llvm::SmallVector<DimCheck>>
collectChecks(mlir::func::FuncOp kernel);

} // namespace tilewright

#endif
