// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutTestUtils.h"

#include <algorithm>

using namespace tilewright::layout;
using namespace tilewright::layout::test;

void test::checkLayout(const DistributedLayout &l) {
  SCOPED_TRACE(l.print());
  ASSERT_EQ(l.verify(), "");

  // Coverage: every element in range, each with the same number of copies.
  std::vector<std::vector<Place>> owners(numElements(l.shape()));
  forEachPlace(l, [&](const Place &p) {
    Coords c = l.coordinates(p);
    for (int d = 0; d < l.rank(); ++d)
      ASSERT_TRUE(c[d] >= 0 && c[d] < l.shape()[d]);
    owners[rowMajor(l.shape(), c)].push_back(p);
  });
  size_t copies = l.replication(Level::Register) * l.replication(Level::Lane) *
                  l.replication(Level::Warp);
  EXPECT_EQ(l.isReplicated(), copies > 1);
  forEachCoord(l.shape(), [&](const Coords &c) {
    const std::vector<Place> &places = owners[rowMajor(l.shape(), c)];
    ASSERT_EQ(places.size(), copies);
    // `places` is enumerated registers first, so its minimum in each index is
    // the first owner.
    Place first = l.owner(c);
    ASSERT_EQ(first, places.front());
    ASSERT_EQ(l.coordinates(first), c);
  });

  forEachPlace(l, [&](const Place &p) {
    // The symbolic forward map says what coordinates() says.
    Coords c(l.rank(), 0);
    int64_t index[3] = {p.reg, p.lane, p.warp};
    bool isFirst = true;
    for (Level level : allLevels) {
      int64_t i = index[int(level)];
      for (const DigitTerm &t : l.forwardTerms(level)) {
        c[t.dim] += t(i);
        ASSERT_EQ(t.top, t.div * t.mod == l.size(level));
      }
      for (const DigitTerm &t : l.replicaDigits(level))
        isFirst &= t(i) == 0;
    }
    ASSERT_EQ(c, l.coordinates(p));
    ASSERT_EQ(isFirst, l.owner(c) == p);
  });

  // Text and canonical form.
  auto again = DistributedLayout::parse(l.print());
  ASSERT_TRUE(bool(again)) << again.error();
  EXPECT_EQ(again->print(), l.print());
  EXPECT_EQ(*again, l);
  auto shapeless = DistributedLayout::parse(l.print(false), l.shape());
  ASSERT_TRUE(bool(shapeless)) << shapeless.error();
  EXPECT_EQ(*shapeless, l);
  EXPECT_TRUE(sameMap(l, l.canonicalize()));
  EXPECT_EQ(l.canonicalize().canonicalize().print(), l.canonicalize().print());

  // Register runs.
  for (int d = 0; d < l.rank(); ++d)
    for (int64_t maxLength : {1, 3, 4, 100}) {
      RegisterRuns runs = l.registerRuns(d, maxLength);
      ASSERT_LE(runs.length, maxLength);
      ASSERT_EQ(l.contiguity(d) % runs.length, 0);
      std::vector<int> seen(l.numRegisters(), 0);
      for (const auto &group : runs.groups) {
        ASSERT_EQ(int64_t(group.size()), runs.length);
        Coords start = l.registerOffset(group[0]);
        ASSERT_EQ(start[d] % runs.length, 0);
        for (size_t i = 0; i < group.size(); ++i) {
          Coords expected = start;
          expected[d] += i;
          ASSERT_EQ(l.registerOffset(group[i]), expected);
          ++seen[group[i]];
        }
      }
      for (int n : seen)
        ASSERT_EQ(n, 1);
    }
}

DistributedLayout test::randomLayout(std::mt19937 &rng, const Shape &shape,
                                     int64_t lanes, int64_t warps) {
  auto primes = [](int64_t n) {
    std::vector<int64_t> result;
    for (int64_t p = 2; n > 1; ++p)
      for (; n % p == 0; n /= p)
        result.push_back(p);
    return result;
  };
  Modes levels[3];
  int64_t room[3] = {0, lanes, warps};
  std::vector<int> dims(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    dims[d] = int(d);
  std::shuffle(dims.begin(), dims.end(), rng);
  for (int d : dims) {
    std::vector<int64_t> factors = primes(shape[d]);
    std::shuffle(factors.begin(), factors.end(), rng);
    int64_t stride = 1;
    for (int64_t f : factors) {
      int level = int(rng() % 3);
      if (level && room[level] % f != 0)
        level = 0;
      levels[level].push_back({f, d, stride});
      if (level)
        room[level] /= f;
      stride *= f;
    }
  }
  for (int level : {1, 2})
    for (int64_t f : primes(room[level]))
      levels[level].push_back(Mode::replica(f));
  for (Modes &list : levels)
    std::shuffle(list.begin(), list.end(), rng);
  return take(DistributedLayout::get(shape, levels[0], levels[1], levels[2]));
}
