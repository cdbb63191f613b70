// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma: matrices that a warp loads, multiplies and stores, without saying which lane holds what. The ISA leaves that open;
// here a matrix of E elements, counted along the rows of A, C and D and along the columns of B, is spread so that lane l
// holds E/32 of them from l * E/32 on, one after the other, again and again where there are more registers. What holds
// for mma holds here: sums of products are taken in double and rounded once, f64 is a chain of multiply-adds.

#include "machine/MemoryAccess.h"
#include "matrix/Execute.h"
#include "matrix/WarpRegisters.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tilewright::ptxsim {
namespace {

struct Extent {
  unsigned rows, columns;
};

Extent extentOf(const MatrixCode &code, char matrix) {
  return {matrix == 'b' ? code.k : code.m, matrix == 'a' ? code.k : code.n};
}

/// The number of the element in this place of the lane's registers.
unsigned elementNumber(const Extent &extent, unsigned lane, unsigned slot) {
  unsigned each = extent.rows * extent.columns / warpSize;
  return lane * each + slot % each;
}

MatrixPlace placeOf(const Extent &extent, char matrix, unsigned number) {
  if (matrix == 'b')
    return {number % extent.rows, number / extent.rows};
  return {number / extent.columns, number % extent.columns};
}

template <typename T> struct Fragment {
  std::vector<T> values;
  std::vector<uint8_t> undefined;
};

template <typename T>
Fragment<T> gather(const WarpRegisters &registers, const MatrixCode &code, char matrix, const std::vector<Row> &rows,
                   MatrixElement type) {
  Extent extent = extentOf(code, matrix);
  unsigned each = perRegister(type), width = elementBits(type);
  Fragment<T> result = {std::vector<T>(size_t(extent.rows) * extent.columns), {}};
  result.undefined.resize(result.values.size());
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned slot = 0; slot < rows.size() * each; ++slot) {
      uint64_t bits = elementOf(registers.read(rows[slot / each], lane), type, slot % each);
      MatrixPlace at = placeOf(extent, matrix, elementNumber(extent, lane, slot));
      size_t index = size_t(at.row) * extent.columns + at.column;
      if constexpr (std::is_same_v<T, double>)
        result.values[index] = elementValue(type, bits);
      else
        result.values[index] = integerElement(type, bits);
      result.undefined[index] |=
          (registers.undefinedBits(rows[slot / each], lane) >> (width * (slot % each)) & lowBits(width)) != 0;
    }
  return result;
}

/// One element of D, as bits.
uint64_t dot(const MatrixCode &code, const double *a, const double *b, double c) {
  if (code.dType == MatrixElement::F64) {
    for (unsigned i = 0; i < code.k; ++i)
      c = std::fma(a[i], b[i * code.n], c);
    return bitCast<uint64_t>(c);
  }
  double sum = 0;
  for (unsigned i = 0; i < code.k; ++i)
    sum += a[i] * b[i * code.n];
  return resultBits(code.dType, sum + c);
}

uint64_t dot(const MatrixCode &code, const int64_t *a, const int64_t *b, int64_t c) {
  for (unsigned i = 0; i < code.k; ++i) {
    int64_t x = a[i], y = b[i * code.n];
    c += code.aType != MatrixElement::B1 ? x * y : code.usesAnd ? x & y : x ^ y;
  }
  if (code.saturate)
    c = std::clamp<int64_t>(c, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(c);
}

template <typename T> void multiply(const WarpRegisters &registers, const MatrixCode &code) {
  Fragment<T> a = gather<T>(registers, code, 'a', code.a, code.aType);
  Fragment<T> b = gather<T>(registers, code, 'b', code.b, code.bType);
  Fragment<T> c = gather<T>(registers, code, 'c', code.c, code.cType);
  std::vector<uint64_t> d(size_t(code.m) * code.n);
  for (unsigned row = 0; row < code.m; ++row)
    for (unsigned column = 0; column < code.n; ++column) {
      size_t index = size_t(row) * code.n + column;
      d[index] = dot(code, &a.values[size_t(row) * code.k], &b.values[column], c.values[index]);
      for (unsigned i = 0; i < code.k; ++i)
        c.undefined[index] |= a.undefined[size_t(row) * code.k + i] | b.undefined[size_t(i) * code.n + column];
    }
  unsigned each = perRegister(code.dType), width = elementBits(code.dType);
  Extent extent = extentOf(code, 'd');
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned r = 0; r < code.d.size(); ++r) {
      uint64_t bits = 0, undefined = 0;
      for (unsigned i = 0; i < each; ++i) {
        unsigned number = elementNumber(extent, lane, r * each + i);
        bits |= d[number] << (width * i);
        undefined |= c.undefined[number] ? lowBits(width) << (width * i) : 0;
      }
      registers.write(code.d[r], lane, bits, undefined);
    }
}

/// What a lane moves at once: an element, or a register of elements narrower than a byte.
struct Unit {
  unsigned bytes, elements;
};

Unit unitOf(MatrixElement type) {
  unsigned width = elementBits(type);
  return width < 8 ? Unit{4, 32 / width} : Unit{width / 8, 1};
}

} // namespace

void moveFragment(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code) {
  ExecContext &context = registers.context;
  bool isLoad = code.kind == MatrixCode::FragmentLoad;
  MatrixElement type = code.dType;
  Extent extent = extentOf(code, code.fragment);
  Unit unit = unitOf(type);
  unsigned perRegister = ptxsim::perRegister(type), width = elementBits(type);
  unsigned slots = static_cast<unsigned>(code.d.size()) * perRegister;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t base = registers.read(inst.src[1], lane) + static_cast<uint64_t>(inst.offset);
    uint64_t stride = code.hasStride     ? registers.read(inst.src[2], lane) & 0xffffffff
                      : code.transposed ? extent.rows
                                        : extent.columns;
    if (registers.isUndefined(inst.src[1], lane) || (code.hasStride && registers.isUndefined(inst.src[2], lane)))
      return context.report(FindingKind::Undefined, inst, lane, base, "the address or the stride is undefined");
    if (context.checks && (base != registers.read(inst.src[1], 0) + static_cast<uint64_t>(inst.offset)))
      return context.report(FindingKind::CollectiveMisuse, inst, lane, base, "the address differs between lanes");
    std::vector<uint64_t> bits(code.d.size()), undefined(code.d.size());
    for (unsigned r = 0; !isLoad && r < code.d.size(); ++r) {
      bits[r] = registers.read(code.d[r], lane);
      undefined[r] = registers.undefinedBits(code.d[r], lane);
    }
    for (unsigned slot = 0; slot < slots; slot += unit.elements) {
      MatrixPlace at = placeOf(extent, code.fragment, elementNumber(extent, lane, slot));
      uint64_t number = code.transposed ? at.column * stride + at.row : at.row * stride + at.column;
      uint64_t address = base + number * width / 8;
      unsigned r = slot / perRegister, shift = slot % perRegister * width;
      Place place;
      if (!locate(context, inst, lane, address, unit.bytes, !isLoad, place))
        return;
      uint64_t value = bits[r] >> shift, unknown = 0;
      if (context.checks)
        recordAccess(context, inst, lane, address, unit.bytes, place, isLoad ? AccessKind::Read : AccessKind::Write,
                     !isLoad && std::memcmp(place.bytes, &value, unit.bytes) == 0);
      if (!isLoad) {
        std::memcpy(place.bytes, &value, unit.bytes);
        uint64_t defined = ~(undefined[r] >> shift);
        if (place.defined)
          std::memcpy(place.defined, &defined, unit.bytes);
        continue;
      }
      value = 0;
      std::memcpy(&value, place.bytes, unit.bytes);
      if (place.defined) {
        std::memcpy(&unknown, place.defined, unit.bytes);
        unknown = ~unknown & lowBits(8 * unit.bytes);
      }
      bits[r] |= value << shift;
      undefined[r] |= unknown << shift;
    }
    for (unsigned r = 0; isLoad && r < code.d.size(); ++r)
      registers.write(code.d[r], lane, bits[r], undefined[r]);
  }
}

void multiplyFragments(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code) {
  if (isIntegerElement(code.aType))
    return multiply<int64_t>(registers, code);
  int before = std::fegetround();
  if (inst.rounding != Rounding::Nearest)
    std::fesetround(inst.rounding == Rounding::Zero   ? FE_TOWARDZERO
                    : inst.rounding == Rounding::Down ? FE_DOWNWARD
                                                      : FE_UPWARD);
  multiply<double>(registers, code);
  std::fesetround(before);
}

} // namespace tilewright::ptxsim
