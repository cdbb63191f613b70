// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of blocks of a cluster.

#include "tilewright/Dialect/Clusters.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/ClusterOps.cpp.inc"
