// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the manifest (docs/abi.md) that are read off the IR: operands
// and checks of a dispatch off the kernel in program form; grid, parameters and
// guard of a variant off the kernel in its last form.

#ifndef TILEWRIGHT_ARTIFACT_MANIFEST_H
#define TILEWRIGHT_ARTIFACT_MANIFEST_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace tilewright {

/// The manifest's name of an element type ("f32"), or empty.
llvm::StringRef manifestDType(mlir::Type type);

/// {"kind": …, "dtype": …, "shape": […]} of a function's argument or result.
mlir::FailureOr<llvm::json::Object> describeValue(mlir::Location loc,
                                                  mlir::Type type);

/// name, operands, scalars and checks of the dispatch of a kernel in program
/// form.
mlir::FailureOr<llvm::json::Object> describeDispatch(mlir::func::FuncOp kernel);

/// name, guard, grid, block and params of a kernel with `tilewright.launch`.
/// `guard` is what the target variant asks for by itself.
mlir::FailureOr<llvm::json::Object>
describeVariant(mlir::func::FuncOp kernel, llvm::StringRef entry,
                const llvm::json::Value &guard);

} // namespace tilewright

#endif
