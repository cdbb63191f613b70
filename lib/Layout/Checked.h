// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checked 64-bit arithmetic and small number theory for the layout library.

#ifndef TILEWRIGHT_LIB_LAYOUT_CHECKED_H
#define TILEWRIGHT_LIB_LAYOUT_CHECKED_H

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

namespace tilewright::layout {

inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r))
    return std::nullopt;
  return r;
}

inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r))
    return std::nullopt;
  return r;
}

/// For sizes that are only compared with a limit.
inline int64_t saturatingMul(int64_t a, int64_t b) {
  return checkedMul(a, b).value_or(std::numeric_limits<int64_t>::max());
}

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline bool isPowerOfTwo(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

inline int log2Exact(int64_t x) {
  int n = 0;
  while (x > 1) {
    x >>= 1;
    ++n;
  }
  return n;
}

} // namespace tilewright::layout

#endif // TILEWRIGHT_LIB_LAYOUT_CHECKED_H
