// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a launch takes at least, in closed form, from what one of its blocks does
// (CountWork.cpp) and the facts of a chip. It is the form of `tilewright-sweep predict`
// (docs/predicting.md), over counts of the plan instead of compiled code:
//
//   demand[r]   cycles that one block keeps resource r of a multiprocessor busy
//   latency     cycles that one block needs alone
//   wave(b)     b blocks side by side: max(b · demand[r] over r, latency)
//
// A multiprocessor that gets n blocks, B at a time, takes n / B waves of B and one of the
// rest; the chip as long as the one that gets the most, or as L2 or its memory take for
// the bytes of all.

#ifndef TILEWRIGHT_LIB_CONFIGURE_BOUND_H
#define TILEWRIGHT_LIB_CONFIGURE_BOUND_H

#include "tilewright/Configure/TilePlan.h"
#include "tilewright/Support/ChipFacts.h"

#include <array>

namespace tilewright {

enum class Resource { Issue, Fma, Alu, Special, Fp64, Tensor, Shared, Port };
constexpr unsigned kNumResources = 8;

/// What one block of a launch does.
struct BlockWork {
  /// Tiles of the grid.
  double blocks = 1;
  /// A block computes tile after tile, and the next one's loads are under way before the
  /// last one is done.
  bool persistent = false;
  /// So many persistent blocks share the steps of all tiles evenly, whatever the number of
  /// tiles; 0: each tile, or part of one, is some block's.
  double shared = 0;
  /// A block asks for what it reads, computes and writes, one after the other: what it waits for
  /// and computes is covered by other blocks alone.
  bool takesTurns = false;
  /// Of its latency, cycles in which copies that go ahead of its steps are under way.
  double copying = 0;
  /// Of one block; registers of one thread, bytes.
  double threads = 32, registers = 32, sharedBytes = 0;
  /// Cycles of its multiprocessor, by resource. `Port`: what goes through to L2.
  std::array<double, kNumResources> demand = {};
  double &operator[](Resource resource) { return demand[unsigned(resource)]; }
  /// Blocks of a cluster, and those of them that wait for each other with each stage of a ring.
  double cluster = 1, sharing = 1;
  /// Bytes of device memory that a block has asked for at a time, where copies go ahead of its
  /// steps in a ring; 0: as many as memory likes.
  double ahead = 0;
  /// Bytes that a block asks of L2, and that the launch asks of device memory.
  double l2Bytes = 0, memoryBytes = 0;
  /// Cycles that a block needs alone: before and after its steps, and in them.
  double around = 0, latency = 0;
};

struct Bound {
  double cycles = 0;
  /// What decides: "tensor", "memory", "latency", …
  llvm::StringRef resource;
  /// Blocks that a multiprocessor holds, and how often it is filled with them.
  double resident = 1, waves = 1;
  /// Busy resources, and the latency of one block, by what they take of the time, most
  /// first; less than a tenth is left out.
  llvm::SmallVector<std::pair<llvm::StringRef, double>> shares;
};

/// Registers that each thread of a block of so many can have, if the block is alone.
int64_t registersEach(int64_t threads, const ChipFacts &chip);

/// Blocks that a multiprocessor holds, at least 1.
double residentBlocks(const BlockWork &work, const ChipFacts &chip);

Bound boundOf(const BlockWork &work, const ChipFacts &chip);

/// The bound in words, marked as predicted.
std::string describe(const Bound &bound, const ChipFacts &chip, TargetAttr target);

/// The chip of the target, or the one that is assumed where nothing is known.
const ChipFacts &chipOf(TargetAttr target);

/// Counts what a block of the planned kernel does on a GPU.
BlockWork countWork(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target, const ChipFacts &chip);

} // namespace tilewright

#endif
