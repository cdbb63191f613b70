// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data for kernels, written without the simulator's own arithmetic: matrices whose values a type holds exactly, their
// bytes, and how far a result may be from the true one.

#ifndef TILEWRIGHT_PTXSIM_TEST_OTHERS_NUMBERS_H
#define TILEWRIGHT_PTXSIM_TEST_OTHERS_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace others {

/// A number type: an integer where exponentBits is 0, otherwise IEEE-like with `fraction` bits.
struct Type {
  unsigned bytes;
  int exponentBits, fraction;
  /// Bits of the significand that matrix units look at.
  int precision;
};
constexpr Type s8 = {1, 0, 7, 7}, s32 = {4, 0, 31, 31}, e4m3 = {1, 4, 3, 4}, e5m2 = {1, 5, 2, 3}, f16 = {2, 5, 10, 11},
               bf16 = {2, 8, 7, 8}, tf32 = {4, 8, 23, 11}, f32 = {4, 8, 23, 24}, f64 = {8, 11, 52, 24};

/// The bits of a value that the type holds exactly (normal numbers, zero, and integers).
inline uint64_t encode(double value, Type type) {
  if (type.exponentBits == 0)
    return static_cast<uint32_t>(static_cast<int32_t>(value));
  if (value == 0)
    return 0;
  int exponent;
  double significand = std::frexp(std::fabs(value), &exponent);
  int bias = (1 << (type.exponentBits - 1)) - 1;
  uint64_t magnitude = (uint64_t(exponent - 1 + bias) << type.fraction) +
                       static_cast<uint64_t>(std::ldexp(significand * 2 - 1, type.fraction));
  return magnitude | uint64_t(value < 0) << (type.exponentBits + type.fraction);
}

inline double decode(uint64_t bits, Type type) {
  if (type.exponentBits == 0)
    return type.bytes == 1 ? static_cast<int8_t>(bits) : static_cast<int32_t>(bits);
  int bias = (1 << (type.exponentBits - 1)) - 1;
  int exponent = int(bits >> type.fraction) & ((1 << type.exponentBits) - 1);
  double fraction = std::ldexp(double(bits & ((1ull << type.fraction) - 1)), -type.fraction);
  double sign = bits >> (type.exponentBits + type.fraction) & 1 ? -1 : 1;
  if (exponent == (1 << type.exponentBits) - 1 && type.exponentBits != 4)
    return fraction != 0 ? NAN : sign * INFINITY;
  return exponent ? sign * std::ldexp(1 + fraction, exponent - bias) : sign * std::ldexp(fraction, 1 - bias);
}

inline std::vector<uint8_t> toBytes(const std::vector<double> &values, Type type) {
  std::vector<uint8_t> bytes(values.size() * type.bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = encode(values[i], type);
    std::memcpy(&bytes[i * type.bytes], &bits, type.bytes);
  }
  return bytes;
}

inline std::vector<double> fromBytes(const std::vector<uint8_t> &bytes, Type type) {
  std::vector<double> values(bytes.size() / type.bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i * type.bytes], type.bytes);
    values[i] = decode(bits, type);
  }
  return values;
}

enum class Data { SmallIntegers, Random };

/// Integers from -3 to 3, or numbers of [-1, 1) with as many bits as matrix units look at.
inline std::vector<double> makeValues(size_t count, Type type, Data data, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(count);
  for (double &value : values) {
    uint32_t bits = static_cast<uint32_t>(random());
    if (data == Data::SmallIntegers || type.exponentBits == 0) {
      int range = type.exponentBits == 0 && data == Data::Random ? 255 : 7;
      value = static_cast<int>(bits % uint32_t(range)) - range / 2;
      continue;
    }
    int exponent;
    double significand = std::frexp(std::ldexp(double(bits), -31) - 1, &exponent);
    // Nothing below the normal numbers of the narrowest type.
    value = exponent < -5 ? 0 : std::ldexp(std::trunc(std::ldexp(significand, type.precision)), exponent - type.precision);
  }
  return values;
}

/// What a product of matrices should be, and the sum of the absolute values of what was added up.
struct Product {
  std::vector<double> value, absolute;
};

/// a is m x k and row-major; b is k x n, by rows or by columns.
inline Product multiply(const std::vector<double> &a, const std::vector<double> &b, bool bByColumns, size_t m, size_t n,
                        size_t k) {
  Product product = {std::vector<double>(m * n), std::vector<double>(m * n)};
  for (size_t i = 0; i < m; ++i)
    for (size_t l = 0; l < k; ++l)
      for (size_t j = 0; j < n; ++j) {
        double term = a[i * k + l] * b[bByColumns ? j * k + l : l * n + j];
        product.value[i * n + j] += term;
        product.absolute[i * n + j] += std::fabs(term);
      }
  return product;
}

/// How far a sum in f32 of k terms, in any order and truncating, stored as `result`, may be from the true one. Sums in
/// f64 of such values are exact.
inline double errorBound(size_t k, double absolute, Type result) {
  if (result.exponentBits == 0 || result.fraction == 52)
    return 0;
  double sum = std::ldexp(double(k) * absolute, -23);
  return sum + std::ldexp(absolute + sum, -result.fraction - 1) * (result.fraction < 23);
}

} // namespace others

#endif // TILEWRIGHT_PTXSIM_TEST_OTHERS_NUMBERS_H
