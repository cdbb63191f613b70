// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dense forms of mma.sync, one row each. A target lists those that it has
// (facts `mma` and `mma_emulated`); everything else is read out of the name
// (Dialect/MatrixInstruction.h). Adding an instruction is adding a row.

#ifndef TILEWRIGHT_TARGET_NVVM_INSTRUCTIONS_H
#define TILEWRIGHT_TARGET_NVVM_INSTRUCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tilewright::nvvm {

struct MmaForm {
  llvm::StringLiteral name;
  /// The first compute capability that has it.
  int sm;
  /// The PTX version (10 * major + minor) that knows it, where that is not the
  /// first one of the capability.
  int ptx = 0;
  /// From this compute capability on, ptxas makes other instructions of it (0:
  /// never): it is there for who asks for it, but is not chosen.
  int emulatedFrom = 0;
  /// NVVM has no operation for it: PTX is written as it is.
  bool isInline = false;

  bool isNativeOn(int capability) const {
    return capability >= sm && (!emulatedFrom || capability < emulatedFrom);
  }
  bool isEmulatedOn(int capability) const {
    return emulatedFrom && capability >= emulatedFrom;
  }
};

/// Of the same types, the largest first: equals in the cost model are tried in
/// this order.
llvm::ArrayRef<MmaForm> getMmaForms();

/// Null where there is none of that name.
const MmaForm *lookupMmaForm(llvm::StringRef name);

/// What a warpgroup of sm_90a multiplies (wgmma): the types, and how many elements
/// along the sum; 64 rows, and any of the columns below.
struct WarpgroupForm {
  llvm::StringLiteral types;
  int k;
};
llvm::ArrayRef<WarpgroupForm> getWarpgroupForms();
/// The widest first.
llvm::ArrayRef<int> getWarpgroupColumns();

} // namespace tilewright::nvvm

#endif
