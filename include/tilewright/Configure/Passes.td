// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_CONFIGURE_PASSES_TD
#define TILEWRIGHT_CONFIGURE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConfigurePass : Pass<"tilewright-configure", "::mlir::ModuleOp"> {
  let summary = "Choose a schedule for every kernel";
  let description = [{
    Puts `#tilewright.lowering_config` on the root op of each kernel in program
    form that has none, and `tilewright.explain` on the kernel: the strategy,
    the config, and what was refused and why. A config that is there already is
    honoured, or refused with an error that has the numbers. Nothing else
    changes.

    Candidates are enumerated per strategy, those that do not fit the target's
    limits are dropped, and a cost model over the target's facts ranks the rest.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect"];
  let options = [
    Option<"listConfigs", "list-configs", "bool", /*default=*/"false",
           "also put every candidate that fits on the kernel, best first "
           "(tilewright.configs)">
  ];
}

#endif
