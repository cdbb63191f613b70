// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --asserts=off, which the module says by `tilewright.asserts = "off"`: every
// cf.assert of the program is dropped. Checks that the compiler adds by itself
// come later and stay.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DROPASSERTSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

namespace {
struct DropAssertsPass
    : public tilewright::impl::DropAssertsPassBase<DropAssertsPass> {
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    auto asserts =
        module ? module->getAttrOfType<StringAttr>(kAssertsAttr) : StringAttr();
    if (asserts && asserts.getValue() == "off")
      getOperation().walk([](cf::AssertOp op) { op.erase(); });
  }
};
} // namespace
