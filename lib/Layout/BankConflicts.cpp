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
  Footprint(const SharedAccess &access, int elementBits, int64_t maxAccesses) {
    const DistributedLayout &l = access.layout;
    lanes = l.numLanes();
    RegisterRuns runs;
    if (l.rank() > 0)
      runs = l.registerRuns(access.dim,
                            std::min<int64_t>(access.vectorElems,
                                              std::max(1, 128 / elementBits)));
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

namespace {
/// The distinct words of a phase, by bank.
class Phase {
public:
  void touch(int64_t word) {
    int64_t *bank = words[word % numBanks];
    int &used = counts[word % numBanks];
    if (std::find(bank, bank + used, word) != bank + used)
      return;
    bank[used++] = word;
    ++distinct;
    busiest = std::max(busiest, used);
  }
  void finish(ConflictCount &count) {
    count.wavefronts += busiest;
    count.minimum += ceilDiv(distinct, numBanks);
    std::fill(std::begin(counts), std::end(counts), 0);
    distinct = busiest = 0;
  }

private:
  /// A phase is 32 lanes of at most 2 words (elements across a word boundary),
  /// or fewer lanes in proportion.
  int64_t words[numBanks][2 * 32];
  int counts[numBanks] = {};
  int distinct = 0, busiest = 0;
};
} // namespace

/// Counts for the affine offsets `starts`, in elements.
static ConflictCount count(const SharedLayout &shared, const Footprint &f,
                           const std::vector<int64_t> &starts) {
  ConflictCount result;
  result.accesses = f.accesses;
  std::optional<Swizzle> swizzle = shared.elementSwizzle();
  int64_t bits = f.vectorElems * shared.elementBits();
  int64_t lanesPerPhase = bits <= 32 ? 32 : bits <= 64 ? 16 : 8;
  Phase phase;
  for (int64_t a = 0; a < f.accesses; ++a)
    for (int64_t lane = 0; lane < f.lanes; ++lane) {
      int64_t start = starts[a * f.lanes + lane];
      int64_t first =
          (swizzle ? (*swizzle)(start) : start) * shared.elementBits();
      for (int64_t w = first / wordBits; w <= (first + bits - 1) / wordBits;
           ++w)
        phase.touch(w);
      if ((lane + 1) % lanesPerPhase == 0 || lane + 1 == f.lanes)
        phase.finish(result);
    }
  return result;
}

static std::vector<int64_t> affineStarts(const SharedLayout &shared,
                                         const Footprint &f) {
  std::vector<int64_t> result;
  result.reserve(f.starts.size());
  for (const std::vector<int64_t> &coords : f.starts)
    result.push_back(shared.affineOffset(coords));
  return result;
}

ConflictCount tilewright::layout::countConflicts(const SharedLayout &shared,
                                                 const SharedAccess &access,
                                                 int64_t maxAccesses) {
  Footprint f(access, shared.elementBits(), maxAccesses);
  return count(shared, f, affineStarts(shared, f));
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

  Search(const std::vector<SharedAccess> &list, int elementBits)
      : accesses(list) {
    for (const SharedAccess &a : list)
      footprints.emplace_back(a, elementBits, sampledAccesses);
  }

  void consider(const Result<SharedLayout> &candidate) {
    if (!candidate) {
      if (error.empty())
        error = candidate.error();
      return;
    }
    // Candidates that differ by their swizzle share the affine step.
    if (starts.empty() || candidate->strides() != strides) {
      strides = candidate->strides();
      starts.clear();
      for (const Footprint &f : footprints)
        starts.push_back(affineStarts(*candidate, f));
    }
    ConflictCount sum;
    for (size_t i = 0; i < footprints.size(); ++i)
      sum += count(*candidate, footprints[i], starts[i]);
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
  SharedLayout::Shape strides;
  std::vector<std::vector<int64_t>> starts;
  bool found = false;
  SharedLayout best;
  ConflictCount bestSum;
  std::string error;
};
} // namespace

/// A fold reads no bits beyond: stages of a ring are aligned to its period.
static constexpr int64_t maxFoldPeriod = 4096;

static int64_t arrayBytes(const SharedLayout::Shape &shape, int elementBits) {
  int64_t bits = elementBits;
  for (int64_t extent : shape)
    bits = saturatingMul(bits, extent);
  return bits / 8;
}

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

  Search search(accesses, elementBits);
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
  if (avoidance == Avoidance::AnyOrFold && isPowerOfTwo(elementBits)) {
    // Two fields of higher bits into all bank bits above the grain.
    int base = std::max(2, log2Exact(grainBytes)), bits = 7 - base;
    int64_t bytes = std::min(arrayBytes(shape, elementBits), maxFoldPeriod);
    for (int shift = bits; bits > 0 && shift < 16; ++shift)
      for (int fold = shift + 1; int64_t(1) << (base + bits + fold) <= bytes; ++fold)
        if (!search.done())
          dense(0, {bits, base, shift, fold});
  }
  return search.finish();
}
