// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A with half of its elements zero, as mma.sp and wgmma.sp take it: the others are stored side by side, in the layout of a
// dense A of half the columns, and metadata of four bits per group says which column each had.
//
//   f16, bf16, 8 bits   2 of 4    two indices of two bits, the lower bits first
//   4 bits              4 of 8    two indices of two bits, of pairs of elements
//   tf32                1 of 2    0100: the first, 1110: the second
//
// Lanes of a quad hold the metadata of rows g and g + 8, g = lane / 4. With groups counted along the row:
//
//   f16, bf16, tf32   lane i of those that the selector names: groups 4i to 4i + 3, bits 0-15 of row g, 16-31 of row g + 8
//   8 and 4 bits      lanes 2i and 2i + 1: groups 8i to 8i + 7, of row g and of row g + 8
//
// The selector names as many lanes as the metadata of a quad fills, counted from its first: 0 to 3 where that is one lane,
// 0 and 1 where it is two, 0 where it is all four.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_SPARSE_H
#define TILEWRIGHT_PTXSIM_MATRIX_SPARSE_H

#include "matrix/WarpRegisters.h"

namespace tilewright::ptxsim {

/// Of sixteen rows, the column that each stored element has in A.
struct SparsePlaces {
  uint8_t column[16][64];
};

/// By the metadata of a warp; indices that say nothing are reported.
SparsePlaces sparsePlaces(const WarpRegisters &registers, const MatrixCode &code);

/// Lanes of a quad that hold metadata.
unsigned metadataLanes(const MatrixCode &code);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_SPARSE_H
