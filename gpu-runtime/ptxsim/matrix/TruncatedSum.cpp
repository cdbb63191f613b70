// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "matrix/TruncatedSum.h"

#include <algorithm>
#include <cmath>

namespace tilewright::ptxsim {

/// The lowest of the bits that stay of numbers whose largest magnitude is `largest`.
static double unitOf(double largest) { return std::ldexp(1.0, std::ilogb(largest) - (truncatedSumBits - 1)); }

double truncatedSum(double old, double sign, const double *x, const double *y, unsigned k) {
  double largest = std::fabs(old), exact = old;
  for (unsigned i = 0; i < k; ++i) {
    double product = x[i] * y[i];
    largest = std::max(largest, std::fabs(product));
    exact += sign * product;
  }
  if (!std::isfinite(exact) || largest == 0)
    return exact;
  double unit = unitOf(largest), units = std::trunc(old / unit);
  for (unsigned i = 0; i < k; ++i)
    units += std::trunc(sign * x[i] * y[i] / unit);
  double sum = units * unit;
  if (sum == 0)
    return 0;
  double last = unitOf(std::fabs(sum));
  return std::trunc(sum / last) * last;
}

} // namespace tilewright::ptxsim
