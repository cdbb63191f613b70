// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much work one call of a function is, as expressions of the manifest over
// the function's inputs (docs/abi.md).

#ifndef TILEWRIGHT_ARTIFACT_WORK_H
#define TILEWRIGHT_ARTIFACT_WORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <vector>

namespace tilewright {

/// Whatever depends on data, or on what only the call tells, is left out.
struct FunctionWork {
  /// Arithmetic operations of all kernels; a multiply-add counts as two.
  std::optional<llvm::json::Value> flops;
  /// Bytes that must move: inputs once, results once, buffers that are written
  /// once more.
  std::optional<llvm::json::Value> bytes;
  /// Per result: terms summed into one element, along all that it is made of.
  std::vector<std::optional<llvm::json::Value>> reductions;
};

/// The work of a host function of a program after `place`.
FunctionWork describeWork(mlir::func::FuncOp func);
/// The same of one launch of a kernel, in dims of its operands; no reductions.
FunctionWork describeKernelWork(mlir::func::FuncOp kernel);

} // namespace tilewright

#endif
