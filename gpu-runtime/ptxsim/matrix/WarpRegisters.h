// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of a whole warp as matrix instructions see them, and the elements in them.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_WARPREGISTERS_H
#define TILEWRIGHT_PTXSIM_MATRIX_WARPREGISTERS_H

#include "arithmetic/Half.h"
#include "machine/State.h"

#include <algorithm>

namespace tilewright::ptxsim {

/// Registers of the whole warp, whatever frames its lanes are in.
struct WarpRegisters {
  ExecContext &context;
  Frame *const *frames;
  /// All lanes are in one frame, as nearly always.
  bool oneFrame;

  WarpRegisters(ExecContext &context, Frame *const *frames)
      : context(context), frames(frames),
        oneFrame(std::all_of(frames, frames + warpSize, [=](const Frame *frame) { return frame == frames[0]; })) {}

  /// The register in all lanes; `scratch` is for lanes in several frames.
  const uint64_t *readRow(Row row, uint64_t (&scratch)[warpSize]) const {
    if (oneFrame || row >= constantBank)
      return row < constantBank ? frames[0]->registers.data() + uint64_t(row) * warpSize
                                : context.bases[row >> 30] + uint64_t(row & rowIndexMask) * warpSize;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      scratch[lane] = read(row, lane);
    return scratch;
  }
  uint32_t undefinedLanes(Row row) const {
    if (!context.checks || row >= constantBank)
      return 0;
    if (oneFrame)
      return frames[0]->undefinedLanes[row];
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      lanes |= uint32_t(isUndefined(row, lane)) << lane;
    return lanes;
  }
  /// `undefined` counts in `undefinedLanes`.
  void writeRow(Row row, const uint64_t *bits, uint32_t undefinedLanes, const uint64_t *undefined) const {
    if (!oneFrame || undefinedLanes != 0) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        write(row, lane, bits[lane], undefinedLanes >> lane & 1 ? undefined[lane] : 0);
      return;
    }
    std::copy_n(bits, warpSize, frames[0]->registers.begin() + static_cast<ptrdiff_t>(uint64_t(row) * warpSize));
    if (context.checks)
      frames[0]->undefinedLanes[row] = 0;
  }

  uint64_t read(Row row, unsigned lane) const {
    if (row < constantBank)
      return frames[lane]->registers[uint64_t(row) * warpSize + lane];
    return context.bases[row >> 30][uint64_t(row & rowIndexMask) * warpSize + lane];
  }
  bool isUndefined(Row row, unsigned lane) const {
    return context.checks && row < constantBank && (frames[lane]->undefinedLanes[row] >> lane & 1);
  }
  uint64_t undefinedBits(Row row, unsigned lane) const {
    return isUndefined(row, lane) ? frames[lane]->undefinedBits[uint64_t(row) * warpSize + lane] : 0;
  }
  void write(Row row, unsigned lane, uint64_t bits, uint64_t undefined) const {
    Frame &frame = *frames[lane];
    frame.registers[uint64_t(row) * warpSize + lane] = bits;
    if (!context.checks)
      return;
    frame.undefinedLanes[row] &= ~(1u << lane);
    if (undefined == 0)
      return;
    frame.undefinedLanes[row] |= 1u << lane;
    frame.undefinedBits[uint64_t(row) * warpSize + lane] = undefined;
  }
};

inline unsigned perRegister(MatrixElement element) {
  return element == MatrixElement::F64 ? 1 : 32 / elementBits(element);
}

inline uint64_t elementOf(uint64_t bits, MatrixElement type, unsigned element) {
  unsigned width = elementBits(type);
  return bits >> (width * element) & lowBits(width);
}

/// Rounded to nearest, with the canonical NaN.
inline uint64_t resultBits(MatrixElement type, double value) {
  switch (type) {
  case MatrixElement::F16:
    return doubleToSmall(value, f16Format);
  case MatrixElement::F32:
    return value != value ? 0x7fffffffu : bitCast<uint32_t>(static_cast<float>(value));
  default:
    return value != value ? 0xfff8000000000000ull : bitCast<uint64_t>(value);
  }
}

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_WARPREGISTERS_H
