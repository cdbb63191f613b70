// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-dependent-launch: kernels that are launched while the one in front of them in
// the stream still runs (programmatic dependent launch), and wait for its end themselves.
//
//   scf.if %first {                          scf.if %first {
//     tilewright.mbarrier_init …               tilewright.mbarrier_init …
//   }                                        }
//   tilewright.cluster_barrier        ->     tilewright.cluster_barrier
//   tilewright.role if %producer {           nvvm.griddepcontrol wait
//     %tile = … copy of an operand           nvvm.griddepcontrol launch_dependents
//                                            tilewright.role if %producer {
//
// Behind the wait all that kernels in front have written is there. What precedes it, barriers
// and clusters that come together, hides behind their last blocks, as does the launch, which
// takes 1 us, and 2 us in clusters, on an H100. The next kernel may come when all blocks have
// waited: earlier its blocks would only hold what those in front of them need.

#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/NVVM/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_DEPENDENTLAUNCHPASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Whether `op` leaves alone what other kernels see: it has at most to do with the shared
/// memory, the barriers and the cluster of its own block.
static bool isOfBlock(Operation *op) {
  if (isa<RegionBranchOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return llvm::all_of(op->getRegions(), [](Region &region) {
      return llvm::all_of(region.getOps(), [](Operation &inner) { return isOfBlock(&inner); });
    });
  if (isa<MbarrierInitOp, MbarrierFenceOp, ClusterBarrierOp, ClusterArriveOp, BarrierOp>(op))
    return true;
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return isa_and_present<SharedAttr>(alloc.getType().getMemorySpace());
  return op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

namespace {
struct DependentLaunchPass
    : tilewright::impl::DependentLaunchPassBase<DependentLaunchPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || kernel.isExternal())
        continue;
      Operation &first = *llvm::find_if_not(
          kernel.getBody().front().without_terminator(),
          [](Operation &op) { return isOfBlock(&op); });
      OpBuilder b(&first);
      for (NVVM::GridDepActionKind kind : {NVVM::GridDepActionKind::wait,
                                           NVVM::GridDepActionKind::launch_dependents})
        NVVM::GriddepcontrolOp::create(b, first.getLoc(), kind);
    }
  }
};
} // namespace
