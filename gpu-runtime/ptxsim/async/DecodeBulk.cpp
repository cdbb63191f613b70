// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of bulk copies without tensor maps.
//
//   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint}
//       [to], [from], size, [mbarrier] {, ctaMask} {, policy}
//   cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier]
//   cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint} [to], [from], size {, policy}
//   cp.reduce.async.bulk...: the last two, with .op.type behind
//   cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [from], size {, policy}
//   cp.async.bulk.commit_group, cp.async.bulk.wait_group{.read} n

#include "arithmetic/Families.h"
#include "async/Bulk.h"
#include "async/BulkOp.h"
#include "decode/Decoder.h"
#include "machine/Atomic.h"
#include "machine/MemoryAccess.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

/// Sources: destination, source, size, and the mbarrier of copies to shared memory; then, as a list, the mask.
void bulkCopy(ExecContext &context, const Inst &inst) {
  const std::vector<Row> &list = context.grid->program->rowLists[inst.rows];
  if (context.checks) {
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
    for (Row row : list)
      checkAddressDefined(context, inst, row, context.mask);
  }
  forEachLane(context.mask, [&](unsigned lane) {
    if (context.stopped)
      return;
    PendingBulk copy;
    copy.inst = &inst;
    copy.way = static_cast<BulkWay>(inst.mode);
    copy.to = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    copy.from = context.row(inst.src[1])[lane] + static_cast<uint64_t>(inst.offset2);
    copy.bytes = static_cast<uint32_t>(context.row(inst.src[2])[lane]);
    if (copy.way != BulkWay::GlobalToShared)
      copy.from &= 0xffffffff;
    if (!copy.endsInGroup()) {
      copy.to &= 0xffffffff;
      copy.barrier = (context.row(inst.src[3])[lane] + static_cast<uint64_t>(inst.offset3)) & 0xffffffff;
    }
    if (copy.bytes % 16 != 0 || copy.to % 16 != 0 || copy.from % 16 != 0) {
      context.report(FindingKind::Misaligned, inst, lane, copy.endsInGroup() ? copy.to : toldShared(context, copy.to),
                     "a bulk copy of " + std::to_string(copy.bytes) +
                         " bytes: addresses and size must be multiples of 16");
      return;
    }
    uint16_t mask = list.empty() ? 0 : static_cast<uint16_t>(context.row(list[0])[lane]);
    if (!list.empty() && mask == 0)
      return context.report(FindingKind::ClusterMisuse, inst, lane, toldShared(context, copy.to), "a multicast to no block");
    issueBulk(context, lane, std::move(copy), mask);
  });
}

void nothing(ExecContext &, const Inst &) {}

bool takeReduction(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.reduces = true;
  if (!takeAtomicOp(d))
    return false;
  bool withoutFlush = d.take("noftz");
  inst.type = d.takeType();
  AtomicOp op = static_cast<AtomicOp>(inst.op);
  if (!isBulkReduction(static_cast<BulkWay>(inst.mode), op, inst.type))
    return d.unsupported("this operation on this type");
  bool isHalf = inst.type == ScalarType::F16 || inst.type == ScalarType::BF16;
  bool wants = isHalf && op == AtomicOp::Add;
  return withoutFlush == wants ||
         d.fail(wants ? ".add of 16-bit floats needs .noftz" : ".noftz is for .add.f16 and .add.bf16");
}

} // namespace

bool isBulkReduction(BulkWay way, AtomicOp op, ScalarType type) {
  auto among = [&](std::initializer_list<ScalarType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  using T = ScalarType;
  bool toGlobal = way == BulkWay::SharedToGlobal;
  switch (op) {
  case AtomicOp::Add:
    return among({T::U32, T::S32, T::U64}) || (toGlobal && among({T::F16, T::BF16, T::F32, T::F64}));
  case AtomicOp::Min:
  case AtomicOp::Max:
    return among({T::U32, T::S32}) || (toGlobal && among({T::U64, T::S64, T::F16, T::BF16}));
  case AtomicOp::Inc:
  case AtomicOp::Dec:
    return type == T::U32;
  case AtomicOp::And:
  case AtomicOp::Or:
  case AtomicOp::Xor:
    return type == T::B32 || (toGlobal && type == T::B64);
  default:
    return false;
  }
}

bool takeBulkWay(InstDecoder &d, bool &multicast) {
  multicast = d.take("multicast::cluster");
  std::string_view to, from;
  if (d.remaining().size() >= 2) {
    to = d.remaining()[0];
    from = d.remaining()[1];
  }
  bool toShared = to == "shared::cluster" || to == "shared::cta";
  if (to == "shared::cta" && !d.needs(86, 90))
    return false;
  BulkWay way = BulkWay::GlobalToShared;
  if (to == "global" && from == "shared::cta")
    way = BulkWay::SharedToGlobal;
  else if (to == "shared::cluster" && from == "shared::cta")
    way = BulkWay::SharedToShared;
  else if (!toShared || from != "global")
    return d.unsupported("this direction");
  if (multicast && (way != BulkWay::GlobalToShared || to != "shared::cluster"))
    return d.fail("a multicast goes from .global to .shared::cluster");
  d.take(to);
  d.take(from);
  d.inst.mode = static_cast<uint8_t>(way);
  // That of the mbarrier.
  d.inst.space = Space::SharedCluster;
  return d.take(way == BulkWay::SharedToGlobal ? "bulk_group" : "mbarrier::complete_tx::bytes") ||
         d.fail("needs its way of completion");
}

bool takeBulkTail(InstDecoder &d, size_t next, bool multicast, bool hasPolicy) {
  if (!d.expectOperands(next + multicast + hasPolicy))
    return false;
  std::vector<std::vector<Row>> &lists = d.decoder.program.rowLists;
  std::vector<Row> &rows = lists[d.inst.rows];
  if (multicast && !d.sourceRow(d.operand(next), ScalarType::U16, rows))
    return false;
  std::vector<Row> policy;
  return !hasPolicy || d.sourceRow(d.operand(next + multicast), ScalarType::B64, policy);
}

bool decodeBulk(InstDecoder &d, bool reduces) {
  Inst &inst = d.inst;
  d.decoder.program.usesAgents = true;
  if (d.take("tensor"))
    return decodeBulkTensor(d, reduces);
  if (!reduces && d.take("commit_group")) {
    inst.run = commitBulkGroup;
    return d.expectOperands(0);
  }
  if (!reduces && d.take("wait_group")) {
    uint64_t left;
    inst.mode = d.take("read");
    inst.run = waitBulkGroup;
    if (!d.expectOperands(1) || !d.immediate(0, left))
      return false;
    inst.offset = static_cast<int64_t>(left);
    return true;
  }
  bool hasPolicy = d.take("L2::cache_hint");
  if (!reduces && d.take("prefetch")) {
    if (d.take("tensor"))
      return d.fail("the dimensions are missing");
    inst.run = nothing;
    return (d.take("L2") && d.take("global") || d.fail("needs .L2.global")) && d.expectOperands(2 + hasPolicy) &&
           d.address(0) && d.source(1, ScalarType::U32);
  }
  for (std::string_view later : {"cp_mask", "ignore_oob"})
    if (d.hasModifier(later))
      return d.fail("." + std::string(later) + " needs sm_100");
  bool multicast;
  if (!takeBulkWay(d, multicast))
    return false;
  if (reduces ? multicast || static_cast<BulkWay>(inst.mode) == BulkWay::GlobalToShared || !takeReduction(d) : false)
    return d.unsupported("this direction");
  inst.run = bulkCopy;
  bool toShared = inst.mode != static_cast<uint8_t>(BulkWay::SharedToGlobal);
  if (!d.expectOperands(3 + toShared, 5 + toShared) || !d.address(0))
    return false;
  int64_t to = inst.offset;
  if (!d.address(1))
    return false;
  inst.offset2 = inst.offset;
  if (!d.source(2, ScalarType::U32))
    return false;
  if (toShared && !d.address(3))
    return false;
  inst.offset3 = inst.offset;
  inst.offset = to;
  inst.rows = static_cast<uint32_t>(d.decoder.program.rowLists.size());
  d.decoder.program.rowLists.emplace_back();
  return takeBulkTail(d, 3 + toShared, multicast, hasPolicy);
}

} // namespace tilewright::ptxsim
