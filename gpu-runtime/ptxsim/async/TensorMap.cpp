// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of tensor maps, and swizzling.

#include "async/TensorMap.h"

namespace tilewright::ptxsim {

uint32_t TensorMap::tileBytes() const {
  uint32_t bytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i)
    bytes *= tileDim(i);
  return bytes;
}

bool encodeTensorMap(const TensorMapRequest &request, TensorMap &map, std::string &why) {
  auto fail = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  auto at = [](const char *what, unsigned i, uint64_t value) {
    return std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(value);
  };
  if (request.rank < 1 || request.rank > TensorMap::maxRank)
    return fail("the rank is " + std::to_string(request.rank) + "; it must be 1 to 5");
  if (request.elementBytes == 0)
    return fail("the data type is unknown");
  if (request.address % 16 != 0 || request.address == 0)
    return fail("the global address must be a multiple of 16");
  if (!request.dims || !request.box || !request.elementStrides || (request.rank > 1 && !request.strides))
    return fail("an array is missing");
  map = {};
  map.magic = TensorMap::magicNumber;
  map.rank = static_cast<uint8_t>(request.rank);
  map.elementBytes = static_cast<uint8_t>(request.elementBytes);
  map.swizzle = request.swizzle;
  map.fillsNaN = request.fillsNaN;
  map.address = request.address;
  for (unsigned i = 0; i < request.rank; ++i) {
    if (request.dims[i] < 1 || request.dims[i] > 1ull << 32)
      return fail(at("globalDim", i, request.dims[i]) + "; it must be 1 to 2^32");
    if (request.box[i] < 1 || request.box[i] > 256)
      return fail(at("boxDim", i, request.box[i]) + "; it must be 1 to 256");
    if (request.elementStrides[i] < 1 || request.elementStrides[i] > 8)
      return fail(at("elementStrides", i, request.elementStrides[i]) + "; it must be 1 to 8");
    map.dimsLess1[i] = static_cast<uint32_t>(request.dims[i] - 1);
    map.boxLess1[i] = static_cast<uint8_t>(request.box[i] - 1);
    map.elementStrides[i] = static_cast<uint8_t>(request.elementStrides[i]);
    if (i == 0)
      continue;
    if (request.strides[i - 1] % 16 != 0 || request.strides[i - 1] >= 1ull << 40)
      return fail(at("globalStrides", i - 1, request.strides[i - 1]) + "; it must be a multiple of 16 below 2^40");
    map.strides[i - 1] = request.strides[i - 1];
  }
  uint32_t inner = request.box[0] * request.elementBytes;
  if (inner % 16 != 0)
    return fail("the box has " + std::to_string(inner) + " bytes along dim 0; they must be a multiple of 16");
  static constexpr uint32_t widths[] = {0, 32, 64, 128};
  uint32_t width = widths[static_cast<unsigned>(request.swizzle)];
  if (width != 0 && inner > width)
    return fail("the box has " + std::to_string(inner) + " bytes along dim 0, more than the " + std::to_string(width) +
                " that are swizzled");
  if (request.fillsNaN && !request.isFloat)
    return fail("only elements of floating-point types can be filled with NaN");
  return true;
}

uint32_t swizzled(uint32_t address, Swizzle swizzle) {
  static constexpr uint32_t masks[] = {0, 1, 3, 7};
  return address ^ (address >> 7 & masks[static_cast<unsigned>(swizzle)]) << 4;
}

} // namespace tilewright::ptxsim
