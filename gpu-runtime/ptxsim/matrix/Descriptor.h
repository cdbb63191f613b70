// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices in shared memory as wgmma reads them: a 64-bit descriptor says where units of 16 bytes lie.
//
//   bits  0-13  start address / 16          bits 49-51  base offset: phase of the swizzle pattern
//        16-29  leading byte offset / 16    bits 62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//        32-45  stride byte offset / 16
//
// With S the swizzle width (16 without swizzle), T the elements in 16 bytes, and u = unit along the direction in which
// neighbours lie together ("major"):
//
//   k-major   row r of 32 bytes, unit u in {0, 1}   no swizzle: (r % 8) * 16 + (r / 8) * stride + u * leading
//             (64 bytes, 4 units: B of a sparse A)  swizzle:    (r % 8) * S  + (r / 8) * stride + u % (S/16) * 16
//                                                               + u / (S/16) * leading
//   m-major   unit u of T rows, element k           no swizzle: u * stride + (k % 8) * 16 + (k / 8) * leading
//   (n-major)                                       swizzle:    u % (S/16) * 16 + u / (S/16) * leading
//                                                               + (k % 8) * S + (k / 8) * stride
//
// The address that results is swizzled as a whole: bits 4, 5, 6 (as many as the width has) are exchanged by exclusive or
// with bits 7, 8, 9, less the base offset.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_DESCRIPTOR_H
#define TILEWRIGHT_PTXSIM_MATRIX_DESCRIPTOR_H

#include <cstdint>

namespace tilewright::ptxsim {

struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0;
  unsigned baseOffset = 0;
  /// 16 (none), 32, 64 or 128.
  unsigned swizzle = 16;

  explicit MatrixDescriptor(uint64_t bits);
  /// Address in shared memory of a unit of 16 bytes of a row.
  uint32_t kMajor(unsigned row, unsigned unit) const;
  /// Of the unit'th group of rows, at this k.
  uint32_t mMajor(unsigned unit, unsigned k) const;

private:
  uint32_t swizzled(uint32_t address) const;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_DESCRIPTOR_H
