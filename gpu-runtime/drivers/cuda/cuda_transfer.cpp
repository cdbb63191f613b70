// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes and reads through pinned memory, fills and copies.
#include "cuda_stream.h"

#include <algorithm>
#include <cstring>

namespace tilewright::cuda {

Status CudaStream::createChunk(std::unique_ptr<Chunk> &result) {
  auto chunk = std::make_unique<Chunk>();
  free.reserve(maxChunks); // coming back asks for no memory
  void *host = nullptr;
  if (Status s = device.check(
          api.cuMemHostAlloc(&host, chunkSize, CU_MEMHOSTALLOC_PORTABLE),
          "cuMemHostAlloc"))
    return s;
  chunk->host = static_cast<uint8_t *>(host);
  if (Status s = device.check(
          api.cuEventCreate(&chunk->full, CU_EVENT_DISABLE_TIMING),
          "cuEventCreate")) {
    api.cuMemFreeHost(host);
    return s;
  }
  ++numChunks;
  result = std::move(chunk);
  return Status::ok();
}

void CudaStream::recycle(std::unique_ptr<Chunk> chunk) {
  for (const PendingRead &read : chunk->reads)
    std::memcpy(read.target, read.staged, read.size);
  chunk->reads.clear();
  chunk->used = 0;
  free.push_back(std::move(chunk));
}

Status CudaStream::stage(uint64_t size, uint8_t *&host) {
  if (open && open->used + size > chunkSize) {
    if (Status s = device.check(api.cuEventRecord(open->full, stream),
                                "cuEventRecord"))
      return s;
    closed.push_back(std::move(open));
  }
  if (!open && free.empty() && numChunks >= maxChunks && !closed.empty()) {
    CUevent oldest = closed.front()->full;
    CUresult r = device.waitUntil([&] { return api.cuEventQuery(oldest); },
                                  timeoutNs);
    if (Status s = device.lost())
      return s;
    if (r == CUDA_ERROR_NOT_READY)
      return missedDeadline(timeoutNs);
    if (Status s = device.check(r, "work before a transfer"))
      return s;
    recycle(std::move(closed.front()));
    closed.pop_front();
  }
  if (!open) {
    if (!free.empty()) {
      open = std::move(free.back());
      free.pop_back();
    } else if (Status s = createChunk(open)) {
      return s;
    }
  }
  host = open->host + open->used;
  open->used += (size + 15) / 16 * 16;
  return Status::ok();
}

Status CudaStream::write(DriverBuffer &target, uint64_t offset,
                         const void *source, uint64_t size) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  auto *bytes = static_cast<const uint8_t *>(source);
  for (uint64_t at = 0; at < size; at += chunkSize) {
    uint64_t length = std::min(chunkSize, size - at);
    uint8_t *host = nullptr;
    if (Status s = stage(length, host))
      return s;
    std::memcpy(host, bytes + at, length);
    if (Status s = device.check(
            api.cuMemcpyHtoDAsync(target.address() + offset + at, host, length,
                                  stream),
            "cuMemcpyHtoDAsync"))
      return s;
  }
  return Status::ok();
}

Status CudaStream::read(void *target, DriverBuffer &source, uint64_t offset,
                        uint64_t size) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  auto *bytes = static_cast<uint8_t *>(target);
  for (uint64_t at = 0; at < size; at += chunkSize) {
    uint64_t length = std::min(chunkSize, size - at);
    uint8_t *host = nullptr;
    if (Status s = stage(length, host))
      return s;
    if (Status s = device.check(
            api.cuMemcpyDtoHAsync(host, source.address() + offset + at, length,
                                  stream),
            "cuMemcpyDtoHAsync"))
      return s;
    open->reads.push_back({bytes + at, host, length});
  }
  return Status::ok();
}

Status CudaStream::fill(DriverBuffer &target, uint64_t offset, uint64_t size,
                        uint32_t pattern, uint32_t patternSize) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  CUdeviceptr address = target.address() + offset;
  switch (patternSize) {
  case 1:
    return device.check(
        api.cuMemsetD8Async(address, static_cast<unsigned char>(pattern), size,
                            stream),
        "cuMemsetD8Async");
  case 2:
    return device.check(
        api.cuMemsetD16Async(address, static_cast<unsigned short>(pattern),
                             size / 2, stream),
        "cuMemsetD16Async");
  case 4:
    return device.check(
        api.cuMemsetD32Async(address, pattern, size / 4, stream),
        "cuMemsetD32Async");
  default:
    return invalidArgument("a fill pattern has 1, 2 or 4 bytes, not " +
                           std::to_string(patternSize));
  }
}

Status CudaStream::poison(DriverBuffer &target, uint64_t offset,
                          uint64_t size) {
  if (!api.ptxsimPoison)
    return fill(target, offset, size, 0xff, 1);
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  return device.check(static_cast<CUresult>(api.ptxsimPoison(
                          target.address() + offset, size, stream)),
                      "ptxsimPoison");
}

Status CudaStream::copy(DriverBuffer &target, uint64_t targetOffset,
                        DriverBuffer &source, uint64_t sourceOffset,
                        uint64_t size) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  return device.check(
      api.cuMemcpyDtoDAsync(target.address() + targetOffset,
                            source.address() + sourceOffset, size, stream),
      "cuMemcpyDtoDAsync");
}

} // namespace tilewright::cuda
