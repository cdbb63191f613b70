// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-pipeline: overlaps the loads of loops that multiply from shared
// memory with the products. A ring of stages filled by asynchronous copies
// (AsyncRing.cpp) where the target has them and every operand is copied as it
// is (TileCopies.cpp); else two stages, and registers between for the operands
// that are not (DoubleBuffer.cpp).

#include "tilewright/Pipeline/Pipeline.h"
#include "LoopParts.h"

namespace tilewright {
#define GEN_PASS_DEF_PIPELINEPASS
#define GEN_PASS_REGISTRATION
#include "tilewright/Pipeline/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static std::string bytesOf(ArrayRef<TileCopy> copies) {
  std::string bytes;
  Value tile; // which may be copied in parts
  for (TileCopy copy : copies)
    if (Value last = std::exchange(tile, copy.write.getBase()); last != tile)
      bytes += (bytes.empty() ? "" : " and ") + std::to_string(copy.bytes);
  return bytes;
}

static void pipelineLoop(func::FuncOp kernel, LoweringConfigAttr config,
                         scf::ForOp loop, const LoopParts &parts) {
  TargetAttr target = getTarget(kernel);
  SmallVector<TileCopy> copies;
  if (config.getMma() && target && target.has("async_copy")) {
    FoundCopies found = findCopies(kernel, parts);
    copies = found.copies;
    if (copies.size() == parts.stores.size()) {
      addExplanation(kernel, "ring of " + Twine(config.getStages()) +
                          " stages in shared memory, filled " +
                          Twine(config.getStages() - 1) +
                          " steps ahead by asynchronous copies of " +
                          bytesOf(copies) + " bytes a thread");
      fillRing(loop, parts, copies, config.getStages());
      return;
    }
    // Narrow ones would be more instructions than wide loads and their stores.
    llvm::erase_if(copies, [](const TileCopy &copy) { return copy.bytes < 16; });
    if (copies.empty())
      addExplanation(kernel, "no asynchronous copies, but registers between two stages "
                             "of shared memory: " +
                                 found.other.str());
    else
      addExplanation(kernel,
                     "two stages of shared memory, one operand by asynchronous "
                     "copies of " +
                         bytesOf(copies) +
                         " bytes a thread, the other through registers: " + found.other.str());
  } else if (config.getMma() && config.getStages() > 2) {
    addExplanation(kernel, "registers between two stages of shared memory: the target "
                    "has no asynchronous copies");
  }
  doubleBuffer(loop, parts, copies);
}

LogicalResult tilewright::pipelineLoops(func::FuncOp kernel) {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  // Rings between warps keep their own steps ahead.
  if (!config || config.getStages() < 2 || config.hasRoles())
    return success();
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  bool hasPipelined = false;
  for (scf::ForOp loop : loops)
    if (std::optional<LoopParts> parts = findLoopParts(loop)) {
      pipelineLoop(kernel, config, loop, *parts);
      hasPipelined = true;
    }
  if (!hasPipelined)
    addExplanation(kernel, "no loop to pipeline: 'stages' = " + Twine(config.getStages()) +
                               " makes no difference where none copies tiles into shared "
                               "memory in several steps");
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

void tilewright::populatePipelinePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createPipelinePass());
  pm.addNestedPass<func::FuncOp>(createOverlapProductsPass());
  pm.addNestedPass<func::FuncOp>(createPeelMasksPass());
  pm.addNestedPass<func::FuncOp>(createDropLastReleasesPass());
}
