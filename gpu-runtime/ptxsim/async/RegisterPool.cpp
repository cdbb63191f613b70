// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setmaxnreg: warpgroups hand registers to each other through the pool of their block.
//
// The pool is what the block has at entry: .maxnreg per thread, or what ptxas takes from .maxntid and .minnctapersm.
// Where neither is given, ptxas decides by the kernel's code whether it honours setmaxnreg. Where it is there, it is asked;
// where it is not, or says C7508, the instruction does nothing, with a warning. A warp that asks for more than is free
// waits. The four warps of a warpgroup execute the same ones.

#include "async/RegisterPool.h"
#include "arithmetic/Families.h"
#include "async/Mbarrier.h"
#include "async/PtxasVerdict.h"
#include "decode/Decoder.h"
#include "machine/State.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

constexpr uint32_t registersPerMultiprocessor = 65536, maxPerThread = 255, warpsPerGroup = 4;

/// 0 where nothing says so.
uint32_t registersAtEntry(const Function &kernel) {
  if (kernel.maxRegisters != 0)
    return kernel.maxRegisters;
  const uint32_t *shape = kernel.requiredThreads[0] != 0 ? kernel.requiredThreads : kernel.maxThreads;
  uint64_t threads = 1;
  for (unsigned i = 0; i < 3; ++i)
    threads *= std::max(shape[i], 1u);
  if (shape[0] == 0 || kernel.minBlocks == 0)
    return 0;
  uint64_t wholeWarps = (threads + warpSize - 1) / warpSize * warpSize;
  uint64_t each = registersPerMultiprocessor / (wholeWarps * kernel.minBlocks) / 8 * 8;
  return static_cast<uint32_t>(std::min<uint64_t>(each, maxPerThread));
}

/// inst.offset: the new number; inst.mode: more than before.
void setMaxRegisters(ExecContext &context, const Inst &inst) {
  Block &block = *context.block;
  auto misuse = [&](std::string message) {
    context.report(FindingKind::RegisterPool, inst, static_cast<unsigned>(__builtin_ctz(context.mask)), 0,
                   std::move(message));
  };
  if (context.mask != ~0u)
    return misuse("setmaxnreg by part of a warp");
  if (block.registers.empty()) {
    const Program &program = *context.grid->program;
    uint32_t entry = registersAtEntry(*program.kernel);
    PtxasVerdict verdict;
    if (entry == 0) {
      verdict = askPtxas(*program.module, *program.kernel);
      entry = verdict.registers;
    }
    if (!verdict.ignored.empty())
      return context.reportWithOther(FindingKind::RegisterPool, inst,
                                     static_cast<unsigned>(__builtin_ctz(context.mask)), 0,
                                     "setmaxnreg is ignored; ptxas says: " + verdict.ignored, 0, /*isWarning=*/true);
    if (entry == 0)
      return context.reportWithOther(FindingKind::RegisterPool, inst,
                                     static_cast<unsigned>(__builtin_ctz(context.mask)), 0,
                                     "setmaxnreg may be ignored, and is here: without .maxnreg, or .maxntid with "
                                     ".minnctapersm, ptxas decides",
                                     0, /*isWarning=*/true);
    block.registers.assign(block.warps.size(), entry);
    block.registerChanges.resize(block.warps.size());
  }
  uint32_t &mine = block.registers[context.warp->index];
  uint32_t wanted = static_cast<uint32_t>(inst.offset);
  if (inst.mode ? wanted < mine : wanted > mine)
    return misuse(std::string(inst.mode ? "setmaxnreg.inc" : "setmaxnreg.dec") + " from " + std::to_string(mine) +
                  " to " + std::to_string(wanted) + " registers");
  if (wanted > mine && wanted - mine > block.freeRegisters) {
    context.sleeps = context.again = true;
    return;
  }
  block.freeRegisters += static_cast<int64_t>(mine) - wanted;
  if (wanted < mine)
    wakeSleepers(block);
  block.idleWakes = 0;
  mine = wanted;
  block.registerChanges[context.warp->index].push_back(&inst);
}

} // namespace

void checkRegisterPool(ExecContext &context, const Block &block) {
  const std::vector<std::vector<const Inst *>> &changes = block.registerChanges;
  for (size_t warp = 1; warp < changes.size(); ++warp) {
    const auto &mine = changes[warp], &first = changes[warp / warpsPerGroup * warpsPerGroup];
    if (mine == first)
      continue;
    size_t at = static_cast<size_t>(
        std::mismatch(mine.begin(), mine.end(), first.begin(), first.end()).first - mine.begin());
    context.report(FindingKind::RegisterPool, at < first.size() ? *first[at] : *mine[at], noIndex, 0,
                   "the warps of a warpgroup do not execute the same setmaxnreg: warp " + std::to_string(warp) +
                       (at < mine.size() ? " executes that of line " + std::to_string(mine[at]->line)
                                         : std::string(" ends without it")));
  }
}

bool decodeSetmaxnreg(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.decoder.module.targetSuffix != 'a' || d.decoder.module.target != 90)
    return d.fail("needs .target sm_90a");
  inst.mode = d.take("inc");
  if (!inst.mode && !d.take("dec"))
    return d.fail("needs .inc or .dec");
  if (!d.take("sync") || !d.take("aligned") || d.takeType() != ScalarType::U32)
    return d.fail("needs .sync.aligned.u32");
  uint64_t count;
  if (!d.expectOperands(1) || !d.immediate(0, count))
    return false;
  if (count < 24 || count > 256 || count % 8 != 0)
    return d.fail("the number of registers must be a multiple of 8 from 24 to 256");
  inst.offset = static_cast<int64_t>(count);
  inst.flow = Flow::Poll;
  inst.undef = UndefRule::Own;
  inst.run = setMaxRegisters;
  return true;
}

} // namespace tilewright::ptxsim
