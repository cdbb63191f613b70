// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows: tensors whose elements do not lie side by side in memory, because
// they are part of a larger tensor.
//
//   %w = tensor.extract_slice %x[2, 0] [8, 12] [1, 3]
//   %t = bufferization.to_tensor %m : memref<8x12xf32, strided<[40, 3], offset: ?>>

#ifndef TILEWRIGHT_DIALECT_WINDOWS_H
#define TILEWRIGHT_DIALECT_WINDOWS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {

/// True for a slice and for the tensor of a memref with strides; tensor.cast is
/// seen through.
bool isWindow(mlir::Value value);

/// True if `insert` puts back exactly what `slice` takes.
bool isSameWindow(mlir::tensor::ExtractSliceOp slice,
                  mlir::tensor::InsertSliceOp insert);

/// Where the elements of a window lie, with a stride wherever it is static and
/// a dynamic offset; null for a value that is no window.
mlir::StridedLayoutAttr getWindowLayout(mlir::Value value);

} // namespace tilewright

#endif
