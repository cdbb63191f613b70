// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumeration helpers: the tests prove by brute force what the library computes
// by digit arithmetic.

#ifndef TILEWRIGHT_TEST_UNIT_LAYOUT_LAYOUTTESTUTILS_H
#define TILEWRIGHT_TEST_UNIT_LAYOUT_LAYOUTTESTUTILS_H

#include "tilewright/Layout/DistributedLayout.h"

#include "gtest/gtest.h"

#include <functional>
#include <ostream>
#include <random>

namespace tilewright::layout {
/// Lets GoogleTest show layouts as text.
inline void PrintTo(const DistributedLayout &l, std::ostream *os) {
  *os << l.print();
}
} // namespace tilewright::layout

namespace tilewright::layout::test {

using Coords = std::vector<int64_t>;
using Shape = DistributedLayout::Shape;
using Modes = DistributedLayout::Modes;

template <typename T> T take(Result<T> r) {
  EXPECT_TRUE(bool(r)) << r.error();
  return r ? *r : T();
}

inline DistributedLayout parse(const std::string &text) {
  auto r = DistributedLayout::parse(text);
  EXPECT_TRUE(bool(r)) << text << ": " << r.error();
  return r ? *r : DistributedLayout();
}

/// Calls f for every coordinate of the shape, the last dimension fastest.
inline void forEachCoord(const Shape &shape,
                         const std::function<void(const Coords &)> &f) {
  Coords c(shape.size(), 0);
  while (true) {
    f(c);
    int d = int(shape.size()) - 1;
    for (; d >= 0; --d) {
      if (++c[d] < shape[d])
        break;
      c[d] = 0;
    }
    if (d < 0)
      return;
  }
}

inline void forEachPlace(const DistributedLayout &l,
                         const std::function<void(const Place &)> &f) {
  for (int64_t w = 0; w < l.numWarps(); ++w)
    for (int64_t t = 0; t < l.numLanes(); ++t)
      for (int64_t r = 0; r < l.numRegisters(); ++r)
        f({r, t, w});
}

inline int64_t rowMajor(const Shape &shape, const Coords &c) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    offset = offset * shape[d] + c[d];
  return offset;
}

inline int64_t numElements(const Shape &shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  return n;
}

/// Same map, by enumeration.
inline bool sameMap(const DistributedLayout &a, const DistributedLayout &b) {
  if (a.shape() != b.shape() || a.numRegisters() != b.numRegisters() ||
      a.numLanes() != b.numLanes() || a.numWarps() != b.numWarps() ||
      a.firstWarp() != b.firstWarp())
    return false;
  bool same = true;
  forEachPlace(
      a, [&](const Place &p) { same &= a.coordinates(p) == b.coordinates(p); });
  return same;
}

/// Everything that holds for each distributed layout.
void checkLayout(const DistributedLayout &l);

/// A random verified layout of `shape` with the given numbers of lanes and
/// warps: each dimension's factors are dealt to random levels in random order.
DistributedLayout randomLayout(std::mt19937 &rng, const Shape &shape,
                               int64_t lanes, int64_t warps);

} // namespace tilewright::layout::test

#endif // TILEWRIGHT_TEST_UNIT_LAYOUT_LAYOUTTESTUTILS_H
