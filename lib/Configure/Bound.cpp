// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closed form over counts (Bound.h).

#include "Bound.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

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

Bound tilewright::boundOf(const BlockWork &work, const ChipFacts &chip) {
  Bound bound;
  bound.resident = residentBlocks(work, chip);
  const auto *busiest = std::max_element(work.demand.begin(), work.demand.end());
  double demand = *busiest, beside = 0;
  for (double other : work.demand)
    beside += other;
  beside = kBeside * (beside - demand);

  double most = work.shared ? work.blocks / work.shared *
                                  std::ceil(work.shared / chip.multiprocessors)
                            : std::ceil(work.blocks / chip.multiprocessors);
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

  double memory = work.memoryBytes / chip.memoryBytes + chip.cyclesMemory;
  double l2 = work.l2Bytes * work.blocks / chip.l2BytesPerClock + chip.cyclesL2;
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
  return bound;
}

const ChipFacts &tilewright::chipOf(TargetAttr target) {
  int64_t sm = target ? target.getFact("sm", 0) : 0;
  return sm ? chipOfArchitecture(int(sm)) : assumedChip();
}
