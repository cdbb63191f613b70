// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared layouts: where an element of a block-level array lies in shared
// memory.
//
// THE IDEA. An address is made in two steps:
//   1. affine:  offset = sum of coordinate_d * stride_d   (rows may be padded)
//   2. swizzle: byte address ^= some of its own higher bits
//
// WORKED TABLE 1 (padding). 4 x 4 f32, strides [5, 1]: element offsets
//     row 0   0  1  2  3        A column is 0, 5, 10, 15: four different banks;
//     row 1   5  6  7  8        with strides [4, 1] and 8 banks it would be
//     row 2  10 11 12 13        0, 4, 8, 12: two banks. Offsets 4, 9, 14 are
//     row 3  15 16 17 18        never used.
//
// WORKED TABLE 2 (swizzle). Swizzle{bits, base, shift} XORs the address bits
// [base, base + bits) with the bits [base + shift, base + shift + bits). TMA
// and wgmma know three, over 16-byte chunks (base = 4) and 128-byte lines
// (shift = 3). For rows of 128 bytes, swizzle128B, the chunk in which each
// chunk lands:
//     row 0   0 1 2 3 4 5 6 7
//     row 1   1 0 3 2 5 4 7 6
//     row 2   2 3 0 1 6 7 4 5
//     ...
//     row 7   7 6 5 4 3 2 1 0
// A column of chunks touches every bank once, and no byte is wasted. A fold
// reads a second field of higher bits: neighbouring rows are kept apart by one,
// rows 16 apart by the other, for tiles that are read by neighbours and filled
// by threads that have 16 rows each.
//
// WHY the swizzle comes last, on the address. The hardware that fills and reads
// tiles (TMA, wgmma descriptors) swizzles addresses, not coordinates; one rule
// then describes its layouts and ours. As the XOR only changes bits below the
// bits it reads, it permutes each aligned block of 2^(base + bits) bytes: it is
// its own inverse, keeps runs of 2^base bytes together, and combines with any
// padding.
//
// WHY element -> address, and not the reverse: accesses start at elements, and
// padding makes addresses that hold nothing.
//
// Units: shape and strides in elements; the swizzle acts on bytes, counted from
// the buffer's start, the hardware's on addresses: buffers that it swizzles start
// at multiples of Swizzle::period(). The element size is in bits and may be below
// 8. Values are immutable. Errors: as in DistributedLayout.h.

#ifndef TILEWRIGHT_LAYOUT_SHAREDLAYOUT_H
#define TILEWRIGHT_LAYOUT_SHAREDLAYOUT_H

#include "tilewright/Layout/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::layout {

/// x ^= ((x >> shift) restricted to bits [base, base + bits)), and, with a fold,
/// ^= the same of (x >> fold): two fields of higher bits into one of lower bits.
/// Needs shift >= bits and fold > shift, so that the bits read are not themselves
/// changed.
struct Swizzle {
  int bits = 0, base = 0, shift = 0, fold = 0;

  bool isNone() const { return bits == 0; }
  /// The bits that it changes.
  int64_t mask() const { return ((int64_t(1) << bits) - 1) << base; }
  int64_t operator()(int64_t x) const {
    return x ^ (((x >> shift) ^ (fold ? x >> fold : 0)) & mask());
  }
  /// Addresses that differ by a multiple of it are swizzled alike.
  int64_t period() const {
    return int64_t(1) << (base + bits + (fold ? fold : shift));
  }
  bool operator==(const Swizzle &o) const {
    return bits == o.bits &&
           (bits == 0 ||
            (base == o.base && shift == o.shift && fold == o.fold));
  }
  bool operator!=(const Swizzle &o) const { return !(*this == o); }
};

/// The swizzles of TMA (CU_TENSOR_MAP_SWIZZLE_*B) and of wgmma descriptors.
/// Source: PTX ISA, "Tensor swizzling modes" and "Strides" of wgmma.
inline constexpr Swizzle swizzle128B = {3, 4, 3};
inline constexpr Swizzle swizzle64B = {2, 4, 3};
inline constexpr Swizzle swizzle32B = {1, 4, 3};

class SharedLayout {
public:
  using Shape = std::vector<int64_t>;

  /// One scalar of 8 bits.
  SharedLayout() = default;

  static Result<SharedLayout> get(Shape shape, Shape strides, int elementBits,
                                  Swizzle swizzle = {});
  /// Dense, order[0] fastest; `padding` elements after each row (each run along
  /// order[0]).
  static Result<SharedLayout> dense(Shape shape, int elementBits,
                                    const std::vector<int> &order,
                                    int64_t padding = 0, Swizzle swizzle = {});
  /// Empty if no two elements overlap and all sizes fit, else what is wrong.
  std::string verify() const;

  const Shape &shape() const { return extents; }
  const Shape &strides() const { return steps; }
  int elementBits() const { return elemBits; }
  const Swizzle &swizzle() const { return swiz; }
  int rank() const { return static_cast<int>(extents.size()); }

  /// The affine step only.
  int64_t affineOffset(const std::vector<int64_t> &coords) const;
  /// Both steps, in elements.
  int64_t offset(const std::vector<int64_t> &coords) const;
  /// The swizzle in units of elements, for generated code:
  /// offset = swizzle(affine offset). None where there is no swizzle.
  std::optional<Swizzle> elementSwizzle() const;

  /// The extent of the buffer, with padding, and rounded up to whole swizzle
  /// blocks.
  int64_t sizeInElements() const;
  int64_t sizeInBytes() const;
  bool operator==(const SharedLayout &o) const {
    return extents == o.extents && steps == o.steps && elemBits == o.elemBits &&
           swiz == o.swiz;
  }
  bool operator!=(const SharedLayout &o) const { return !(*this == o); }

  /// shape=[64, 32] strides=[32, 1] bits=16 swizzle=3:4:3
  /// (swizzle=bits:base:shift[:fold], absent where there is none).
  std::string print() const;
  static Result<SharedLayout> parse(std::string_view text);
  /// The offset of every element, as a table of the last two dimensions (of the
  /// first page).
  std::string picture(int64_t maxRows = 64, int64_t maxColumns = 64) const;

private:
  Shape extents, steps;
  int elemBits = 8;
  Swizzle swiz;
};

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_SHAREDLAYOUT_H
