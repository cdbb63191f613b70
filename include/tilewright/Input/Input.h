// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `input`: what users may write, brought to linalg on tensors.

#ifndef TILEWRIGHT_INPUT_INPUT_H
#define TILEWRIGHT_INPUT_INPUT_H

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Input/Passes.h.inc"

struct InputOptions {};

/// On the module, "off": asserts of the program are dropped.
inline constexpr llvm::StringLiteral kAssertsAttr = "tilewright.asserts";

/// Adds the stage to `pm`, which is anchored on `builtin.module`.
void populateInputPipeline(mlir::OpPassManager &pm,
                           const InputOptions &options = {});

void registerInputPasses();

/// Names of the TOSA ops that some pattern converts.
llvm::SmallVector<mlir::OperationName>
getConvertedTosaOps(mlir::MLIRContext *context);

/// Emits errors and fails if `module` is nothing that can be compiled.
mlir::LogicalResult checkInput(mlir::ModuleOp module);

/// Results in the memory of arguments with `tf.aliasing_output` (lib/Input/AliasArguments.cpp).
mlir::LogicalResult aliasArguments(mlir::func::FuncOp func);

/// Scatters, scans and sorts in the forms that have kernels (lib/Input/PrepareIrregular.cpp);
/// with `keepSorts`, as the oracle has them, not the sorts.
void prepareIrregular(mlir::func::FuncOp func, bool keepSorts = false);

/// Replaces memrefs inside `func` by tensors; the signature stays. Emits an
/// error and fails where a use of a memref has no tensor form.
/// Tensors of i4 and i2 as tensors of bytes (lib/Input/UnpackSubBytes.cpp).
mlir::LogicalResult unpackSubBytes(mlir::func::FuncOp func);

mlir::LogicalResult raiseMemrefs(mlir::func::FuncOp func);

} // namespace tilewright

#endif
