// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bank conflicts of warp-wide shared-memory accesses, and the choice of padding
// or swizzle that avoids them.
//
// THE MODEL. Shared memory has 32 banks of 4 bytes; the word at byte address a
// is in bank (a / 4) % 32. An access of a warp is served in phases: lanes in
// groups of 32 for accesses of up to 4 bytes a lane, 16 for 8 bytes, 8 for 16
// bytes. Within a phase, lanes that touch the same word share it (reads are
// broadcast; writes to different bytes are merged); different words of one bank
// take turns, a *wavefront* each. So a phase needs as many wavefronts as the
// busiest bank has distinct words, and at least ceil(distinct words / 32).
//
// WORKED TABLE. 32 lanes read a column of a 32 x 32 f32 tile:
//     strides [32, 1]: all words in one bank             32 wavefronts
//     strides [33, 1]: words 0, 33, 66, ...: all banks    1 wavefront
//     strides [32, 1], swizzle 5:2:5: likewise            1 wavefront
//
// Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x
// and later; the grouping of wide accesses is the documented one for vector
// loads without conflicts.
//
// Conflicts depend on a warp's lanes and one register run at a time, so they
// are counted over those (32 addresses an access), never over the array.

#ifndef TILEWRIGHT_LAYOUT_BANKCONFLICTS_H
#define TILEWRIGHT_LAYOUT_BANKCONFLICTS_H

#include "tilewright/Layout/DistributedLayout.h"
#include "tilewright/Layout/SharedLayout.h"

namespace tilewright::layout {

/// How the threads of `layout` touch an array: in runs of `vectorElems`
/// elements along `dim`.
struct SharedAccess {
  DistributedLayout layout;
  int dim = 0;
  int64_t vectorElems = 1;
};

/// The widest access along `dim` that the layout's registers allow: a power of
/// two of elements, at most `maxBits` (128 for one instruction).
SharedAccess widestAccess(const DistributedLayout &layout, int dim,
                          int elementBits, int maxBits = 128);

/// Over the accesses that warp 0 needs to move all its registers.
struct ConflictCount {
  int64_t accesses = 0;
  int64_t wavefronts = 0;
  /// Wavefronts without any conflict.
  int64_t minimum = 0;
  bool conflictFree() const { return wavefronts == minimum; }
  ConflictCount &operator+=(const ConflictCount &o) {
    accesses += o.accesses;
    wavefronts += o.wavefronts;
    minimum += o.minimum;
    return *this;
  }
};

/// Enough for exact counts of anything that fits a thread; a bound on the work
/// for what does not.
inline constexpr int64_t maxCountedAccesses = 1024;

/// Counts at most `maxAccesses` accesses (all registers if 0). Runs of more
/// than 128 bits count as several accesses.
ConflictCount countConflicts(const SharedLayout &shared,
                             const SharedAccess &access,
                             int64_t maxAccesses = 0);

/// A layout, and the sum over the accesses it was chosen for.
struct SharedChoice {
  SharedLayout layout;
  ConflictCount conflicts;
};

/// What `chooseShared` may use; `AnyOrFold`: where neither is enough, a swizzle of
/// two fields (Swizzle::fold), whose addresses cost an instruction or two more.
enum class Avoidance { Padding, Swizzle, Any, AnyOrFold };

/// The smallest dense layout (order[0] fastest) with the fewest wavefronts over
/// all accesses; among equals no avoidance before a swizzle before padding. An
/// access with vectors must run along order[0].
/// `grainBytes`: runs of so many bytes stay together and rows stay aligned to
/// them (16 for ldmatrix rows, cp.async and cooperative matrices); raised to
/// the widest vector of the accesses.
Result<SharedChoice> chooseShared(const SharedLayout::Shape &shape,
                                  int elementBits,
                                  const std::vector<int> &order,
                                  const std::vector<SharedAccess> &accesses,
                                  Avoidance avoidance = Avoidance::Any,
                                  int64_t grainBytes = 1);

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_BANKCONFLICTS_H
