// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem that both examples solve: c = a · b for examples/matmul.mlir, of
// small integers, so that every order of summation gives the same result.

#ifndef EXAMPLES_RAW_PRODUCT_H
#define EXAMPLES_RAW_PRODUCT_H

#include <cstdint>
#include <vector>

struct Product {
  int64_t m = 100, n = 90, k = 70;
  std::vector<float> a = numbers(m * k), b = numbers(k * n);
  std::vector<float> c = std::vector<float>(m * n);

  std::vector<std::vector<int64_t>> shapes() const {
    return {{m, k}, {k, n}, {m, n}};
  }

  /// How many elements of c are wrong.
  int64_t countWrong() const {
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[i * k + l] * b[l * n + j];
        wrong += c[i * n + j] != sum;
      }
    return wrong;
  }

private:
  static std::vector<float> numbers(int64_t count) {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = float(i * 7 % 11) - 5;
    return values;
  }
};

#endif
