// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that share the sums of all tiles evenly (stream-K), `stream_k` of a config of
// strategy warp_specialized. Where a product has 100 tiles and the device 132
// multiprocessors, a block for each tile leaves 32 of them without work, and two for each
// let 64 of them do twice what the others do. With
//
//   block = [128, 128, 64], …, splits = 3, persistent = true, stream_k = 132
//
// each of 132 blocks has 100 / 132 of a tile's steps, along one tile's sum or from one
// into the next: #tilewright.shares says which. The parts of a tile are added up by the
// second kernel that a reduction in parts has anyway, in one order.

#ifndef TILEWRIGHT_CONFIGURE_STREAMS_H
#define TILEWRIGHT_CONFIGURE_STREAMS_H

#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Support/Refusal.h"

#include <string>

namespace tilewright {

/// Why blocks cannot share sums as `config` says; empty if they can, or do not.
Refusal whyNotStreamed(const KernelInfo &info, LoweringConfigAttr config);

/// How they share them; null where the config has no `stream_k`.
SharesAttr sharesOf(const KernelInfo &info, LoweringConfigAttr config);

/// What of a config would let blocks share the sums, in words, where the tiles of a product
/// that is in one piece leave much of a wave of blocks without work; else empty.
std::string adviseStream(const KernelInfo &info, LoweringConfigAttr config,
                         TargetAttr target);

} // namespace tilewright

#endif
