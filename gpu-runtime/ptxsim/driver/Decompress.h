// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two compressions of fatbins. Damaged input gives false, and the reason, never an access outside.

#ifndef TILEWRIGHT_PTXSIM_DRIVER_DECOMPRESS_H
#define TILEWRIGHT_PTXSIM_DRIVER_DECOMPRESS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

/// An LZ4 block that holds at most `limit` bytes.
bool decompressLz4(const uint8_t *in, size_t size, size_t limit, std::vector<uint8_t> &out, std::string &why);

/// A Zstandard frame that holds at most `limit` bytes.
bool decompressZstd(const uint8_t *in, size_t size, size_t limit, std::vector<uint8_t> &out, std::string &why);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DRIVER_DECOMPRESS_H
