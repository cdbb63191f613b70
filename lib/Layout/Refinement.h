// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common refinement of two layouts: digits of the element coordinates that
// are whole in both.

#ifndef TILEWRIGHT_LIB_LAYOUT_REFINEMENT_H
#define TILEWRIGHT_LIB_LAYOUT_REFINEMENT_H

#include "tilewright/Layout/DistributedLayout.h"

#include <optional>
#include <vector>

namespace tilewright::layout {

/// Where a digit lives in a hardware index.
struct Home {
  Level level;
  int64_t weight;
  bool operator==(const Home &o) const {
    return level == o.level && weight == o.weight;
  }
};

/// A digit of the element coordinates, whole in both layouts.
struct Digit {
  int dim;
  int64_t stride, count;
  Home from, to;
};

/// Cuts the digits of both layouts at each other's boundaries, by dimension and
/// stride. None where the boundaries are not a chain of divisors, and for
/// opaque layouts.
std::optional<std::vector<Digit>> refine(const DistributedLayout &from,
                                         const DistributedLayout &to);

} // namespace tilewright::layout

#endif // TILEWRIGHT_LIB_LAYOUT_REFINEMENT_H
