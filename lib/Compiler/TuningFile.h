// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tuning database, as `tilewright-sweep best` writes it (docs/sweeping.md):
//
//   {"schema": 1, "kind": "tilewright tuning database", "records": [
//     {"target": "cuda_sm_80", "chip": "NVIDIA A100-SXM4-40GB",
//      "problem": {"op": "mulf,addf", "layout": "ac,cb->ab", "types":
//      "f16,f16,f32->f32"}, "shape": [512, 512, 512], "config":
//      "#tilewright.lowering_config<…>", …}]}
//
// `target` is what --target says, or a program's name.

#ifndef TILEWRIGHT_LIB_COMPILER_TUNINGFILE_H
#define TILEWRIGHT_LIB_COMPILER_TUNINGFILE_H

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Puts the records for `chip` on the module; all of them where `chip` is
/// empty, if no target has records of more than one chip. On failure `error`
/// says what is wrong.
mlir::LogicalResult applyTuningFile(mlir::ModuleOp module, llvm::StringRef text,
                                    llvm::StringRef chip, std::string &error);

} // namespace tilewright

#endif
