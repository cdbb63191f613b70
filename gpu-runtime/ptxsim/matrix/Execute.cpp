// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix; the products are in Multiply.cpp and Wgmma.cpp.

#include "machine/MemoryAccess.h"
#include "machine/SharedTraffic.h"
#include "matrix/Execute.h"
#include "matrix/Wgmma.h"
#include "matrix/WarpRegisters.h"

#include <array>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

/// ldmatrix where there is nothing to check but bounds; false, with nothing done, when an address is out of them.
bool loadQuick(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code) {
  ExecContext &context = registers.context;
  uint64_t scratch[warpSize];
  const uint64_t *addresses = registers.readRow(inst.src[1], scratch);
  uint16_t elements[warpSize][8];
  for (unsigned lane = 0; lane < 8 * code.d.size(); ++lane) {
    uint64_t address = addresses[lane] + static_cast<uint64_t>(inst.offset);
    uint32_t offset;
    if (address % 16 != 0 || !offsetInOwn(context, address, 16, offset))
      return false;
    std::memcpy(elements[lane], context.block->shared.data() + offset, 16);
  }
  for (unsigned matrix = 0; matrix < code.d.size(); ++matrix) {
    uint16_t(*rows)[8] = elements + 8 * matrix;
    uint64_t results[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      results[lane] = code.transposed ? rows[column][row] | uint32_t(rows[column + 1][row]) << 16
                                      : rows[row][column] | uint32_t(rows[row][column + 1]) << 16;
    }
    registers.writeRow(code.d[matrix], results, 0, nullptr);
  }
  return true;
}

void countTraffic(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code) {
  uint64_t rows[warpSize];
  unsigned count = static_cast<unsigned>(8 * code.d.size());
  for (unsigned lane = 0; lane < count; ++lane)
    rows[lane] = (registers.read(inst.src[1], lane) + static_cast<uint64_t>(inst.offset)) & 0xffffffff;
  registers.context.grid->traffic->countMatrices(inst, rows, count);
}

/// Eight rows of 16 bytes per matrix; lane 8 * matrix + row has the row's address. A lane's register holds two elements
/// of row lane / 4, or, transposed, of column lane / 4.
void moveMatrices(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code) {
  ExecContext &context = registers.context;
  bool isLoad = code.kind == MatrixCode::Load;
  Row addressRow = inst.src[1];
  for (unsigned matrix = 0; matrix < code.d.size(); ++matrix) {
    uint16_t elements[8][8] = {}, undefined[8][8] = {};
    if (!isLoad)
      for (unsigned lane = 0; lane < warpSize; ++lane)
        for (unsigned j = 0; j < 2; ++j) {
          unsigned row = lane / 4, column = lane % 4 * 2 + j;
          if (code.transposed)
            std::swap(row, column);
          elements[row][column] = static_cast<uint16_t>(registers.read(code.d[matrix], lane) >> (16 * j));
          undefined[row][column] = static_cast<uint16_t>(registers.undefinedBits(code.d[matrix], lane) >> (16 * j));
        }
    for (unsigned row = 0; row < 8; ++row) {
      unsigned lane = 8 * matrix + row;
      uint64_t address = registers.read(addressRow, lane) + static_cast<uint64_t>(inst.offset);
      if (registers.isUndefined(addressRow, lane))
        context.report(FindingKind::Undefined, inst, lane, address, "the address depends on an undefined value");
      Place place;
      if (!locate(context, inst, lane, address, 16, !isLoad, place))
        continue;
      if (place.space != Space::Shared) {
        context.report(FindingKind::OutOfBounds, inst, lane, address, "the row of a matrix is not in shared memory");
        continue;
      }
      // Each word counts as accessed by a lane that gets, or had, it.
      for (unsigned word = 0; context.checks && word < 4; ++word) {
        Place part = place;
        part.raceOffset += 4 * word;
        part.key += 4 * word;
        bool same = !isLoad && std::memcmp(place.bytes + 4 * word, &elements[row][2 * word], 4) == 0;
        recordAccess(context, inst, code.transposed ? 8 * word + row / 2 : 4 * row + word, address + 4 * word, 4, part,
                     isLoad ? AccessKind::Read : AccessKind::Write, same);
      }
      if (!isLoad) {
        std::memcpy(place.bytes, elements[row], 16);
        if (place.defined)
          for (unsigned i = 0; i < 8; ++i) {
            uint16_t defined = static_cast<uint16_t>(~undefined[row][i]);
            std::memcpy(place.defined + 2 * i, &defined, 2);
          }
        continue;
      }
      std::memcpy(elements[row], place.bytes, 16);
      for (unsigned i = 0; place.defined && i < 8; ++i) {
        uint16_t defined;
        std::memcpy(&defined, place.defined + 2 * i, 2);
        undefined[row][i] = static_cast<uint16_t>(~defined);
      }
    }
    for (unsigned lane = 0; isLoad && lane < warpSize; ++lane) {
      uint64_t bits = 0, unknown = 0;
      for (unsigned j = 0; j < 2; ++j) {
        unsigned row = lane / 4, column = lane % 4 * 2 + j;
        if (code.transposed)
          std::swap(row, column);
        bits |= uint64_t(elements[row][column]) << (16 * j);
        unknown |= uint64_t(undefined[row][column]) << (16 * j);
      }
      registers.write(code.d[matrix], lane, bits, unknown);
    }
  }
}

void transpose(const WarpRegisters &registers, const MatrixCode &code) {
  std::array<uint64_t, warpSize> bits, unknown;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    bits[lane] = registers.read(code.a[0], lane);
    unknown[lane] = registers.undefinedBits(code.a[0], lane);
  }
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t result = 0, undefined = 0;
    for (unsigned j = 0; j < 2; ++j) {
      // Element (row, column) of the result is (column, row) of the source.
      unsigned row = lane / 4, column = lane % 4 * 2 + j;
      unsigned from = column * 4 + row / 2, half = 16 * (row % 2);
      result |= (bits[from] >> half & 0xffff) << (16 * j);
      undefined |= (unknown[from] >> half & 0xffff) << (16 * j);
    }
    registers.write(code.d[0], lane, result, undefined);
  }
}

} // namespace

void executeMatrix(ExecContext &context, const Inst &inst, Frame *const frames[warpSize]) {
  const MatrixCode &code = context.grid->program->matrices[inst.matrix];
  WarpRegisters registers(context, frames);
  if (context.checks && context.warp->wgmma && code.kind <= MatrixCode::Transpose)
    checkMatrixRegisters(context, inst, code);
  if (context.grid->traffic && (code.kind == MatrixCode::Load || code.kind == MatrixCode::Store))
    countTraffic(registers, inst, code);
  switch (code.kind) {
  case MatrixCode::Multiply:
    return executeMultiply(registers, inst, code);
  case MatrixCode::Load:
    if (!context.checks && inst.space == Space::Shared && loadQuick(registers, inst, code))
      return;
    return moveMatrices(registers, inst, code);
  case MatrixCode::Store:
    return moveMatrices(registers, inst, code);
  case MatrixCode::Transpose:
    return transpose(registers, code);
  case MatrixCode::FragmentLoad:
  case MatrixCode::FragmentStore:
    return moveFragment(registers, inst, code);
  case MatrixCode::FragmentMultiply:
    return multiplyFragments(registers, inst, code);
  default:
    return executeWgmma(context, inst, code, frames);
  }
}

} // namespace tilewright::ptxsim
