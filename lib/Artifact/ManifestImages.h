// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the manifest says of the images that an operand is pixels of.

#ifndef TILEWRIGHT_LIB_ARTIFACT_MANIFESTIMAGES_H
#define TILEWRIGHT_LIB_ARTIFACT_MANIFESTIMAGES_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace tilewright {

/// Member `image` of a tensor map of `operand`.
llvm::json::Object describeImage(int64_t operand, ImageAttr image);

/// Adds to `all` what has to hold of images whose sizes are open.
void guardImages(mlir::func::FuncOp kernel, llvm::json::Array &all);

/// Pixels of the result along dim of space `dim` of the images that `operand` is pixels of.
llvm::json::Value placesExpression(mlir::func::FuncOp kernel, int64_t operand, int64_t dim);

} // namespace tilewright

#endif
