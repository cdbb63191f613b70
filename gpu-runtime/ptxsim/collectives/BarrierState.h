// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the barriers of a block and that of a cluster share.

#ifndef TILEWRIGHT_PTXSIM_COLLECTIVES_BARRIERSTATE_H
#define TILEWRIGHT_PTXSIM_COLLECTIVES_BARRIERSTATE_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// Fragment::memberMask of a fragment at a barrier that counts as arrived.
inline constexpr uint32_t countedAtBarrier = ~0u;
/// Fragment::barrier of the cluster's.
inline constexpr uint8_t clusterBarrier = 16;

/// The fragment arrives at the cluster's barrier, or waits there.
void countAtClusterBarrier(ExecContext &context, Warp &warp, unsigned index);
/// Ends the phase if everybody has arrived.
void completeClusterBarrier(Cluster &cluster);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_COLLECTIVES_BARRIERSTATE_H
