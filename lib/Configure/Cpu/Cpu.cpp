// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whose kernels are whose on CPUs, and what a pinned config may say. See Cpu.h.

#include "Cpu.h"
#include "Enumerate.h"
#include "tilewright/Analysis/Instructions.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

template <typename OfGpu>
Refusal CpuStrategy<OfGpu>::checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                                      TargetAttr target) const {
  return config.getMma() ? checkPanelInstruction(info, config, target) : Refusal();
}

/// Why the register tile is not what 'thread' says: no larger than 'block', and of loops that
/// are summed the whole step, unless operands or sums are taken in chunks.
static Refusal checkThread(const KernelInfo &info, LoweringConfigAttr config,
                           const TilePlan &plan) {
  for (auto [loop, thread] : llvm::enumerate(config.getThread())) {
    int64_t block = entry(config.getBlock(), loop, 0);
    if (block > 0 && thread > block)
      return refuse(Refused::Config, "'thread' has " + Twine(thread) + " and 'block' " +
                                         Twine(block) + " for " + describeLoop(info, loop) +
                                         "; a register tile is a part of the block");
    bool isSum = !info.classes[info.getClasses(info.getRoot())[loop]].parallel;
    if (isSum && !plan.panels && !plan.chunks && thread != 1 && thread != block)
      return refuse(Refused::Config,
                    "'thread' has " + Twine(thread) + " for " + describeLoop(info, loop) +
                        ", which is summed a step of 'block' at a time; make it 1 or " +
                        Twine(block) + ", or pack the operands ('promote')");
  }
  return {};
}

template <typename OfGpu>
Refusal CpuStrategy<OfGpu>::check(const KernelInfo &info, LoweringConfigAttr config,
                                  const TilePlan &plan, TargetAttr target) const {
  if (Refusal why = checkThread(info, config, plan))
    return why;
  return OfGpu::contracts() ? checkPacked(*this, info, config) : Refusal();
}

template <typename OfGpu>
int64_t CpuStrategy<OfGpu>::registers(const KernelInfo &info, LoweringConfigAttr config,
                                      const TilePlan &plan, TargetAttr target) const {
  return 1 + llvm::divideCeil(OfGpu::liveBytes(info, config, plan),
                              target.getFact("vector_bytes", 32));
}

template class tilewright::CpuStrategy<SimtContraction>;
template class tilewright::CpuStrategy<Reduction>;
template class tilewright::CpuStrategy<Streaming>;

bool CpuContraction::isFor(const KernelLoops &loops, TargetAttr target) const {
  ArrayRef<linalg::LinalgOp> products = loops.getProducts();
  return !products.empty() && !isRowAlongSum(products.back());
}

bool CpuContraction::isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                                TargetAttr target) const {
  return !loops.getProducts().empty() && pinned.getStrategy() == getName();
}

bool CpuContraction::match(const KernelInfo &info, TargetAttr target) const {
  return info.strategy == getName() && info.getContraction(info.getRoot());
}

bool CpuContraction::accepts(const KernelInfo &info, LoweringConfigAttr config) const {
  return ScheduleStrategy::accepts(info, config) ||
         (config.getMma() && config.getStrategy() == Strategy::MatrixUnit);
}

/// Says why the operands are read where they are, again for each row of register tiles.
void CpuContraction::explainMore(const KernelInfo &info, LoweringConfigAttr config,
                                 StringRef wasChosen,
                                 SmallVectorImpl<std::string> &lines) const {
  if (!config.getPromote().empty())
    return;
  Refusal why = whyNotPacked(info);
  lines.push_back("operands are not packed into panels: " +
                  (why ? why.str() : "this config " + wasChosen.str()));
}

Refusal tilewright::checkPanelInstruction(const KernelInfo &info, LoweringConfigAttr config,
                                          TargetAttr target) {
  StringAttr name = config.getMma();
  auto names = target.getFacts().getAs<ArrayAttr>("panel_mma");
  if (!names || !llvm::is_contained(names, name))
    return refuse(Refused::Target,
                  target.getName() + " has no instruction '" + name.getValue() + "'");
  if (config.getPromote().size() != 2)
    return refuse(Refused::Config, "'" + name.getValue() +
                                       "' multiplies packed operands; 'promote' has "
                                       "to name both");
  if (Refusal why = whyNotPacked(info))
    return why;
  const Contraction *contraction = info.getContraction(info.getRoot());
  auto instruction = matchInstruction(info.getRoot(), name, contraction);
  if (!instruction)
    return instruction.why();
  int64_t tiles = 1;
  for (auto [loops, size, what] :
       {std::tuple(ArrayRef<unsigned>(contraction->m), instruction->m, "rows"),
        {ArrayRef<unsigned>(contraction->n), instruction->n, "columns"},
        {ArrayRef<unsigned>(contraction->k), int64_t(0), "steps"}}) {
    int64_t extent = 1;
    for (unsigned loop : loops) {
      int64_t own = entry(config.getThread(), loop, 1);
      if (own > 1 && extent > 1)
        return refuse(Refused::Config,
                      "'thread' has two loops of " + Twine(what) + " with more than one element");
      extent = std::max(extent, own);
    }
    if (extent == 1)
      return refuse(Refused::Config, "'thread' has one of the " + Twine(what) + " that '" +
                                         name.getValue() + "' multiplies side by side");
    // Rows may be fewer than the instruction has.
    if (loops == ArrayRef<unsigned>(contraction->n) && extent % size)
      return refuse(Refused::Indivisible, "'thread' has " + Twine(extent) +
                                              " columns, which is no multiple of "
                                              "the " +
                                              Twine(size) + " of '" + name.getValue() + "'");
    if (!size && (extent % instruction->perWord() ||
                  (instruction->tiles && extent != instruction->k)))
      return refuse(Refused::Indivisible, "'thread' has " + Twine(extent) +
                                              " elements along the sum; '" + name.getValue() +
                                              "' takes " + Twine(instruction->k));
    if (size)
      tiles *= llvm::divideCeil(extent, size);
  }
  constexpr int64_t kAccumulators = 4;
  if (instruction->tiles && tiles > kAccumulators)
    return refuse(Refused::Registers, "'thread' has " + Twine(tiles) +
                                          " tiles; there are tile registers for " +
                                          Twine(kAccumulators));
  unsigned k = contraction->k.front();
  int64_t extent = info.classes[info.getClasses(info.getRoot())[k]].extent;
  if (!ShapedType::isDynamic(extent) && extent <= entry(config.getThread(), k, 1))
    return refuse(Refused::Extents, "the sum is no longer than a step of it");
  return {};
}
