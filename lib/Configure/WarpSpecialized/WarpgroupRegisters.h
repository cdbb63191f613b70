// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of blocks in which a warpgroup copies and others multiply.

#ifndef TILEWRIGHT_LIB_CONFIGURE_WARPGROUPREGISTERS_H
#define TILEWRIGHT_LIB_CONFIGURE_WARPGROUPREGISTERS_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// Threads of a producer warpgroup.
inline constexpr int64_t kCopyThreads = 128;
/// What a thread needs beside its sums.
inline constexpr int64_t kBesideSums = 40;

/// What each of so many threads has of a multiprocessor's registers, and can name, on chips
/// whose copy engines fill rings.
int64_t registersEach(int64_t threads);

/// Why the threads of `groups` consumer warpgroups, each with `held` registers of what
/// `what` names ("registers of sums"), have too few, or 'registers' of the config moves
/// more of them than there are; empty if neither.
Refusal whyNotEnoughRegisters(LoweringConfigAttr config, int64_t groups, int64_t held,
                              llvm::StringRef what);

/// Why one instruction with so many `sums` a thread names more registers than threads start
/// with, which is all that ptxas lets one name, whatever `setmaxnreg` gives them; empty if not.
Refusal whyNotNamed(LoweringConfigAttr config, int64_t groups, int64_t sums);

/// 'registers' of a config: what the copying warps need is theirs, the rest goes to the
/// sums; empty where nothing is to be moved.
llvm::SmallVector<int64_t> registersOf(int64_t groups);

/// Others that a block of so many threads can have.
llvm::SmallVector<llvm::SmallVector<int64_t>> otherRegisters(int64_t groups);

} // namespace tilewright

#endif
