// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `dispatch`: structured ops become kernels, the rest host code.

#ifndef TILEWRIGHT_DISPATCH_DISPATCH_H
#define TILEWRIGHT_DISPATCH_DISPATCH_H

#include "tilewright/Dispatch/Groups.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Dispatch/Passes.h.inc"

struct DispatchOptions {
  /// Put several ops into one kernel where that is legal.
  bool fuse = true;
};

/// Adds the stage to `pm`, which is anchored on a program (`builtin.module`).
void populateDispatchPipeline(mlir::OpPassManager &pm,
                              const DispatchOptions &options = {});

void registerDispatchPasses();

/// The name of a host function's kernel number `number`, an entry point in C, PTX and
/// SPIR-V.
std::string kernelName(mlir::func::FuncOp host, llvm::StringRef kind,
                       unsigned number);

/// Moves the members of `group` into a new kernel `name` at the end of the
/// program and leaves a `tilewright.dispatch`. Returns the kernel, or null if
/// no result of the group is used (the members are erased then).
mlir::func::FuncOp outlineGroup(mlir::RewriterBase &rewriter,
                                const Group &group, llvm::StringRef name,
                                mlir::SymbolTable &symbols);

/// The halves of `bytes`, in a last dim of two: what `input` makes of a tensor of i4.
struct Halves {
  mlir::Value bytes;
  bool isUnsigned = false;
};
/// Nothing where `value` is something else.
std::optional<Halves> matchHalves(mlir::Value value);

/// True for data of the program or what was computed at load, seen through reshapes that
/// nothing else reads.
bool isLoaded(mlir::Value value);

/// True for names of ops that the host program may have.
bool runsOnHost(mlir::OperationName name);

} // namespace tilewright

#endif
