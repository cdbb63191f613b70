// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills. Arguments are checked at the call; bytes move when the queue gets to the operation, so a host
// buffer that is reused too early, or read before the synchronisation, shows. A copy to pageable host memory is
// finished when the call returns, as the API documents.

#include "driver/State.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace tilewright::ptxsim {
namespace {

/// Rows of bytes on one side of a copy.
struct Region {
  bool onDevice = false;
  uint64_t start = 0;
  uint64_t pitch = 0;
  /// Host memory that kernels can access, named by its device address.
  bool isMapped = false;
};
struct Rectangle {
  uint64_t width = 0;
  uint64_t height = 1;
};

bool isPinned(uint64_t address) { return findHostAllocation(reinterpret_cast<const void *>(address)) != nullptr; }

CUresult checkRegion(const Region &region, const Rectangle &size) {
  if (!region.onDevice && !region.isMapped)
    return region.start == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  Allocation *allocation =
      region.isMapped ? driver().memory->findHost(region.start) : driver().memory->find(region.start);
  uint64_t bytes = region.pitch * (size.height - 1) + size.width;
  return allocation && allocation->contains(region.start, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// The same test when the operation runs: the memory may have been freed since.
bool stillThere(const Region &region, const Rectangle &size, CUcontext context, const char *what) {
  if (checkRegion(region, size) == CUDA_SUCCESS)
    return true;
  Finding finding;
  finding.kind = FindingKind::UseAfterFree;
  finding.kernel = what;
  finding.message = "the device memory of a queued operation was freed before it ran";
  finding.address = region.start;
  driver().findings.add(std::move(finding));
  failContext(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  return false;
}

uint8_t *hostBytes(const Region &region) {
  return region.onDevice ? driver().memory->backing(region.start) : reinterpret_cast<uint8_t *>(region.start);
}

void checkDefined(const Region &from, const Rectangle &size, CUcontext context) {
  Driver &state = driver();
  if (!state.options.checks)
    return;
  uint64_t undefined = 0, first = 0;
  for (uint64_t row = 0; row < size.height; ++row) {
    uint64_t start = from.start + row * from.pitch;
    const uint8_t *shadow = state.memory->shadow(start);
    for (uint64_t i = 0; i < size.width; ++i)
      if (shadow[i] != 0xff && undefined++ == 0)
        first = start + i;
  }
  if (undefined == 0)
    return;
  Finding finding;
  finding.kind = FindingKind::Undefined;
  finding.kernel = "copy to the host";
  finding.message = std::to_string(undefined) + " of " + std::to_string(size.width * size.height) +
                    " bytes copied to the host are undefined";
  finding.address = first;
  state.findings.add(std::move(finding));
  if (state.options.failOnFinding)
    failContext(context, CUDA_ERROR_LAUNCH_FAILED);
}

/// Ordering of this operation with launches and copies on other streams. With `isNote` it does not wait for kernels of its
/// own stream: that they have used the memory stays known.
void noteAccess(const Region &region, const Rectangle &size, bool isWrite, CUcontext context,
                const Operation &operation, const char *what, bool isNote = false) {
  Driver &state = driver();
  if (!region.onDevice || !state.options.checks || !state.options.raceChecks || context->streams.empty())
    return;
  Allocation *allocation = state.memory->find(region.start);
  if (!allocation)
    return;
  if (!allocation->races)
    allocation->races = std::make_unique<RaceShadow>(allocation->size);
  if (state.launches.empty() || state.launches.back().stream != operation.stream ||
      state.launches.back().index != operation.index)
    state.launches.push_back({operation.stream, operation.index});
  uint32_t self = static_cast<uint32_t>(state.launches.size());
  // Records of this operation, by the kernel that had used the memory.
  std::map<uint64_t, uint32_t> records = {{0, self}};
  uint32_t racesWith = 0, otherLine = 0;
  uint64_t begin = region.start - allocation->address;
  for (uint64_t row = 0; row < size.height; ++row)
    allocation->races->visit(begin + row * region.pitch, size.width, [&](RaceCell &cell) {
      uint64_t kernel = 0;
      if (isNote && cell.launch != 0 && state.launches[cell.launch - 1].stream == operation.stream)
        kernel = state.launches[cell.launch - 1].kernel;
      if (cell.launch != 0 && cell.launch != self && (isWrite || cell.writeClock != 0)) {
        const LaunchRecord &other = state.launches[cell.launch - 1];
        if (other.stream != operation.stream && !operation.follows(other.stream, other.index)) {
          racesWith = cell.launch;
          otherLine = cell.writeClock != 0 ? cell.writeLine : cell.readLine;
        }
      }
      if (isWrite) {
        uint32_t line = cell.writeClock != 0 ? cell.writeLine : cell.readLine;
        cell = {};
        cell.writeClock = 1;
        cell.writeLine = kernel != 0 ? line : 0;
      } else {
        // A read does not hide an earlier write from later operations on other streams: those must follow both.
        cell.readClock = 1;
        cell.readWarp = 0;
        cell.readLanes = 1;
        cell.readLine = 0;
        // Reader sets belong to the launch that made them.
        cell.readers = 0;
      }
      auto [record, isNew] = records.try_emplace(kernel, static_cast<uint32_t>(state.launches.size() + 1));
      if (isNew)
        state.launches.push_back({operation.stream, operation.index, kernel});
      cell.launch = record->second;
    });
  if (racesWith == 0)
    return;
  Finding finding;
  finding.kind = FindingKind::Race;
  finding.kernel = what;
  finding.message = std::string(isWrite ? "write" : "read") + " of device memory by an operation on stream " +
                    std::to_string(operation.stream) + " is not ordered with an operation on stream " +
                    std::to_string(state.launches[racesWith - 1].stream) + " that accessed it";
  finding.address = region.start;
  finding.otherLine = otherLine;
  state.findings.add(std::move(finding));
  if (state.options.failOnFinding)
    failContext(context, CUDA_ERROR_LAUNCH_FAILED);
}

void runCopy(const Region &to, const Region &from, const Rectangle &size, CUcontext context,
             const Operation &operation) {
  Driver &state = driver();
  if (context->sticky || !stillThere(to, size, context, "copy") || !stillThere(from, size, context, "copy"))
    return;
  noteAccess(from, size, false, context, operation, "copy");
  noteAccess(to, size, true, context, operation, "copy");
  if (from.onDevice && !to.onDevice)
    checkDefined(from, size, context);
  for (uint64_t row = 0; row < size.height; ++row) {
    uint64_t toStart = to.start + row * to.pitch, fromStart = from.start + row * from.pitch;
    std::memmove(hostBytes({to.onDevice, toStart}), hostBytes({from.onDevice, fromStart}), size.width);
    if (!to.onDevice)
      continue;
    if (from.onDevice)
      std::memmove(state.memory->shadow(toStart), state.memory->shadow(fromStart), size.width);
    else
      state.memory->markDefined(toStart, size.width);
  }
}

enum class Timing { Wait, Async };

CUresult copy(const Region &to, const Region &from, const Rectangle &size, CUstream handle, Timing timing) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  if (size.width == 0 || size.height == 0)
    return CUDA_SUCCESS;
  if (CUresult result = checkRegion(to, size))
    return result;
  if (CUresult result = checkRegion(from, size))
    return result;
  CUcontext context = stream->context;
  OperationRef operation = enqueue(stream, [=](const Operation &self) { runCopy(to, from, size, context, self); });
  if (timing == Timing::Wait || (!to.onDevice && !isPinned(to.start))) {
    driver().queue.wait(operation);
    reportFindings();
    return context->sticky;
  }
  return CUDA_SUCCESS;
}

/// Mapped host memory may be named where device memory is expected.
Region device(CUdeviceptr address) {
  bool isMapped = isPinned(address);
  return {!isMapped, address, 0, isMapped};
}
Region host(const void *pointer) { return {false, reinterpret_cast<uint64_t>(pointer)}; }
/// Under unified addressing a pointer tells where it points.
Region either(CUdeviceptr address) { return {driver().memory->inWindow(address), address}; }

CUresult side(Region &region, CUmemorytype type, const void *onHost, CUdeviceptr onDevice, size_t pitch, size_t x,
              size_t y, size_t width, size_t height) {
  switch (type) {
  case CU_MEMORYTYPE_HOST:
    region = host(onHost);
    break;
  case CU_MEMORYTYPE_DEVICE:
    region = device(onDevice);
    break;
  case CU_MEMORYTYPE_UNIFIED:
    region = either(onDevice);
    break;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  region.pitch = pitch != 0 ? pitch : width + x;
  if (region.start == 0 || (height > 1 && region.pitch < width + x))
    return CUDA_ERROR_INVALID_VALUE;
  region.start += y * region.pitch + x;
  return CUDA_SUCCESS;
}

CUresult copy2D(const CUDA_MEMCPY2D *what, CUstream stream, Timing timing) {
  if (!what)
    return CUDA_ERROR_INVALID_VALUE;
  Region from, to;
  if (CUresult result = side(from, what->srcMemoryType, what->srcHost, what->srcDevice, what->srcPitch,
                             what->srcXInBytes, what->srcY, what->WidthInBytes, what->Height))
    return result;
  if (CUresult result = side(to, what->dstMemoryType, what->dstHost, what->dstDevice, what->dstPitch, what->dstXInBytes,
                             what->dstY, what->WidthInBytes, what->Height))
    return result;
  return copy(to, from, {what->WidthInBytes, what->Height}, stream, timing);
}

template <typename T>
CUresult fill(CUdeviceptr address, size_t pitch, T value, size_t width, size_t height, CUstream handle,
              bool isNote = false) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  if (width == 0 || height == 0)
    return CUDA_SUCCESS;
  Region to = device(address);
  to.pitch = pitch;
  Rectangle size = {width * sizeof(T), height};
  if (address % sizeof(T) != 0 || width > SIZE_MAX / sizeof(T) || (height > 1 && pitch < size.width))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkRegion(to, size))
    return result;
  CUcontext context = stream->context;
  auto work = [=](const Operation &self) {
    if (context->sticky || !stillThere(to, size, context, "memset"))
      return;
    noteAccess(to, size, true, context, self, "memset", isNote);
    for (uint64_t row = 0; row < size.height; ++row) {
      Region part = {to.onDevice, to.start + row * to.pitch};
      std::fill_n(reinterpret_cast<T *>(hostBytes(part)), width, value);
      if (to.onDevice)
        driver().memory->markDefined(part.start, size.width);
    }
  };
  enqueue(stream, std::move(work), isNote ? OperationKind::Note : OperationKind::Work);
  return CUDA_SUCCESS;
}

} // namespace

CUresult poison(CUdeviceptr address, uint64_t bytes, CUstream stream) {
  return fill<uint8_t>(address, 0, 0xff, bytes, 1, stream, true);
}

CUresult beginUse(CUdeviceptr address, uint64_t bytes, CUstream stream) {
  Allocation *allocation = driver().memory->find(address);
  if (!allocation || allocation->address != address || bytes > allocation->size)
    return CUDA_ERROR_INVALID_VALUE;
  Region whole = {true, address};
  Rectangle size = {allocation->size};
  auto begin = [=](Allocation &used) {
    used.subBuffers.assign(1, {address, address + bytes, ""});
    std::memset(driver().memory->shadow(address), 0, used.size);
  };
  if (!stream) {
    begin(*allocation);
    return CUDA_SUCCESS;
  }
  CUcontext context = stream->context;
  enqueue(
      stream,
      [=](const Operation &self) {
        if (context->sticky || !stillThere(whole, size, context, "reuse of memory"))
          return;
        noteAccess(whole, size, true, context, self, "reuse of memory", true);
        begin(*driver().memory->find(address));
      },
      OperationKind::Note);
  return CUDA_SUCCESS;
}

namespace api {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(either(to), either(from), {bytes}, nullptr, Timing::Wait);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return copy(device(to), host(from), {bytes}, nullptr, Timing::Wait);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return copy(host(to), device(from), {bytes}, nullptr, Timing::Wait);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(device(to), device(from), {bytes}, nullptr, Timing::Async);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(either(to), either(from), {bytes}, stream, Timing::Async);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return copy(device(to), host(from), {bytes}, stream, Timing::Async);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(host(to), device(from), {bytes}, stream, Timing::Async);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(device(to), device(from), {bytes}, stream, Timing::Async);
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *what) { return copy2D(what, nullptr, Timing::Wait); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *what) { return copy2D(what, nullptr, Timing::Wait); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *what, CUstream stream) { return copy2D(what, stream, Timing::Async); }

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill<uint8_t>(to, 0, value, count, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fill<uint16_t>(to, 0, value, count, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill<uint32_t>(to, 0, value, count, 1, nullptr);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill<uint8_t>(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill<uint16_t>(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill<uint32_t>(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill<uint8_t>(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill<uint16_t>(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill<uint32_t>(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return fill<uint8_t>(to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return fill<uint16_t>(to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return fill<uint32_t>(to, pitch, value, width, height, stream);
}

} // namespace api
} // namespace tilewright::ptxsim
