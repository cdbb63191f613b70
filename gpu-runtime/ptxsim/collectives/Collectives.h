// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meeting points of lanes and warps. A fragment that reaches one waits there; whoever completes the meeting computes all
// results and makes the participants runnable again.

#ifndef TILEWRIGHT_PTXSIM_COLLECTIVES_COLLECTIVES_H
#define TILEWRIGHT_PTXSIM_COLLECTIVES_COLLECTIVES_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// The fragment waits at a warp collective (shfl.sync and its like) and completes it if it can.
void arriveAtCollective(ExecContext &context, Warp &warp, unsigned index);
/// Completes what became complete because lanes exited.
void retryCollectives(ExecContext &context, Warp &warp);

/// The fragment reaches bar or barrier.
void arriveAtBarrier(ExecContext &context, Warp &warp, unsigned index);
/// Completes barriers that only waited for threads that have exited.
void retryBarriers(ExecContext &context, Block &block);
/// Whether the fragment waits at an aligned barrier for lanes of its own warp.
bool waitsForOwnWarp(const Warp &warp, const Fragment &fragment);
/// Lets such a fragment count as arrived.
void arriveUnaligned(ExecContext &context, Warp &warp, unsigned index);

/// Calls the machine's own functions (vprintf, __assertfail) for the active lanes.
void callBuiltin(ExecContext &context, const Inst &inst, const CallSite &site);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_COLLECTIVES_COLLECTIVES_H
