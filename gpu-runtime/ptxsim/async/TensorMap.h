// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write into 128 opaque bytes, in a layout of our own,
// and how a tile lies in shared memory. Dim 0 is the innermost; strides are in bytes, that of dim 0 is the element's size.
//
// A tile is dense, dim 0 first. Swizzling exchanges pieces of 16 bytes by the bits of their address in shared memory:
// 128 bytes: bits 4-6 ^= bits 7-9; 64 bytes: bits 4-5 ^= bits 7-8; 32 bytes: bit 4 ^= bit 7.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_TENSORMAP_H
#define TILEWRIGHT_PTXSIM_ASYNC_TENSORMAP_H

#include "isa/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::ptxsim {

enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

struct TensorMap {
  static constexpr unsigned maxRank = 5;
  static constexpr uint32_t magicNumber = 0x70614d54;

  uint32_t magic = 0;
  uint8_t rank = 0;
  uint8_t elementBytes = 0;
  Swizzle swizzle = Swizzle::None;
  /// Elements out of bounds read as this pattern, zero or a NaN of the type.
  bool fillsNaN = false;
  uint8_t elementStrides[maxRank] = {1, 1, 1, 1, 1};
  /// 1 to 256 each, as 0 to 255.
  uint8_t boxLess1[maxRank] = {};
  uint8_t reserved[6] = {};
  uint64_t address = 0;
  /// Of dims 1 and up.
  uint64_t strides[maxRank - 1] = {};
  /// 1 to 2^32 each, less 1.
  uint32_t dimsLess1[maxRank] = {};
  /// The driver API's number of the type.
  uint8_t dataType = 0;
  /// im2col: pixels of so many channels each, base pixels lie in [lower, dim + upper) along W, H, D.
  bool isIm2col = false;
  uint16_t channels = 0, pixels = 0;
  int16_t lower[3] = {}, upper[3] = {};
  uint8_t unused[26] = {};

  uint64_t dim(unsigned i) const { return uint64_t(dimsLess1[i]) + 1; }
  /// Elements of the tile along a dim.
  uint32_t tileDim(unsigned i) const {
    return (uint32_t(boxLess1[i]) + 1 + elementStrides[i] - 1) / elementStrides[i];
  }
  uint64_t stride(unsigned i) const { return i == 0 ? elementBytes : strides[i - 1]; }
  /// Bytes of a row of a tile, along dim 0, and of the whole.
  uint32_t rowBytes() const { return elementBytes * (isIm2col ? channels : uint32_t(boxLess1[0]) + 1); }
  uint32_t tileBytes() const;
  /// What reductions combine; None for types that have none.
  ScalarType reductionType(bool isBitwise) const;
};
static_assert(sizeof(TensorMap) == 128 && offsetof(TensorMap, unused) == 102, "CUtensorMap has 128 bytes, without gaps");

/// What the caller of cuTensorMapEncodeTiled says; arrays of `rank` (strides: rank - 1) elements.
struct TensorMapRequest {
  unsigned elementBytes = 0;
  bool isFloat = false;
  unsigned rank = 0;
  uint64_t address = 0;
  const uint64_t *dims = nullptr;
  const uint64_t *strides = nullptr;
  const uint32_t *box = nullptr;
  const uint32_t *elementStrides = nullptr;
  Swizzle swizzle = Swizzle::None;
  bool fillsNaN = false;
  uint8_t dataType = 0;
  /// im2col instead of a box: corners of rank - 2 elements.
  bool isIm2col = false;
  const int32_t *lower = nullptr, *upper = nullptr;
  uint32_t channels = 0, pixels = 0;
};

/// Every rule of the driver API; false with the one that is broken.
bool encodeTensorMap(const TensorMapRequest &request, TensorMap &map, std::string &why);

/// The same rules for a map that a kernel may have made or changed.
bool checkTensorMap(const TensorMap &map, std::string &why);

/// Address in shared memory of the piece of 16 bytes that would be at `address` without swizzling.
uint32_t swizzled(uint32_t address, Swizzle swizzle);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_TENSORMAP_H
