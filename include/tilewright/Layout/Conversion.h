// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion plans: how the elements of a vector get from one distributed
// layout to another, by the cheapest means that suffices.
//
//   Identity         both layouts are the same map
//   RegisterPermute  each thread has what it needs: a constant renaming
//   RegisterSelect   each thread has what it needs, but which register depends
//                    on its lane or warp (out of replicas)
//   LaneShuffle      another lane of the same warp has it
//   SharedMemory     anything else
//
// THE IDEA. Cut the digits of both layouts at each other's boundaries. In this
// *common refinement* each digit of an element's coordinates has one home in
// the source (level, weight) and one in the destination. A destination thread
// knows the values of all digits from its own (register, lane, warp); writing
// them at their source homes gives the place to read from. That is a table of
// digit moves, made from two short lists of modes; no element is enumerated.
//
// WORKED TABLE. shape=[4, 4], 4 lanes. From rows in lanes to columns in lanes:
//     from  regs=[4:1@1] lanes=[4:1@0]
//     to    regs=[4:1@0] lanes=[4:1@1]
//     digit 4:1@0   home from: lane, weight 1      home to: register, weight 1
//     digit 4:1@1   home from: register, weight 1  home to: lane, weight 1
// So destination (register r, lane l) reads lane r, register l. The register
// depends on the lane: four choices, and one shuffle for each.
//
// Chained matrix products: the f32 accumulators of two adjacent 16x8 tiles of
// mma.m16n8k16 have homes equal to those of one f16 A operand of 16x16. The
// plan is Identity (RegisterPermute for other orders of the repeats); narrowing
// and packing two f16 into a 32-bit register is left to the caller, for whom
// registers are elements.
//
// WHY pull (destination -> source), and not push: each destination register is
// written exactly once, while a source element may be wanted by many.
//
// Broadcasts use the same machinery: to read a vector with a size-1 dimension
// `d` in the layout L of the broadcast result, plan from its layout to
// L.project(d).
//
// Where the digits do not refine each other (2 x 3 against 3 x 2), or one of
// the layouts is opaque, the plan is SharedMemory.

#ifndef TILEWRIGHT_LAYOUT_CONVERSION_H
#define TILEWRIGHT_LAYOUT_CONVERSION_H

#include "tilewright/Layout/BankConflicts.h"
#include "tilewright/Layout/DistributedLayout.h"
#include "tilewright/Layout/SharedLayout.h"

namespace tilewright::layout {

enum class ConversionKind {
  Identity,
  RegisterPermute,
  RegisterSelect,
  LaneShuffle,
  SharedMemory
};

/// "identity", "register-permute", ...
const char *conversionKindName(ConversionKind kind);

/// One term, ((index / div) % mod) * multiplier, of the destination thread's
/// lane or warp index.
struct ThreadTerm {
  Level level;
  int64_t div, mod, multiplier;
  int64_t operator()(int64_t lane, int64_t warp) const {
    return (level == Level::Lane ? lane : warp) / div % mod * multiplier;
  }
};

/// The round trip through shared memory: every first owner writes its registers
/// in runs of writeElems, a barrier, every thread reads in runs of readElems.
struct SharedTransfer {
  SharedLayout layout;
  int64_t scratchBytes = 0;
  /// The dimension of the runs (the fastest of the layout).
  int dim = 0;
  /// 0 where an opaque layout's own instruction does the access.
  int64_t writeElems = 0, readElems = 0;
  ConflictCount writeConflicts, readConflicts;
  /// Whether elements change warps: then the barrier joins all warps of both
  /// layouts, else each warp's own lanes.
  bool acrossWarps = true;
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::Identity;

  /// All kinds but SharedMemory: the destination's register r in (lane, warp)
  /// comes from source register
  ///     registerBase[r] + choiceOffsets[choice(lane, warp)]
  /// of the source lane
  ///     laneBase[r] + sum of laneTerms
  /// in the same warp. One choice and the own lane for Identity and
  /// RegisterPermute, where registerBase is the whole table; the own lane for
  /// RegisterSelect. A shuffle moves the value of one register name for all
  /// lanes, so a LaneShuffle costs choiceOffsets.size() shuffles a register.
  std::vector<int64_t> registerBase;
  std::vector<int64_t> choiceOffsets = {0};
  std::vector<ThreadTerm> choiceTerms;
  std::vector<int64_t> laneBase;
  std::vector<ThreadTerm> laneTerms;

  /// SharedMemory.
  SharedTransfer shared;

  int64_t choice(int64_t lane, int64_t warp) const;
  int64_t sourceRegister(int64_t reg, int64_t lane, int64_t warp) const;
  int64_t sourceLane(int64_t reg, int64_t lane, int64_t warp) const;
  bool staysInThread() const {
    return kind == ConversionKind::Identity ||
           kind == ConversionKind::RegisterPermute ||
           kind == ConversionKind::RegisterSelect;
  }
  /// Shuffles a thread executes.
  int64_t numShuffles() const;
  /// One line for dumps and explanations.
  std::string print() const;
};

struct ConversionOptions {
  /// Above this many shuffles for each destination register, go through shared
  /// memory; 0 forbids shuffles.
  int64_t maxShufflesPerRegister = 4;
  Avoidance avoidance = Avoidance::Any;
};

/// Both layouts must be verified. An error only for shapes that differ or an
/// element size outside 1 .. 128 bits.
Result<ConversionPlan> planConversion(const DistributedLayout &from,
                                      const DistributedLayout &to,
                                      int elementBits,
                                      const ConversionOptions &options = {});

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_CONVERSION_H
