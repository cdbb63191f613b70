// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pinned lowering configs: where they may stand, and for which target they are.
//
//   linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<…>}
//   linalg.matmul {tilewright.lowering_config = {
//       "cuda:sm_80" = #tilewright.lowering_config<…>,
//       vulkan = #tilewright.lowering_config<…>}}
//   module attributes {tilewright.pins = {main_matmul_0 = {cpu = …}}}
//
// The last is what `tilewright-compile --config=FILE` reads. Once programs are cloned
// there is one config left per op and kernel.

#ifndef TILEWRIGHT_CONFIGURE_PINS_H
#define TILEWRIGHT_CONFIGURE_PINS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Attribute of a module: configs by kernel, each a dictionary by target or, in a
/// program, the program's own.
inline constexpr llvm::StringLiteral kPinsAttr = "tilewright.pins";

/// Of a dictionary by target the entry for `program`, which was compiled for
/// `target`: the program's name (cuda_sm_80) comes before the target (cuda:sm_80), and
/// that before the longest part of it (cuda). Null where there is none.
LoweringConfigAttr pinFor(mlir::DictionaryAttr byTarget, llvm::StringRef program,
                          llvm::StringRef target);

/// Leaves in a program the configs that are for it.
void resolvePins(mlir::ModuleOp program, llvm::StringRef target);

/// The config that the program's `tilewright.pins` has for `kernel`, or for the
/// kernel that it is a variant of; or null.
LoweringConfigAttr getPin(mlir::func::FuncOp kernel);

/// Refuses pins of kernels that the program does not have.
mlir::LogicalResult checkPinnedKernels(mlir::ModuleOp program);

} // namespace tilewright

#endif
