// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A config pinned on an op keeps the loops of the op as they are. One that was
// listed for the kernel has an entry per loop of what normalization makes of the
// op: without the loops of one iteration, say. Such a config rides on the op's
// location, which every rewrite keeps, and the op is rewritten like any other.
//
//   linalg.matmul {tilewright.lowering_config = C} … loc(L)    // C of 2 loops, op of 3
// becomes
//   linalg.matmul … loc(fused<C>[L])
// and at the end of the stage
//   linalg.generic {…, tilewright.lowering_config = C} … loc(L)

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {
#define GEN_PASS_DEF_CARRYCONFIGSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Whether `attribute`, a config or a dictionary of them by target, has an entry
/// for each of `loops`; one that has keeps the loops for all.
static bool speaksOf(Attribute attribute, unsigned loops) {
  if (auto config = dyn_cast<LoweringConfigAttr>(attribute))
    return config.getBlock().size() == loops;
  return llvm::any_of(cast<DictionaryAttr>(attribute), [&](NamedAttribute entry) {
    return speaksOf(entry.getValue(), loops);
  });
}

static Attribute carriedBy(Operation *op) {
  auto fused = dyn_cast<FusedLoc>(op->getLoc());
  Attribute metadata = fused ? fused.getMetadata() : Attribute();
  auto byTarget = dyn_cast_or_null<DictionaryAttr>(metadata);
  bool isConfig = byTarget && !byTarget.empty()
                      ? llvm::all_of(byTarget, [](NamedAttribute entry) {
                          return isa<LoweringConfigAttr>(entry.getValue());
                        })
                      : isa_and_nonnull<LoweringConfigAttr>(metadata);
  return isConfig ? metadata : Attribute();
}

void tilewright::pickUpConfigs(func::FuncOp func) {
  func.walk([](linalg::LinalgOp op) {
    Attribute config = op->getAttr(kConfigAttr);
    if (!config || speaksOf(config, op.getNumLoops()))
      return;
    op->removeAttr(kConfigAttr);
    op->setLoc(FusedLoc::get({op->getLoc()}, config, op->getContext()));
  });
}

void tilewright::putDownConfigs(func::FuncOp func) {
  func.walk([](Operation *op) {
    Attribute config = carriedBy(op);
    if (!config)
      return;
    op->setLoc(cast<FusedLoc>(op->getLoc()).getLocations().front());
    if (isa<linalg::GenericOp>(op))
      op->setAttr(kConfigAttr, config);
  });
}

namespace {
struct CarryConfigsPass
    : public tilewright::impl::CarryConfigsPassBase<CarryConfigsPass> {
  using CarryConfigsPassBase::CarryConfigsPassBase;
  void runOnOperation() override {
    if (putDown)
      putDownConfigs(getOperation());
    else
      pickUpConfigs(getOperation());
  }
};
} // namespace
