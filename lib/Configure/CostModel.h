// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimated times of planned kernels: good enough to rank schedules of one
// kernel, not to predict. Units are nanoseconds on an imagined device.
//
// What is not known at compile time is assumed: a dynamic extent is 1024, or more
// where the kernel has few loops; a GPU has 64 multiprocessors.

#ifndef TILEWRIGHT_LIB_CONFIGURE_COSTMODEL_H
#define TILEWRIGHT_LIB_CONFIGURE_COSTMODEL_H

#include "tilewright/Configure/TilePlan.h"

namespace tilewright {

/// The extent that decisions are made for.
int64_t nominalExtent(const LoopClass &loopClass);
int64_t nominalExtent(const KernelInfo &info, unsigned rootLoop);

/// Bytes of one element of `type` as kernels hold it.
int64_t bytesPerElement(mlir::Type type);

/// The narrowest element among the root's tensors, in bytes: it decides how
/// many elements a wide access has.
int64_t accessedBytes(const KernelInfo &info);

/// Bytes of shared memory through which values of a planned kernel move between
/// threads (Scratch.cpp).
int64_t estimateScratch(const KernelInfo &info, LoweringConfigAttr config,
                        const TilePlan &plan);

double estimateTime(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target);

} // namespace tilewright

#endif
