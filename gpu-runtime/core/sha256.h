// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 as in FIPS 180-4.
#ifndef TILEWRIGHT_CORE_SHA256_H
#define TILEWRIGHT_CORE_SHA256_H

#include "core/hex.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::runtime {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest sha256(const void *data, size_t size);
/// Lower-case hexadecimal.
std::string toHex(const Sha256Digest &digest);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_SHA256_H
