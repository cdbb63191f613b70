// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows: tensors whose elements do not lie side by side in memory, because
// they are part of a larger tensor.
//
//   %w = tensor.extract_slice %x[2, 0] [8, 12] [1, 3]
//   %v = tilewright.im2col %x[] {map = (oh, kh, c) -> (oh + kh, c)} : …
//   %p = tensor.pad %x low[1, 1] high[1, 1] { … constant … }   (see Padding.h)
//   %t = bufferization.to_tensor %m : memref<8x12xf32, strided<[40, 3], offset: ?>>

#ifndef TILEWRIGHT_DIALECT_WINDOWS_H
#define TILEWRIGHT_DIALECT_WINDOWS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {

/// `value` as it was before casts between static and dynamic sizes.
mlir::Value lookThroughCasts(mlir::Value value);

/// Steps of all dims of a map in one of its results, or nothing where that is
/// no sum of dims times positive constants.
std::optional<llvm::SmallVector<int64_t>> getWindowSteps(mlir::AffineExpr expr,
                                                         unsigned numDims);

/// True for a slice, for all windows of a tensor, for a padded tensor and for the
/// tensor of a memref with strides; tensor.cast is seen through.
bool isWindow(mlir::Value value);

/// The tensor that `value` is, through slices, casts, paddings and
/// tilewright.im2col, a window of; `value` itself if it is none.
mlir::Value getWindowSource(mlir::Value value);

/// The tensor that `insert` and the insertions in front of it, each read by the next alone, put
/// windows into, as far as none of them touches the window of `insert`: its elements may be
/// written at any time from there on. Parts of a concatenation are inserted so.
mlir::Value getInsertionRoot(mlir::tensor::InsertSliceOp insert);

/// True if `insert` puts back exactly what `slice` takes, of the tensor that it inserts into or
/// of its insertion root.
bool isSameWindow(mlir::tensor::ExtractSliceOp slice,
                  mlir::tensor::InsertSliceOp insert);

/// Where the elements of a window lie, with a stride wherever it is static and
/// a dynamic offset; null for a value that is no window.
mlir::StridedLayoutAttr getWindowLayout(mlir::Value value);

} // namespace tilewright

#endif
