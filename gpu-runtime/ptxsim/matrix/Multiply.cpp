// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync in all shapes but m8n8k4 with f16 (Quads.cpp). Products are exact. Sums of f16, bf16, tf32 and f8 products are
// taken in double and rounded to nearest once, where hardware sums in an order and precision that NVIDIA does not
// document; exact wherever every partial sum is. f64 is a chain of fused multiply-adds along k. Integers wrap, or
// saturate at the end.
//
// Four neighbouring lanes hold neighbouring registers of a row of A, or of a column of B (Matrix.h): put side by side,
// registers are packed rows and columns.

#include "arithmetic/Half.h"
#include "matrix/Execute.h"
#include "matrix/Product.h"
#include "matrix/Sparse.h"
#include "matrix/WarpRegisters.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned columns = 8, maxRows = 16, maxDepth = 256, lanesOfRow = 4;

using LaneBits = uint64_t[warpSize];

/// A (m x k), or B (8 x k) by columns.
template <typename T> struct Operand {
  T values[maxRows * maxDepth];
  /// Rows, or columns, in which some bit is undefined.
  uint32_t undefined = 0;
};

template <typename Word>
void pack(const WarpRegisters &registers, const MatrixCode &code, bool isA, uint8_t *packed, uint32_t &undefined) {
  const std::vector<Row> &rows = isA ? code.a : code.b;
  unsigned halves = isA && code.m == maxRows ? 2 : 1;
  unsigned wordsOfRow = static_cast<unsigned>(rows.size()) / halves * lanesOfRow;
  for (unsigned r = 0; r < rows.size(); ++r) {
    LaneBits scratch;
    const uint64_t *bits = registers.readRow(rows[r], scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned row = lane / lanesOfRow + 8 * (r % halves);
      Word word = static_cast<Word>(bits[lane]);
      unsigned at = row * wordsOfRow + r / halves * lanesOfRow + lane % lanesOfRow;
      std::memcpy(packed + at * sizeof(Word), &word, sizeof(Word));
    }
    forEachLane(registers.undefinedLanes(rows[r]),
                [&](unsigned lane) { undefined |= 1u << (lane / lanesOfRow + 8 * (r % halves)); });
  }
}

/// What is stored of a sparse A, at its places.
template <typename T>
void expand(const WarpRegisters &registers, const MatrixCode &code, const uint8_t *packed, T *values) {
  T stored[maxRows * maxDepth];
  unpack(code.aType, packed, size_t(code.m) * code.storedK(), stored);
  SparsePlaces places = sparsePlaces(registers, code);
  std::fill_n(values, size_t(code.m) * code.k, T());
  for (unsigned row = 0; row < code.m; ++row)
    for (unsigned i = 0; i < code.storedK(); ++i)
      values[row * code.k + places.column[row][i]] = stored[row * code.storedK() + i];
}

template <typename T>
void gather(const WarpRegisters &registers, const MatrixCode &code, bool isA, Operand<T> &result) {
  MatrixElement type = isA ? code.aType : code.bType;
  // The most is A of mma.m16n8k16 in f64: eight registers a lane.
  alignas(8) uint8_t packed[8 * warpSize * sizeof(uint64_t)];
  if (type == MatrixElement::F64)
    pack<uint64_t>(registers, code, isA, packed, result.undefined);
  else
    pack<uint32_t>(registers, code, isA, packed, result.undefined);
  unsigned rows = isA ? code.m : columns;
  if (isA && code.isSparse)
    return expand(registers, code, packed, result.values);
  if (isA)
    return unpack(type, packed, size_t(rows) * code.k, result.values);
  T byColumns[columns * maxDepth];
  unpack(type, packed, size_t(rows) * code.k, byColumns);
  transpose(byColumns, columns, code.k, result.values);
}

void sumsOf(const Operand<double> &a, const Operand<double> &b, const MatrixCode &code, double *sums) {
  // The chains of f64 begin with C: accumulate() has them.
  if (code.dType != MatrixElement::F64)
    multiply(a.values, b.values, code.m, columns, code.k, sums);
}

void sumsOf(const Operand<int32_t> &a, const Operand<int32_t> &b, const MatrixCode &code, int32_t *sums) {
  if (code.aType == MatrixElement::B1 && !code.usesAnd)
    countDifferences(a.values, b.values, code.m, columns, code.k, sums);
  else
    multiply(a.values, b.values, code.m, columns, code.k, sums);
}

/// What lane `lane` has in D, given its element of C.
uint64_t accumulate(const Operand<double> &a, const Operand<double> &b, const MatrixCode &code, unsigned at,
                    const double *sums, uint64_t cBits) {
  double c = elementValue(code.cType, cBits);
  if (code.dType != MatrixElement::F64)
    return resultBits(code.dType, sums[at] + c);
  for (unsigned i = 0; i < code.k; ++i)
    c = std::fma(a.values[at / columns * code.k + i], b.values[i * columns + at % columns], c);
  return resultBits(code.dType, c);
}

uint64_t accumulate(const Operand<int32_t> &, const Operand<int32_t> &, const MatrixCode &code, unsigned at,
                    const int32_t *sums, uint64_t cBits) {
  int64_t sum = int64_t(sums[at]) + static_cast<int32_t>(cBits);
  return static_cast<uint32_t>(code.saturate ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
}

/// Elements of C and D lie in the order of lanes: element e of a lane is at e / 2 * 64 + lane * 2 + e % 2 of the 8 columns.
unsigned placeOf(unsigned lane, unsigned element) { return element / 2 * 2 * warpSize + lane * 2 + element % 2; }

/// What no operand makes undefined, in f32: the common case.
void accumulateSingles(const double *sums, const uint64_t *c, uint64_t *results) {
  for (unsigned lane = 0; lane < warpSize; ++lane)
    results[lane] = resultBits(MatrixElement::F32, sums[lane * 2] + bitCast<float>(static_cast<uint32_t>(c[lane])));
}

template <typename T> struct Product {
  // The arrays are not cleared.
  Product(const WarpRegisters &registers, const MatrixCode &code) : registers(registers), code(code) {}

  const WarpRegisters &registers;
  const MatrixCode &code;
  Operand<T> a, b;
  T sums[maxRows * columns];
  unsigned each = perRegister(code.dType), width = elementBits(code.dType);

  void run();
  /// One register of D.
  void accumulateRow(unsigned r, LaneBits &results);
  /// Its undefined bits.
  uint32_t undefinedRow(unsigned r, LaneBits &unknown) const;
};

template <typename T> void Product<T>::accumulateRow(unsigned r, LaneBits &results) {
  LaneBits scratch;
  const uint64_t *c = registers.readRow(code.c[r], scratch);
  if constexpr (std::is_same_v<T, double>)
    if (code.dType == MatrixElement::F32)
      return accumulateSingles(sums + placeOf(0, r), c, results);
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t bits = 0;
    for (unsigned element = 0; element < each; ++element)
      bits |= accumulate(a, b, code, placeOf(lane, r * each + element), sums,
                         c[lane] >> (width * element) & lowBits(width))
              << (width * element);
    results[lane] = bits;
  }
}

template <typename T> uint32_t Product<T>::undefinedRow(unsigned r, LaneBits &unknown) const {
  uint32_t ofC = registers.undefinedLanes(code.c[r]), lanes = 0;
  if (ofC == 0 && a.undefined == 0 && b.undefined == 0)
    return 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    unknown[lane] = 0;
    for (unsigned element = 0; element < each; ++element) {
      unsigned at = placeOf(lane, r * each + element);
      uint64_t mask = lowBits(width) << (width * element);
      bool inC = (ofC >> lane & 1) && (registers.undefinedBits(code.c[r], lane) & mask) != 0;
      if (inC || (a.undefined >> at / columns & 1) || (b.undefined >> at % columns & 1))
        unknown[lane] |= mask;
    }
    lanes |= uint32_t(unknown[lane] != 0) << lane;
  }
  return lanes;
}

template <typename T> void Product<T>::run() {
  gather(registers, code, true, a);
  gather(registers, code, false, b);
  sumsOf(a, b, code, sums);
  // D may share registers with C, A and B, in any order: all of them are read before one is written.
  LaneBits results[columns], unknown[columns];
  uint32_t undefinedLanes[columns];
  for (unsigned r = 0; r < code.d.size(); ++r) {
    accumulateRow(r, results[r]);
    undefinedLanes[r] = undefinedRow(r, unknown[r]);
  }
  for (unsigned r = 0; r < code.d.size(); ++r)
    registers.writeRow(code.d[r], results[r], undefinedLanes[r], unknown[r]);
}

template <typename T> void multiplyAs(const WarpRegisters &registers, const MatrixCode &code) {
  Product<T>(registers, code).run();
}

/// Only the chains of f64 have a choice.
template <typename Callable> void withRounding(Rounding rounding, Callable callable) {
  std::fesetround(rounding == Rounding::Zero ? FE_TOWARDZERO : rounding == Rounding::Down ? FE_DOWNWARD : FE_UPWARD);
  callable();
  std::fesetround(FE_TONEAREST);
}

} // namespace

void executeMultiply(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code) {
  if (code.isQuad())
    return multiplyQuads(registers, code);
  if (inst.rounding != Rounding::Nearest)
    return withRounding(inst.rounding, [&] { multiplyAs<double>(registers, code); });
  if (isIntegerElement(code.aType))
    return multiplyAs<int32_t>(registers, code);
  multiplyAs<double>(registers, code);
}

} // namespace tilewright::ptxsim
