// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of NVIDIA's chips: the table that predictions read as well
// (python/src/tilewright_sweep/predict/chips.json), where each number stands beside
// its source. It is embedded when the compiler is built.

#ifndef TILEWRIGHT_SUPPORT_CHIPFACTS_H
#define TILEWRIGHT_SUPPORT_CHIPFACTS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilewright {

/// Registers of a thread that an instruction can name.
inline constexpr int64_t kNamedRegisters = 255;

/// All cycles are of a multiprocessor's clock, all rates per multiprocessor and cycle
/// unless said otherwise.
struct ChipFacts {
  /// "a100" and "NVIDIA A100 SXM4 40 GB".
  std::string key, name;
  /// 80: sm_80.
  int architecture = 0;
  double multiprocessors = 0, clockMhz = 0;
  /// Device memory, of the whole chip, in bytes per cycle; L2 likewise, and its size.
  double memoryBytes = 0, l2BytesPerClock = 0, l2Bytes = 0;
  /// Until what was asked of a memory is there.
  double cyclesShared = 0, cyclesL2 = 0, cyclesMemory = 0;
  /// Until the result of an addition, of an mma.sync, of a barrier can be used.
  double cyclesArithmetic = 0, cyclesMatrix = 0, cyclesBarrier = 0, cyclesOther = 0;
  /// Operations of the lanes: "fp32", "alu", "xu", "fp16", "fp64".
  llvm::StringMap<double> lanes;
  /// Multiply-adds of the tensor cores: "f16_f32", "f16_f16", "tf32", "s8", "f8", "f64".
  llvm::StringMap<double> tensor;
  /// The share of them that mma.sync reaches where wgmma reaches all.
  double mmaSyncShare = 1;
  /// Cycles of the load/store units per request, bytes of the banks, lines looked up.
  double lsuCycles = 1, bankBytes = 128, linesPerClock = 4;
  /// What one multiprocessor can read of L2.
  double l2PortBytes = 64;
  /// Lanes of a warp, and warps of which an instruction is issued in a cycle.
  double warp = 32, schedulers = 4;
  /// Bytes of shared memory that the system takes of each block; registers of a thread are
  /// a multiple of the step.
  double reservedShared = 1024, registerStep = 8;
  /// Blocks that fill a multiprocessor, and the share of multiprocessors that ask for all
  /// that memory gives.
  double blocksEach = 2, memoryShare = 0.75;
  /// What a launch in clusters takes more; blocks that are at work at the same time, one on a
  /// multiprocessor, in clusters of "2", "4", "8": those of a cluster are close to each other.
  double cyclesCluster = 0;
  llvm::StringMap<double> clusterBlocks;
  /// In clusters whose blocks wait for each other, so many times as much; and how many times as
  /// long as L2 other blocks' shared memory takes.
  double clusterInStep = 1, clusterShared = 1;
  /// Microseconds that a kernel takes, however little it does, and operations in the time of a
  /// byte of memory.
  double kernelMicroseconds = 0, operationsPerByte = 1;
  /// What memory takes to answer under load, in terms of `cyclesMemory`; the share of
  /// multiprocessors that asks for all it gives by rings, and what those take longer that have
  /// just enough under way.
  double memoryLoaded = 1, ringMemoryShare = 1, ringMargin = 0;
  /// How often L2 is asked for what several blocks read, by their number, and what it takes
  /// longer for each doubling of blocks that read the same weights.
  double l2SharingExponent = 0, sharedWeights = 0;
  /// For each 128 bytes of a copied box outside of the tensor.
  double cyclesOutside = 0;
  /// From an instruction of a warp to its next, if no other warp covers it.
  double cyclesBetween = 1;
  /// Factors of what memory takes where threads load, beside copy engines: "skinny", "threads".
  llvm::StringMap<double> copyEngines;
  /// Of products by warpgroups: "short_ring", "alone", "short_rows" are factors, "between" and
  /// "cycles_of_column" cycles.
  llvm::StringMap<double> warpgroupMma;
  /// What a multiprocessor holds: threads, blocks, registers, bytes of shared memory.
  double threads = 0, blocks = 0, registers = 0, sharedBytes = 0;
};

/// The chip of architecture `sm` (80: sm_80): the first of the table, by name; of an
/// architecture that is not in it the one before, of older ones the oldest.
const ChipFacts &chipOfArchitecture(int sm);

/// What stands for GPUs of which nothing is known when compiling.
const ChipFacts &assumedChip();

} // namespace tilewright

#endif
