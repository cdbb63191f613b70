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
// WORKED TABLE 1. shape=[4, 4], 4 lanes; rows in lanes to columns in lanes:
//     from  regs=[4:1@1] lanes=[4:1@0]
//     to    regs=[4:1@0] lanes=[4:1@1]
//     digit 4:1@0   home from: lane, weight 1      home to: register, weight 1
//     digit 4:1@1   home from: register, weight 1  home to: lane, weight 1
// So destination (register r, lane l) reads lane r, register l.
//
// A shuffle delivers to each lane one value that its *sender* picked. Where the
// register to pick depends on the receiver's lane (a digit that moves from
// registers to lanes), there are three cases:
//   local     the sender has that digit too: it selects, then sends
//   exchange  a second digit, of the same count p, moves the other way: in p
//             rounds each sender serves a different receiver
//   remote    otherwise: every candidate is sent, the receiver selects
//
// WORKED TABLE 2. Table 1 is an exchange with p = 4. In round k, receiver x
// (its lane) takes register y = (x + k) % 4 from lane y, which sends register
// (y - k) % 4 = x: four shuffles, where remote choices would take sixteen.
//     lane          0         1         2         3        (register <- lane)
//     round 0    r0 <- 0   r1 <- 1   r2 <- 2   r3 <- 3
//     round 1    r1 <- 1   r2 <- 2   r3 <- 3   r0 <- 0
//     round 2    r2 <- 2   r3 <- 3   r0 <- 0   r1 <- 1
//     round 3    r3 <- 3   r0 <- 0   r1 <- 1   r2 <- 2
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

/// One term, ((index / div) % mod) * multiplier, of the destination thread's
/// lane or warp index.
struct ThreadTerm {
  Level level;
  int64_t div, mod, multiplier;
  int64_t operator()(int64_t lane, int64_t warp) const {
    return (level == Level::Lane ? lane : warp) / div % mod * multiplier;
  }
};

/// The round trip through shared memory: owners write their registers in runs
/// of writeElems, a barrier, every thread reads in runs of readElems, and a
/// second barrier before the scratch is used again. Who writes: the first owner
/// among the lanes and, if elements change warps, among the warps; else each
/// warp writes for itself (replicas in several warps then write equal values).
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

/// A register offset out of several, chosen by digits of the thread's lane and
/// warp: offsets[sum of terms].
struct RegisterChoice {
  std::vector<int64_t> offsets = {0};
  std::vector<ThreadTerm> terms;

  int64_t size() const { return static_cast<int64_t>(offsets.size()); }
  int64_t index(int64_t lane, int64_t warp) const {
    int64_t i = 0;
    for (const ThreadTerm &t : terms)
      i += t(lane, warp);
    return i;
  }
};

/// A digit of `count` values that moves from registers to lanes, paired with
/// one that moves from lanes to registers.
///   x = lane / receiverLaneWeight % count, of the receiver
///   y = lane / senderLaneWeight % count, of the sender
struct Exchange {
  int64_t count;
  int64_t receiverLaneWeight, receiverRegisterWeight;
  int64_t senderLaneWeight, senderRegisterWeight;
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::Identity;

  /// All kinds but SharedMemory. Destination register r of (lane, warp) comes
  /// from lane sourceLane(...), register sourceRegister(...) of the same warp.
  ///
  /// Identity, RegisterPermute: registerBase is the table.
  /// RegisterSelect: registerBase[r] + local.
  /// LaneShuffle: for each register r0 whose exchange digits (r0 /
  /// receiverRegisterWeight % count) are zero, each remote choice c, and each
  /// round k (one k_i below count_i for each exchange i):
  ///   send     source register registerBase[r0] + local(own lane, warp) +
  ///            remote.offsets[c] + sum of (y_i - k_i) mod count_i *
  ///            senderRegisterWeight_i, with y_i of the own lane
  ///   shuffle  from lane laneBase[r0] + laneTerms(own lane, warp) + sum of
  ///            (x_i + k_i) mod count_i * senderLaneWeight_i, x_i of the own
  ///            lane
  ///   keep     if c is the own remote choice, as register r0 + sum of
  ///            (x_i + k_i) mod count_i * receiverRegisterWeight_i
  std::vector<int64_t> registerBase, laneBase;
  std::vector<ThreadTerm> laneTerms;
  RegisterChoice local, remote;
  std::vector<Exchange> exchanges;

  /// SharedMemory.
  SharedTransfer shared;

  int64_t sourceRegister(int64_t reg, int64_t lane, int64_t warp) const;
  int64_t sourceLane(int64_t reg, int64_t lane, int64_t warp) const;
  /// The product of the exchanges' counts.
  int64_t numRounds() const;
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
  /// Above this many shuffles for each destination register (the number of
  /// remote choices), go through shared memory; 0 forbids shuffles.
  int64_t maxShufflesPerRegister = 4;
  /// The most rounds of exchanges; each costs a select among as many registers
  /// on either side of its shuffle. 1 turns exchanges into remote choices.
  int64_t maxRounds = 8;
  Avoidance avoidance = Avoidance::Any;
};

/// Both layouts must be verified. An error only for shapes that differ or an
/// element size outside 1 .. 128 bits.
Result<ConversionPlan> planConversion(const DistributedLayout &from,
                                      const DistributedLayout &to,
                                      int elementBits,
                                      const ConversionOptions &options = {});

/// The conversion of last resort, through shared memory. Tries every dimension as the
/// fastest, and wide runs against narrow ones: wide runs take fewer instructions, but leave
/// fewer ways to spread over the banks. A wavefront counts as much as issuing two
/// instructions.
Result<SharedTransfer> planSharedTransfer(const DistributedLayout &from,
                                          const DistributedLayout &to, int elementBits,
                                          const ConversionOptions &options);

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_CONVERSION_H
