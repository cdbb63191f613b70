// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of planned kernels, by which schedules of one kernel are ranked.
//
// What is not known at compile time is assumed: a dynamic extent is 1024, or more
// where the kernel has few loops; a GPU is the first of its architecture in the table of
// chips (Support/ChipFacts.h).

#ifndef TILEWRIGHT_LIB_CONFIGURE_COSTMODEL_H
#define TILEWRIGHT_LIB_CONFIGURE_COSTMODEL_H

#include "tilewright/Configure/Splits.h"
#include "tilewright/Configure/TilePlan.h"

namespace tilewright {

/// The extent that decisions are made for.
int64_t nominalExtent(const LoopClass &loopClass);
int64_t nominalExtent(const KernelInfo &info, unsigned rootLoop);

/// Steps of the sum of a product, over all of its loops.
int64_t sumExtent(const KernelInfo &info, const Contraction &product);

/// Bytes of one element of `type` as kernels hold it.
int64_t bytesPerElement(mlir::Type type);

/// The narrowest element among the root's tensors, in bytes: it decides how
/// many elements a wide access has.
int64_t accessedBytes(const KernelInfo &info);

/// Whether an input is the same for all elements that a block reduces: a row's sum. What
/// comes of it alone is a scalar, or a vector of the rows, until it is broadcast.
bool isOfRow(const KernelInfo &info, mlir::linalg::LinalgOp op, mlir::OpOperand &input);

/// The parts of loop `summed`, and the slices of a tile, of a config that asks for such
/// (WarpSpecialized/ClusterSums.cpp).
ClusterSum planClusterSum(const KernelInfo &info, LoweringConfigAttr config,
                          unsigned summed);

/// How often a block goes through its sequential loops: once per op that has a
/// loop of its own.
double countPasses(const KernelInfo &info, const TilePlan &plan);

/// Bytes of shared memory through which values of a planned kernel move between
/// threads (Scratch.cpp).
int64_t estimateScratch(const KernelInfo &info, LoweringConfigAttr config,
                        const TilePlan &plan, TargetAttr target);
/// Bytes of it for each element of a step along rows, where those are of several widths; else 0.
int64_t movedRowBytes(const KernelInfo &info);

/// Leaves on the kernel what its config was admitted for (kPlannedAttr). Of `registers`,
/// what roles have each, threads are launched with the mean.
void recordPlan(mlir::func::FuncOp kernel, LoweringConfigAttr config, int64_t threads,
                int64_t copyThreads, int64_t sharedBytes, int64_t registers);

/// Registers that each thread of a block of so many can have: what a multiprocessor holds,
/// and what an instruction can name.
int64_t registerLimit(TargetAttr target, int64_t threads);
/// Blocks that fill one of them.
int64_t blocksEachOf(TargetAttr target);
/// What fusion takes a dynamic extent for, unless it says otherwise.
inline constexpr int64_t kNominal = 1024;
/// Microseconds that a dual product takes longer by instructions of a warp than by those of
/// warpgroups, in tiles of 64 x 64 of both; 0 where none of the latter is for its types, nothing
/// where sizes are not known.
std::optional<double> lostByWarps(mlir::linalg::LinalgOp product, TargetAttr target);
/// What an op of a body takes for one element, in operations as cheap as an addition.
int64_t operationsOf(mlir::Operation &op);
/// Tasks that keep the threads of a CPU busy.
inline constexpr int64_t kCpuTasks = 16;

/// Nanoseconds on the target's chip (a bound, Bound.h); of CPUs, `estimateCpu`.
double estimateTime(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target);

/// The bound of a configured kernel in words, marked as predicted; empty on CPUs, and
/// where sizes are not known.
std::string describeBound(const KernelInfo &info, LoweringConfigAttr config,
                          TargetAttr target);

/// Multiply-adds of one lane.
double estimateCpu(const KernelInfo &info, const TilePlan &plan, TargetAttr target);

} // namespace tilewright

#endif
