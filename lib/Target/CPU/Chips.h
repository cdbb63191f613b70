// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors: psABI levels, and features by LLVM's names.

#ifndef TILEWRIGHT_TARGET_CPU_CHIPS_H
#define TILEWRIGHT_TARGET_CPU_CHIPS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilewright::cpu {

struct Chip {
  std::string level; // "x86-64-v3"
  /// What it has beyond its level, sorted.
  llvm::SmallVector<std::string> features;

  bool hasAvx512() const;
};

/// The levels that code is generated for.
bool isLevel(llvm::StringRef name);

/// True if LLVM's x86 back end knows this feature.
bool isFeature(llvm::StringRef name);

/// This machine, or nothing where it has no level that code is generated for.
std::optional<Chip> getNativeChip();

} // namespace tilewright::cpu

#endif
