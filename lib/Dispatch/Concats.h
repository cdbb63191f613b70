// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concatenations, as chains of tensor.insert_slice into a new tensor.

#ifndef TILEWRIGHT_LIB_DISPATCH_CONCATS_H
#define TILEWRIGHT_LIB_DISPATCH_CONCATS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {

struct ConcatPart {
  mlir::Value source;
  int64_t offset, size;
};

/// A tensor that consists of parts along `dim`, in the order of offsets: element i of a part lies
/// at its offset + i * step.
struct Concat {
  int64_t dim;
  mlir::SmallVector<ConcatPart> parts;
  int64_t step = 1;
};

/// Of dims that are dropped because they have one element, the dims that stay; nothing where
/// `collapse` joins others.
std::optional<mlir::SmallVector<int64_t>> keptDims(mlir::tensor::CollapseShapeOp collapse);

/// The concatenation that `value` is, dims of one element aside, of parts of static sizes.
std::optional<Concat> matchConcat(mlir::Value value);

} // namespace tilewright

#endif
