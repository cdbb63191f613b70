// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing a tensor with its reference.
//
// An element is good if it is off by no more than what is allowed, or both are
// the same infinity or both NaN. Allowed is, of each element by itself,
//
//   its error bound, as the oracle computes it beside its value, and twice
//   that where the reference is no oracle's: both may be off by as much,
//   or atol + rtol |ref| where --atol or --rtol are given,
//   or nothing.
#ifndef TILEWRIGHT_RUN_COMPARE_H
#define TILEWRIGHT_RUN_COMPARE_H

#include "host_tensor.h"

#include <memory>
#include <optional>
#include <string>

namespace tilewright::run {

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  std::string source; // "given", "exact", "error bounds of the oracle"
  /// Of each element, f64, in place of atol and rtol.
  std::shared_ptr<const HostTensor> bounds;
  double scale = 1; // of the bounds
};

/// What is allowed without the oracle's bounds.
Tolerance plainTolerance(std::optional<double> atol,
                         std::optional<double> rtol);

/// What is allowed by them; `scale` times each.
Tolerance boundedTolerance(std::shared_ptr<const HostTensor> bounds,
                           double scale);

struct Comparison {
  bool ok = false;
  int64_t elements = 0;
  int64_t mismatches = 0;
  int64_t firstBad = -1; // element numbers; -1: none
  // The largest share of what is allowed, above 1 if it is bad; a NaN above
  // all.
  int64_t worst = -1;
  // The largest of any element; of relative errors and those in units of the
  // last place of the reference, where that is not 0.
  double worstError = 0;
  double worstRelative = 0;
  double worstUlps = 0;
  int64_t unbounded = 0; // elements of which any value is accepted
  /// Values differ, and any are accepted: nothing was checked.
  bool saysNothing() const {
    return mismatches == 0 && worstError > 0 && unbounded == elements;
  }
  Tolerance tolerance;
  std::string problem; // when the types differ
};

Comparison compare(const HostTensor &got, const HostTensor &reference,
                   const Tolerance &tolerance);

/// What is allowed of an element; infinite if anything is.
double allowedError(const HostTensor &reference, int64_t i,
                    const Tolerance &tolerance);

/// The verdict in lines for people: what differs, by how much, with a window
/// around the first bad and the worst element. Ends in a line break.
std::string describe(const std::string &name, const HostTensor &got,
                     const HostTensor &reference, const Comparison &result);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_COMPARE_H
