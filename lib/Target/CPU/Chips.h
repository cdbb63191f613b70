// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors: levels of the x86-64 psABI, AArch64, and features by LLVM's names.

#ifndef TILEWRIGHT_TARGET_CPU_CHIPS_H
#define TILEWRIGHT_TARGET_CPU_CHIPS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilewright::cpu {

struct Chip {
  std::string level; // "x86-64-v3", "aarch64"
  /// What it has beyond its level, sorted.
  llvm::SmallVector<std::string> features;
  /// Bits that SVE vectors have at least; 0: no SVE.
  int64_t sveBits = 0;

  bool isArm() const { return level == "aarch64"; }
  bool hasAvx512() const;
  /// LLVM's triple of code for it, and of the host program beside it.
  llvm::StringRef getTriple() const;
  /// LLVM's name of the processor that code is generated for.
  llvm::StringRef getProcessor() const;
  /// Of the vectors that kernels compute with, and how many registers there are.
  int64_t getVectorBytes() const;
  int64_t getVectorRegisters() const;
};

/// The levels that code is generated for.
bool isLevel(llvm::StringRef name);

/// An AArch64 processor by name: "neoverse-v1" is aarch64 with its features.
std::optional<Chip> getArmProcessor(llvm::StringRef name);

/// True if LLVM's back end for the chip's level knows this feature.
bool isFeature(const Chip &chip, llvm::StringRef name);

/// Lengths of SVE vectors that code is generated for, in bits.
bool isSveLength(int64_t bits);

/// This machine, or nothing where it has no level that code is generated for.
std::optional<Chip> getNativeChip();

} // namespace tilewright::cpu

#endif
