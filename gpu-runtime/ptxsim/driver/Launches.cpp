// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launching kernels: every limit that a real driver enforces, parameters copied at the call, the grid run when the
// queue gets to it. Also occupancy, which is a matter of the same limits.

#include "driver/Clusters.h"
#include "driver/State.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tilewright::ptxsim {
namespace {

CUresult resultFor(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
  case FindingKind::UseAfterFree:
  case FindingKind::ReadOnly:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case FindingKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FindingKind::AssertFailed:
    return CUDA_ERROR_ASSERT;
  case FindingKind::StackOverflow:
    return CUDA_ERROR_HARDWARE_STACK_ERROR;
  case FindingKind::BadCall:
    return CUDA_ERROR_INVALID_PC;
  case FindingKind::Timeout:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  default:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}


/// What cannot be written is said once.
void appendTraffic(const std::string &path, const std::string &lines) {
  FILE *file = std::fopen(path.c_str(), "a");
  bool written = file && std::fputs(lines.c_str(), file) >= 0;
  if (file)
    written = std::fclose(file) == 0 && written;
  static bool isKnown = false;
  if (!written && !std::exchange(isKnown, true))
    std::fprintf(stderr, "ptxsim: PTXSIM_TRAFFIC: cannot write '%s': %s\n", path.c_str(), std::strerror(errno));
}

bool exceeds(const Dim3 &dims, uint32_t x, uint32_t y, uint32_t z) {
  return dims.x == 0 || dims.y == 0 || dims.z == 0 || dims.x > x || dims.y > y || dims.z > z;
}

CUresult checkShape(const CUfunc_st &function, const Shape &shape) {
  const Function &kernel = *function.program->kernel;
  if (exceeds(shape.grid, 2147483647, 65535, 65535) || exceeds(shape.block, 1024, 1024, 64) ||
      shape.block.count() > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  const uint32_t *max = kernel.maxThreads, *required = kernel.requiredThreads;
  if (max[0] != 0 && shape.block.count() > uint64_t(max[0]) * max[1] * max[2])
    return CUDA_ERROR_INVALID_VALUE;
  if (required[0] != 0 &&
      (shape.block.x != required[0] || shape.block.y != required[1] || shape.block.z != required[2]))
    return CUDA_ERROR_INVALID_VALUE;
  if (shape.sharedBytes > function.maxDynamicShared)
    return CUDA_ERROR_INVALID_VALUE;
  if (shape.cooperative &&
      shape.grid.count() > residentBlocks(driver().options, shape.block.count(),
                                          uint64_t(function.program->staticShared) + shape.sharedBytes))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

/// CU_LAUNCH_PARAM_*: the keys of the `extra` list.
const void *const extraEnd = nullptr;
const void *const extraPointer = reinterpret_cast<void *>(1);
const void *const extraSize = reinterpret_cast<void *>(2);

CUresult gatherParams(const CUfunc_st &function, void **params, void **extra, std::vector<uint8_t> &bytes) {
  const Program &program = *function.program;
  bytes.assign(program.paramBytes, 0);
  if (params && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (params) {
    for (size_t i = 0; i < program.params.size(); ++i) {
      if (!params[i])
        return CUDA_ERROR_INVALID_VALUE;
      std::memcpy(bytes.data() + program.params[i].offset, params[i], program.params[i].size);
    }
    return CUDA_SUCCESS;
  }
  if (!extra)
    return program.params.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void *buffer = nullptr;
  size_t size = 0;
  for (void **at = extra; *at != extraEnd; at += 2) {
    if (*at == extraPointer)
      buffer = at[1];
    else if (*at == extraSize)
      size = at[1] ? *static_cast<size_t *>(at[1]) : 0;
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if ((!buffer && !program.params.empty()) || size < program.paramBytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (buffer)
    std::memcpy(bytes.data(), buffer, bytes.size());
  return CUDA_SUCCESS;
}

/// The first of the launches that may still run when a dependent one begins: nothing that has waited for them stands
/// between them in the stream. One that is no dependent began when all before it had ended.
uint64_t firstOverlapping(const Operation &operation) {
  const std::vector<LaunchRecord> &launches = driver().launches;
  uint64_t first = operation.index;
  for (auto it = launches.rbegin(); it != launches.rend(); ++it) {
    if (it->stream != operation.stream)
      continue;
    if (it->index <= operation.ended)
      break;
    if (it->kernel != it->index)
      continue;
    first = it->index;
    if (!it->dependent)
      break;
  }
  return first;
}

void runLaunch(LaunchRequest request, CUcontext context, const Operation &operation, bool dependent) {
  Driver &state = driver();
  if (context->cancelled)
    failContext(context, CUDA_ERROR_LAUNCH_TIMEOUT);
  if (context->sticky)
    return;
  if (uint64_t first = firstOverlapping(operation); dependent && first < operation.index)
    request.mayOverlap = [first, &state, stream = operation.stream](uint32_t launch) {
      const LaunchRecord &record = state.launches[launch - 1];
      return record.stream == stream && record.kernel >= first;
    };
  state.launches.push_back({operation.stream, operation.index, operation.index, dependent});
  request.launchId = state.launches.size();
  // Operations before this one, by the record of earlier launches.
  auto before = operation.before;
  request.launchOrdered = [before = std::move(before), &state, stream = operation.stream](uint32_t launch) {
    const LaunchRecord &record = state.launches[launch - 1];
    auto found = before.find(record.stream);
    return record.stream == stream || (found != before.end() && found->second >= record.index);
  };
  request.deadline = threadDeadline();
  request.cancelled = &context->cancelled;
  LaunchResult result = runGrid(request, *state.memory, state.options, state.findings);
  if (!state.options.trafficPath.empty())
    appendTraffic(state.options.trafficPath,
                  issueLines(request.name, result.shape, result.issue) + trafficLines(request.name, result.traffic) +
                      globalTrafficLines(request.name, result.globalTraffic, result.footprints, result.stages));
  if (!result.completed)
    failContext(context, resultFor(result.reason));
}

CUresult launch(CUfunction function, const Shape &shape, CUstream handle, void **params, void **extra) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  CUcontext context = stream->context;
  if (!function || !driver().isLive(function))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!function->library && function->module->context != context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (CUresult result = checkShape(*function, shape))
    return result;
  Dim3 cluster;
  bool hasCluster = false;
  if (CUresult result = resolveCluster(*function, shape, cluster, hasCluster))
    return result;
  LaunchRequest request;
  if (CUresult result = gatherParams(*function, params, extra, request.params))
    return result;
  request.program = function->program;
  request.name = function->name;
  request.owner = context;
  request.grid = shape.grid;
  request.block = shape.block;
  request.cluster = cluster;
  request.explicitCluster = hasCluster;
  request.dynamicShared = shape.sharedBytes;
  enqueue(
      stream,
      [request = std::move(request), context, dependent = shape.dependent](const Operation &operation) {
        runLaunch(request, context, operation, dependent);
      },
      OperationKind::Kernel);
  return CUDA_SUCCESS;
}

/// Blocks per multiprocessor, without the limit of registers, which the simulator does not know.
int activeBlocks(const CUfunc_st &function, int blockSize, size_t dynamicBytes) {
  MachineOptions one = driver().options;
  one.multiprocessors = 1;
  uint64_t shared = uint64_t(function.program->staticShared) + dynamicBytes;
  int limit = 0;
  deviceAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, limit);
  if (blockSize > 1024 || shared > static_cast<uint64_t>(limit))
    return 0;
  return static_cast<int>(residentBlocks(one, static_cast<uint64_t>(blockSize), shared));
}

} // namespace

namespace api {

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **params,
                        void **extra) {
  return launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes}, stream, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void **params) {
  return launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, true}, stream, params,
                nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
  if (!config || (config->numAttrs != 0 && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  Shape shape = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                 {config->blockDimX, config->blockDimY, config->blockDimZ},
                 config->sharedMemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config->attrs[i];
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      shape.cooperative = attribute.value.cooperative != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      shape.hasCluster = true;
      shape.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      shape.dependent = attribute.value.programmaticStreamSerializationAllowed != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return launch(function, shape, config->hStream, params, extra);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int blockSize,
                                                              size_t dynamicBytes, unsigned flags) {
  if (!blocks || blockSize <= 0 || flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (!function || !driver().isLive(function))
    return CUDA_ERROR_INVALID_HANDLE;
  *blocks = activeBlocks(*function, blockSize, dynamicBytes);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int blockSize,
                                                     size_t dynamicBytes) {
  return api::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, blockSize, dynamicBytes, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize, CUfunction function,
                                                   CUoccupancyB2DSize dynamicSize, size_t dynamicBytes, int limit,
                                                   unsigned flags) {
  if (!gridSize || !blockSize || flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (!function || !driver().isLive(function))
    return CUDA_ERROR_INVALID_HANDLE;
  int most = 0, bestThreads = 0;
  if (CUresult result = api::cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function))
    return result;
  if (limit > 0)
    most = std::min(most, limit);
  *gridSize = *blockSize = 0;
  for (int size = most / 32 * 32; size >= 32; size -= 32) {
    int blocks = activeBlocks(*function, size, dynamicSize ? dynamicSize(size) : dynamicBytes);
    if (blocks * size > bestThreads) {
      bestThreads = blocks * size;
      *blockSize = size;
      *gridSize = blocks * static_cast<int>(driver().options.multiprocessors);
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, CUfunction function,
                                          CUoccupancyB2DSize dynamicSize, size_t dynamicBytes, int limit) {
  return api::cuOccupancyMaxPotentialBlockSizeWithFlags(gridSize, blockSize, function, dynamicSize, dynamicBytes, limit,
                                                        0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int blockSize) {
  if (!bytes || blocks <= 0 || blockSize <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!function || !driver().isLive(function))
    return CUDA_ERROR_INVALID_HANDLE;
  int perMultiprocessor = 0, perBlock = 0;
  deviceAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, perMultiprocessor);
  deviceAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, perBlock);
  int64_t left = std::min<int64_t>(perMultiprocessor / blocks - 1024, perBlock) - function->program->staticShared;
  *bytes = static_cast<size_t>(std::max<int64_t>(left, 0));
  return CUDA_SUCCESS;
}

} // namespace api
} // namespace tilewright::ptxsim
