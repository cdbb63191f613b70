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

/// Leaves the bytes of i4 operands whole where a matrix instruction multiplies them
/// so; see tilewright-pack-int4-products.
void packInt4Products(mlir::func::FuncOp func);

/// Makes calls of `library` of the products that it has a function for, and says of the
/// others why not; see tilewright-call-blas.
void callBlas(mlir::func::FuncOp func, llvm::StringRef library);

/// True for data of the program or what was computed at load, seen through reshapes that
/// nothing else reads.
bool isLoaded(mlir::Value value);

/// Stores constant weights of products in strips, as wide as two vectors of
/// `vectorBytes`; true if there are any.
bool packWeights(mlir::func::FuncOp func, int64_t vectorBytes);

struct GuardedSplit;
struct Split;
/// Replaces `op` by one that computes partial results and one that combines
/// them, as `split` says; returns the former. `matchCombiners(op)` is not empty.
mlir::linalg::GenericOp splitReduction(mlir::RewriterBase &rewriter,
                                       mlir::linalg::GenericOp op,
                                       const Split &split);

/// Cuts a reduction that is marked `tilewright.associative` into parts, or says why it
/// takes its terms one by one; see tilewright-split-marked.
void splitMarked(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                 TargetAttr target);

/// Replaces `op` by a choice at run time between the split op and the whole one.
void splitReductionGuarded(mlir::RewriterBase &rewriter,
                           mlir::linalg::GenericOp op,
                           const GuardedSplit &guarded);

/// Lets elementwise ops read the parts of the concatenation that ends with `last`, if all that
/// read it can; see tilewright-split-concat-readers.
void splitConcatReaders(mlir::RewriterBase &b, mlir::tensor::InsertSliceOp last);

/// Lets one op compute the parts that are put into a tensor by `last` and the insertions in front
/// of it; see tilewright-join-concat-parts.
void joinConcatParts(mlir::RewriterBase &b, mlir::tensor::InsertSliceOp last);

/// Puts the parts of what `outer` puts into a tensor there one by one, where nobody else reads it.
void insertPartsOfParts(mlir::RewriterBase &b, mlir::tensor::InsertSliceOp outer);

/// Makes the input that the result of an elementwise op replaces in memory its
/// destination, if there is one; see tilewright-update-in-place.
void updateInPlace(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Copies windows of tensors where kernels cannot use them in place; see
/// tilewright-materialize-windows.
void materializeWindows(mlir::func::FuncOp func);

/// True for names of ops that the host program may have.
bool runsOnHost(mlir::OperationName name);

/// Emits an error and fails if the host cannot run `op`.
mlir::LogicalResult checkHostOp(mlir::Operation *op);

} // namespace tilewright

#endif
