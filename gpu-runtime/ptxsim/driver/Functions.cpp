// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels, as functions of modules and as kernels of libraries, and their attributes.

#include "driver/State.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

uint32_t sharedLimit() {
  int value = 0;
  deviceAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, value);
  return static_cast<uint32_t>(value);
}

CUresult checkFunction(CUfunction function) {
  if (!function || !driver().isLive(function))
    return CUDA_ERROR_INVALID_HANDLE;
  return CUDA_SUCCESS;
}

/// A kernel of a library is a function of the library's module.
CUfunction asFunction(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

CUresult functionAttribute(const CUfunc_st &function, CUfunction_attribute attribute, int &value) {
  const Program &program = *function.program;
  const Function &kernel = *program.kernel;
  const Module &module = *program.module;
  auto product = [](const uint32_t *dims) { return uint64_t(dims[0]) * dims[1] * dims[2]; };
  uint64_t threads = product(kernel.requiredThreads) ? product(kernel.requiredThreads)
                     : product(kernel.maxThreads)    ? product(kernel.maxThreads)
                                                     : 1024;
  uint64_t local = 0, constants = 0;
  for (const FunctionCode &code : program.functions)
    local += code.localBytes;
  for (const Variable &variable : module.variables)
    constants += variable.space == Space::Const ? variable.size : 0;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    value = static_cast<int>(std::min<uint64_t>(threads, 1024));
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    value = static_cast<int>(program.staticShared);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    value = static_cast<int>(constants);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    value = static_cast<int>(local);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    // Registers are assigned by ptxas; an upper bound that every launch fits in is all that can be said here.
    value = kernel.maxRegisters != 0 ? static_cast<int>(kernel.maxRegisters) : 32;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    value = static_cast<int>(module.target);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    value = static_cast<int>(driver().options.computeCapability);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    value = static_cast<int>(function.maxDynamicShared);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    value = -1;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    value = kernel.explicitCluster;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    value = static_cast<int>(function.requiredCluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    value = function.nonPortableCluster;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    value = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult setFunctionAttribute(CUfunc_st &function, CUfunction_attribute attribute, int value) {
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 || static_cast<uint32_t>(value) + function.program->staticShared > sharedLimit())
      return CUDA_ERROR_INVALID_VALUE;
    function.maxDynamicShared = static_cast<uint32_t>(value);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return value < -1 || value > 100 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    if (value < 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (function.program->kernel->requiredCluster[0] != 0)
      return CUDA_ERROR_NOT_PERMITTED;
    function.requiredCluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = static_cast<uint32_t>(value);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    function.nonPortableCluster = value != 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    return value < 0 || value > 2 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult paramInfo(const CUfunc_st &function, size_t index, size_t *offset, size_t *size) {
  if (!offset || index >= function.program->params.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = function.program->params[index].offset;
  if (size)
    *size = function.program->params[index].size;
  return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkFunction(asFunction(kernel)))
    return result;
  *function = asFunction(kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  if (!library)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkFunction(asFunction(kernel)))
    return result;
  *library = asFunction(kernel)->library;
  return *library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : api::cuFuncGetAttribute(value, attribute, asFunction(kernel));
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : api::cuFuncSetAttribute(asFunction(kernel), attribute, value);
}
CUresult cuKernelGetName(const char **name, CUkernel kernel) { return api::cuFuncGetName(name, asFunction(kernel)); }
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
  return api::cuFuncGetParamInfo(asFunction(kernel), index, offset, size);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkFunction(function))
    return result;
  return functionAttribute(*function, attribute, *value);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (CUresult result = checkFunction(function))
    return result;
  return setFunctionAttribute(*function, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) { return checkFunction(function); }
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) { return checkFunction(function); }

CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkFunction(function))
    return result;
  *module = function->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkFunction(function))
    return result;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  if (CUresult result = checkFunction(function))
    return result;
  return paramInfo(*function, index, offset, size);
}

} // namespace api
} // namespace tilewright::ptxsim
