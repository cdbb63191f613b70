// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Divergence and reconvergence: operations on the fragments and joins of one warp (see State.h for what those are).

#ifndef TILEWRIGHT_PTXSIM_MACHINE_WARP_H
#define TILEWRIGHT_PTXSIM_MACHINE_WARP_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// A free slot of the warp; there always is one, as fragments have disjoint lanes.
unsigned freeFragment(Warp &warp);

/// Sets stopPc from the fragment's join and frame.
void updateStop(Warp &warp, Fragment &fragment);

uint32_t makeJoin(Warp &warp, uint32_t expected, uint32_t pc, Frame *frame, uint32_t parent);

/// The fragment's lanes reach their join. When they are the last, the merged fragment takes the same slot and the
/// result is true; otherwise the slot is free.
bool arriveAtJoin(Warp &warp, unsigned index);

/// Splits the fragment into parts with their own program counters, to meet again at `meet` (or only at the fragment's
/// own join when that is noIndex). The first part keeps the slot.
struct Part {
  uint32_t mask;
  uint32_t pc;
};
void diverge(Warp &warp, unsigned index, const std::vector<Part> &parts, uint32_t meet);

/// Lets lanes that wait at joins go on without the others. True when there were any.
bool releaseJoins(Warp &warp);

/// Lanes end. The fragment keeps its other lanes, if it has any.
void exitLanes(Warp &warp, unsigned index, uint32_t lanes);

/// Lanes of the fragment return from its frame: they wait at the join of the call.
bool returnLanes(ExecContext &context, Warp &warp, unsigned index, uint32_t lanes);

/// Gives a frame its registers, parameters and local memory. False when local memory is used up.
bool setUpFrame(ExecContext &context, Warp &warp, Frame &frame, const FunctionCode &function, uint32_t localBase,
                uint32_t lanes);

/// Bytes of local memory of a lane.
inline constexpr uint32_t maxLocalBytes = 512u << 10;
/// Makes each lane's local memory at least this large; false when that is too much.
bool growLocal(const ExecContext &context, Warp &warp, uint64_t needed);

/// Where the local memory of what the frame calls begins.
uint32_t localEnd(const Frame &frame);

/// Moves parameters of the frame whose address is taken to their place in local memory, or results back from there.
void copyStackParams(const ExecContext &context, Warp &warp, Frame &frame, uint32_t lanes, bool isReturn);

/// One line about each fragment and join, for reports of deadlocks.
std::string describe(const Warp &warp);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_WARP_H
