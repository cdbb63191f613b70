// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage that makes variants of kernels for favourable shapes.

#ifndef TILEWRIGHT_SPECIALIZE_SPECIALIZE_H
#define TILEWRIGHT_SPECIALIZE_SPECIALIZE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Specialize/Passes.h.inc"

/// Adds the variant with aligned rows of every kernel of the program that can
/// profit from one.
void addAlignedVariants(mlir::ModuleOp program);

/// Replaces the variant with aligned rows of every convolution that a copy engine can
/// gather the windows of (fact `warpgroup_mma`) by one that is a product of pixels and
/// filters; says on the others why it cannot. Fails after a diagnostic.
llvm::LogicalResult addImageVariants(mlir::ModuleOp program);

/// Puts in front of every product with a dynamic side variants for few rows (columns,
/// where only those are dynamic), which are configured for so few. Fails after a
/// diagnostic.
llvm::LogicalResult addShapeVariants(mlir::ModuleOp program);

/// Puts in front of every variant with aligned rows of a dynamic extent, which it reads more
/// than once, and in front of the kernel that it is a variant of, variants for rows that fit
/// on chip: registers, then shared memory. Fails after a diagnostic.
llvm::LogicalResult addRowVariants(mlir::ModuleOp program);

/// Gives every kernel of the program with buffers that may have 2^31 elements or
/// more a variant with 64-bit indices behind it, if the target's indices have
/// 32 bits and it can do without (`wide_index`). A kernel whose static shapes
/// need them gets them itself.
void addWideVariants(mlir::ModuleOp program);

/// In kernels whose indices have 32 bits, bodies compute indices in 64 that they use as
/// numbers and that may not fit.
void widenIndices(mlir::ModuleOp program);

/// In kernels whose indices have 32 bits, casts of wider integers to `index` give the
/// nearest number that those have.
void clampIndexCasts(mlir::ModuleOp program);

void registerSpecializePasses();

void populateSpecializePipeline(mlir::OpPassManager &pm);

} // namespace tilewright

#endif
