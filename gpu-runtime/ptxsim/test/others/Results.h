// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels gave, held against what they should have given.

#ifndef TILEWRIGHT_PTXSIM_TEST_OTHERS_RESULTS_H
#define TILEWRIGHT_PTXSIM_TEST_OTHERS_RESULTS_H

#include "Gpu.h"
#include "Numbers.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

namespace others {

/// Findings that README.md explains.
const std::set<std::string> none, proxyWarnings = {"warning: proxy-order"};

/// In speed mode there are none.
inline void expectFindings(Gpu &gpu, const std::set<std::string> &expected) {
  const char *checks = std::getenv("PTXSIM_CHECKS");
  EXPECT_EQ(gpu.findingKinds(), checks && std::string(checks) == "off" ? none : expected);
}

inline void expectNear(const std::vector<double> &got, const std::function<double(size_t)> &expected,
                       const std::function<double(size_t)> &bound) {
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - expected(i)) <= bound(i)) && wrong++ < 4)
      ADD_FAILURE() << "element " << i << ": " << got[i] << " instead of " << expected(i) << " within " << bound(i);
  EXPECT_EQ(wrong, 0u) << "elements of " << got.size();
}

/// Exact on small integers where the result's type holds them, otherwise within the bound.
inline void expectProduct(const std::vector<double> &got, const Product &product, Data data, size_t k, Type result) {
  bool exact = data == Data::SmallIntegers && result.fraction >= 10;
  expectNear(got, [&](size_t i) { return product.value[i]; },
             [&](size_t i) { return exact ? 0 : errorBound(k, product.absolute[i], result); });
}

} // namespace others

#endif // TILEWRIGHT_PTXSIM_TEST_OTHERS_RESULTS_H
