// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of a warp: which element of a matrix is in which register of which lane.
//
// All shapes of mma.sync but one share one layout. With e elements in a 32-bit register (1 for tf32, 2 for f16, 4 for
// s8, ...; 1 in a 64-bit register for f64), lane = 4 * group + quad, register r, element j of the register:
//
//   A (m x k)   row = group + 8 * (r odd)          column = (r / 2) * 4e + quad * e + j        (m = 16)
//               row = group                        column =  r      * 4e + quad * e + j        (m = 8)
//   B (k x n)   row = r * 4e + quad * e + j        column = group
//   C, D        row = group + 8 * (i / 2)          column = quad * 2 + i % 2       i: element number in the lane

#ifndef TILEWRIGHT_PTXSIM_MATRIX_MATRIX_H
#define TILEWRIGHT_PTXSIM_MATRIX_MATRIX_H

#include "isa/Types.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright::ptxsim {

using Row = uint32_t;

enum class MatrixElement : uint8_t { F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1, E4M3, E5M2, S32, None };

MatrixElement parseMatrixElement(std::string_view spelling);
unsigned elementBits(MatrixElement element);
inline bool isIntegerElement(MatrixElement element) {
  return element == MatrixElement::S8 || element == MatrixElement::U8 || element == MatrixElement::S4 ||
         element == MatrixElement::U4 || element == MatrixElement::B1 || element == MatrixElement::S32;
}

inline bool isFloat8(MatrixElement element) {
  return element == MatrixElement::E4M3 || element == MatrixElement::E5M2;
}

/// The value of an element of a floating-point type; tf32 ignores the low bits of its register.
double elementValue(MatrixElement element, uint64_t bits);
/// Sign- or zero-extended.
int64_t integerElement(MatrixElement element, uint64_t bits);

struct MatrixPlace {
  unsigned row, column;
};
MatrixPlace placeInA(unsigned m, unsigned perRegister, unsigned lane, unsigned reg, unsigned element);
MatrixPlace placeInC(unsigned lane, unsigned element);

/// One mma or wmma instruction, one of ldmatrix, stmatrix and movmatrix (registers in `d`), or one of wgmma.
struct MatrixCode {
  enum Kind : uint8_t {
    Multiply,
    Load,
    Store,
    Transpose,
    AsyncMultiply,
    AsyncFence,
    AsyncCommit,
    AsyncWait,
    FragmentLoad,
    FragmentStore,
    FragmentMultiply
  } kind = Multiply;
  unsigned m = 0, n = 0, k = 0;
  MatrixElement aType = MatrixElement::None, bType = MatrixElement::None, cType = MatrixElement::None,
                dType = MatrixElement::None;
  bool saturate = false;
  bool isQuad() const { return m == 8 && aType == MatrixElement::F16; }
  /// b1 only: and instead of xor.
  bool usesAnd = false;
  /// ldmatrix and stmatrix. wmma.load and wmma.store: columns are dense in memory.
  bool transposed = false;
  /// wmma.load and wmma.store: the matrix 'a', 'b', 'c' or 'd', of elements of dType, and whether a stride is given.
  char fragment = 0;
  bool hasStride = false;
  /// wgmma and m8n8k4 with f16: whether m (of A) or n (of B) is the direction of neighbours. wgmma: sign.
  bool mMajor = false, nMajor = false, negative = false;
  /// wgmma without D as input.
  bool accumulates = true;
  /// Half of A is zero: `a` (or shared memory) holds the other half, of m x k/2, and `metadata` where it lies, in the lanes
  /// that `selector` names. Indices in increasing order are a rule of one form.
  bool isSparse = false, isOrdered = false;
  unsigned selector = 0;
  Row metadata = 0;
  /// Columns of what is stored of A.
  unsigned storedK() const { return isSparse ? k / 2 : k; }
  /// Groups that wgmma.wait_group leaves pending.
  uint64_t left = 0;
  std::vector<Row> a, b, c, d;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_MATRIX_H
