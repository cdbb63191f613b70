// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common refinement, computed on the sorted boundaries of the digits.

#include "Refinement.h"

#include <algorithm>

using namespace tilewright::layout;

namespace {
/// A boundary-to-boundary piece of one layout's digit.
struct Piece {
  int dim;
  int64_t stride, count;
  Home home;
};
} // namespace

/// All strides at which a digit of one of the layouts begins or ends, per
/// dimension; none where they are not a chain of divisors.
static std::optional<std::vector<std::vector<int64_t>>>
commonCuts(const DistributedLayout &a, const DistributedLayout &b) {
  std::vector<std::vector<int64_t>> cuts(a.rank(), {1});
  for (const DistributedLayout *l : {&a, &b})
    for (Level level : allLevels)
      for (const Mode &m : l->modes(level))
        if (!m.isReplica() && m.count > 1)
          cuts[m.dim].push_back(m.stride * m.count);
  for (std::vector<int64_t> &list : cuts) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (size_t i = 1; i < list.size(); ++i)
      if (list[i] % list[i - 1] != 0)
        return std::nullopt;
  }
  return cuts;
}

static std::vector<Piece>
cutDigits(const DistributedLayout &l,
          const std::vector<std::vector<int64_t>> &cuts) {
  std::vector<Piece> pieces;
  for (Level level : allLevels) {
    int64_t weight = 1;
    for (const Mode &m : l.modes(level)) {
      if (!m.isReplica() && m.count > 1) {
        const std::vector<int64_t> &list = cuts[m.dim];
        for (size_t i = 0; i + 1 < list.size(); ++i)
          if (list[i] >= m.stride && list[i] < m.stride * m.count)
            pieces.push_back({m.dim,
                              list[i],
                              list[i + 1] / list[i],
                              {level, weight * (list[i] / m.stride)}});
      }
      weight *= m.count;
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) {
    return std::pair(a.dim, a.stride) < std::pair(b.dim, b.stride);
  });
  return pieces;
}

std::optional<std::vector<Digit>>
tilewright::layout::refine(const DistributedLayout &from,
                           const DistributedLayout &to) {
  if (from.isOpaque() || to.isOpaque())
    return std::nullopt;
  auto cuts = commonCuts(from, to);
  if (!cuts)
    return std::nullopt;
  // Both decompositions are complete, so the sorted pieces pair up.
  std::vector<Piece> a = cutDigits(from, *cuts), b = cutDigits(to, *cuts);
  std::vector<Digit> digits;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    digits.push_back({a[i].dim, a[i].stride, a[i].count, a[i].home, b[i].home});
  return digits;
}
