// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loaded PTX text or cubin and its kernels.
//
// Loading compiles the text and finds the entry points. Limits of the device
// (threads, shared memory, clusters) are checked when a kernel is first
// launched: a module may hold variants that guards keep from running here.
#ifndef TILEWRIGHT_DRIVERS_CUDA_CUDA_MODULE_H
#define TILEWRIGHT_DRIVERS_CUDA_CUDA_MODULE_H

#include "cuda_device.h"

#include <deque>

namespace tilewright::cuda {

struct Kernel {
  KernelDesc desc;
  size_t numBuffers = 0, numScalars = 0;
  CUfunction function = nullptr;
  bool cluster = false;
  bool dependent = false; // is launched as a programmatic dependent
  std::atomic<bool> ready{false};
};

class CudaModule final : public DriverModule {
public:
  static Status load(CudaDevice &device, const ModuleDesc &desc,
                     std::unique_ptr<DriverModule> &result);
  ~CudaModule() override;

  /// Kernel number `index`, checked against the device; thread-safe. The
  /// context is current.
  Status kernel(uint32_t index, const Kernel *&result);
  Status resources(uint32_t index, KernelResources &result) override;

private:
  explicit CudaModule(CudaDevice &device) : device(device) {}
  Status compile(const ModuleDesc &desc);
  Status prepare(Kernel &kernel);

  CudaDevice &device;
  std::string name;
  CUmodule module = nullptr;
  std::deque<Kernel> kernels;
  std::mutex mutex;
};

} // namespace tilewright::cuda

#endif // TILEWRIGHT_DRIVERS_CUDA_CUDA_MODULE_H
