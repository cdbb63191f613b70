// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing a tensor with its reference.
//
// An element is good if |got - ref| <= atol + rtol |ref|, or both are the same
// infinity or both NaN. Without --atol and --rtol, integers must be equal, and
// floats within
//
//   (N unitRoundoff(accumulator) + 8 unitRoundoff(type)) max|ref|
//
// where N is the number of terms summed into an element: each of the N
// additions rounds a partial sum once, and a few operations before and after
// round too (Higham, Accuracy and Stability of Numerical Algorithms,
// section 3.1). The artifact states N; where it does not, the largest dim of
// any input stands in.
#ifndef TILEWRIGHT_RUN_COMPARE_H
#define TILEWRIGHT_RUN_COMPARE_H

#include "host_tensor.h"

#include <optional>
#include <string>

namespace tilewright::run {

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  std::string source; // "given", "exact", "reduction 512", "largest dim 512"
};

/// What to allow for a result. `reduction` < 0: the artifact does not say.
Tolerance chooseTolerance(const HostTensor &reference,
                          std::optional<double> atol,
                          std::optional<double> rtol, int64_t reduction,
                          int64_t largestDim);

struct Comparison {
  bool ok = false;
  int64_t elements = 0;
  int64_t mismatches = 0;
  int64_t firstBad = -1; // element numbers; -1: none
  int64_t worst = -1;    // largest |got - ref|, a NaN above all
  double worstError = 0;
  Tolerance tolerance;
  std::string problem; // when the types differ
};

Comparison compare(const HostTensor &got, const HostTensor &reference,
                   const Tolerance &tolerance);

/// The verdict in lines for people: what differs, by how much, with a window
/// around the first bad and the worst element. Ends in a line break.
std::string describe(const std::string &name, const HostTensor &got,
                     const HostTensor &reference, const Comparison &result);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_COMPARE_H
