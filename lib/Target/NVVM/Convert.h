// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of tilewright-convert-to-nvvm.

#ifndef TILEWRIGHT_TARGET_NVVM_CONVERT_H
#define TILEWRIGHT_TARGET_NVVM_CONVERT_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright::nvvm {

/// Address spaces of NVPTX.
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;

/// Name of the attribute with the bytes of dynamic shared memory.
inline constexpr llvm::StringLiteral kDynamicSharedAttr =
    "tilewright.dynamic_shared";

/// Gives each shared memref.alloc of `kernel` an address: the attributes
/// `tilewright.symbol` and `tilewright.offset` on the op, and the globals in
/// the module.
mlir::LogicalResult defineSharedMemory(mlir::func::FuncOp kernel);

/// memref.load / store / alloc, vector.load / store on bare pointers.
void populateMemoryPatterns(const mlir::LLVMTypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// vector.maskedload / maskedstore of the first elements of a vector.
void populateMaskedPatterns(const mlir::LLVMTypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// tilewright.mma_fragment and load_matrices.
void populateMatrixPatterns(const mlir::LLVMTypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// Barriers in memory, copies by tensor maps, threads with roles, blocks of clusters.
void populateRingPatterns(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);

/// Products of warpgroups.
void populateWarpgroupMmaPatterns(const mlir::LLVMTypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);

/// The PTX version that inline products in a lowered module need; 0: any.
int getNeededPTX(mlir::ModuleOp module);

} // namespace tilewright::nvvm

#endif
