// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which clusters a launch may have, and how many fit: 8 blocks everywhere, 16 with leave, all within one group of 16
// multiprocessors.

#include "driver/Clusters.h"

namespace tilewright::ptxsim {
namespace {

constexpr uint64_t portableBlocks = 8, mostBlocks = 16;

uint64_t sharedOf(const CUfunc_st &function, uint32_t dynamicBytes) {
  return uint64_t(function.program->dynamicSharedOffset) + dynamicBytes;
}

uint64_t clustersThatFit(const CUfunc_st &function, const Shape &shape, uint64_t size) {
  return residentClusters(driver().options, shape.block.count(), sharedOf(function, shape.sharedBytes), size);
}

uint64_t mostBlocksOf(const CUfunc_st &function) {
  uint64_t most = function.nonPortableCluster ? mostBlocks : portableBlocks;
  uint32_t rank = function.program->kernel->maxClusterRank;
  return rank != 0 && rank < most ? rank : most;
}

/// The shape of an occupancy question: its grid does not count.
CUresult shapeOf(CUfunction function, const CUlaunchConfig *config, Shape &shape) {
  if (!config || (config->numAttrs != 0 && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  if (!function || !driver().isLive(function))
    return CUDA_ERROR_INVALID_HANDLE;
  shape.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  shape.sharedBytes = config->sharedMemBytes;
  if (shape.block.count() == 0 || shape.block.count() > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto &dims = config->attrs[i].value.clusterDim;
      shape.hasCluster = true;
      shape.cluster = {dims.x, dims.y, dims.z};
    }
  return CUDA_SUCCESS;
}

} // namespace

CUresult resolveCluster(const CUfunc_st &function, const Shape &shape, Dim3 &cluster, bool &hasCluster) {
  const uint32_t *required = function.requiredCluster;
  bool isRequired = required[0] != 0 && required[1] != 0 && required[2] != 0;
  hasCluster = shape.hasCluster || isRequired;
  cluster = {};
  if (!hasCluster)
    return function.program->kernel->explicitCluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
  cluster = shape.hasCluster ? shape.cluster : Dim3{required[0], required[1], required[2]};
  if (driver().options.computeCapability < 90)
    return cluster.count() == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  if (cluster.count() == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (isRequired && (cluster.x != required[0] || cluster.y != required[1] || cluster.z != required[2]))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (cluster.count() > mostBlocksOf(function))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (shape.grid.x % cluster.x != 0 || shape.grid.y % cluster.y != 0 || shape.grid.z % cluster.z != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return clustersThatFit(function, shape, cluster.count()) == 0 ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

namespace api {

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  Shape shape;
  if (!clusters)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = shapeOf(function, config, shape))
    return result;
  const uint32_t *required = function->requiredCluster;
  if (!shape.hasCluster && required[0] == 0)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  shape.grid = shape.hasCluster ? shape.cluster : Dim3{required[0], required[1], required[2]};
  Dim3 cluster;
  bool hasCluster;
  CUresult result = resolveCluster(*function, shape, cluster, hasCluster);
  uint64_t fit = result == CUDA_SUCCESS ? clustersThatFit(*function, shape, cluster.count()) : 0;
  // A size that is allowed but does not fit is an answer.
  if (result == CUDA_ERROR_INVALID_CLUSTER_SIZE && cluster.count() != 0 && cluster.count() <= mostBlocksOf(*function))
    result = CUDA_SUCCESS;
  *clusters = static_cast<int>(fit);
  return result;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) {
  Shape shape;
  if (!size)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = shapeOf(function, config, shape))
    return result;
  if (driver().options.computeCapability < 90)
    return CUDA_ERROR_NOT_SUPPORTED;
  uint64_t most = mostBlocksOf(*function);
  while (most > 1 && clustersThatFit(*function, shape, most) == 0)
    --most;
  *size = static_cast<int>(most);
  return CUDA_SUCCESS;
}

} // namespace api
} // namespace tilewright::ptxsim
