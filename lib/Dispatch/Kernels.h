// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are moved out of host functions: Outline.cpp, OutlineAttention.cpp and
// OutlineIrregular.cpp fill them.

#ifndef TILEWRIGHT_LIB_DISPATCH_KERNELS_H
#define TILEWRIGHT_LIB_DISPATCH_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace tilewright {

/// A private kernel with an empty entry block. Its arguments are `inputs`, which errors call what
/// the user calls these, and a destination for each of `results`; `access` is that of each
/// argument that is a tensor.
mlir::func::FuncOp createKernel(mlir::SymbolTable &symbols, mlir::Location loc,
                                llvm::StringRef name, mlir::ValueRange inputs,
                                mlir::TypeRange results,
                                llvm::ArrayRef<mlir::Attribute> access);

/// A new tensor of `value`'s shape.
mlir::Value createEmptyLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

} // namespace tilewright

#endif
