// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unpacking of elements and the loops over them. The result is computed in pieces of four rows and eight columns, whose
// sums stay in registers.

#include "matrix/Product.h"
#include "arithmetic/Clones.h"
#include "arithmetic/Half.h"

#include <array>
#include <cstring>

#define PTXSIM_INLINE inline __attribute__((always_inline))

namespace tilewright::ptxsim {
namespace {

constexpr unsigned rowsAtOnce = 4, columnsAtOnce = 8;

template <typename T> PTXSIM_INLINE T load(const void *packed, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t *>(packed) + index * sizeof(T), sizeof(T));
  return value;
}

template <typename Bits, typename T, typename Function>
PTXSIM_INLINE void each(const void *packed, size_t count, T *values, Function function) {
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(function(load<Bits>(packed, i)));
}

PTXSIM_CLONES void unpackHalves(const void *packed, size_t count, double *values) {
  // An infinity or NaN times 2^112 is what it was, so all but the exponent's bits are treated alike.
  each<uint16_t>(packed, count, values, [](uint16_t bits) {
    uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
    magnitude |= (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
    return bitCast<float>(magnitude | uint32_t(bits & 0x8000) << 16) * 0x1p112f;
  });
}
PTXSIM_CLONES void unpackBfloats(const void *packed, size_t count, double *values) {
  each<uint16_t>(packed, count, values, [](uint16_t bits) { return bitCast<float>(uint32_t(bits) << 16); });
}
PTXSIM_CLONES void unpackTf32(const void *packed, size_t count, double *values) {
  each<uint32_t>(packed, count, values, [](uint32_t bits) { return bitCast<float>(bits & ~0x1fffu); });
}

using Table = std::array<double, 256>;

Table tableOf(const SmallFormat &format) {
  Table table;
  for (uint32_t bits = 0; bits < table.size(); ++bits)
    table[bits] = smallToDouble(bits, format);
  return table;
}

void unpackFloat8(const Table &table, const void *packed, size_t count, double *values) {
  each<uint8_t>(packed, count, values, [&](uint8_t bits) { return table[bits]; });
}

/// Elements of less than a byte.
template <typename T> void unpackFields(MatrixElement type, const void *packed, size_t count, T *values) {
  unsigned width = elementBits(type), perByte = 8 / width;
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(integerElement(type, load<uint8_t>(packed, i / perByte) >> (i % perByte * width)));
}

template <typename T> void unpackIntegers(MatrixElement type, const void *packed, size_t count, T *values) {
  switch (type) {
  case MatrixElement::S8:
    return each<int8_t>(packed, count, values, [](int8_t value) { return value; });
  case MatrixElement::U8:
    return each<uint8_t>(packed, count, values, [](uint8_t value) { return value; });
  case MatrixElement::S32:
    return each<int32_t>(packed, count, values, [](int32_t value) { return value; });
  default:
    return unpackFields(type, packed, count, values);
  }
}

template <typename T, typename Function>
PTXSIM_INLINE void product(const T *a, const T *b, unsigned m, unsigned n, unsigned k, T *sums, Function function) {
  for (unsigned row = 0; row < m; row += rowsAtOnce)
    for (unsigned column = 0; column < n; column += columnsAtOnce) {
      T piece[rowsAtOnce][columnsAtOnce] = {};
      for (unsigned i = 0; i < k; ++i)
        for (unsigned r = 0; r < rowsAtOnce; ++r)
          for (unsigned c = 0; c < columnsAtOnce; ++c)
            piece[r][c] += function(a[size_t(row + r) * k + i], b[size_t(i) * n + column + c]);
      for (unsigned r = 0; r < rowsAtOnce; ++r)
        std::memcpy(sums + size_t(row + r) * n + column, piece[r], sizeof(piece[r]));
    }
}

template <typename T> void transposed(const T *columns, unsigned n, unsigned k, T *b) {
  for (unsigned column = 0; column < n; ++column)
    for (unsigned i = 0; i < k; ++i)
      b[size_t(i) * n + column] = columns[size_t(column) * k + i];
}

PTXSIM_CLONES void multiplyDoubles(const double *a, const double *b, unsigned m, unsigned n, unsigned k, double *sums) {
  product(a, b, m, n, k, sums, [](double x, double y) { return x * y; });
}
PTXSIM_CLONES void multiplyIntegers(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k,
                                    int32_t *sums) {
  product(a, b, m, n, k, sums, [](int32_t x, int32_t y) { return x * y; });
}
PTXSIM_CLONES void differences(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k, int32_t *sums) {
  product(a, b, m, n, k, sums, [](int32_t x, int32_t y) { return x ^ y; });
}

} // namespace

void unpack(MatrixElement type, const void *packed, size_t count, double *values) {
  static const Table e4m3 = tableOf(e4m3Format), e5m2 = tableOf(e5m2Format);
  switch (type) {
  case MatrixElement::F16:
    return unpackHalves(packed, count, values);
  case MatrixElement::BF16:
    return unpackBfloats(packed, count, values);
  case MatrixElement::TF32:
    return unpackTf32(packed, count, values);
  case MatrixElement::F32:
    return each<float>(packed, count, values, [](float value) { return value; });
  case MatrixElement::F64:
    std::memcpy(values, packed, count * sizeof(double));
    return;
  case MatrixElement::E4M3:
    return unpackFloat8(e4m3, packed, count, values);
  case MatrixElement::E5M2:
    return unpackFloat8(e5m2, packed, count, values);
  default:
    return unpackIntegers(type, packed, count, values);
  }
}

void unpack(MatrixElement type, const void *packed, size_t count, int32_t *values) {
  unpackIntegers(type, packed, count, values);
}

void transpose(const double *columns, unsigned n, unsigned k, double *b) { transposed(columns, n, k, b); }
void transpose(const int32_t *columns, unsigned n, unsigned k, int32_t *b) { transposed(columns, n, k, b); }

void multiply(const double *a, const double *b, unsigned m, unsigned n, unsigned k, double *sums) {
  multiplyDoubles(a, b, m, n, k, sums);
}
void multiply(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k, int32_t *sums) {
  multiplyIntegers(a, b, m, n, k, sums);
}
void countDifferences(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k, int32_t *sums) {
  differences(a, b, m, n, k, sums);
}

} // namespace tilewright::ptxsim
