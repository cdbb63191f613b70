// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of tensor maps, and swizzling.

#include "async/TensorMap.h"

#include <iterator>
#include <utility>

namespace tilewright::ptxsim {

uint32_t TensorMap::tileBytes() const {
  if (isIm2col)
    return rowBytes() * pixels;
  uint32_t bytes = rowBytes();
  for (unsigned i = 1; i < rank; ++i)
    bytes *= tileDim(i);
  return bytes;
}

ScalarType TensorMap::reductionType(bool isBitwise) const {
  using T = ScalarType;
  if (isBitwise)
    return elementBytes == 4 ? T::B32 : elementBytes == 8 ? T::B64 : T::None;
  static constexpr T types[] = {T::None, T::None, T::U32, T::S32, T::U64,  T::S64, T::F16,
                                T::F32,  T::F64,  T::BF16, T::F32, T::None, T::None};
  return dataType < std::size(types) ? types[dataType] : T::None;
}

namespace {

/// Rules, one after the other; the first that is broken says why.
class Encoder {
public:
  Encoder(const TensorMapRequest &request, TensorMap &map, std::string &why) : request(request), map(map), why(why) {}

  bool encode() {
    if (!checkWhole())
      return false;
    map = {};
    map.magic = TensorMap::magicNumber;
    map.rank = static_cast<uint8_t>(request.rank);
    map.elementBytes = static_cast<uint8_t>(request.elementBytes);
    map.swizzle = request.swizzle;
    map.fillsNaN = request.fillsNaN;
    map.address = request.address;
    map.dataType = request.dataType;
    map.isIm2col = request.isIm2col;
    return encodeDims() && (request.isIm2col ? encodeIm2col() : encodeBox()) && checkRow();
  }

private:
  bool fail(std::string text) {
    why = std::move(text);
    return false;
  }
  bool failAt(const char *what, unsigned i, int64_t value, const std::string &rule) {
    return fail(std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(value) + "; it must be " + rule);
  }

  bool checkWhole() {
    unsigned least = request.isIm2col ? 3 : 1;
    if (request.rank < least || request.rank > TensorMap::maxRank)
      return fail("the rank is " + std::to_string(request.rank) + "; it must be " + std::to_string(least) + " to 5");
    if (request.elementBytes == 0)
      return fail("the data type is unknown");
    if (request.address % 16 != 0 || request.address == 0)
      return fail("the global address must be a multiple of 16");
    if (!request.dims || !request.elementStrides || (request.rank > 1 && !request.strides) ||
        (request.isIm2col ? !request.lower || !request.upper : !request.box))
      return fail("an array is missing");
    if (request.fillsNaN && !request.isFloat)
      return fail("only elements of floating-point types can be filled with NaN");
    return true;
  }

  bool encodeDims() {
    for (unsigned i = 0; i < request.rank; ++i) {
      if (request.dims[i] < 1 || request.dims[i] > 1ull << 32)
        return failAt("globalDim", i, static_cast<int64_t>(request.dims[i]), "1 to 2^32");
      if (request.elementStrides[i] < 1 || request.elementStrides[i] > 8)
        return failAt("elementStrides", i, request.elementStrides[i], "1 to 8");
      map.dimsLess1[i] = static_cast<uint32_t>(request.dims[i] - 1);
      // Dim 0 is dense, whatever is said of it.
      map.elementStrides[i] = static_cast<uint8_t>(i == 0 ? 1 : request.elementStrides[i]);
      if (i == 0)
        continue;
      if (request.strides[i - 1] % 16 != 0 || request.strides[i - 1] >= 1ull << 40)
        return failAt("globalStrides", i - 1, static_cast<int64_t>(request.strides[i - 1]),
                      "a multiple of 16 below 2^40");
      map.strides[i - 1] = request.strides[i - 1];
    }
    return true;
  }

  bool encodeBox() {
    for (unsigned i = 0; i < request.rank; ++i) {
      if (request.box[i] < 1 || request.box[i] > 256)
        return failAt("boxDim", i, request.box[i], "1 to 256");
      map.boxLess1[i] = static_cast<uint8_t>(request.box[i] - 1);
    }
    return true;
  }

  bool encodeIm2col() {
    if (request.channels < 1 || request.channels > 256)
      return fail("channelsPerPixel is " + std::to_string(request.channels) + "; it must be 1 to 256");
    if (request.pixels < 1 || request.pixels > 1024)
      return fail("pixelsPerColumn is " + std::to_string(request.pixels) + "; it must be 1 to 1024");
    map.channels = static_cast<uint16_t>(request.channels);
    map.pixels = static_cast<uint16_t>(request.pixels);
    unsigned spatial = request.rank - 2;
    int32_t bound = spatial == 1 ? 1 << 15 : spatial == 2 ? 1 << 7 : 1 << 4;
    std::string rule = std::to_string(-bound) + " to " + std::to_string(bound - 1);
    for (unsigned i = 0; i < spatial; ++i) {
      if (request.lower[i] < -bound || request.lower[i] >= bound)
        return failAt("pixelBoxLowerCorner", i, request.lower[i], rule);
      if (request.upper[i] < -bound || request.upper[i] >= bound)
        return failAt("pixelBoxUpperCorner", i, request.upper[i], rule);
      if (static_cast<int64_t>(request.dims[i + 1]) + request.upper[i] <= request.lower[i])
        return fail("the bounding box is empty along dim " + std::to_string(i + 1));
      map.lower[i] = static_cast<int16_t>(request.lower[i]);
      map.upper[i] = static_cast<int16_t>(request.upper[i]);
    }
    return true;
  }

  bool checkRow() {
    uint32_t inner = map.rowBytes();
    if (inner % 16 != 0)
      return fail("a tile has " + std::to_string(inner) + " bytes along dim 0; they must be a multiple of 16");
    static constexpr uint32_t widths[] = {0, 32, 64, 128};
    uint32_t width = widths[static_cast<unsigned>(request.swizzle)];
    return width == 0 || inner <= width ||
           fail("a tile has " + std::to_string(inner) + " bytes along dim 0, more than the " + std::to_string(width) +
                " that are swizzled");
  }

  const TensorMapRequest &request;
  TensorMap &map;
  std::string &why;
};

} // namespace

bool encodeTensorMap(const TensorMapRequest &request, TensorMap &map, std::string &why) {
  return Encoder(request, map, why).encode();
}

bool checkTensorMap(const TensorMap &map, std::string &why) {
  constexpr uint8_t firstFloat = 6;
  uint64_t dims[TensorMap::maxRank];
  uint32_t box[TensorMap::maxRank], steps[TensorMap::maxRank];
  for (unsigned i = 0; i < TensorMap::maxRank; ++i) {
    dims[i] = map.dim(i);
    box[i] = uint32_t(map.boxLess1[i]) + 1;
    steps[i] = map.elementStrides[i];
  }
  const int32_t lower[] = {map.lower[0], map.lower[1], map.lower[2]}, upper[] = {map.upper[0], map.upper[1], map.upper[2]};
  TensorMapRequest request;
  request.elementBytes = map.elementBytes;
  request.isFloat = map.dataType >= firstFloat;
  request.rank = map.rank;
  request.address = map.address;
  request.dims = dims;
  request.strides = map.strides;
  request.box = box;
  request.elementStrides = steps;
  request.swizzle = map.swizzle;
  request.fillsNaN = map.fillsNaN;
  request.isIm2col = map.isIm2col;
  request.lower = lower;
  request.upper = upper;
  request.channels = map.channels;
  request.pixels = map.pixels;
  TensorMap encoded;
  return encodeTensorMap(request, encoded, why);
}

uint32_t swizzled(uint32_t address, Swizzle swizzle) {
  static constexpr uint32_t masks[] = {0, 1, 3, 7};
  return address ^ (address >> 7 & masks[static_cast<unsigned>(swizzle)]) << 4;
}

} // namespace tilewright::ptxsim
