// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations of device memory, pools, and questions about pointers.

#include "driver/State.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

CUresult allocateDevice(CUdeviceptr *address, size_t bytes, CUcontext context) {
  if (!address || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Allocation *allocation = driver().memory->allocate(bytes, 512, "", context);
  if (!allocation)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = allocation->address;
  return CUDA_SUCCESS;
}

/// The handle of the one memory pool.
CUmemoryPool thePool() { return reinterpret_cast<CUmemoryPool>(&driver().poolThreshold); }

CUresult pointerAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  Allocation *allocation = driver().memory->find(pointer);
  HostAllocation *host = allocation ? nullptr : findHostAllocation(reinterpret_cast<void *>(pointer));
  if (!allocation && !host)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<CUcontext *>(value) =
        host ? host->context : static_cast<CUcontext>(const_cast<void *>(allocation->owner));
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(value) =
        host && host->kind != HostAllocation::Managed ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr *>(value) = pointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (!host)
      return CUDA_ERROR_INVALID_VALUE;
    *static_cast<void **>(value) = reinterpret_cast<void *>(pointer);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    *static_cast<unsigned long long *>(value) = allocation ? allocation->id : 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *>(value) = host && host->kind == HostAllocation::Managed;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    *static_cast<unsigned *>(value) = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(value) = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *static_cast<CUdeviceptr *>(value) = allocation ? allocation->address : driver().memory->findHost(pointer)->address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *static_cast<size_t *>(value) = allocation ? allocation->size : host->size;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MAPPED:
    *static_cast<unsigned *>(value) = 1;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // namespace

namespace api {

CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (freeBytes)
    *freeBytes = driver().memory->capacity() - driver().memory->used();
  if (totalBytes)
    *totalBytes = driver().memory->capacity();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  return allocateDevice(address, bytes, context);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned elementBytes) {
  CUcontext context;
  if (!pitch || (elementBytes != 4 && elementBytes != 8 && elementBytes != 16))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  *pitch = (width + 511) / 512 * 512;
  if (height != 0 && *pitch > SIZE_MAX / height)
    return CUDA_ERROR_OUT_OF_MEMORY;
  return allocateDevice(address, *pitch * height, context);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (address == 0)
    return CUDA_SUCCESS;
  // As with a real driver, all work on the device is finished first.
  driver().queue.waitAll();
  auto host = driver().hostAllocations.find(address);
  if (host != driver().hostAllocations.end() && host->second.kind == HostAllocation::Managed) {
    releaseHost(address);
    return context->sticky;
  }
  Allocation *allocation = driver().memory->find(address);
  if (!allocation || allocation->address != address || allocation->label.rfind("variable ", 0) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  driver().memory->release(address);
  return context->sticky;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  Allocation *allocation = driver().memory->find(address);
  if (!allocation)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = allocation->address;
  if (bytes)
    *bytes = allocation->size;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream handle) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  return allocateDevice(address, bytes, stream->context);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return pool != thePool() ? CUDA_ERROR_INVALID_VALUE : api::cuMemAllocAsync(address, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  if (address == 0)
    return CUDA_SUCCESS;
  Allocation *allocation = driver().memory->find(address);
  if (!allocation || allocation->address != address)
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, [address](const Operation &) { driver().memory->release(address); }, OperationKind::Note);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  *pool = thePool();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  return api::cuDeviceGetDefaultMemPool(pool, device);
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  return pool == thePool() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return pool == thePool() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  if (pool != thePool() || !value)
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    driver().poolThreshold = *static_cast<uint64_t *>(value);
  return attribute >= 1 && attribute <= 8 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  if (pool != thePool() || !value)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    *static_cast<int *>(value) = 1;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    *static_cast<uint64_t *>(value) = driver().poolThreshold;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    *static_cast<uint64_t *>(value) = driver().memory->used();
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  return pointerAttribute(value, attribute, pointer);
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr pointer) {
  if (count == 0 || !attributes || !values)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i)
    if (values[i])
      pointerAttribute(values[i], attributes[i], pointer);
  return CUDA_SUCCESS;
}

} // namespace api
} // namespace tilewright::ptxsim
