// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors that are 8x8 matrices to a warp, as instructions of matrix units hold them
// and ldmatrix and stmatrix move them.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_MATRICES_H
#define TILEWRIGHT_LIB_DISTRIBUTE_MATRICES_H

#include "LayoutRules.h"

#include <optional>

namespace tilewright {

/// Which dims of a vector the 8x8 matrices have.
struct MatrixDims {
  int pair; // four lanes, a register of elements each
  int row;  // eight groups of lanes
};
/// `each`: elements of a register.
std::optional<MatrixDims> matchMatrices(const DistributedLayout &layout,
                                        int64_t each);

/// How many matrices one instruction moves: the distances between the matrices of a
/// group must be the same in all groups.
int64_t matricesAtOnce(llvm::ArrayRef<int64_t> offsets);

} // namespace tilewright

#endif
