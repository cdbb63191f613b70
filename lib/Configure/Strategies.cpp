// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of strategies. Of kernels that several are for, the first has it; configs of
// equal rank and cost stay in this order.

#include "Strategy.h"
#include "Cpu/Cpu.h"
#include "MatrixUnit/MatrixUnit.h"
#include "Reduction/Reduction.h"
#include "SimtContraction/SimtContraction.h"
#include "SkinnyContraction/SkinnyContraction.h"
#include "Streaming/Streaming.h"
#include "Transpose/Transpose.h"
#include "WarpSpecialized/WarpSpecialized.h"

using namespace mlir;
using namespace tilewright;

ScheduleStrategy::~ScheduleStrategy() = default;

static const Warpgroups warpgroups;
static const MatrixUnit matrixUnit;
static const RingedMma ringedMma;
static const SkinnyContraction skinnyContraction;
static const SimtContraction simtContraction;
static const Reduction reduction;
static const Streaming streaming;
static const Transpose transpose;
static const CpuContraction cpuContraction;
static const CpuReduction cpuReduction;
static const CpuStreaming cpuStreaming;

ArrayRef<const ScheduleStrategy *> tilewright::strategiesOf(bool isCpu) {
  static const ScheduleStrategy *const ofGpus[] = {
      &warpgroups,      &matrixUnit, &ringedMma, &skinnyContraction,
      &simtContraction, &reduction,  &streaming, &transpose};
  static const ScheduleStrategy *const ofCpus[] = {&cpuContraction, &cpuReduction,
                                                   &cpuStreaming};
  if (isCpu)
    return ofCpus;
  return ofGpus;
}

ArrayRef<const ScheduleStrategy *> tilewright::strategiesFor(TargetAttr target) {
  return strategiesOf(target && target.getFact("subgroup", 1) <= 1);
}

const ScheduleStrategy &tilewright::strategyOf(const KernelInfo &info, TargetAttr target) {
  for (const ScheduleStrategy *strategy : strategiesFor(target))
    if (strategy->getName() == info.strategy)
      return *strategy;
  llvm_unreachable("every kernel is some strategy's");
}

const ScheduleStrategy &tilewright::strategyOf(const KernelInfo &info,
                                               LoweringConfigAttr config,
                                               TargetAttr target) {
  // Panels of CPUs are multiplied by instructions, too.
  if (target && target.getFact("subgroup", 1) <= 1)
    return strategyOf(info, target);
  if (config.isForWarpgroups())
    return warpgroups;
  if (config.isWarpSpecialized())
    return ringedMma;
  if (config.getMma())
    return matrixUnit;
  return strategyOf(info, target);
}
