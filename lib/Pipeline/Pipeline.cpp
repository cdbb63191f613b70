// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-pipeline: overlaps the loads of loops that multiply from shared
// memory with the products. A ring of slots filled by asynchronous copies
// (AsyncRing.cpp) where the target has them and every operand is copied as it
// is; else two slots and registers between (DoubleBuffer.cpp).

#include "tilewright/Pipeline/Pipeline.h"
#include "LoopParts.h"

namespace tilewright {
#define GEN_PASS_DEF_PIPELINEPASS
#define GEN_PASS_REGISTRATION
#include "tilewright/Pipeline/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static void pipelineLoop(func::FuncOp kernel, LoweringConfigAttr config,
                         scf::ForOp loop, const LoopParts &parts) {
  TargetAttr target = getTarget(kernel);
  if (config.getMma() && target && target.has("async_copy")) {
    std::string reason;
    auto copies = findCopies(kernel, parts, reason);
    if (copies) {
      std::string bytes;
      for (const TileCopy &copy : *copies)
        bytes += (bytes.empty() ? "" : " and ") + std::to_string(copy.bytes);
      addExplanation(kernel, "ring of " + Twine(config.getStages()) +
                          " slots in shared memory, filled " +
                          Twine(config.getStages() - 1) +
                          " steps ahead by asynchronous copies of " + bytes +
                          " bytes a thread");
      fillRing(loop, parts, *copies, config.getStages());
      return;
    }
    addExplanation(kernel, "no asynchronous copies, but registers between two slots of "
                    "shared memory: " + reason);
  } else if (config.getMma() && config.getStages() > 2) {
    addExplanation(kernel, "registers between two slots of shared memory: the target "
                    "has no asynchronous copies");
  }
  doubleBuffer(loop, parts);
}

LogicalResult tilewright::pipelineLoops(func::FuncOp kernel) {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config || config.getStages() < 2)
    return success();
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (std::optional<LoopParts> parts = findLoopParts(loop))
      pipelineLoop(kernel, config, loop, *parts);
  return success();
}

namespace {
struct PipelinePass : tilewright::impl::PipelinePassBase<PipelinePass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(pipelineLoops(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerPipelinePasses() { registerTilewrightPipelinePasses(); }

void tilewright::populatePipelinePipeline(OpPassManager &pm,
                                          const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createPipelinePass());
}
