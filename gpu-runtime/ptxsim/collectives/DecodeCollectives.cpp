// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that lanes of a warp, or warps of a block, execute together: shfl, vote, match, redux, elect,
// bar.warp.sync, activemask, bar and barrier. The member mask is always source 0 of a warp collective.

#include "arithmetic/Families.h"
#include "machine/LaneLoops.h"

namespace tilewright::ptxsim {
namespace {

void activeMask(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  forEachLane(context.mask, [&](unsigned lane) { d[lane] = context.mask; });
}

bool collective(InstDecoder &d, CollectiveOp op, size_t maskOperand) {
  d.inst.flow = Flow::Collective;
  d.inst.undef = UndefRule::Own;
  d.inst.op = static_cast<uint8_t>(op);
  return d.source(maskOperand, ScalarType::U32);
}

bool needSync(InstDecoder &d) {
  return d.take("sync") || d.fail("the form without .sync does not exist on sm_70 and later");
}

/// d or d|p as the first operand.
bool resultAndPredicate(InstDecoder &d, ScalarType type) {
  const Operand &result = d.operand(0);
  if (result.kind != Operand::Pair)
    return d.destination(0, type);
  d.inst.wantsPredicate = true;
  return d.destination(result.elements[0], type) && d.destination(result.elements[1], ScalarType::Pred);
}

bool barrierOperands(InstDecoder &d, BarrierOp op) {
  Inst &inst = d.inst;
  inst.flow = Flow::Barrier;
  inst.undef = UndefRule::Own;
  inst.op = static_cast<uint8_t>(op);
  bool reduces = op >= BarrierOp::ReducePopc;
  size_t at = 0;
  if (reduces && !d.destination(at++, op == BarrierOp::ReducePopc ? ScalarType::U32 : ScalarType::Pred))
    return false;
  size_t trailing = reduces ? 1 : 0;
  if (!d.expectOperands(at + 1 + trailing + (op == BarrierOp::Arrive), at + 2 + trailing))
    return false;
  if (!d.source(at++, ScalarType::U32))
    return false;
  // The count is source 1; 0 stands for "all threads".
  if (d.operandCount() > at + trailing) {
    if (!d.source(at++, ScalarType::U32))
      return false;
    inst.mode = 1;
  } else {
    d.constant(0);
  }
  if (!reduces)
    return true;
  inst.negateSource = d.operand(at).negated;
  return d.predicate(at);
}

bool decodeBarrierOp(InstDecoder &d) {
  if (d.take("sync"))
    return barrierOperands(d, BarrierOp::Sync);
  if (d.take("arrive"))
    return barrierOperands(d, BarrierOp::Arrive);
  if (d.take("red")) {
    BarrierOp op = d.take("popc")  ? BarrierOp::ReducePopc
                   : d.take("and") ? BarrierOp::ReduceAnd
                   : d.take("or")  ? BarrierOp::ReduceOr
                                   : BarrierOp::Sync;
    if (op == BarrierOp::Sync)
      return d.fail("needs .popc, .and or .or");
    d.takeType();
    return barrierOperands(d, op);
  }
  return d.unsupported("this kind of barrier");
}

} // namespace

bool decodeActiveMask(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = activeMask;
  return d.expectOperands(1) && d.destination(0, ScalarType::U32);
}

bool decodeShfl(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!needSync(d))
    return false;
  static constexpr std::string_view modes[] = {"up", "down", "bfly", "idx"};
  bool found = false;
  for (uint8_t mode = 0; mode < std::size(modes); ++mode)
    if (d.take(modes[mode])) {
      inst.mode = mode;
      found = true;
    }
  if (!found)
    return d.fail("needs .up, .down, .bfly or .idx");
  inst.type = d.takeType();
  if (bitWidth(inst.type) != 32)
    return d.unsupported("this type");
  return d.expectOperands(5) && collective(d, CollectiveOp::Shuffle, 4) && d.source(1, inst.type) &&
         d.source(2, ScalarType::U32) && d.source(3, ScalarType::U32) && resultAndPredicate(d, inst.type);
}

bool decodeVote(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!needSync(d))
    return false;
  static constexpr std::string_view modes[] = {"all", "any", "uni", "ballot"};
  bool found = false;
  for (uint8_t mode = 0; mode < std::size(modes); ++mode)
    if (d.take(modes[mode])) {
      inst.mode = mode;
      found = true;
    }
  if (!found)
    return d.fail("needs .all, .any, .uni or .ballot");
  inst.type = d.takeType();
  bool ballot = static_cast<VoteMode>(inst.mode) == VoteMode::Ballot;
  if (inst.type != (ballot ? ScalarType::B32 : ScalarType::Pred))
    return d.unsupported("this type");
  if (!d.expectOperands(3))
    return false;
  inst.negateSource = d.operand(1).negated;
  return collective(d, CollectiveOp::Vote, 2) && d.predicate(1) && d.destination(0, inst.type);
}

bool decodeMatch(InstDecoder &d) {
  Inst &inst = d.inst;
  bool all = d.take("all");
  if (!all && !d.take("any"))
    return d.fail("needs .any or .all");
  if (!needSync(d))
    return false;
  inst.mode = static_cast<uint8_t>(all ? MatchMode::All : MatchMode::Any);
  inst.type = d.takeType();
  return d.expectOperands(3) && collective(d, CollectiveOp::Match, 2) && d.source(1, inst.type) &&
         resultAndPredicate(d, ScalarType::B32);
}

bool decodeRedux(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!needSync(d))
    return false;
  static constexpr struct {
    std::string_view name;
    AtomicOp op;
  } ops[] = {{"add", AtomicOp::Add}, {"min", AtomicOp::Min}, {"max", AtomicOp::Max},
             {"and", AtomicOp::And}, {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor}};
  bool found = false;
  for (const auto &entry : ops)
    if (d.take(entry.name)) {
      inst.mode = static_cast<uint8_t>(entry.op);
      found = true;
    }
  inst.type = d.takeType();
  if (!found || bitWidth(inst.type) != 32 || isFloat(inst.type))
    return d.unsupported("this form");
  return d.expectOperands(3) && collective(d, CollectiveOp::Reduce, 2) && d.source(1, inst.type) &&
         d.destination(0, inst.type);
}

bool decodeElect(InstDecoder &d) {
  return needSync(d) && d.expectOperands(2) && collective(d, CollectiveOp::Elect, 1) &&
         resultAndPredicate(d, ScalarType::B32);
}

bool decodeBar(InstDecoder &d) {
  if (d.take("warp"))
    return needSync(d) && d.expectOperands(1) && collective(d, CollectiveOp::WarpBarrier, 0);
  d.take("cta");
  d.inst.aligned = true;
  return decodeBarrierOp(d);
}

/// barrier.cluster.arrive{.release|.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
static bool decodeClusterBarrier(InstDecoder &d) {
  Inst &inst = d.inst;
  bool arrives = d.take("arrive");
  if (!arrives && !d.take("wait"))
    return d.fail("needs .arrive or .wait");
  inst.op = static_cast<uint8_t>(arrives ? BarrierOp::ClusterArrive : BarrierOp::ClusterWait);
  inst.order = arrives ? Order::Release : Order::Acquire;
  if (arrives && d.take("relaxed"))
    inst.order = Order::Relaxed;
  else
    d.take(arrives ? "release" : "acquire");
  inst.aligned = d.take("aligned");
  inst.flow = Flow::Barrier;
  inst.undef = UndefRule::Own;
  return d.needs(78, 90) && (inst.order != Order::Relaxed || d.needs(80, 90)) && d.expectOperands(0);
}

bool decodeBarrier(InstDecoder &d) {
  if (d.take("cluster"))
    return decodeClusterBarrier(d);
  d.take("cta");
  d.inst.aligned = d.take("aligned");
  return decodeBarrierOp(d);
}

} // namespace tilewright::ptxsim
