// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the support functions (support/host_support.c) from host code.

#ifndef TILEWRIGHT_TARGET_HOST_HOSTCALLS_H
#define TILEWRIGHT_TARGET_HOST_HOSTCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace tilewright::host {

/// Calls `name`, which is declared in the module when it is not yet, with the
/// types of these operands. `result` may be null: void. Returns the result. With the module's
/// `symbols`, which a pass that calls much has, its ops are not searched one by one.
mlir::Value callSupport(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::StringRef name, mlir::Type result,
                        mlir::ValueRange operands,
                        mlir::SymbolTable *symbols = nullptr);

/// The call context of the host function around `op`.
mlir::Value getCallContext(mlir::Operation *op);

/// An array of `values` (all of type `element`) on the stack of the function.
mlir::Value createArray(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Type element, mlir::ValueRange values);

/// A NUL-terminated string constant; `symbols` as above.
mlir::Value createString(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef text,
                         mlir::SymbolTable *symbols = nullptr);

mlir::Value createI32(mlir::OpBuilder &builder, mlir::Location loc,
                      int64_t value);
mlir::Value createI64(mlir::OpBuilder &builder, mlir::Location loc,
                      int64_t value);

/// A scalar's bits in a 64-bit slot (integers sign-extended, i1
/// zero-extended), and back.
mlir::Value toSlot(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value scalar);
mlir::Value fromSlot(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value slot, mlir::Type type);

mlir::Type getPointer(mlir::OpBuilder &builder);

/// Sizes of a shape as i64; `dynamic` gives those that are not static.
mlir::Value createDims(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<int64_t> shape, mlir::ValueRange dynamic);

/// Another reference to `view`.
mlir::Value share(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value context, mlir::Value view);

} // namespace tilewright::host

#endif
