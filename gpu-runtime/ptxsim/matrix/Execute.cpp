// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What matrix instructions compute. Products are exact. Sums of f16, bf16, tf32 and f8 products are taken in double and
// rounded to nearest once, where hardware sums in an order and precision that NVIDIA does not document; exact wherever
// every partial sum is. f64 is a chain of fused multiply-adds along k. Integers wrap, or saturate at the end.

#include "arithmetic/Half.h"
#include "machine/MemoryAccess.h"
#include "matrix/Execute.h"
#include "matrix/Wgmma.h"
#include "matrix/WarpRegisters.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned columns = 8, maxRows = 16, maxDepth = 256;

/// A (m x k, row by row) or B (k x 8, row by row), with a flag per element whose register holds undefined bits of it.
template <typename T> struct Operands {
  T values[maxRows * maxDepth];
  uint8_t undefined[maxRows * maxDepth];
  bool anyUndefined = false;
};

template <typename T> T valueOf(MatrixElement type, uint64_t bits) {
  if constexpr (std::is_same_v<T, double>)
    return elementValue(type, bits);
  else
    return integerElement(type, bits);
}

template <typename T>
void gather(const WarpRegisters &registers, const MatrixCode &code, bool isA, Operands<T> &result) {
  MatrixElement type = isA ? code.aType : code.bType;
  const std::vector<Row> &rows = isA ? code.a : code.b;
  unsigned each = perRegister(type), width = elementBits(type);
  for (unsigned r = 0; r < rows.size(); ++r)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint64_t bits = registers.read(rows[r], lane);
      uint64_t undefined = registers.undefinedBits(rows[r], lane);
      result.anyUndefined |= undefined != 0;
      for (unsigned element = 0; element < each; ++element) {
        MatrixPlace at = isA ? placeInA(code.m, each, lane, r, element) : placeInB(each, lane, r, element);
        size_t index = isA ? at.row * code.k + at.column : at.row * columns + at.column;
        result.values[index] = valueOf<T>(type, elementOf(bits, type, element));
        result.undefined[index] = (undefined >> (width * element) & lowBits(width)) != 0;
      }
    }
}

/// Sums of products along k, in its order: a row of the result at a time, so that its columns go side by side.
template <typename T>
void multiply(const Operands<T> &a, const Operands<T> &b, const MatrixCode &code, T (&sums)[maxRows][columns]) {
  for (unsigned row = 0; row < code.m; ++row) {
    T sum[columns] = {};
    for (unsigned i = 0; i < code.k; ++i) {
      const T x = a.values[row * code.k + i], *y = b.values + i * columns;
      if constexpr (std::is_same_v<T, int64_t>)
        if (code.aType == MatrixElement::B1) {
          for (unsigned column = 0; column < columns; ++column)
            sum[column] += code.usesAnd ? x & y[column] : x ^ y[column];
          continue;
        }
      for (unsigned column = 0; column < columns; ++column)
        sum[column] += x * y[column];
    }
    std::copy(sum, sum + columns, sums[row]);
  }
}

double accumulate(const Operands<double> &a, const Operands<double> &b, const MatrixCode &code, const MatrixPlace &at,
                  double sum, double c) {
  if (code.dType != MatrixElement::F64)
    return sum + c;
  for (unsigned i = 0; i < code.k; ++i)
    c = std::fma(a.values[at.row * code.k + i], b.values[i * columns + at.column], c);
  return c;
}

int64_t accumulate(const Operands<int64_t> &, const Operands<int64_t> &, const MatrixCode &code, const MatrixPlace &,
                   int64_t sum, int64_t c) {
  sum += c;
  return code.saturate ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : static_cast<int32_t>(sum);
}

uint64_t resultBits(MatrixElement, int64_t value) { return static_cast<uint32_t>(value); }

template <typename T> void multiply(const WarpRegisters &registers, const MatrixCode &code) {
  Operands<T> a, b;
  gather(registers, code, true, a);
  gather(registers, code, false, b);
  T sums[maxRows][columns];
  if (code.dType != MatrixElement::F64)
    multiply(a, b, code, sums);
  else
    std::memset(sums, 0, sizeof(sums));
  unsigned each = perRegister(code.dType), width = elementBits(code.dType);
  auto undefinedProduct = [&](const MatrixPlace &at) {
    for (unsigned i = 0; i < code.k; ++i)
      if (a.undefined[at.row * code.k + i] || b.undefined[i * columns + at.column])
        return true;
    return false;
  };
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    // D may share registers with C, A and B, in any order: all of them are read before one is written.
    uint64_t results[columns] = {}, unknown[columns] = {};
    for (unsigned r = 0; r < code.d.size(); ++r) {
      uint64_t cBits = registers.read(code.c[r], lane), cUndefined = registers.undefinedBits(code.c[r], lane);
      for (unsigned element = 0; element < each; ++element) {
        MatrixPlace at = placeInC(lane, r * each + element);
        T c = valueOf<T>(code.cType, elementOf(cBits, code.cType, element));
        T sum = accumulate(a, b, code, at, sums[at.row][at.column], c);
        results[r] |= resultBits(code.dType, sum) << (width * element);
        if ((cUndefined >> (width * element) & lowBits(width)) != 0 ||
            ((a.anyUndefined || b.anyUndefined) && undefinedProduct(at)))
          unknown[r] |= lowBits(width) << (width * element);
      }
    }
    for (unsigned r = 0; r < code.d.size(); ++r)
      registers.write(code.d[r], lane, results[r], unknown[r]);
  }
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

/// Only the chains of f64 have a choice.
template <typename Callable> static void withRounding(Rounding rounding, Callable callable) {
  std::fesetround(rounding == Rounding::Zero ? FE_TOWARDZERO : rounding == Rounding::Down ? FE_DOWNWARD : FE_UPWARD);
  callable();
  std::fesetround(FE_TONEAREST);
}

void executeMatrix(ExecContext &context, const Inst &inst, Frame *const frames[warpSize]) {
  const MatrixCode &code = context.grid->program->matrices[inst.matrix];
  WarpRegisters registers = {context, frames};
  if (context.checks && context.warp->wgmma && code.kind <= MatrixCode::Transpose)
    checkMatrixRegisters(context, inst, code);
  switch (code.kind) {
  case MatrixCode::Multiply:
    if (code.isQuad())
      return multiplyQuads(registers, code);
    if (inst.rounding != Rounding::Nearest)
      return withRounding(inst.rounding, [&] { multiply<double>(registers, code); });
    if (isIntegerElement(code.aType))
      return multiply<int64_t>(registers, code);
    return multiply<double>(registers, code);
  case MatrixCode::Load:
  case MatrixCode::Store:
    return moveMatrices(registers, inst, code);
  case MatrixCode::Transpose:
    return transpose(registers, code);
  default:
    return executeWgmma(context, inst, code, frames);
  }
}

} // namespace tilewright::ptxsim
