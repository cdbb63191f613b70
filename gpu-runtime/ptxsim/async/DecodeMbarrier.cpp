// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of mbarrier, and griddepcontrol.
//
//   mbarrier.init{.space}.b64 [a], count              mbarrier.inval{.space}.b64 [a]
//   mbarrier.expect_tx, .complete_tx {.sem}{.scope}{.space}.b64 [a], bytes
//   mbarrier.arrive, .arrive_drop {.expect_tx}{.noComplete}{.sem}{.scope}{.space}.b64 state|_, [a] {, count|bytes}
//   mbarrier.test_wait, .try_wait {.parity}{.sem}{.scope}{.space}.b64 done, [a], state|parity {, time}
//   mbarrier.pending_count.b64 count, state

#include "arithmetic/Families.h"
#include "async/Mbarrier.h"
#include "async/MbarrierOp.h"
#include "machine/LaneLoops.h"

namespace tilewright::ptxsim {
namespace {

uint64_t pendingCount(uint64_t state, const Inst &) { return state & Mbarrier::maxCount; }

void nothing(ExecContext &, const Inst &) {}

void waitForLaunches(ExecContext &context, const Inst &) {
  if (BlockRaces *races = context.block->races.get())
    races->waitForLaunches();
}

/// .sem.scope, of which forms before PTX 8.0 have none.
bool takeSemantics(InstDecoder &d, Order usual, std::string_view usualName) {
  Inst &inst = d.inst;
  inst.order = usual;
  bool isRelaxed = d.take("relaxed");
  if (isRelaxed)
    inst.order = Order::Relaxed;
  bool isExplicit = isRelaxed || d.take(usualName);
  takeScope(d);
  if (isExplicit ? inst.scope == Scope::None : inst.scope != Scope::None)
    return d.fail("the semantics and the scope come together");
  if (inst.scope > Scope::Cluster)
    return d.fail("the scope must be .cta or .cluster");
  if (usual == Order::Weak || !isExplicit)
    return true;
  return d.needs(isRelaxed ? 86 : 80, isRelaxed ? 90 : 80);
}

bool takeSharedSpace(InstDecoder &d, bool mayBeRemote) {
  Inst &inst = d.inst;
  if (mayBeRemote && d.take("shared::cluster")) {
    inst.space = Space::SharedCluster;
    return true;
  }
  if (d.hasModifier("shared::cluster"))
    return d.fail("only arrivals and transactions reach mbarriers of other blocks of the cluster");
  takeMemorySpace(d);
  return inst.space == Space::Shared || inst.space == Space::Generic || d.fail("an mbarrier is in shared memory");
}

/// The rest of a form: .b64, the operands behind the address, and the result in front of it.
bool operands(InstDecoder &d, MbarrierOp op, size_t at, size_t least, size_t most, ScalarType second) {
  Inst &inst = d.inst;
  inst.op = static_cast<uint8_t>(op);
  inst.undef = UndefRule::Own;
  if (!inst.run && inst.flow == Flow::Next)
    inst.run = executeMbarrier;
  if (d.takeType() != ScalarType::B64)
    return d.fail("needs .b64");
  if (!d.expectOperands(at + 1 + least, at + 1 + most) || !d.address(at))
    return false;
  return d.operandCount() == at + 1 || d.source(at + 1, second);
}

bool decodeArrive(InstDecoder &d, bool drops) {
  Inst &inst = d.inst;
  inst.mode = drops;
  bool noComplete = d.take("noComplete"), expects = d.take("expect_tx");
  if (noComplete && expects)
    return d.fail(".noComplete and .expect_tx exclude each other");
  if (expects && !d.needs(80, 90))
    return false;
  if (!takeSemantics(d, Order::Release, "release"))
    return false;
  bool remote = d.hasModifier("shared::cluster");
  if (!takeSharedSpace(d, !noComplete))
    return false;
  if (d.operandCount() < 2)
    return d.expectOperands(2, 3);
  bool hasCount = d.operandCount() == 3;
  if (hasCount && !noComplete && !expects && !d.needs(78, 90))
    return false;
  if (d.operand(0).kind == Operand::Sink) {
    if (!d.needs(78, 80))
      return false;
  } else if (remote) {
    return d.fail("an arrival at an mbarrier of the cluster returns no state");
  }
  MbarrierOp op = noComplete ? MbarrierOp::ArriveNoComplete
                  : expects  ? MbarrierOp::ArriveExpectTx
                             : MbarrierOp::Arrive;
  bool needsOperand = noComplete || expects;
  return operands(d, op, 1, needsOperand ? 1 : 0, 1, ScalarType::U32) && d.destination(0, ScalarType::B64);
}

bool decodeWait(InstDecoder &d, bool blocks) {
  Inst &inst = d.inst;
  inst.mode = d.take("parity");
  if (blocks ? !d.needs(78, 90) : inst.mode && !d.needs(71, 80))
    return false;
  if (!takeSemantics(d, Order::Acquire, "acquire") || !takeSharedSpace(d, false))
    return false;
  inst.flow = Flow::Poll;
  inst.run = executeMbarrier;
  // A last operand of try_wait hints how long to wait.
  return operands(d, blocks ? MbarrierOp::TryWait : MbarrierOp::TestWait, 1, 1, blocks ? 2 : 1,
                  inst.mode ? ScalarType::U32 : ScalarType::B64) &&
         d.destination(0, ScalarType::Pred);
}

} // namespace

bool decodeMbarrier(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.take("init"))
    return takeSharedSpace(d, false) && operands(d, MbarrierOp::Init, 0, 1, 1, ScalarType::U32);
  if (d.take("inval"))
    return takeSharedSpace(d, false) && operands(d, MbarrierOp::Invalidate, 0, 0, 0, ScalarType::U32);
  if (d.take("arrive"))
    return decodeArrive(d, false);
  if (d.take("arrive_drop"))
    return decodeArrive(d, true);
  if (d.take("test_wait"))
    return decodeWait(d, false);
  if (d.take("try_wait"))
    return decodeWait(d, true);
  bool expects = d.take("expect_tx");
  if (expects || d.take("complete_tx"))
    return d.needs(80, 90) && takeSemantics(d, Order::Weak, "relaxed") && takeSharedSpace(d, true) &&
           operands(d, expects ? MbarrierOp::ExpectTx : MbarrierOp::CompleteTx, 0, 1, 1, ScalarType::U32);
  if (d.take("pending_count")) {
    inst.run = unary<pendingCount>;
    inst.type = d.takeType();
    return inst.type == ScalarType::B64 && d.expectOperands(2) && d.source(1, ScalarType::B64) &&
           d.destination(0, ScalarType::U32);
  }
  return d.unsupported("this form");
}

bool decodeGriddepcontrol(InstDecoder &d) {
  // Grids run one after the other, each to its end: the earlier one is always complete. Races between them tell who did
  // not wait.
  if (d.take("wait"))
    d.inst.run = waitForLaunches;
  else if (d.take("launch_dependents"))
    d.inst.run = nothing;
  else
    return d.fail("needs .wait or .launch_dependents");
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(0);
}

} // namespace tilewright::ptxsim
