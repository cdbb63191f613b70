// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the structure of a host program's shared object before it is loaded.
#ifndef TILEWRIGHT_CORE_ELF_H
#define TILEWRIGHT_CORE_ELF_H

#include "core/status.h"

#include <cstddef>
#include <cstdint>

namespace tilewright::runtime {

/// A 64-bit little-endian ELF shared object for this machine, whose headers,
/// segments and sections lie inside the bytes, with no segment both writable
/// and executable. It says nothing about the code in it.
Status verifyHostElf(const uint8_t *data, size_t size);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_ELF_H
