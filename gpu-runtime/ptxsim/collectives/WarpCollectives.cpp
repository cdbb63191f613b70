// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shfl, vote, match, redux, elect, bar.warp.sync, matrix instructions and tensormap.cp_fenceproxy. Lanes may come from several fragments, at different instructions:
// what has to agree is the operation and the member mask.

#include "collectives/Collectives.h"
#include "machine/IssueCounts.h"
#include "async/TensorMapEdit.h"
#include "machine/Warp.h"
#include "matrix/Execute.h"
#include "matrix/Wgmma.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

/// The lanes that meet, with their operands gathered.
struct Meeting {
  uint32_t lanes = 0;
  const Inst *inst[warpSize] = {};
  Fragment *fragment[warpSize] = {};
};

uint64_t value(ExecContext &context, const Meeting &meeting, unsigned lane, unsigned source) {
  Row row = meeting.inst[lane]->src[source];
  if (row < constantBank)
    return meeting.fragment[lane]->frame->registers[uint64_t(row) * warpSize + lane];
  return context.bases[row >> 30][uint64_t(row & rowIndexMask) * warpSize + lane];
}

uint64_t undefinedBits(const Meeting &meeting, unsigned lane, unsigned source) {
  Row row = meeting.inst[lane]->src[source];
  if (row >= constantBank)
    return 0;
  const Frame &frame = *meeting.fragment[lane]->frame;
  return frame.undefinedLanes[row] >> lane & 1 ? frame.undefinedBits[uint64_t(row) * warpSize + lane] : 0;
}

void setResult(ExecContext &context, const Meeting &meeting, unsigned lane, unsigned result, uint64_t bits,
               uint64_t undefined) {
  if (meeting.inst[lane]->numDst <= result)
    return;
  Row row = meeting.inst[lane]->dst[result];
  Frame &frame = *meeting.fragment[lane]->frame;
  frame.registers[uint64_t(row) * warpSize + lane] = bits;
  if (!context.checks)
    return;
  frame.undefinedLanes[row] &= ~(1u << lane);
  if (undefined != 0) {
    frame.undefinedLanes[row] |= 1u << lane;
    frame.undefinedBits[uint64_t(row) * warpSize + lane] = undefined;
  }
}

void shuffle(ExecContext &context, const Meeting &meeting) {
  uint64_t a[warpSize] = {}, undefined[warpSize] = {};
  forEachLane(meeting.lanes, [&](unsigned lane) {
    a[lane] = value(context, meeting, lane, 1);
    undefined[lane] = context.checks ? undefinedBits(meeting, lane, 1) : 0;
  });
  forEachLane(meeting.lanes, [&](unsigned lane) {
    uint32_t b = value(context, meeting, lane, 2) & 31;
    uint32_t c = static_cast<uint32_t>(value(context, meeting, lane, 3));
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    int32_t last = static_cast<int32_t>((lane & segment) | (clamp & ~segment & 31));
    int32_t first = static_cast<int32_t>(lane & segment);
    int32_t from = 0;
    bool inRange = false;
    switch (static_cast<ShuffleMode>(meeting.inst[lane]->mode)) {
    case ShuffleMode::Up:
      from = static_cast<int32_t>(lane) - static_cast<int32_t>(b);
      inRange = from >= last;
      break;
    case ShuffleMode::Down:
      from = static_cast<int32_t>(lane + b);
      inRange = from <= last;
      break;
    case ShuffleMode::Butterfly:
      from = static_cast<int32_t>(lane ^ b);
      inRange = from <= last;
      break;
    case ShuffleMode::Index:
      from = first | static_cast<int32_t>(b & ~segment);
      inRange = from <= last;
      break;
    }
    if (!inRange)
      from = static_cast<int32_t>(lane);
    // A lane that does not take part has no defined value.
    bool present = meeting.lanes >> from & 1;
    setResult(context, meeting, lane, 0, present ? a[from] : 0, present ? undefined[from] : 0xffffffff);
    setResult(context, meeting, lane, 1, inRange, 0);
  });
}

void vote(ExecContext &context, const Meeting &meeting) {
  uint32_t ballot = 0, unknown = 0;
  forEachLane(meeting.lanes, [&](unsigned lane) {
    bool predicate = (value(context, meeting, lane, 1) != 0) != meeting.inst[lane]->negateSource;
    ballot |= uint32_t(predicate) << lane;
    if (context.checks && undefinedBits(meeting, lane, 1))
      unknown |= 1u << lane;
  });
  forEachLane(meeting.lanes, [&](unsigned lane) {
    uint64_t result = 0, undefined = unknown != 0;
    switch (static_cast<VoteMode>(meeting.inst[lane]->mode)) {
    case VoteMode::All:
      result = ballot == meeting.lanes;
      break;
    case VoteMode::Any:
      result = ballot != 0;
      break;
    case VoteMode::Uniform:
      result = ballot == 0 || ballot == meeting.lanes;
      break;
    case VoteMode::Ballot:
      result = ballot;
      undefined = unknown;
      break;
    }
    setResult(context, meeting, lane, 0, result, undefined);
  });
}

void match(ExecContext &context, const Meeting &meeting) {
  bool unknown = false;
  forEachLane(meeting.lanes, [&](unsigned lane) { unknown |= context.checks && undefinedBits(meeting, lane, 1); });
  forEachLane(meeting.lanes, [&](unsigned lane) {
    uint64_t mine = value(context, meeting, lane, 1);
    uint32_t equal = 0;
    forEachLane(meeting.lanes, [&](unsigned other) {
      equal |= uint32_t(value(context, meeting, other, 1) == mine) << other;
    });
    bool all = equal == meeting.lanes;
    if (static_cast<MatchMode>(meeting.inst[lane]->mode) == MatchMode::All)
      equal = all ? equal : 0;
    setResult(context, meeting, lane, 0, equal, unknown ? 0xffffffff : 0);
    setResult(context, meeting, lane, 1, all, unknown);
  });
}

void reduce(ExecContext &context, const Meeting &meeting) {
  const Inst &inst = *meeting.inst[__builtin_ctz(meeting.lanes)];
  bool unknown = false, isFirst = true;
  uint32_t result = 0;
  forEachLane(meeting.lanes, [&](unsigned lane) {
    uint32_t x = static_cast<uint32_t>(value(context, meeting, lane, 1));
    unknown |= context.checks && undefinedBits(meeting, lane, 1);
    if (isFirst) {
      result = x;
      isFirst = false;
      return;
    }
    bool isSignedType = isSigned(inst.type);
    bool less = isSignedType ? static_cast<int32_t>(x) < static_cast<int32_t>(result) : x < result;
    switch (static_cast<AtomicOp>(inst.mode)) {
    case AtomicOp::Add:
      result += x;
      break;
    case AtomicOp::Min:
      result = less ? x : result;
      break;
    case AtomicOp::Max:
      result = less ? result : x;
      break;
    case AtomicOp::And:
      result &= x;
      break;
    case AtomicOp::Or:
      result |= x;
      break;
    default:
      result ^= x;
      break;
    }
  });
  forEachLane(meeting.lanes,
              [&](unsigned lane) { setResult(context, meeting, lane, 0, result, unknown ? 0xffffffff : 0); });
}

void synchronise(ExecContext &context, const Meeting &meeting) {
  BlockRaces *races = context.block->races.get();
  if (!races)
    return;
  std::vector<uint32_t> threads;
  forEachLane(meeting.lanes,
              [&](unsigned lane) { threads.push_back(context.warp->index * warpSize + lane); });
  JoinedClock clock;
  races->release(threads, clock);
  races->acquire(threads, clock);
}

/// Aligned instructions want the whole warp.
void matrix(ExecContext &context, const Meeting &meeting) {
  unsigned lane = static_cast<unsigned>(__builtin_ctz(meeting.lanes));
  if (meeting.lanes != ~0u) {
    context.report(FindingKind::CollectiveMisuse, *meeting.inst[lane], lane, 0,
                   "a matrix instruction needs all 32 lanes of its warp; some have exited");
    return;
  }
  Frame *frames[warpSize];
  for (unsigned i = 0; i < warpSize; ++i)
    frames[i] = meeting.fragment[i]->frame;
  executeMatrix(context, *meeting.inst[lane], frames);
}

/// Lanes that name the same places copy once.
void copyMaps(ExecContext &context, const Meeting &meeting) {
  unsigned first = static_cast<unsigned>(__builtin_ctz(meeting.lanes));
  const Inst &inst = *meeting.inst[first];
  forEachLane(meeting.lanes, [&](unsigned lane) {
    uint64_t to = value(context, meeting, lane, 1), from = value(context, meeting, lane, 2);
    if (context.checks && (undefinedBits(meeting, lane, 1) | undefinedBits(meeting, lane, 2)) != 0)
      context.report(FindingKind::Undefined, inst, lane, to, "the address depends on an undefined value");
    if (!context.stopped &&
        (lane == first || to != value(context, meeting, first, 1) || from != value(context, meeting, first, 2)))
      copyTensorMap(context, inst, lane, to, from);
  });
  if (BlockRaces *races = context.block->races.get())
    forEachLane(meeting.lanes,
                [&](unsigned lane) { races->fence(context.warp->index * warpSize + lane, inst.scope); });
}

void perform(ExecContext &context, const Meeting &meeting) {
  switch (static_cast<CollectiveOp>(meeting.inst[__builtin_ctz(meeting.lanes)]->op)) {
  case CollectiveOp::Shuffle:
    return shuffle(context, meeting);
  case CollectiveOp::Vote:
    return vote(context, meeting);
  case CollectiveOp::Match:
    return match(context, meeting);
  case CollectiveOp::Reduce:
    return reduce(context, meeting);
  case CollectiveOp::WarpBarrier:
    return synchronise(context, meeting);
  case CollectiveOp::Matrix:
    return matrix(context, meeting);
  case CollectiveOp::MapCopy:
    return copyMaps(context, meeting);
  case CollectiveOp::Elect:
    unsigned leader = static_cast<unsigned>(__builtin_ctz(meeting.lanes));
    forEachLane(meeting.lanes, [&](unsigned lane) {
      setResult(context, meeting, lane, 0, leader, 0);
      setResult(context, meeting, lane, 1, lane == leader, 0);
    });
    return;
  }
}

bool agrees(const Inst &a, const Inst &b) {
  CollectiveOp op = static_cast<CollectiveOp>(a.op);
  if (op == CollectiveOp::Matrix || op == CollectiveOp::MapCopy)
    return &a == &b;
  return a.op == b.op && a.mode == b.mode && a.type == b.type;
}

bool tryComplete(ExecContext &context, Warp &warp, unsigned index) {
  const std::vector<Inst> &code = context.grid->program->code;
  Fragment &first = warp.fragments[index];
  const Inst &inst = code[first.pc];
  Meeting meeting;
  for (Fragment &fragment : warp.fragments) {
    if (fragment.mask == 0 || fragment.state != Fragment::AtCollective || fragment.memberMask != first.memberMask ||
        !agrees(code[fragment.pc], inst))
      continue;
    meeting.lanes |= fragment.mask;
    forEachLane(fragment.mask, [&](unsigned lane) {
      meeting.inst[lane] = &code[fragment.pc];
      meeting.fragment[lane] = &fragment;
    });
  }
  if ((first.memberMask & warp.live & ~meeting.lanes) != 0)
    return false;
  if (static_cast<CollectiveOp>(inst.op) == CollectiveOp::Matrix && mustWaitForWarpgroup(context, inst, warp)) {
    if (IssueCounts *issue = context.grid->issue)
      issue->takeBack(inst, first.mask, warp.index);
    forEachLane(meeting.lanes, [&](unsigned lane) {
      meeting.fragment[lane]->state = Fragment::Asleep;
      meeting.fragment[lane]->polledAt = meeting.fragment[lane]->pc;
    });
    return false;
  }
  perform(context, meeting);
  forEachLane(meeting.lanes, [&](unsigned lane) {
    Fragment &fragment = *meeting.fragment[lane];
    if (fragment.state != Fragment::AtCollective)
      return;
    fragment.state = Fragment::Runnable;
    ++fragment.pc;
  });
  warp.spins = 0;
  return true;
}

} // namespace

void arriveAtCollective(ExecContext &context, Warp &warp, unsigned index) {
  Fragment &fragment = warp.fragments[index];
  const Inst &inst = context.grid->program->code[fragment.pc];
  const uint64_t *masks = context.row(inst.src[0]);
  unsigned lane = static_cast<unsigned>(__builtin_ctz(fragment.mask));
  uint32_t members = static_cast<uint32_t>(masks[lane]);
  // Lanes with other member masks are other meetings.
  uint32_t same = 0;
  forEachLane(fragment.mask, [&](unsigned other) { same |= uint32_t(uint32_t(masks[other]) == members) << other; });
  if (same != fragment.mask) {
    diverge(warp, index, {{same, fragment.pc}, {fragment.mask & ~same, fragment.pc}}, fragment.pc + 1);
  }
  if (context.checks) {
    uint32_t bad = context.undefinedLanes(inst.src[0]) & same;
    if (bad)
      context.report(FindingKind::Undefined, inst, static_cast<unsigned>(__builtin_ctz(bad)), 0,
                     "the member mask depends on an undefined value");
    if (same & ~members)
      context.report(FindingKind::CollectiveMisuse, inst, static_cast<unsigned>(__builtin_ctz(same & ~members)), 0,
                     "a lane executes this with a member mask that does not name it");
    if (context.stopped)
      return;
  }
  fragment.state = Fragment::AtCollective;
  fragment.memberMask = members;
  tryComplete(context, warp, index);
}

void retryCollectives(ExecContext &context, Warp &warp) {
  for (unsigned i = 0; i < warp.fragments.size(); ++i)
    if (warp.fragments[i].mask != 0 && warp.fragments[i].state == Fragment::AtCollective)
      tryComplete(context, warp, i);
}

} // namespace tilewright::ptxsim
