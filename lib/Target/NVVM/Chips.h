// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about each compute capability, from the CUDA C++ Programming
// Guide ("Technical Specifications per Compute Capability") and the PTX ISA
// ("Release Notes": the first version that knows the target and its matrix
// instructions).

#ifndef TILEWRIGHT_TARGET_NVVM_CHIPS_H
#define TILEWRIGHT_TARGET_NVVM_CHIPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilewright::nvvm {

struct Chip {
  int sm;
  /// Lowest PTX version (10 * major + minor) for sm_N, sm_Na and sm_Nf; 0: no
  /// such target.
  int ptx, ptxA, ptxF;
  /// Shared memory that one block can be given, KiB.
  int sharedKiB;
};

llvm::ArrayRef<Chip> getChips();

/// One chip with its suffix.
struct ChipName {
  Chip chip;
  char suffix = 0; // 0, 'a' or 'f'

  int getPTX() const {
    return suffix == 'a' ? chip.ptxA : suffix == 'f' ? chip.ptxF : chip.ptx;
  }
  /// "sm_90a"
  std::string str() const;
};

/// Understands "sm_90a"; nothing where there is no such target.
std::optional<ChipName> lookupChip(llvm::StringRef text);

} // namespace tilewright::nvvm

#endif
