// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program as loops over memrefs, by upstream's passes alone: what people read
// to see what a structured op means, and what other MLIR tools take.
//
//   linalg.matmul ins(%a, %b : tensor<8x4xf32>, …)
// becomes, as affine loops,
//   affine.for %i = 0 to 8 { affine.for %j = 0 to 16 { affine.for %k = 0 to 4 {
//     %x = affine.load %a[%i, %k] : memref<8x4xf32> …
// or with scf.for, memref.load and arith on indices.

#ifndef TILEWRIGHT_TARGET_REFERENCE_LOOPS_H
#define TILEWRIGHT_TARGET_REFERENCE_LOOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/LLVM.h"

namespace tilewright {

/// Turns a module as it was written into loops: affine.for or scf.for. What no
/// pass of upstream has loops for is an error that names the op.
mlir::LogicalResult lowerToLoops(mlir::ModuleOp module, bool affine);

/// memref.copy as linalg.generic: a copy of a window would call a library.
void generalizeCopies(mlir::ModuleOp module);

/// Tensors to memrefs, over calls, too: a function returns buffers of its own.
void buildBufferization(mlir::OpPassManager &pm);

/// The caller's tensors are not to be written.
void protectArguments(mlir::ModuleOp module);

} // namespace tilewright

#endif
