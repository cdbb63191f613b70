// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_SPECIALIZE_PASSES_TD
#define TILEWRIGHT_SPECIALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpecializePass : Pass<"tilewright-specialize", "::mlir::ModuleOp"> {
  let summary = "add variants of kernels that promise aligned rows";
  let description = [{
    A kernel whose operands have dynamic innermost dims cannot use wide memory
    accesses: rows may start anywhere. Each such kernel is cloned in front of
    itself; the clone promises in `tilewright.divisible` that those dims are
    multiples of one wide access, which the run time checks before it picks the
    variant (`tilewright.variant_of` names the original).
  }];
}

#endif
