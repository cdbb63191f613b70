// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One CUDA device through its primary context, which other users of the device
// in this process share, or through a context of the caller's.
//
// Every call into the driver happens with that context current, pushed for the
// call and popped after it, so that the caller's own context is left alone.
// Errors that spoil the context lose the device: the first reason is kept, and
// from then on nothing is called or freed any more: nothing in the driver API
// stops a kernel, and what frees memory waits for it. Memory, streams, modules
// and events of a lost device stay until the process ends. The simulator does
// stop; there the context goes with the device, and all of that with it.
#ifndef TILEWRIGHT_DRIVERS_CUDA_CUDA_DEVICE_H
#define TILEWRIGHT_DRIVERS_CUDA_CUDA_DEVICE_H

#include "cuda_library.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace tilewright::cuda {

using namespace runtime;

class CudaDevice final : public DriverDevice {
public:
  static Status open(std::shared_ptr<CudaLibrary> library, int ordinal,
                     std::unique_ptr<DriverDevice> &result);
  /// Over the caller's context, which outlives the device; `ordinal` becomes the
  /// number of its device.
  static Status adopt(std::shared_ptr<CudaLibrary> library, CUcontext context,
                      int &ordinal, std::unique_ptr<DriverDevice> &result);
  ~CudaDevice() override;

  int64_t fact(std::string_view key) const override;
  Status checkRequirement(std::string_view key, int64_t value) const override;
  Status allocate(uint64_t size,
                  std::unique_ptr<DriverBuffer> &result) override;
  Status checkImport(uint64_t native, uint64_t size) override;
  Status importBuffer(uint64_t native, uint64_t size,
                      std::unique_ptr<DriverBuffer> &result) override;
  Status beginUse(DriverBuffer &buffer, uint64_t size) override;
  /// The same, in the order of a stream (null: at once).
  Status beginUse(DriverBuffer &buffer, uint64_t size, CUstream stream);
  Status encodeTensorMap(const TensorMapDesc &desc,
                         std::array<uint8_t, 128> &result) override;
  Status loadModule(const ModuleDesc &desc,
                    std::unique_ptr<DriverModule> &result) override;
  Status createStream(std::unique_ptr<DriverStream> &result) override;
  Status importStream(uint64_t native,
                      std::unique_ptr<DriverStream> &result) override;
  Status createEvent(bool timing,
                     std::unique_ptr<DriverEvent> &result) override;

  // For the other parts of the driver.
  const CudaLibrary &api() const { return *library; }
  CUcontext context() const { return current; }

  Status lost() const override;
  bool isLost() const { return lostFlag.load(std::memory_order_acquire); }
  void lose(const std::string &reason) override;
  /// Ok for CUDA_SUCCESS, else "cuFoo failed: …"; sticky errors lose the
  /// device.
  Status check(CUresult result, const char *what);

  /// Asks `poll` (CUDA_ERROR_NOT_READY while unfinished) until it answers, the
  /// time is up (CUDA_ERROR_NOT_READY then) or the device is lost.
  template <typename Poll> CUresult waitUntil(Poll poll, uint64_t timeoutNs);

private:
  CudaDevice() = default;
  Status initialize(std::shared_ptr<CudaLibrary> library, int ordinal);

  std::shared_ptr<CudaLibrary> library;
  CUdevice device = 0;
  CUcontext current = nullptr;
  bool isPrimary = false; // and retained, not the caller's
  std::map<std::string, int64_t, std::less<>> facts;

  std::atomic<bool> lostFlag{false};
  mutable std::mutex lostMutex;
  std::string lostReason;
};

/// The simulator runs kernels inside the calls of the driver API. While this
/// lives, those of this thread give up after some nanoseconds: a kernel is stopped
/// between two of its blocks' turns, and a call that waits for another thread's
/// kernel answers CUDA_ERROR_NOT_READY. On a GPU it does nothing.
class SimulatedDeadline {
public:
  SimulatedDeadline(const CudaLibrary &api, uint64_t timeoutNs);
  ~SimulatedDeadline();
  SimulatedDeadline(const SimulatedDeadline &) = delete;
  SimulatedDeadline &operator=(const SimulatedDeadline &) = delete;
  bool passed() const;

private:
  const CudaLibrary &api;
  uint64_t end = 0; // 0: none
};

/// Makes the device's context current while it lives.
class ScopedContext {
public:
  explicit ScopedContext(const CudaDevice &device) : api(device.api()) {
    pushed = api.cuCtxPushCurrent(device.context()) == CUDA_SUCCESS;
  }
  ~ScopedContext() {
    CUcontext ignored;
    if (pushed)
      api.cuCtxPopCurrent(&ignored);
  }
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;

private:
  const CudaLibrary &api;
  bool pushed;
};

class CudaBuffer final : public DriverBuffer {
public:
  CudaBuffer(CudaDevice *owner, CUdeviceptr base, uint64_t bytes)
      : owner(owner), base(base), bytes(bytes) {}
  ~CudaBuffer() override;
  uint64_t size() const override { return bytes; }
  uint64_t address() const override { return base; }

private:
  CudaDevice *owner; // null: the caller's memory
  CUdeviceptr base;
  uint64_t bytes;
};

/// Facts of a device, without opening it; see cuda_facts.cpp for the names.
Status queryFacts(const CudaLibrary &library, CUdevice device,
                  std::map<std::string, int64_t, std::less<>> &facts);
/// "NVIDIA H200, CUDA 12.8, sm_90, 132 multiprocessors, 139.8 GiB".
std::string describe(const CudaLibrary &library, CUdevice device);

} // namespace tilewright::cuda

#endif // TILEWRIGHT_DRIVERS_CUDA_CUDA_DEVICE_H
