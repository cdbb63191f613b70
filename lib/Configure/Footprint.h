// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strategies put their footprints together from, see Footprint.cpp.

#ifndef TILEWRIGHT_LIB_CONFIGURE_FOOTPRINT_H
#define TILEWRIGHT_LIB_CONFIGURE_FOOTPRINT_H

#include "tilewright/Configure/TilePlan.h"

namespace tilewright {

/// Registers of a thread for addresses and indices; of one that takes its sums in one step, where
/// nothing goes on with the steps, for its place alone.
inline constexpr int64_t kAddressRegisters = 24, kPlaceRegisters = 10;

/// Whether a block surely takes all of its sums in one step.
bool isOneStep(const KernelInfo &info, const TilePlan &plan);

/// What each thread of blocks has that fill a multiprocessor: as many as there can be.
int64_t freeRegisters(const TilePlan &plan, TargetAttr target);

/// Elements of the tile that `operand`'s map selects.
int64_t tileElements(const KernelInfo &info, const TilePlan &plan,
                     mlir::OpOperand &operand);

/// The inputs of the root, of a dual product those of all its products, each once.
llvm::SmallVector<mlir::OpOperand *> rootInputs(const KernelInfo &info);
/// The same of the products whose steps are pipelined: of two that are chained, the first.
llvm::SmallVector<mlir::OpOperand *> stepOperands(const KernelInfo &info);

/// Bytes of the root's inputs that live at once: where they come from registers, one slice
/// of them along each sequential loop. An element has at least `held` bytes.
int64_t inputBytes(const KernelInfo &info, LoweringConfigAttr config,
                   const TilePlan &plan, int64_t held = 0);
/// Bytes of the root's result tiles.
int64_t resultBytes(const KernelInfo &info, const TilePlan &plan);

/// Bytes of one stage of `operand`'s tile in shared memory: rows are padded
/// against bank conflicts by 16 bytes, or swizzled in blocks.
int64_t stageBytes(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
                  TargetAttr target, mlir::OpOperand &operand);

/// Whether rows of an argument surely are multiples of `bytes` long, so that neighbours along
/// its last dim can be read so many at a time.
bool hasRowsOf(const KernelInfo &info, mlir::OpOperand &operand, int64_t bytes);
/// Whether each element of an argument is read, and waits, in a register of its own: rows
/// without words, on targets whose code ptxas schedules, which issues all loads of a step
/// before it uses what they read.
bool isReadAlone(const KernelInfo &info, mlir::OpOperand &operand);
/// What elements of the root's inputs that are read alone take more than they have: a word
/// each, and where indices have 64 bits an address, too.
int64_t loneElementBytes(const KernelInfo &info, const TilePlan &plan);

/// Bytes of each asynchronous copy by which an operand of a product by instructions of warps
/// comes to shared memory; 0: it comes by way of registers.
int64_t copyBytes(const KernelInfo &info, const TilePlan &plan, mlir::OpOperand &operand,
                  TargetAttr target);

/// Registers of a thread, and how many more of `ahead` bytes, over all threads, it has
/// where there are some left.
int64_t withAhead(int64_t registers, int64_t ahead, const TilePlan &plan,
                  TargetAttr target);

/// Bytes of registers, over all threads, of a matrix product by instructions: the
/// accumulators, and the operands' fragments for `held` steps of the instruction.
/// Warps in a row read the same part of A, warps in a column the same of B. `ahead` gets
/// what is added for fragments of later steps of a stage, which ptxas reads early where
/// it has registers left: counted of the suites' kernels, 20 registers where a stage
/// has two steps, 32 where it has more (perf/static/plans).
int64_t fragmentBytes(const KernelInfo &info, mlir::linalg::LinalgOp product,
                      LoweringConfigAttr config, const TilePlan &plan, int64_t &ahead,
                      int64_t held = 2);

} // namespace tilewright

#endif
