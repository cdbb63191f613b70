// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion plans by common refinement of the two layouts' digits.

#include "tilewright/Layout/Conversion.h"

#include "Checked.h"
#include "Refinement.h"
#include "tilewright/Layout/Conversion.h"

#include <algorithm>

using namespace tilewright::layout;

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

namespace {
/// A digit that moves from registers to lanes.
struct Outgoing {
  int64_t laneWeight, count, registerWeight;
};
/// A digit that moves from lanes to registers.
struct Incoming {
  int64_t registerWeight, count, laneWeight;
};
} // namespace

/// The largest divisor of n that is at most `limit`.
static int64_t largestDivisor(int64_t n, int64_t limit) {
  for (int64_t d = std::min(n, limit); d > 1; --d)
    if (n % d == 0)
      return d;
  return 1;
}

/// Pairs (parts of) digits that cross; what stays in `out` has no partner.
static std::vector<Exchange> pairDigits(std::vector<Outgoing> &out,
                                        std::vector<Incoming> in,
                                        int64_t maxRounds) {
  std::vector<Exchange> exchanges;
  for (Outgoing &x : out)
    for (Incoming &y : in) {
      int64_t p = largestDivisor(std::gcd(x.count, y.count), maxRounds);
      if (p == 1)
        continue;
      exchanges.push_back(
          {p, x.laneWeight, y.registerWeight, y.laneWeight, x.registerWeight});
      maxRounds /= p;
      x = {x.laneWeight * p, x.count / p, x.registerWeight * p};
      y = {y.registerWeight * p, y.count / p, y.laneWeight * p};
    }
  return exchanges;
}

/// Adds a digit of the thread's index that chooses among registers.
static void addChoice(RegisterChoice &choice, Level level, int64_t div,
                      int64_t count, int64_t registerWeight) {
  if (count == 1)
    return;
  int64_t size = choice.size();
  choice.terms.push_back({level, div, count, size});
  for (int64_t value = 1; value < count; ++value)
    for (int64_t i = 0; i < size; ++i)
      choice.offsets.push_back(choice.offsets[i] + value * registerWeight);
}

/// Whether the source lane always has the destination lane's digit at `weight`.
static bool keepsLaneDigit(const std::vector<Digit> &digits,
                           const std::vector<DigitTerm> &sourceReplicas,
                           int64_t weight, int64_t count) {
  // The source's digits in [weight, weight * count) must all be the lane's own.
  int64_t kept = 1;
  auto overlap = [&](int64_t w, int64_t c) {
    int64_t low = std::max(w, weight), high = std::min(w * c, weight * count);
    return high > low && high % low == 0 ? high / low : 1;
  };
  for (const DigitTerm &t : sourceReplicas)
    kept *= overlap(t.div, t.mod);
  for (const Digit &d : digits)
    if (d.from.level == Level::Lane && d.from == d.to)
      kept *= overlap(d.from.weight, d.count);
  return kept == count;
}

/// Fills in where each destination register comes from; needs staysInWarp.
static void locateSources(const DistributedLayout &from,
                          const DistributedLayout &to,
                          const std::vector<Digit> &digits, int64_t maxRounds,
                          ConversionPlan &plan) {
  plan.registerBase.assign(to.numRegisters(), 0);
  plan.laneBase.assign(to.numRegisters(), 0);
  // Among replicas in lanes, read the own one.
  std::vector<DigitTerm> replicas = from.replicaDigits(Level::Lane);
  for (const DigitTerm &t : replicas)
    plan.laneTerms.push_back({Level::Lane, t.div, t.mod, t.div});

  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (const Digit &d : digits) {
    if (d.from.level == Level::Warp)
      continue;
    bool fromLane = d.from.level == Level::Lane;
    if (d.to.level == Level::Register) {
      std::vector<int64_t> &base = fromLane ? plan.laneBase : plan.registerBase;
      for (int64_t r = 0; r < int64_t(base.size()); ++r)
        base[r] += r / d.to.weight % d.count * d.from.weight;
      if (fromLane)
        incoming.push_back({d.to.weight, d.count, d.from.weight});
    } else if (fromLane) {
      plan.laneTerms.push_back(
          {d.to.level, d.to.weight, d.count, d.from.weight});
    } else if (d.to.level == Level::Warp ||
               keepsLaneDigit(digits, replicas, d.to.weight, d.count)) {
      addChoice(plan.local, d.to.level, d.to.weight, d.count, d.from.weight);
    } else {
      outgoing.push_back({d.to.weight, d.count, d.from.weight});
    }
  }
  plan.laneTerms = mergeTerms(plan.laneTerms);
  plan.exchanges = pairDigits(outgoing, incoming, maxRounds);
  for (const Outgoing &x : outgoing)
    addChoice(plan.remote, Level::Lane, x.laneWeight, x.count,
              x.registerWeight);
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
  return plan.local.size() == 1 ? ConversionKind::RegisterPermute
                                : ConversionKind::RegisterSelect;
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
      locateSources(from, to, *digits, options.maxRounds, candidate);
      candidate.kind = classify(candidate);
      if (candidate.staysInThread() ||
          candidate.remote.size() <= options.maxShufflesPerRegister)
        return candidate;
    }
  }

  auto shared = planSharedTransfer(from, to, elementBits, options);
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

static const char *nameOf(ConversionKind kind) {
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

int64_t ConversionPlan::sourceRegister(int64_t reg, int64_t lane,
                                       int64_t warp) const {
  int64_t source = registerBase[reg] + local.offsets[local.index(lane, warp)] +
                   remote.offsets[remote.index(lane, warp)];
  for (const Exchange &e : exchanges)
    source += lane / e.receiverLaneWeight % e.count * e.senderRegisterWeight;
  return source;
}

int64_t ConversionPlan::sourceLane(int64_t reg, int64_t lane,
                                   int64_t warp) const {
  int64_t source = laneBase[reg];
  for (const ThreadTerm &t : laneTerms)
    source += t(lane, warp);
  return source;
}

int64_t ConversionPlan::numRounds() const {
  int64_t rounds = 1;
  for (const Exchange &e : exchanges)
    rounds *= e.count;
  return rounds;
}

int64_t ConversionPlan::numShuffles() const {
  if (kind != ConversionKind::LaneShuffle)
    return 0;
  return int64_t(registerBase.size()) * remote.size();
}

std::string ConversionPlan::print() const {
  std::string text = nameOf(kind);
  if (kind == ConversionKind::LaneShuffle)
    text += ": " + std::to_string(numShuffles()) + " shuffles in " +
            std::to_string(numRounds()) + " rounds";
  if (kind == ConversionKind::RegisterSelect)
    text += ": " + std::to_string(local.size()) + " choices";
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
