// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic that says when it overflows; the only one for sizes and offsets.
#ifndef TILEWRIGHT_CORE_CHECKED_H
#define TILEWRIGHT_CORE_CHECKED_H

#include <cstdint>

namespace tilewright::runtime {

// Each is true on success; the result is untouched otherwise.
inline bool checkedAdd(int64_t a, int64_t b, int64_t &result) {
  int64_t value;
  if (__builtin_add_overflow(a, b, &value))
    return false;
  result = value;
  return true;
}
inline bool checkedSub(int64_t a, int64_t b, int64_t &result) {
  int64_t value;
  if (__builtin_sub_overflow(a, b, &value))
    return false;
  result = value;
  return true;
}
inline bool checkedMul(int64_t a, int64_t b, int64_t &result) {
  int64_t value;
  if (__builtin_mul_overflow(a, b, &value))
    return false;
  result = value;
  return true;
}
/// Rounds towards minus infinity. False for b = 0 and INT64_MIN / -1.
inline bool checkedFloorDiv(int64_t a, int64_t b, int64_t &result) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  int64_t quotient = a / b;
  result = quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
  return true;
}
/// Rounds towards plus infinity.
inline bool checkedCeilDiv(int64_t a, int64_t b, int64_t &result) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  int64_t quotient = a / b;
  result = quotient + ((a % b != 0) && ((a < 0) == (b < 0)));
  return true;
}
/// The remainder of checkedFloorDiv: its sign is that of b.
inline bool checkedFloorMod(int64_t a, int64_t b, int64_t &result) {
  if (b == 0)
    return false;
  if (b == -1) {
    result = 0;
    return true;
  }
  int64_t remainder = a % b;
  result = remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b
                                                          : remainder;
  return true;
}

/// True if [offset, offset + size) lies within [0, limit).
inline bool rangeFits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_CHECKED_H
