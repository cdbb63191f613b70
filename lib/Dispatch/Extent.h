// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The size of a tensor's dim as a number times a size that is not known: what programs
// compute of sizes and cancels out is seen through.
//
//   %d = tensor.dim %x, 0        1 * dim 0 of %x
//   %b = affine.apply 4 * %d     4 * dim 0 of %x
//   %n = divsi %b, 4             1 * dim 0 of %x, as is dim 0 of tensor.empty(%n)

#ifndef TILEWRIGHT_LIB_DISPATCH_EXTENT_H
#define TILEWRIGHT_LIB_DISPATCH_EXTENT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilewright {

struct Extent {
  int64_t factor = 1;
  /// Null: the size is `factor`. A tensor and its dim, or (-1) a number.
  mlir::Value root;
  int64_t dim = -1;

  /// Of which nothing is known.
  static Extent unknown() { return {mlir::ShapedType::kDynamic, {}, -1}; }
  bool isKnown() const { return root || !mlir::ShapedType::isDynamic(factor); }
  /// The size, if it is a number, else dynamic.
  int64_t getStatic() const { return root ? mlir::ShapedType::kDynamic : factor; }
  bool operator==(const Extent &other) const {
    return isKnown() && factor == other.factor && root == other.root && dim == other.dim;
  }
};

Extent extentOf(mlir::Value number);
Extent extentOf(mlir::Value tensor, int64_t dim);
Extent multiply(const Extent &left, const Extent &right);
/// The size as an index.
mlir::OpFoldResult getSize(mlir::OpBuilder &b, mlir::Location loc, const Extent &extent);
/// The sizes of `tensor`, by what they were computed from, so that what has the same says the same.
llvm::SmallVector<mlir::OpFoldResult> getMixedSizes(mlir::OpBuilder &b, mlir::Location loc,
                                                    mlir::Value tensor);

} // namespace tilewright

#endif
