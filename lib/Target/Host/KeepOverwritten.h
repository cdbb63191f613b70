// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store to the caller's memref overwrites elements that a later store, or the caller, may want as
// they were. They are copied before:
//
//   bufferization.materialize_in_destination %b in writable %m    // %a is of
//   %m bufferization.materialize_in_destination %a in writable %n    // a swap
// becomes
//   %c = bufferization.alloc_tensor() copy(%a)
//   bufferization.materialize_in_destination %b in writable %m
//   bufferization.materialize_in_destination %c in writable %n

#ifndef TILEWRIGHT_LIB_TARGET_HOST_KEEPOVERWRITTEN_H
#define TILEWRIGHT_LIB_TARGET_HOST_KEEPOVERWRITTEN_H

#include "mlir/IR/Builders.h"

namespace tilewright {

/// A new tensor with the elements of `value`.
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// Copies what is read after a store of its buffer, in front of that store. `insertsInPlace`:
/// whether tensor.insert may write into its destination, as upstream's bufferization lets it;
/// host code copies (ConvertTensors.cpp).
void keepOverwritten(mlir::Block &block, bool insertsInPlace);

} // namespace tilewright

#endif
