// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_REFERENCE_MEMORY_H
#define TILEWRIGHT_TARGET_REFERENCE_MEMORY_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilewright::reference {

/// A dense memref of `type` over `bytes` (i64) bytes at `pointer`; `sizes` are
/// its dynamic dims, index.
mlir::Value createBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value pointer, mlir::Value bytes,
                         mlir::MemRefType type, mlir::ValueRange sizes);

} // namespace tilewright::reference

#endif
