// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `normalize`: one canonical form per family of structured ops.
//
// After it every linalg op is a `linalg.generic` with projected-permutation
// maps in canonical loop order, or a `linalg.fill`.

#ifndef TILEWRIGHT_NORMALIZE_NORMALIZE_H
#define TILEWRIGHT_NORMALIZE_NORMALIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Normalize/Passes.h.inc"

struct NormalizeOptions {};

/// Adds the stage to `pm`, which is anchored on `builtin.module`.
void populateNormalizePipeline(mlir::OpPassManager &pm,
                               const NormalizeOptions &options = {});

void registerNormalizePasses();

/// Says tensor ops of `func` by structured ops, slices and reshapes. Emits an error
/// and fails where an op has no such form.
mlir::LogicalResult decomposeTensorOps(mlir::func::FuncOp func);

/// The result of `op`, computed element by element, with checks on the host of tile
/// sizes that a run decides; nothing is replaced.
mlir::Value computePack(mlir::OpBuilder &b, mlir::linalg::PackOp op);
mlir::Value computeUnpack(mlir::OpBuilder &b, mlir::linalg::UnPackOp op);

/// Computes a softmax of floats of fewer than 32 bits in f32, where sums of long rows are finite
/// and precise, and rounds once: `op` becomes one of f32 between casts, which is returned; null
/// where it has 32 bits or more.
mlir::linalg::SoftmaxOp widenSoftmax(mlir::RewriterBase &rewriter, mlir::linalg::SoftmaxOp op);

/// True for names of ops that are said by others, here and in the stage `input`.
bool isDecomposed(mlir::OperationName name);

/// True for names of ops, other than elementwise ones of arith and math, that
/// bodies of structured ops may have.
bool runsInBodies(mlir::OperationName name);

/// Brings the body of `op` to arith and math ops as far as it can be.
void simplifyBody(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Replaces `op`, where it finds the best element of each row and its place, by
/// reductions by combiners that have neutral elements.
void decomposeArgReduction(mlir::RewriterBase &rewriter,
                           mlir::linalg::GenericOp op);

/// Moves asserts out of the body of `op`. Emits an error and fails where one is of
/// a sum on its way.
mlir::LogicalResult hoistAsserts(mlir::RewriterBase &rewriter,
                                 mlir::linalg::GenericOp op);

/// Writes each private function with one call where it is called.
void inlineCalls(mlir::RewriterBase &rewriter, mlir::ModuleOp module);

/// Replaces `op`, of a slice, by a slice of the expanded tensor; fails where dims are
/// not split evenly.
mlir::LogicalResult expandSlice(mlir::RewriterBase &rewriter,
                                mlir::tensor::ExpandShapeOp op);

/// Slices the operands of `op` that are indexed by constants.
void sliceConstantDims(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Lets the sums of `op`, a product, begin with zero where they begin with a broadcast
/// tensor, and adds that to the result; true if it did.
bool addInitLast(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Tables of functions of coordinates up to this size are kept from when the program is loaded.
inline constexpr int64_t kTableBytes = 1 << 20;

/// The bytes of a static tensor of integers or floats; 0 of anything else.
int64_t getStaticBytes(mlir::Type type);

/// The private function that runs at load and of which `func` has results already, or a new one.
mlir::func::FuncOp getLoadFunction(mlir::func::FuncOp func, mlir::SymbolTable &symbols);

/// Moves what depends on constants alone, where that is worth its memory, out of `func`
/// into a private function that runs when the program is loaded.
void computeAtLoad(mlir::func::FuncOp func, mlir::SymbolTable &symbols);

/// True if nothing that `value` comes from is known later than the program is loaded.
bool dependsOnConstants(mlir::Value value);

/// Rewrites the structured ops of `func` to linalg.generic and linalg.fill.
/// Ops that cannot be brought to that form stay (check-normalized reports
/// them).
mlir::LogicalResult generalizeFunction(mlir::func::FuncOp func);

/// Computes outside of structured ops what has the same value everywhere.
mlir::LogicalResult foldScalars(mlir::func::FuncOp func);

/// Elementwise ops with reshapes between them get the same loops.
mlir::LogicalResult foldReshapes(mlir::func::FuncOp func);

/// Has products write in the order in which their only readers read.
mlir::LogicalResult writeTransposed(mlir::func::FuncOp func);

/// Makes inputs of tensors that the body of `op` reads at coordinates of its loops; true
/// if `op` was replaced.
bool readExtracts(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Gathers the inputs of `op` that are indexed by anything but sums of loops; the op, or what has
/// replaced it.
mlir::linalg::GenericOp readOtherMaps(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Reads tensors that `tensor.concat`, or insertions into a new one, rotate where they lie.
void readRotations(mlir::RewriterBase &rewriter, mlir::func::FuncOp func);

/// Has `op`, a product, read tensors as they were before they were widened, where matrix units
/// multiply those.
void readNarrowOperands(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Converts operands of `op`, a product of floats, in front of it where its body converts integers,
/// or floats of 8 bits beside halves.
void convertOperands(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Computes zero points of `op`, a product of integers, from sums of its operands; true if it did.
bool splitZeroPoints(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// What `loop` of `op` runs over: a dim of an operand, other than `except`.
std::optional<std::pair<mlir::Value, int64_t>>
extentOf(mlir::linalg::GenericOp op, unsigned loop, const mlir::OpOperand *except = nullptr);

/// Folds pure element moves, constants and unit dims of `func` into readers.
mlir::LogicalResult foldRelayouts(mlir::func::FuncOp func);

/// True if `op` has one input, one result and yields the input unchanged.
bool isRelayout(mlir::linalg::GenericOp op);

/// Makes one loop of the columns and channels of a convolution's windows where
/// channels are few; true if `op` was replaced.
bool flattenChannels(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Reads the inputs of `op` that are indexed by sums of loops through
/// tilewright.im2col.
void readWindows(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Brings the loops of `op` into canonical order; true if it changed.
bool orderLoops(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Moves pinned configs that have another number of entries than their op has
/// loops to the op's location, and back to the op that has the location then.
void pickUpConfigs(mlir::func::FuncOp func);
void putDownConfigs(mlir::func::FuncOp func);

/// Makes one loop of neighbouring ones of a contraction, or of what reads a
/// collapsed one, where all tensors allow it; true if it changed.
bool collapseLoops(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Emits an error on `op` and fails if no later stage can serve it.
mlir::LogicalResult checkNormalized(mlir::linalg::LinalgOp op);

/// The largest rank of a tensor, and number of loops of an op: one more, for a sum;
/// a grouped 3-D convolution has ten, and windows with a dim for each but one.
inline constexpr unsigned kMaxRank = 10;
inline constexpr unsigned kMaxLoops = 11;

/// True for element types that tensors at the program's boundary may have.
bool isAcceptedElementType(mlir::Type type);

} // namespace tilewright

#endif
