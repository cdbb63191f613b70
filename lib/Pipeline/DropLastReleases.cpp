// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring's stage that is never filled again need not be said to be empty. A producer at
// position p waits for the release of position p - stages, so the last `stages` releases
// of a ring are waited for by nobody:
//
//   scf.for … { … release %keys[%p] … }       // ring of 2 stages
//   … release %keys[%a] …                     // stays
//   … release %keys[%b] …                     // goes
//   … release %keys[%c] …                     // goes
//
// Only those that stand behind all loops are known to be the last ones. A ring of which
// no release is left is filled once, so its producers wait for none:
//
//   acquire %keys[%c0] {known_empty}

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Pipeline/Pipeline.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_DROPLASTRELEASESPASS
#include "tilewright/Pipeline/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static bool hasRelease(Operation &op, Value ring) {
  return op.walk([&](ReleaseOp release) {
             return release.getRing() == ring ? WalkResult::interrupt()
                                              : WalkResult::advance();
           })
      .wasInterrupted();
}

/// Collects the releases of `ring` in `block` with fewer than `stages` others behind
/// them, of which there are `behind` behind the block. Returns how many there may be from
/// the block's begin on, or none where a loop makes that unknown.
static std::optional<int64_t> findLast(Block &block, Value ring, int64_t stages,
                                       int64_t behind, SmallVector<ReleaseOp> &last) {
  for (Operation &op : llvm::reverse(block)) {
    if (!hasRelease(op, ring))
      continue;
    if (auto release = dyn_cast<ReleaseOp>(op)) {
      if (behind++ < stages)
        last.push_back(release);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!isa<scf::IfOp, WarpsOp>(op) && !(loop && loop.getStaticTripCount() == APInt(64, 1)))
      return std::nullopt;
    int64_t most = behind;
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        std::optional<int64_t> count = findLast(inner, ring, stages, behind, last);
        if (!count)
          return std::nullopt;
        most = std::max(most, *count);
      }
    behind = most;
  }
  return behind;
}

/// A ring without releases must be seen to be filled once.
static bool isFilledOnce(RingOp ring, int64_t stages) {
  return llvm::all_of(ring.getRing().getUsers(), [&](Operation *user) {
    auto acquire = dyn_cast<AcquireOp>(user);
    std::optional<int64_t> position =
        acquire ? getConstantIntValue(acquire.getPosition()) : 0;
    return position && *position < stages;
  });
}

void tilewright::dropLastReleases(func::FuncOp kernel) {
  kernel.walk([&](RingOp ring) {
    int64_t stages = ring.getRing().getType().getStages();
    SmallVector<ReleaseOp> releases, last;
    for (Operation *user : ring.getRing().getUsers())
      if (auto release = dyn_cast<ReleaseOp>(user))
        releases.push_back(release);
    // How many warps release a stage is the same for all of a ring's.
    if (releases.empty() || llvm::any_of(releases, [&](ReleaseOp release) {
          return release->getParentOfType<WarpsOp>() != releases.front()->getParentOfType<WarpsOp>();
        }))
      return;
    (void)findLast(*ring->getBlock(), ring.getRing(), stages, 0, last);
    bool areAll = last.size() == releases.size();
    if (areAll && !isFilledOnce(ring, stages))
      return;
    for (ReleaseOp release : last)
      release->erase();
    for (Operation *user : ring.getRing().getUsers())
      if (auto acquire = dyn_cast<AcquireOp>(user); acquire && areAll)
        acquire.setKnownEmpty(true);
  });
}

namespace {
struct DropLastReleasesPass
    : tilewright::impl::DropLastReleasesPassBase<DropLastReleasesPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      dropLastReleases(getOperation());
  }
};
} // namespace
