// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problems that the examples solve, of small integers, so that every order of
// summation gives the same result: c = a · b of floats for examples/matmul.mlir,
// c = max(a · b + bias, 0) of halves, the bias of floats, for examples/matmul-f16.mlir.

#ifndef EXAMPLES_RAW_PRODUCT_H
#define EXAMPLES_RAW_PRODUCT_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

/// The bits of a whole number below 2048 as a half.
inline uint16_t toHalf(float value) {
  int exponent;
  float mantissa = std::frexp(std::fabs(value), &exponent); // 0 or 0.5 .. 1
  // The leading bit of the mantissa adds one to the exponent.
  unsigned bits = mantissa == 0 ? 0 : (unsigned(exponent + 13) << 10) + unsigned(mantissa * 2048);
  return uint16_t(bits | (value < 0 ? 0x8000u : 0));
}

struct Product {
  int64_t m, n, k;
  bool ofHalves;
  std::vector<float> a, b, bias;

  Product(int64_t m = 100, int64_t n = 90, int64_t k = 70, bool ofHalves = false)
      : m(m), n(n), k(k), ofHalves(ofHalves), a(numbers(m * k)), b(numbers(k * n)),
        bias(numbers(n)) {}

  /// Of the kernel's operands, the result last.
  std::vector<std::vector<int64_t>> shapes() const {
    if (ofHalves)
      return {{m, k}, {k, n}, {n}, {m, n}};
    return {{m, k}, {k, n}, {m, n}};
  }

  /// What is in the kernel's operands at the beginning, zeros in the result.
  std::vector<std::vector<uint8_t>> operands() const {
    std::vector<uint8_t> zeros(m * n * (ofHalves ? 2 : 4));
    if (ofHalves)
      return {halves(a), halves(b), floats(bias), zeros};
    return {floats(a), floats(b), zeros};
  }

  /// How many elements of the result are wrong.
  int64_t countWrong(const std::vector<uint8_t> &result) const {
    std::vector<float> expected(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[i * k + l] * b[l * n + j];
        expected[i * n + j] = ofHalves ? std::max(sum + bias[j], 0.0f) : sum;
      }
    std::vector<uint8_t> right = ofHalves ? halves(expected) : floats(expected);
    size_t size = right.size() / expected.size();
    int64_t wrong = 0;
    for (size_t i = 0; i < right.size(); i += size)
      wrong += std::memcmp(&right[i], &result[i], size) != 0;
    return wrong;
  }

private:
  static std::vector<uint8_t> floats(const std::vector<float> &values) {
    std::vector<uint8_t> result(values.size() * 4);
    std::memcpy(result.data(), values.data(), result.size());
    return result;
  }
  static std::vector<uint8_t> halves(const std::vector<float> &values) {
    std::vector<uint8_t> result(values.size() * 2);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t half = toHalf(values[i]);
      std::memcpy(&result[2 * i], &half, 2);
    }
    return result;
  }

  /// -5 .. 5; of halves -2 .. 2, so that their sums are below 2048.
  std::vector<float> numbers(int64_t count) const {
    int64_t most = ofHalves ? 2 : 5;
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = float(i * 7 % 11 % (2 * most + 1) - most);
    return values;
  }
};

#endif
