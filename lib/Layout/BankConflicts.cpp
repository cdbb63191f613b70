// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts bank conflicts and searches for layouts without them.

#include "tilewright/Layout/BankConflicts.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

static constexpr int64_t numBanks = 32;
static constexpr int64_t wordBits = 32;

SharedAccess tilewright::layout::widestAccess(const DistributedLayout &layout,
                                              int dim, int elementBits,
                                              int maxBits) {
  SharedAccess access{layout, dim, 1};
  if (layout.rank() == 0 || !isPowerOfTwo(elementBits))
    return access;
  int64_t run = layout.contiguity(dim);
  while (run % (2 * access.vectorElems) == 0 &&
         2 * access.vectorElems * elementBits <= maxBits)
    access.vectorElems *= 2;
  return access;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {
/// The coordinates that a warp's lanes touch first in each of its accesses.
struct Footprint {
  Footprint(const SharedAccess &access, int64_t maxAccesses) {
    const DistributedLayout &l = access.layout;
    lanes = l.numLanes();
    RegisterRuns runs;
    if (l.rank() > 0)
      runs = l.registerRuns(access.dim, access.vectorElems);
    else
      for (int64_t r = 0; r < l.numRegisters(); ++r)
        runs.groups.push_back({r});
    vectorElems = runs.length;
    for (const std::vector<int64_t> &group : runs.groups) {
      if (maxAccesses > 0 && accesses == maxAccesses)
        break;
      ++accesses;
      for (int64_t lane = 0; lane < lanes; ++lane)
        starts.push_back(l.coordinates(group[0], lane, 0));
    }
  }

  int64_t lanes = 1, vectorElems = 1, accesses = 0;
  std::vector<std::vector<int64_t>> starts;
};
} // namespace

/// Adds one phase: `words` are the words that its lanes touch.
static void countPhase(std::vector<int64_t> &words, ConflictCount &count) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  int64_t perBank[numBanks] = {};
  int64_t busiest = 0;
  for (int64_t w : words)
    busiest = std::max(busiest, ++perBank[w % numBanks]);
  count.wavefronts += busiest;
  count.minimum += ceilDiv(words.size(), numBanks);
  words.clear();
}

static ConflictCount count(const SharedLayout &shared, const Footprint &f) {
  ConflictCount result;
  result.accesses = f.accesses;
  int64_t bits = f.vectorElems * shared.elementBits();
  int64_t lanesPerPhase = bits <= 32 ? 32 : bits <= 64 ? 16 : 8;
  std::vector<int64_t> words;
  for (int64_t a = 0; a < f.accesses; ++a)
    for (int64_t lane = 0; lane < f.lanes; ++lane) {
      int64_t first =
          shared.offset(f.starts[a * f.lanes + lane]) * shared.elementBits();
      for (int64_t w = first / wordBits; w <= (first + bits - 1) / wordBits;
           ++w)
        words.push_back(w);
      if ((lane + 1) % lanesPerPhase == 0 || lane + 1 == f.lanes)
        countPhase(words, result);
    }
  return result;
}

ConflictCount tilewright::layout::countConflicts(const SharedLayout &shared,
                                                 const SharedAccess &access,
                                                 int64_t maxAccesses) {
  return count(shared, Footprint(access, maxAccesses));
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

namespace {
/// Keeps the best layout seen.
class Search {
public:
  /// Accesses beyond the first few repeat the same pattern of banks, shifted.
  static constexpr int64_t sampledAccesses = 16;

  explicit Search(const std::vector<SharedAccess> &list) : accesses(list) {
    for (const SharedAccess &a : list)
      footprints.emplace_back(a, sampledAccesses);
  }

  void consider(const Result<SharedLayout> &candidate) {
    if (!candidate) {
      if (error.empty())
        error = candidate.error();
      return;
    }
    ConflictCount sum;
    for (const Footprint &f : footprints)
      sum += count(*candidate, f);
    if (!found || std::pair(sum.wavefronts, candidate->sizeInBytes()) <
                      std::pair(bestSum.wavefronts, best.sizeInBytes())) {
      found = true;
      best = *candidate;
      bestSum = sum;
    }
  }
  bool done() const { return found && bestSum.conflictFree(); }

  Result<SharedChoice> finish() const {
    if (!found)
      return Error{error};
    SharedChoice choice{best, {}};
    for (const SharedAccess &a : accesses)
      choice.conflicts += countConflicts(best, a, maxCountedAccesses);
    return choice;
  }

private:
  const std::vector<SharedAccess> &accesses;
  std::vector<Footprint> footprints;
  bool found = false;
  SharedLayout best;
  ConflictCount bestSum;
  std::string error;
};
} // namespace

Result<SharedChoice>
tilewright::layout::chooseShared(const SharedLayout::Shape &shape,
                                 int elementBits, const std::vector<int> &order,
                                 const std::vector<SharedAccess> &accesses,
                                 Avoidance avoidance, int64_t grainBytes) {
  if (elementBits < 1 || elementBits > 128)
    return Error{"elements of " + std::to_string(elementBits) +
                 " bits, expected 1 to 128"};
  if (!isPowerOfTwo(grainBytes) || grainBytes > 128)
    return Error{"a grain of " + std::to_string(grainBytes) +
                 " bytes, expected a power of two up to 128"};
  for (const SharedAccess &a : accesses) {
    if (a.layout.shape() != shape)
      return Error{"an access has another shape than the array"};
    if (a.vectorElems < 1)
      return Error{"an access of " + std::to_string(a.vectorElems) +
                   " elements, expected at least 1"};
    if (a.vectorElems == 1)
      continue;
    if (order.empty() || a.dim != order[0])
      return Error{"an access with vectors does not run along the fastest "
                   "dimension"};
    int64_t bits = saturatingMul(a.vectorElems, elementBits);
    if (!isPowerOfTwo(bits) || bits > 128)
      return Error{"an access of " + std::to_string(bits) +
                   " bits, expected a power of two up to 128"};
    grainBytes = std::max(grainBytes, bits / 8);
  }

  // The row's padding grows in steps that keep rows aligned to the grain.
  int64_t step = std::lcm(grainBytes * 8, int64_t(elementBits)) / elementBits;
  bool hasRows = shape.size() > 1;
  int64_t row =
      order.empty() || size_t(order[0]) >= shape.size() || order[0] < 0
          ? 1
          : shape[order[0]];
  int64_t align = hasRows && row > 0 ? (step - row % step) % step : 0;

  Search search(accesses);
  auto dense = [&](int64_t padding, Swizzle swizzle) {
    search.consider(SharedLayout::dense(shape, elementBits, order,
                                        align + padding, swizzle));
  };
  dense(0, {});
  if (search.done())
    return search.finish();
  if (avoidance != Avoidance::Padding && isPowerOfTwo(elementBits)) {
    // Bank bits are [2, 7): permute those above the grain by higher bits.
    int base = std::max(
        2, log2Exact(std::max<int64_t>(grainBytes, ceilDiv(elementBits, 8))));
    for (int bits = 1; base + bits <= 7; ++bits)
      for (int shift = bits; base + shift <= 16; ++shift)
        if (!search.done())
          dense(0, {bits, base, shift});
  }
  if (avoidance != Avoidance::Swizzle && hasRows)
    for (int64_t steps : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32})
      if (!search.done())
        dense(steps * step, {});
  return search.finish();
}
