// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering configs from outside of the program, as --list-configs prints them:
//
//   {"main_matmul_0": {"cuda:sm_80": "#tilewright.lowering_config<…>",
//                      "cpu":        "#tilewright.lowering_config<…>"},
//    "12:8": {"vulkan": "…"}}      // the op at line 12, column 8 of the source

#ifndef TILEWRIGHT_LIB_COMPILER_CONFIGFILE_H
#define TILEWRIGHT_LIB_COMPILER_CONFIGFILE_H

#include "tilewright/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Puts the configs of `text` on the ops and the module. On failure `error` says what
/// is wrong in it.
mlir::LogicalResult applyConfigFile(mlir::ModuleOp module, llvm::StringRef text,
                                    const TargetRegistry &registry,
                                    std::string &error);

/// Fails with an error at an op that has configs by target one of which is for none.
mlir::LogicalResult checkPinTargets(mlir::ModuleOp module, const TargetRegistry &registry);

/// Where the ops with a config stand in the source.
llvm::SmallVector<mlir::FileLineColLoc> findPinned(mlir::ModuleOp module);

/// Fails with an error at each of `before` that is no longer among the pinned ops of
/// `module`: its config would be ignored.
mlir::LogicalResult keepsPinned(mlir::ModuleOp module,
                                llvm::ArrayRef<mlir::FileLineColLoc> before);

} // namespace tilewright

#endif
