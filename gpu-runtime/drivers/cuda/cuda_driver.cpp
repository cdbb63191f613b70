// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver, under its own name for GPUs and under the name "ptxsim" for
// the simulator's library.
#include "cuda_device.h"

#include "core/hex.h"

namespace tilewright::runtime {

namespace {

class CudaDriver final : public Driver {
public:
  explicit CudaDriver(const DriverOptions &options)
      : driverName(options.name.empty() ? "cuda" : options.name),
        path(options.libraryPath) {}

  const std::string &name() const override { return driverName; }

  std::vector<DeviceInfo> enumerate() override {
    std::shared_ptr<cuda::CudaLibrary> opened;
    int count = 0;
    Status status = find(opened, count);
    if (status || count == 0) {
      DeviceInfo none;
      none.name = driverName;
      none.available = false;
      none.reason =
          status ? status.message() : "the CUDA driver finds no device";
      return {none};
    }
    std::vector<DeviceInfo> result;
    for (int i = 0; i < count; ++i) {
      DeviceInfo &info = result.emplace_back();
      info.name = driverName + ":" + std::to_string(i);
      cuda::CUdevice device = 0;
      cuda::CUresult r = opened->cuDeviceGet(&device, i);
      info.available = r == cuda::CUDA_SUCCESS;
      cuda::CUuuid uuid = {};
      if (info.available && opened->cuDeviceGetUuid &&
          opened->cuDeviceGetUuid(&uuid, device) == cuda::CUDA_SUCCESS)
        info.uuid = toHex(uuid.bytes, sizeof(uuid.bytes));
      if (info.available)
        info.description = describe(*opened, device);
      else
        info.reason = "cuDeviceGet failed: " + opened->resultName(r);
    }
    return result;
  }

  Status open(uint32_t index, std::unique_ptr<DriverDevice> &result) override {
    std::shared_ptr<cuda::CudaLibrary> opened;
    int count = 0;
    if (Status s = find(opened, count))
      return s;
    if (index >= static_cast<uint32_t>(count))
      return notFound("there is no device " + driverName + ":" +
                      std::to_string(index) + "; the CUDA driver has " +
                      std::to_string(count));
    return cuda::CudaDevice::open(std::move(opened), static_cast<int>(index),
                                  result)
        .in(driverName + ":" + std::to_string(index));
  }

  Status adoptContext(void *context, DeviceInfo &info,
                      std::unique_ptr<DriverDevice> &result) override {
    std::shared_ptr<cuda::CudaLibrary> opened;
    int count = 0, ordinal = 0;
    if (Status s = find(opened, count))
      return s;
    if (Status s = cuda::CudaDevice::adopt(
            opened, static_cast<cuda::CUcontext>(context), ordinal, result))
      return s;
    info.name = driverName + ":" + std::to_string(ordinal);
    cuda::CUdevice device = 0;
    if (opened->cuDeviceGet(&device, ordinal) == cuda::CUDA_SUCCESS)
      info.description = describe(*opened, device) + ", the caller's context";
    return Status::ok();
  }

private:
  Status find(std::shared_ptr<cuda::CudaLibrary> &opened, int &count) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!library)
      if (Status s = cuda::CudaLibrary::open(path, driverName == "ptxsim",
                                             library))
        return s;
    opened = library;
    cuda::CUresult r = library->cuDeviceGetCount(&count);
    if (r != cuda::CUDA_SUCCESS)
      return unavailable("cuDeviceGetCount failed: " +
                         library->resultName(r));
    return Status::ok();
  }

  std::string driverName, path;
  std::mutex mutex;
  std::shared_ptr<cuda::CudaLibrary> library;
};

} // namespace

std::unique_ptr<Driver> createCudaDriver(const DriverOptions &options) {
  return std::make_unique<CudaDriver>(options);
}

} // namespace tilewright::runtime
