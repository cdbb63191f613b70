// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tensor maps can describe: one place for the compiler, which asks before it lets
// copy engines read an operand, and for the runtime, which asks again of the operand of
// a launch. Sources: CUDA driver API, "Tensor Map Object Management",
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col; for offsets PTX ISA, "Tensors",
// im2col mode. Plain C++, without the runtime's types or MLIR's.
#ifndef TILEWRIGHT_CORE_TENSOR_MAP_LIMITS_H
#define TILEWRIGHT_CORE_TENSOR_MAP_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace tilewright::tensor_map {

/// Bytes: addresses and strides are multiples of it, and rows of a box.
constexpr int64_t kAlignment = 16;
constexpr size_t kMaxDims = 5;
/// Elements of a box along a dim.
constexpr int64_t kMaxBox = 256;
/// Elements along a dim.
constexpr int64_t kMaxDim = int64_t(1) << 32;
/// Bytes from neighbour to neighbour, exclusive.
constexpr int64_t kMaxStride = int64_t(1) << 40;

/// Of images: dims of space, pixels and channels of a box, elements between windows.
constexpr size_t kMaxSpace = 3;
constexpr int64_t kMaxPixels = 1024, kMaxChannels = 256, kMaxStep = 8;

constexpr bool isWithin(int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most;
}

constexpr bool isAligned(uint64_t bytes) { return bytes % kAlignment == 0; }

constexpr bool isDim(int64_t elements) { return isWithin(elements, 1, kMaxDim); }

constexpr bool isStride(uint64_t bytes) {
  return isAligned(bytes) && bytes < uint64_t(kMaxStride);
}

constexpr bool isBoxExtent(int64_t elements) { return isWithin(elements, 1, kMaxBox); }

constexpr bool isSwizzle(int64_t bytes) {
  return bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128;
}

/// Whether rows of a box may be `bytes` long; a swizzle is none, or holds the row.
constexpr bool isBoxRow(uint64_t bytes, int64_t swizzle) {
  return isAligned(bytes) && (swizzle == 0 || bytes <= uint64_t(swizzle));
}

constexpr bool isSpace(size_t dims) { return dims >= 1 && dims <= kMaxSpace; }

constexpr bool isPixels(int64_t count) { return isWithin(count, 1, kMaxPixels); }

constexpr bool isChannels(int64_t count) { return isWithin(count, 1, kMaxChannels); }

constexpr bool isStep(int64_t elements) { return isWithin(elements, 1, kMaxStep); }

/// Corners of images with `space` dims of space, 1 to 3, are -bound to bound - 1
/// elements from an edge: 16 bits share them.
constexpr int64_t cornerBound(size_t space) {
  return space == 1 ? 1 << 15 : space == 2 ? 1 << 7 : 1 << 4;
}

constexpr bool isCorner(size_t space, int64_t elements) {
  return isWithin(elements, -cornerBound(space), cornerBound(space) - 1);
}

/// How far behind the window's first pixel an instruction may name one; no less than 0.
constexpr int64_t maxOffset(size_t space) {
  return space == 1 ? (1 << 16) - 1 : space == 2 ? (1 << 8) - 1 : (1 << 5) - 1;
}

constexpr bool isOffset(size_t space, int64_t elements) {
  return isWithin(elements, 0, maxOffset(space));
}

/// Whether windows begin anywhere in an image of `elements`, between its corners.
constexpr bool hasWindows(int64_t elements, int64_t lower, int64_t upper) {
  return elements + upper - lower >= 1;
}

} // namespace tilewright::tensor_map

#endif // TILEWRIGHT_CORE_TENSOR_MAP_LIMITS_H
