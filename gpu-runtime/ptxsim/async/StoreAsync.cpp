// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores into, and reductions in, shared memory of the cluster that end at an mbarrier there.
//
//   st.async{.weak}{.shared::cluster}{.mbarrier::complete_tx::bytes}{.v2|.v4}.type [a], b, [mbarrier]
//   red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b, [mbarrier]
//
// They count as the agent that cp.async counts as: not of the asynchronous proxy.

#include "async/StoreAsync.h"
#include "arithmetic/Families.h"
#include "async/Bulk.h"
#include "decode/Decoder.h"
#include "machine/Atomic.h"
#include "machine/MemoryAccess.h"

#include <cstring>

namespace tilewright::ptxsim {
namespace {

/// Sources: the address, the mbarrier, then the values.
void storeAsync(ExecContext &context, const Inst &inst) {
  unsigned size = byteWidth(inst.type);
  if (context.checks)
    for (unsigned i = 0; i < 2; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
  if (!context.warp->copies)
    context.warp->copies = std::make_unique<AsyncCopies>();
  forEachLane(context.mask, [&](unsigned lane) {
    if (context.stopped)
      return;
    PendingBulk copy;
    copy.inst = &inst;
    copy.thread = copy.reader = copy.writer = context.warp->index * warpSize + lane;
    copy.way = BulkWay::SharedToShared;
    copy.to = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    copy.barrier = context.row(inst.src[1])[lane] + static_cast<uint64_t>(inst.offset2);
    if (inst.space == Space::Generic) {
      copy.to -= context.grid->memory->windowBase();
      copy.barrier -= context.grid->memory->windowBase();
    }
    copy.to &= 0xffffffff;
    copy.barrier &= 0xffffffff;
    copy.bytes = size * inst.elements;
    copy.isRead = true;
    copy.data.resize(copy.bytes);
    copy.defined.resize(context.checks ? copy.bytes : 0);
    for (unsigned i = 0; i < inst.elements; ++i) {
      std::memcpy(copy.data.data() + i * size, &context.row(inst.src[2 + i])[lane], size);
      if (!context.checks)
        continue;
      uint64_t defined = ~context.undefinedBits(inst.src[2 + i], lane);
      std::memcpy(copy.defined.data() + i * size, &defined, size);
    }
    copy.clock = ++context.warp->copies->issued[lane];
    if (BlockRaces *races = context.block->races.get()) {
      copy.issued = races->issue(copy.thread);
      copy.reader = copy.writer = races->agentOf(copy.thread);
    }
    startBulk(context, std::move(copy));
  });
}

/// What both have behind their semantics.
bool takeRest(InstDecoder &d) {
  Inst &inst = d.inst;
  d.decoder.program.usesAgents = true;
  inst.undef = UndefRule::Own;
  inst.run = storeAsync;
  if (d.take("shared::cluster"))
    inst.space = Space::SharedCluster;
  if (d.hasModifier("global") || d.hasModifier("mmio"))
    return d.fail("the form for global memory needs sm_100");
  return d.take("mbarrier::complete_tx::bytes") || d.fail("needs .mbarrier::complete_tx::bytes");
}

bool takeOperands(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!d.expectOperands(3) || !d.address(0))
    return false;
  int64_t to = inst.offset;
  if (!d.address(2))
    return false;
  inst.offset2 = inst.offset;
  inst.offset = to;
  const Operand &value = d.operand(1);
  if (inst.elements == 1)
    return d.source(value, inst.type);
  if (value.kind != Operand::Vector || value.elements.size() != inst.elements)
    return d.fail("the value must be a vector of " + std::to_string(inst.elements));
  for (const Operand &element : value.elements)
    if (!d.source(element, inst.type))
      return false;
  return true;
}

} // namespace

bool decodeStAsync(InstDecoder &d) {
  Inst &inst = d.inst;
  d.take("weak");
  if (!takeRest(d))
    return false;
  inst.elements = static_cast<uint8_t>(d.takeVector());
  inst.type = d.takeType();
  unsigned bits = bitWidth(inst.type);
  if ((bits != 32 && bits != 64) || inst.elements > 4)
    return d.unsupported("this type");
  return d.needs(81, 90) && takeOperands(d);
}

bool decodeRedAsync(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.reduces = true;
  if (!d.take("relaxed"))
    return d.fail("needs .relaxed.cluster");
  takeScope(d);
  if (inst.scope != Scope::Cluster)
    return d.fail("needs .relaxed.cluster");
  if (!takeRest(d) || !takeAtomicOp(d))
    return false;
  inst.type = d.takeType();
  using T = ScalarType;
  bool fits = false;
  switch (static_cast<AtomicOp>(inst.op)) {
  case AtomicOp::Inc:
  case AtomicOp::Dec:
    fits = inst.type == T::U32;
    break;
  case AtomicOp::Min:
  case AtomicOp::Max:
    fits = inst.type == T::U32 || inst.type == T::S32;
    break;
  case AtomicOp::Add:
    fits = inst.type == T::U32 || inst.type == T::S32 || inst.type == T::U64;
    break;
  case AtomicOp::And:
  case AtomicOp::Or:
  case AtomicOp::Xor:
    fits = inst.type == T::B32;
    break;
  default:
    break;
  }
  return (fits || d.unsupported("this operation on this type")) && d.needs(81, 90) && takeOperands(d);
}

} // namespace tilewright::ptxsim
