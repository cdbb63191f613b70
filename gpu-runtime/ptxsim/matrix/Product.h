// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of small matrices, as vectorised loops over packed elements.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_PRODUCT_H
#define TILEWRIGHT_PTXSIM_MATRIX_PRODUCT_H

#include "matrix/Matrix.h"

#include <cstddef>
#include <cstdint>

namespace tilewright::ptxsim {

/// The values of `count` elements that lie one behind the other, low bits first. Exact. Integers also as integers.
void unpack(MatrixElement type, const void *packed, size_t count, double *values);
void unpack(MatrixElement type, const void *packed, size_t count, int32_t *values);

/// B (k x n) from its columns, which lie one behind the other.
void transpose(const double *columns, unsigned n, unsigned k, double *b);
void transpose(const int32_t *columns, unsigned n, unsigned k, int32_t *b);

/// sums (m x n) of A (m x k) times B (k x n), all row by row; m and n are multiples of 8. Every sum goes along k in order.
void multiply(const double *a, const double *b, unsigned m, unsigned n, unsigned k, double *sums);
void multiply(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k, int32_t *sums);
/// The same with "differs" instead of the product: b1 with xor.
void countDifferences(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k, int32_t *sums);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_PRODUCT_H
