// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters of launches.

#ifndef TILEWRIGHT_PTXSIM_DRIVER_CLUSTERS_H
#define TILEWRIGHT_PTXSIM_DRIVER_CLUSTERS_H

#include "driver/State.h"

namespace tilewright::ptxsim {

/// What a launch asks for.
struct Shape {
  Dim3 grid, block;
  uint32_t sharedBytes = 0;
  bool cooperative = false;
  /// Given with the launch.
  bool hasCluster = false;
  Dim3 cluster = {};
  /// May begin while kernels in front of it in its stream still run.
  bool dependent = false;
};

/// The clusters of the launch, from the launch or the kernel, or why it is refused. Without any, clusters of one block.
CUresult resolveCluster(const CUfunc_st &function, const Shape &shape, Dim3 &cluster, bool &hasCluster);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DRIVER_CLUSTERS_H
