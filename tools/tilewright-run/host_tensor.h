// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in host memory, and the error type of this tool.
#ifndef TILEWRIGHT_RUN_HOST_TENSOR_H
#define TILEWRIGHT_RUN_HOST_TENSOR_H

#include "tilewright/program_abi.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::run {

/// Anything that ends the run with a message. The tool throws; main catches.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Dense and row-major, elements as they lie in a buffer (i1: one byte; i4 and i2 packed).
struct HostTensor {
  tw_dtype dtype = TW_F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;

  int64_t elements() const;
  /// "4x4xf32"
  std::string type() const;
  bool isFloat() const;

  // Element i in row-major order: the bits, sign-extended for integers; the
  // value as a double (64-bit integers are rounded).
  int64_t bits(int64_t i) const;
  double number(int64_t i) const;
  void setBits(int64_t i, int64_t bits);
};

/// A tensor of zeros. Throws RunError for an impossible size.
HostTensor makeTensor(tw_dtype dtype, std::vector<int64_t> dims);

/// Element number `i` as indices, "[2, 0, 7]".
std::string indexText(const std::vector<int64_t> &dims, int64_t i);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_HOST_TENSOR_H
