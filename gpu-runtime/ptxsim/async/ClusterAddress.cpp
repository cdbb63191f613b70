// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mapa: the address that means, in another block of the cluster, what an address means in the own one. getctarank: whose
// shared memory an address is in.
//
//   mapa{.shared::cluster}.u32|.u64 d, a, rank      getctarank{.shared::cluster}.u32|.u64 d, a
//
// Without a space, a is a generic address, and so is the result of mapa.

#include "arithmetic/Families.h"
#include "machine/MemoryAccess.h"

namespace tilewright::ptxsim {
namespace {

/// The address as .shared::cluster has it; false after a finding.
bool inWindow(ExecContext &context, const Inst &inst, unsigned lane, uint64_t &address) {
  if (inst.space == Space::Generic)
    address -= context.grid->memory->windowBase() + DeviceMemory::sharedWindow;
  else
    address &= 0xffffffff;
  if (address < DeviceMemory::localWindow)
    return true;
  context.report(FindingKind::ClusterMisuse, inst, lane, address, "the address is not one of shared memory");
  return false;
}

void define(ExecContext &context, const Inst &inst, uint64_t undefined, unsigned lane) {
  if (context.checks)
    context.setUndefinedBits(inst.dst[0], lane, undefined ? lowBits(inst.dstBits) : 0);
}

void mapAddress(ExecContext &context, const Inst &inst) {
  uint64_t ranks = context.grid->clusterDim.count();
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = context.row(inst.src[0])[lane];
    uint32_t rank = static_cast<uint32_t>(context.row(inst.src[1])[lane]);
    uint64_t undefined = 0;
    if (context.checks)
      undefined = context.undefinedBits(inst.src[0], lane) | context.undefinedBits(inst.src[1], lane);
    define(context, inst, undefined, lane);
    if (undefined != 0 || !inWindow(context, inst, lane, address))
      return;
    if (rank >= ranks)
      return context.report(FindingKind::ClusterMisuse, inst, lane, address,
                            "rank " + std::to_string(rank) + " in a cluster of " + std::to_string(ranks) + " blocks");
    uint64_t result = sharedOfRank(rank, address);
    if (inst.space == Space::Generic)
      result += context.grid->memory->windowBase() + DeviceMemory::sharedWindow;
    context.row(inst.dst[0])[lane] = result;
  });
}

void rankOf(ExecContext &context, const Inst &inst) {
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = context.row(inst.src[0])[lane];
    uint64_t undefined = context.checks ? context.undefinedBits(inst.src[0], lane) : 0;
    define(context, inst, undefined, lane);
    if (undefined != 0 || !inWindow(context, inst, lane, address))
      return;
    const Block *owner = ownerOfShared(context, address);
    if (!owner)
      return context.report(FindingKind::ClusterMisuse, inst, lane, address,
                            "the address is of a block that the cluster does not have");
    context.row(inst.dst[0])[lane] = owner->rank;
  });
}

bool takeForm(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.undef = UndefRule::Own;
  if (d.take("shared::cluster"))
    inst.space = Space::SharedCluster;
  inst.type = d.takeType();
  return inst.type == ScalarType::U32 || inst.type == ScalarType::U64 || d.fail("the type must be .u32 or .u64");
}

} // namespace

bool decodeMapa(InstDecoder &d) {
  d.inst.run = mapAddress;
  return takeForm(d) && d.expectOperands(3) && d.destination(0, d.inst.type) && d.source(1, d.inst.type) &&
         d.source(2, ScalarType::U32);
}

bool decodeGetctarank(InstDecoder &d) {
  d.inst.run = rankOf;
  return takeForm(d) && d.expectOperands(2) && d.source(1, d.inst.type) && d.destination(0, ScalarType::U32);
}

} // namespace tilewright::ptxsim
