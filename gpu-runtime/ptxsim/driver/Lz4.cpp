// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LZ4 block format: a token with two lengths, literals, and a match at an offset back in the output.

#include "driver/Decompress.h"

namespace tilewright::ptxsim {
namespace {

/// Lengths of 15 go on in bytes until one is not 255.
bool readLength(const uint8_t *&at, const uint8_t *end, size_t &length) {
  if (length != 15)
    return true;
  uint8_t byte;
  do {
    if (at == end)
      return false;
    byte = *at++;
    length += byte;
  } while (byte == 255);
  return true;
}

bool decodeBlock(const uint8_t *in, size_t size, size_t limit, std::vector<uint8_t> &out) {
  const uint8_t *at = in, *end = in + size;
  out.clear();
  while (at != end && out.size() < limit) {
    uint8_t token = *at++;
    size_t literals = token >> 4;
    if (!readLength(at, end, literals) || literals > static_cast<size_t>(end - at) || literals > limit - out.size())
      return false;
    out.insert(out.end(), at, at + literals);
    at += literals;
    if (at == end || out.size() == limit)
      break;
    if (end - at < 2)
      return false;
    size_t offset = at[0] | size_t(at[1]) << 8;
    at += 2;
    size_t match = token & 15;
    if (!readLength(at, end, match))
      return false;
    match += 4;
    if (offset == 0 || offset > out.size() || match > limit - out.size())
      return false;
    for (; match > 0; --match)
      out.push_back(out[out.size() - offset]);
  }
  return true;
}

} // namespace

bool decompressLz4(const uint8_t *in, size_t size, size_t limit, std::vector<uint8_t> &out, std::string &why) {
  if (decodeBlock(in, size, limit, out))
    return true;
  why = "it cannot be decompressed";
  return false;
}

} // namespace tilewright::ptxsim
