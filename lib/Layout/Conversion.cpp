// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion plans by common refinement of the two layouts' digits.

#include "tilewright/Layout/Conversion.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

//===----------------------------------------------------------------------===//
// Common refinement
//===----------------------------------------------------------------------===//

namespace {
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

static std::optional<std::vector<Digit>> refine(const DistributedLayout &from,
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

//===----------------------------------------------------------------------===//
// From digits to a plan
//===----------------------------------------------------------------------===//

/// Whether each thread finds all it needs in its own warp.
static bool staysInWarp(const DistributedLayout &from,
                        const DistributedLayout &to,
                        const std::vector<Digit> &digits) {
  return from.firstWarp() == to.firstWarp() &&
         from.numWarps() == to.numWarps() && from.numLanes() == to.numLanes() &&
         std::all_of(digits.begin(), digits.end(), [](const Digit &d) {
           return d.from.level != Level::Warp || d.from == d.to;
         });
}

/// Joins terms that count on as one.
static std::vector<ThreadTerm> mergeTerms(std::vector<ThreadTerm> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const ThreadTerm &a, const ThreadTerm &b) {
              return std::pair(a.level, a.div) < std::pair(b.level, b.div);
            });
  std::vector<ThreadTerm> merged;
  for (const ThreadTerm &t : terms) {
    if (!merged.empty()) {
      ThreadTerm &last = merged.back();
      if (last.level == t.level && last.div * last.mod == t.div &&
          last.multiplier * last.mod == t.multiplier) {
        last.mod *= t.mod;
        continue;
      }
    }
    merged.push_back(t);
  }
  return merged;
}

/// Fills in where each destination register comes from; needs staysInWarp.
static void locateSources(const DistributedLayout &from,
                          const DistributedLayout &to,
                          const std::vector<Digit> &digits,
                          ConversionPlan &plan) {
  plan.registerBase.assign(to.numRegisters(), 0);
  plan.laneBase.assign(to.numRegisters(), 0);
  // Among replicas in lanes, read the own one.
  for (const DigitTerm &t : from.replicaDigits(Level::Lane))
    plan.laneTerms.push_back({Level::Lane, t.div, t.mod, t.div});

  std::vector<ThreadTerm> registerTerms;
  for (const Digit &d : digits) {
    if (d.from.level == Level::Warp)
      continue;
    bool toLane = d.from.level == Level::Lane;
    if (d.to.level == Level::Register) {
      std::vector<int64_t> &base = toLane ? plan.laneBase : plan.registerBase;
      for (int64_t r = 0; r < int64_t(base.size()); ++r)
        base[r] += r / d.to.weight % d.count * d.from.weight;
      continue;
    }
    (toLane ? plan.laneTerms : registerTerms)
        .push_back({d.to.level, d.to.weight, d.count, d.from.weight});
  }
  plan.laneTerms = mergeTerms(plan.laneTerms);

  // The register choices: one for each combination of the thread's digits.
  for (const ThreadTerm &t : mergeTerms(registerTerms)) {
    int64_t weight = plan.choiceOffsets.size();
    plan.choiceTerms.push_back({t.level, t.div, t.mod, weight});
    for (int64_t value = 1; value < t.mod; ++value)
      for (int64_t i = 0; i < weight; ++i)
        plan.choiceOffsets.push_back(plan.choiceOffsets[i] +
                                     value * t.multiplier);
  }
}

static bool readsOwnLane(const ConversionPlan &plan) {
  auto isZero = [](int64_t x) { return x == 0; };
  return std::all_of(plan.laneBase.begin(), plan.laneBase.end(), isZero) &&
         std::all_of(plan.laneTerms.begin(), plan.laneTerms.end(),
                     [](const ThreadTerm &t) {
                       return t.level == Level::Lane && t.div == t.multiplier;
                     });
}

static ConversionKind classify(const ConversionPlan &plan) {
  if (!readsOwnLane(plan))
    return ConversionKind::LaneShuffle;
  return plan.choiceTerms.empty() ? ConversionKind::RegisterPermute
                                  : ConversionKind::RegisterSelect;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Chooses the transfer with rows along `dim` and runs of at most `maxBits`.
static Result<SharedTransfer> planShared(const DistributedLayout &from,
                                         const DistributedLayout &to, int dim,
                                         int elementBits, int maxBits,
                                         const ConversionOptions &options) {
  std::vector<int> order;
  if (from.rank() > 0)
    order.push_back(dim);
  for (int d = from.rank() - 1; d >= 0; --d)
    if (d != dim)
      order.push_back(d);

  SharedTransfer transfer;
  transfer.dim = dim;
  std::vector<SharedAccess> accesses;
  auto addAccess = [&](const DistributedLayout &layout) -> int64_t {
    if (layout.isOpaque())
      return 0;
    accesses.push_back(widestAccess(layout, dim, elementBits, maxBits));
    return accesses.back().vectorElems;
  };
  transfer.writeElems = addAccess(from);
  transfer.readElems = addAccess(to);
  // Instructions on opaque layouts take one row stride, so no swizzle.
  bool opaque = from.isOpaque() || to.isOpaque();
  Result<SharedChoice> choice = chooseShared(
      from.shape(), elementBits, order, accesses,
      opaque ? Avoidance::Padding : options.avoidance, opaque ? 16 : 1);
  if (!choice)
    return Error{choice.error()};
  transfer.layout = choice->layout;
  transfer.scratchBytes = choice->layout.sizeInBytes();
  if (!from.isOpaque())
    transfer.writeConflicts =
        countConflicts(transfer.layout, accesses.front(), maxCountedAccesses);
  if (!to.isOpaque())
    transfer.readConflicts =
        countConflicts(transfer.layout, accesses.back(), maxCountedAccesses);
  return transfer;
}

/// Tries every dimension as the fastest, and wide runs against narrow ones:
/// wide runs take fewer instructions, but leave fewer ways to spread over the
/// banks. A wavefront counts as much as issuing two instructions.
static Result<SharedTransfer> bestShared(const DistributedLayout &from,
                                         const DistributedLayout &to,
                                         int elementBits,
                                         const ConversionOptions &options) {
  auto cost = [](const SharedTransfer &t) {
    return std::pair(
        2 * (t.writeConflicts.wavefronts + t.readConflicts.wavefronts) +
            t.writeConflicts.accesses + t.readConflicts.accesses,
        t.scratchBytes);
  };
  int last = std::max(from.rank() - 1, 0);
  Result<SharedTransfer> best =
      planShared(from, to, last, elementBits, 128, options);
  if (!best)
    return best;
  bool opaque = from.isOpaque() || to.isOpaque();
  int64_t widest = 0;
  for (int d = last; d >= (opaque ? last : 0); --d)
    for (int maxBits : {128, 64, 32}) {
      if (maxBits < 128 && maxBits >= widest)
        continue;
      auto other = planShared(from, to, d, elementBits, maxBits, options);
      if (!other)
        continue;
      widest = std::max(other->writeElems, other->readElems) * elementBits;
      if (cost(*other) < cost(*best))
        best = other;
    }
  return best;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

static std::string shapeText(const DistributedLayout &l) {
  std::string text;
  for (int64_t e : l.shape())
    text += (text.empty() ? "" : "x") + std::to_string(e);
  return "[" + text + "]";
}

Result<ConversionPlan>
tilewright::layout::planConversion(const DistributedLayout &from,
                                   const DistributedLayout &to, int elementBits,
                                   const ConversionOptions &options) {
  if (from.shape() != to.shape())
    return Error{"conversion from shape " + shapeText(from) + " to " +
                 shapeText(to)};
  if (elementBits < 1 || elementBits > 128)
    return Error{"conversion of elements of " + std::to_string(elementBits) +
                 " bits, expected 1 to 128"};

  ConversionPlan plan;
  bool acrossWarps = true;
  if (from == to) {
    plan.registerBase.resize(to.numRegisters());
    std::iota(plan.registerBase.begin(), plan.registerBase.end(), 0);
    plan.laneBase.assign(to.numRegisters(), 0);
    plan.laneTerms = {{Level::Lane, 1, to.numLanes(), 1}};
    return plan;
  }
  if (auto digits = refine(from, to)) {
    acrossWarps = !staysInWarp(from, to, *digits);
    if (!acrossWarps) {
      ConversionPlan candidate;
      locateSources(from, to, *digits, candidate);
      candidate.kind = classify(candidate);
      if (candidate.staysInThread() ||
          int64_t(candidate.choiceOffsets.size()) <=
              options.maxShufflesPerRegister)
        return candidate;
    }
  }

  auto shared = bestShared(from, to, elementBits, options);
  if (!shared)
    return Error{shared.error()};
  plan.kind = ConversionKind::SharedMemory;
  plan.shared = *shared;
  plan.shared.acrossWarps = acrossWarps;
  return plan;
}

//===----------------------------------------------------------------------===//
// The plan itself
//===----------------------------------------------------------------------===//

const char *tilewright::layout::conversionKindName(ConversionKind kind) {
  switch (kind) {
  case ConversionKind::Identity:
    return "identity";
  case ConversionKind::RegisterPermute:
    return "register-permute";
  case ConversionKind::RegisterSelect:
    return "register-select";
  case ConversionKind::LaneShuffle:
    return "lane-shuffle";
  case ConversionKind::SharedMemory:
    return "shared-memory";
  }
  return "";
}

int64_t ConversionPlan::choice(int64_t lane, int64_t warp) const {
  int64_t index = 0;
  for (const ThreadTerm &t : choiceTerms)
    index += t(lane, warp);
  return index;
}

int64_t ConversionPlan::sourceRegister(int64_t reg, int64_t lane,
                                       int64_t warp) const {
  return registerBase[reg] + choiceOffsets[choice(lane, warp)];
}

int64_t ConversionPlan::sourceLane(int64_t reg, int64_t lane,
                                   int64_t warp) const {
  int64_t source = laneBase[reg];
  for (const ThreadTerm &t : laneTerms)
    source += t(lane, warp);
  return source;
}

int64_t ConversionPlan::numShuffles() const {
  if (kind != ConversionKind::LaneShuffle)
    return 0;
  return int64_t(registerBase.size()) * int64_t(choiceOffsets.size());
}

std::string ConversionPlan::print() const {
  std::string text = conversionKindName(kind);
  if (kind == ConversionKind::LaneShuffle)
    text += ": " + std::to_string(numShuffles()) + " shuffles";
  if (kind == ConversionKind::RegisterSelect)
    text += ": " + std::to_string(choiceOffsets.size()) + " choices";
  if (kind == ConversionKind::SharedMemory)
    text += ": " + std::to_string(shared.scratchBytes) + " bytes, " +
            shared.layout.print() + ", write " +
            std::to_string(shared.writeElems) + " and read " +
            std::to_string(shared.readElems) + " elements along " +
            std::to_string(shared.dim) + ", wavefronts " +
            std::to_string(shared.writeConflicts.wavefronts) + "/" +
            std::to_string(shared.writeConflicts.minimum) + " and " +
            std::to_string(shared.readConflicts.wavefronts) + "/" +
            std::to_string(shared.readConflicts.minimum) +
            (shared.acrossWarps ? "" : ", within warps");
  return text;
}
