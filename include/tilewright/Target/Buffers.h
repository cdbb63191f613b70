// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memrefs out of bare pointers, for code that is entered by a C interface.

#ifndef TILEWRIGHT_TARGET_BUFFERS_H
#define TILEWRIGHT_TARGET_BUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilewright {

/// A dense memref of `type` over `bytes` (i64) bytes at `pointer` (llvm.ptr);
/// `sizes` are its dynamic dims, index. The descriptor is cast from a struct,
/// which reconcile-unrealized-casts resolves after conversion to LLVM.
mlir::Value createBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value pointer, mlir::Value bytes,
                         mlir::MemRefType type, mlir::ValueRange sizes);

/// A strided memref of `type` whose element 0 is `offset` (i64) elements behind
/// `pointer`; `sizes` and `strides` (index) are those that are not static. If
/// the type's offset is static, it stands for element 0 all the same.
mlir::Value createStridedBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value pointer, mlir::Value offset,
                                mlir::MemRefType type, mlir::ValueRange sizes,
                                mlir::ValueRange strides);

/// Bytes (i64) of a dense buffer of `type`; `sizes` are its dynamic dims.
mlir::Value createByteCount(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::MemRefType type, mlir::ValueRange sizes);

} // namespace tilewright

#endif
