// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses from descriptors.

#include "matrix/Descriptor.h"

namespace tilewright::ptxsim {

MatrixDescriptor::MatrixDescriptor(uint64_t bits) {
  auto field = [&](unsigned first) { return static_cast<uint32_t>(bits >> first & 0x3fff) << 4; };
  start = field(0);
  leading = field(16);
  stride = field(32);
  baseOffset = bits >> 49 & 7;
  static constexpr unsigned widths[] = {16, 128, 64, 32};
  swizzle = widths[bits >> 62];
}

uint32_t MatrixDescriptor::swizzled(uint32_t address) const {
  uint32_t mask = swizzle / 16 - 1;
  return address ^ ((address >> 7) - baseOffset & mask) << 4;
}

uint32_t MatrixDescriptor::kMajor(unsigned row, unsigned unit) const {
  unsigned perRow = swizzle / 16;
  uint32_t along = swizzle == 16 ? unit * leading : unit / perRow * leading + unit % perRow * 16;
  return swizzled(start + row % 8 * swizzle + row / 8 * stride + along);
}

uint32_t MatrixDescriptor::mMajor(unsigned unit, unsigned k) const {
  if (swizzle == 16)
    return start + unit * stride + k % 8 * 16 + k / 8 * leading;
  unsigned perRow = swizzle / 16;
  return swizzled(start + unit % perRow * 16 + unit / perRow * leading + k % 8 * swizzle + k / 8 * stride);
}

} // namespace tilewright::ptxsim
