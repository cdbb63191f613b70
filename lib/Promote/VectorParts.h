// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operand is put together of, where it is read part by part: the rows of pages.
//
//   %0 = vector.insert_strided_slice %page0, %zeros {offsets = [0, 0]}
//   %1 = vector.insert_strided_slice %page1, %0 {offsets = [16, 0]}

#ifndef TILEWRIGHT_LIB_PROMOTE_VECTORPARTS_H
#define TILEWRIGHT_LIB_PROMOTE_VECTORPARTS_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

namespace tilewright {

struct VectorPart {
  mlir::Value value;
  /// Where it begins in the whole, along each dim.
  llvm::SmallVector<int64_t> offsets;
};

/// The parts of a vector, first ones first; itself where it is not put together.
llvm::SmallVector<VectorPart> partsOf(mlir::Value vector);

/// Erases the ops that put `vector` together, as far as nobody else uses what they give.
void eraseParts(mlir::Value vector);

} // namespace tilewright

#endif
