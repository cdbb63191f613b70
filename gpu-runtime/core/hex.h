// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes as lower-case hexadecimal. In a header, since drivers, which the core links,
// print their devices' UUIDs so.
#ifndef TILEWRIGHT_CORE_HEX_H
#define TILEWRIGHT_CORE_HEX_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::runtime {

inline std::string toHex(const uint8_t *bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_HEX_H
