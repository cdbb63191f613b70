// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain accesses to shared memory in thread form: those that wait for nothing but barriers
// (and, for cp.async, waits).

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_SHAREDACCESSES_H
#define TILEWRIGHT_LIB_DISTRIBUTE_SHAREDACCESSES_H

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {

/// Whether `op` writes the buffer that it accesses.
inline bool writesShared(mlir::Operation *op) {
  return mlir::isa<mlir::memref::StoreOp, mlir::vector::StoreOp, StoreFragmentOp,
                   AsyncCopyRunOp>(op);
}

/// Whether all that touches a buffer are plain accesses, to its first element or others.
inline bool isExchanged(mlir::memref::AllocOp buffer) {
  return llvm::all_of(buffer->getUsers(), [](mlir::Operation *op) {
    return writesShared(op) ||
           mlir::isa<mlir::memref::LoadOp, mlir::vector::LoadOp, LoadMatricesOp,
                     LoadFragmentOp>(op);
  });
}

} // namespace tilewright

#endif
