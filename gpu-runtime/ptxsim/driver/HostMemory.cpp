// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that kernels access at the host's own address, as under unified addressing: pinned, registered, managed.
// Nothing moves; what the host does to it is not seen, so its bytes count as defined and its accesses as ordered.

#include "driver/State.h"

#include <new>

namespace tilewright::ptxsim {
namespace {

constexpr uintptr_t pageBytes = 4096;

/// Takes the memory over, or another's when `bytes` is null.
void keepHost(uintptr_t address, HostAllocation host, const char *label) {
  driver().memory->mapHost(address, host.size, label, host.context);
  driver().hostAllocations[address] = std::move(host);
}

CUresult allocateHost(uintptr_t &address, size_t bytes, unsigned flags, HostAllocation::Kind kind) {
  CUcontext context;
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  HostAllocation host;
  if (bytes <= SIZE_MAX - pageBytes)
    host.bytes.reset(new (std::nothrow) uint8_t[bytes + pageBytes]());
  if (!host.bytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  address = (reinterpret_cast<uintptr_t>(host.bytes.get()) + pageBytes - 1) / pageBytes * pageBytes;
  host.kind = kind;
  host.size = bytes;
  host.flags = flags;
  host.context = context;
  keepHost(address, std::move(host), kind == HostAllocation::Managed ? "managed" : "pinned");
  return CUDA_SUCCESS;
}

/// The allocation that begins there, of this kind.
bool beginsHost(const void *pointer, HostAllocation::Kind kind) {
  auto found = driver().hostAllocations.find(reinterpret_cast<uintptr_t>(pointer));
  return found != driver().hostAllocations.end() && found->second.kind == kind;
}

/// Work that may use the memory ends before it goes.
CUresult endHost(const void *pointer, CUcontext context) {
  driver().queue.waitAll();
  releaseHost(reinterpret_cast<uintptr_t>(pointer));
  return context->sticky;
}

} // namespace

HostAllocation *findHostAllocation(const void *pointer) {
  auto &all = driver().hostAllocations;
  uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  auto after = all.upper_bound(address);
  if (after == all.begin())
    return nullptr;
  --after;
  return address - after->first < after->second.size ? &after->second : nullptr;
}

void releaseHost(uintptr_t address) {
  driver().memory->unmapHost(address);
  driver().hostAllocations.erase(address);
}

namespace api {

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  uintptr_t address = 0;
  if (!pointer || (flags & ~7u))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = allocateHost(address, bytes, flags, HostAllocation::Pinned);
  if (result == CUDA_SUCCESS)
    *pointer = reinterpret_cast<void *>(address);
  return result;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) { return api::cuMemHostAlloc(pointer, bytes, 0); }

CUresult cuMemFreeHost(void *pointer) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (!pointer)
    return CUDA_SUCCESS;
  if (!beginsHost(pointer, HostAllocation::Pinned))
    return CUDA_ERROR_INVALID_VALUE;
  return endHost(pointer, context);
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
  uintptr_t where = 0;
  if (!address || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = allocateHost(where, bytes, flags, HostAllocation::Managed);
  if (result == CUDA_SUCCESS)
    *address = where;
  return result;
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
  CUcontext context;
  if (!pointer || bytes == 0 || (flags & ~15u))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  auto next = driver().hostAllocations.lower_bound(address);
  if (findHostAllocation(pointer) ||
      (next != driver().hostAllocations.end() && next->first - address < bytes))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  HostAllocation host;
  host.kind = HostAllocation::Registered;
  host.size = bytes;
  host.flags = flags;
  host.context = context;
  keepHost(address, std::move(host), "registered");
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *pointer) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (!beginsHost(pointer, HostAllocation::Registered))
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  return endHost(pointer, context);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned flags) {
  HostAllocation *host = findHostAllocation(pointer);
  if (!address || flags != 0 || !host || host->kind == HostAllocation::Managed)
    return CUDA_ERROR_INVALID_VALUE;
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
  HostAllocation *host = findHostAllocation(pointer);
  if (!flags || !host)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = host->flags;
  return CUDA_SUCCESS;
}

} // namespace api
} // namespace tilewright::ptxsim
