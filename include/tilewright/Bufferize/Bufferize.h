// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `bufferize`: vectors over tensor arguments -> block form
// (docs/ir.md).

#ifndef TILEWRIGHT_BUFFERIZE_BUFFERIZE_H
#define TILEWRIGHT_BUFFERIZE_BUFFERIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Bufferize/Passes.h.inc"

struct BufferizeOptions {};

/// Bufferizes one vectorized kernel in place; emits an error that names the op
/// where that needs an allocation or a copy. The kernel is left in an undefined
/// state then.
mlir::LogicalResult bufferizeKernel(mlir::func::FuncOp kernel);

void populateBufferizePipeline(mlir::OpPassManager &pm,
                               const BufferizeOptions &options = {});

void registerBufferizePasses();

} // namespace tilewright

#endif
