// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types: their names in manifests and messages, their sizes in memory.
#ifndef TILEWRIGHT_CORE_DTYPE_H
#define TILEWRIGHT_CORE_DTYPE_H

#include "core/status.h"
#include "tilewright/program_abi.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime {

/// Deeper tensors are refused.
constexpr int kMaxRank = 32;

bool isValidDtype(int32_t dtype);
/// "f32"; "invalid" for a number that is no dtype.
const char *dtypeName(int32_t dtype);
/// False if there is no dtype of that name.
bool parseDtype(std::string_view name, tw_dtype &result);
/// Every name, "f64, f32, …", for messages.
const char *dtypeList();
/// Bytes per element in a buffer: an i1 takes one byte. Two i4, and four i2, share
/// one: theirs is 1, and sizes come from tensorBytes.
uint32_t dtypeBytes(tw_dtype dtype);
/// How many elements share a byte, the first in its lowest bits; 1 of most types.
int64_t elementsPerByte(tw_dtype dtype);
/// Bits of an element in memory.
uint32_t dtypeBits(tw_dtype dtype);
/// Bytes of so many elements side by side.
int64_t tensorBytes(int64_t elements, tw_dtype dtype);
bool isFloatDtype(tw_dtype dtype);

/// "4x?xf32", where a negative dim is a question mark.
std::string shapeText(const std::vector<int64_t> &shape, tw_dtype dtype);

/// Number of elements and of bytes of a dense tensor. An error for a negative
/// dim, a rank beyond kMaxRank, or a size beyond 2^62 bytes.
Status denseSize(const std::vector<int64_t> &shape, tw_dtype dtype,
                 int64_t &elements, int64_t &bytes);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_DTYPE_H
