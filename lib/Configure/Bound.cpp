// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closed form over counts (Bound.h).

#include "Bound.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

using namespace tilewright;

static constexpr llvm::StringLiteral kNames[kNumResources] = {
    "issue", "fma", "alu", "special functions", "fp64", "tensor", "shared/L1", "L2 port"};

/// A resource that is busy for so much of the time decides.
static constexpr double kDecides = 0.9;

/// Shares that are worth a word.
static constexpr double kShown = 0.1;

/// What is not the longest overlaps with it, though never wholly: of two bounds that are
/// equal the one with less beside it is faster.
static constexpr double kBeside = 0.03;

/// Waiting, and work that others do meanwhile, cover each other but for so much: blocks
/// do not take turns as if by appointment.
static constexpr double kUncovered = 0.1;

int64_t tilewright::registersEach(int64_t threads, const ChipFacts &chip) {
  auto step = int64_t(chip.registerStep);
  return int64_t(chip.registers) / threads / step * step;
}

double tilewright::residentBlocks(const BlockWork &work, const ChipFacts &chip) {
  double registers = std::ceil(work.registers / chip.registerStep) * chip.registerStep;
  double resident = std::min({chip.blocks, std::floor(chip.threads / work.threads),
                              std::floor(chip.registers / (registers * work.threads))});
  if (work.sharedBytes > 0)
    resident = std::min(resident, std::floor(chip.sharedBytes /
                                             (work.sharedBytes + chip.reservedShared)));
  return std::max(1.0, resident);
}

/// Multiprocessors that clusters of so many blocks fill.
static double usableBy(double cluster, const ChipFacts &chip) {
  auto known = chip.clusterBlocks.find(std::to_string(int64_t(cluster)));
  return known == chip.clusterBlocks.end() ? chip.multiprocessors
                                           : known->second;
}

/// Share of the time that memory is asked, where each of so many blocks by turns asks it, for
/// `asking` cycles if it has its share of the memory for itself, and is busy or waits for other
/// things for `otherwise`: the machine-repair model, one server and customers that come back.
static double askedShare(double blocks, double asking, double otherwise) {
  double idle = 1, term = 1;
  for (double others = blocks; others >= 1; --others) {
    term *= others * asking / std::max(1.0, otherwise);
    idle += term;
  }
  return 1 - 1 / idle;
}

/// Cycles that device memory takes.
static double memoryCycles(const BlockWork &work, double atWork,
                           const ChipFacts &chip) {
  double rate = chip.memoryBytes;
  if (work.ahead > 0) {
    rate *= std::min(1.0, atWork / (chip.ringMemoryShare * chip.multiprocessors));
    double underWay = atWork * work.ahead / (chip.memoryLoaded * chip.cyclesMemory);
    rate = std::min(rate, underWay) /
           (1 + chip.ringMargin * std::min(1.0, rate / underWay));
  }
  return work.memoryBytes / rate + chip.cyclesMemory;
}

Bound tilewright::boundOf(const BlockWork &work, const ChipFacts &chip) {
  Bound bound;
  bound.resident = residentBlocks(work, chip);
  // Of rows that clusters share nothing like it was measured.
  bool inRing = work.ahead > 0;
  double machine = usableBy(inRing ? work.cluster : 1, chip);
  const auto *busiest = std::max_element(work.demand.begin(), work.demand.end());
  double demand = *busiest, beside = 0;
  for (double other : work.demand)
    beside += other;
  beside = kBeside * (beside - demand);

  double most =
      work.shared ? work.blocks / work.shared * std::ceil(work.shared / machine)
                  : std::ceil(work.blocks / machine);
  bound.waves = most / bound.resident;
  auto wave = [&](double blocks, double latency) {
    double busy = blocks * demand;
    return std::max(busy, latency) + kUncovered * std::min(busy, latency) + blocks * beside;
  };
  double whole = std::floor(bound.waves), rest = most - whole * bound.resident;
  double latency = work.around + work.latency, cycles;
  // The next tile's loads do not wait for the last one's results.
  if (work.persistent) {
    double waves = work.shared ? bound.waves : std::ceil(bound.waves);
    cycles = std::max(most * demand, work.around + waves * work.latency) + most * beside;
  } else {
    cycles = whole * wave(bound.resident, latency) + (rest > 0 ? wave(rest, latency) : 0);
  }

  double memory =
      memoryCycles(work, std::min(work.blocks, machine * bound.resident), chip);
  double l2 = work.l2Bytes * work.blocks / chip.l2BytesPerClock + chip.cyclesL2;
  if (double given = memory - chip.cyclesMemory; work.takesTurns && given > 0) {
    double asking = given / std::max(1.0, work.blocks / machine);
    memory = std::max(given / askedShare(std::min(most, bound.resident), asking,
                                         latency - work.copying),
                      given + latency);
  }
  // Nobody asks for anything while all blocks fill their rings' first stages,
  // or store; nor does the only one of a multiprocessor that is not persistent,
  // each time.
  if (inRing) {
    double turns =
        work.persistent || bound.resident > 1 ? 1 : std::max(1.0, bound.waves);
    memory += turns * work.around;
    l2 += turns * work.around;
  }
  bound.cycles = std::max({cycles, memory, l2});
  for (auto [name, demand] : llvm::zip_equal(kNames, work.demand))
    bound.shares.emplace_back(name, most * demand / bound.cycles);
  bound.shares.emplace_back("memory", memory / bound.cycles);
  bound.shares.emplace_back("L2", l2 / bound.cycles);
  llvm::sort(bound.shares, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  llvm::erase_if(bound.shares, [](const auto &share) { return share.second < kShown; });
  bound.resource = !bound.shares.empty() && bound.shares.front().second >= kDecides
                       ? bound.shares.front().first
                       : "latency";
  bound.cycles += kBeside * (cycles + memory + l2 - bound.cycles);
  if (inRing)
    bound.cycles += chip.cyclesCluster * std::log2(work.cluster) *
                    (work.sharing > 1 ? chip.clusterInStep : 1);
  return bound;
}

/// `chip` with so many multiprocessors: blocks at work in clusters are as large a share of them.
static ChipFacts withMultiprocessors(ChipFacts chip, int64_t count) {
  for (auto &entry : chip.clusterBlocks) {
    int64_t cluster = 1;
    entry.first().getAsInteger(10, cluster);
    double clusters = entry.second * double(count) / chip.multiprocessors / double(cluster);
    entry.second = std::max(1.0, std::floor(clusters)) * double(cluster);
  }
  chip.multiprocessors = double(count);
  chip.name += " with " + std::to_string(count) + " multiprocessors";
  return chip;
}

const ChipFacts &tilewright::chipOf(TargetAttr target) {
  int64_t sm = target ? target.getFact("sm", 0) : 0;
  const ChipFacts &chip = sm ? chipOfArchitecture(int(sm)) : assumedChip();
  int64_t count = target ? target.getFact("multiprocessors", 0) : 0;
  if (!count)
    return chip;
  static std::mutex mutex;
  static std::map<std::pair<int64_t, int64_t>, ChipFacts> others;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = others.find({sm, count});
  if (found == others.end())
    found = others.emplace(std::pair(sm, count), withMultiprocessors(chip, count)).first;
  return found->second;
}
