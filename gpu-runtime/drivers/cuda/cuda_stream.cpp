// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches, events and waits of a CUDA stream; transfers are in
// cuda_transfer.cpp.
#include "cuda_stream.h"

#include "core/number_text.h"
#include "cuda_module.h"

#include <algorithm>
#include <array>

namespace tilewright::cuda {

CudaStream::~CudaStream() {
  if (!device.isLost())
    ignoringErrors([&] { return synchronize(timeoutNs); });
  if (device.isLost())
    return;
  ScopedContext scope(device);
  auto destroy = [&](const std::unique_ptr<Chunk> &chunk) {
    if (!chunk)
      return;
    api.cuMemFreeHost(chunk->host);
    api.cuEventDestroy(chunk->full);
  };
  destroy(open);
  std::for_each(closed.begin(), closed.end(), destroy);
  std::for_each(free.begin(), free.end(), destroy);
  if (owned)
    ignoringErrors([&] {
      return device.check(api.cuStreamDestroy(stream), "cuStreamDestroy");
    });
}

Status CudaStream::checkLaunch(const Kernel &kernel,
                               const LaunchArgs &args) const {
  if (args.numBuffers != kernel.numBuffers ||
      args.numScalars != kernel.numScalars)
    return invalidArgument("it takes " + std::to_string(kernel.numBuffers) +
                           " buffers and " + std::to_string(kernel.numScalars) +
                           " scalars, not " + std::to_string(args.numBuffers) +
                           " and " + std::to_string(args.numScalars));
  const char *const limits[] = {"max_grid_x", "max_grid_y", "max_grid_z"};
  for (int i = 0; i < 3; ++i) {
    if (args.grid[i] > device.fact(limits[i]))
      return unsupported(std::string("the grid has ") +
                         std::to_string(args.grid[i]) + " blocks in " +
                         "xyz"[i] + "; this device launches at most " +
                         std::to_string(device.fact(limits[i])));
    if (kernel.cluster && args.grid[i] % kernel.desc.cluster[i] != 0)
      return invalidArgument(std::string("the grid has ") +
                             std::to_string(args.grid[i]) + " blocks in " +
                             "xyz"[i] + ", no multiple of the cluster's " +
                             std::to_string(kernel.desc.cluster[i]));
  }
  for (size_t i = 0; i < args.numBuffers; ++i)
    if (!args.buffers[i].buffer)
      return invalidArgument("buffer parameter " + std::to_string(i) +
                             " is null");
  return Status::ok();
}

namespace {

/// The addresses of a kernel's parameters; a scalar's slot begins with its own bytes.
class ParameterAddresses {
public:
  ParameterAddresses(const KernelDesc &desc, const LaunchArgs &args) {
    CUdeviceptr *addresses = inlineAddresses.data();
    size_t count = args.numBuffers + args.numScalars;
    if (count > inlineParams) {
      moreAddresses.resize(args.numBuffers);
      moreValues.resize(count);
      addresses = moreAddresses.data();
    }
    void **values = get();
    for (size_t i = 0; i < args.numBuffers; ++i) {
      addresses[i] = args.buffers[i].buffer->address() + args.buffers[i].offset;
      values[i] = &addresses[i];
    }
    size_t parameter = args.numBuffers, scalar = 0;
    for (const KernelParam &p : desc.params)
      if (!p.isBuffer) {
        values[parameter++] = const_cast<uint64_t *>(&args.scalars[scalar]);
        scalar += p.slots;
      }
  }
  ParameterAddresses(const ParameterAddresses &) = delete;

  void **get() {
    return moreValues.empty() ? inlineValues.data() : moreValues.data();
  }

private:
  static constexpr size_t inlineParams = 64;
  std::array<CUdeviceptr, inlineParams> inlineAddresses;
  std::array<void *, inlineParams> inlineValues;
  std::vector<CUdeviceptr> moreAddresses;
  std::vector<void *> moreValues;
};

} // namespace

Status CudaStream::launch(DriverModule &driverModule, uint32_t index,
                          const LaunchArgs &args) {
  auto &module = static_cast<CudaModule &>(driverModule);
  if (Status s = device.lost())
    return s;
  SimulatedDeadline deadline(api, timeoutNs);
  ScopedContext scope(device);
  const Kernel *kernel = nullptr;
  if (Status s = module.kernel(index, kernel))
    return deadline.passed() ? missedDeadline(timeoutNs) : s;
  auto where = [&] { return "kernel '" + kernel->desc.entry + "'"; };
  if (Status s = checkLaunch(*kernel, args))
    return std::move(s).in(where());

  const KernelDesc &desc = kernel->desc;
  ParameterAddresses parameters(desc, args);
  std::array<CUlaunchAttribute, 2> attributes = {};
  unsigned numAttributes = 0;
  if (kernel->cluster) {
    CUlaunchAttribute &attribute = attributes[numAttributes++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {desc.cluster[0], desc.cluster[1],
                                  desc.cluster[2]};
  }
  if (kernel->dependent) {
    CUlaunchAttribute &attribute = attributes[numAttributes++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  CUresult r;
  if (numAttributes == 0) {
    r = api.cuLaunchKernel(kernel->function, args.grid[0], args.grid[1],
                           args.grid[2], desc.block[0], desc.block[1],
                           desc.block[2], desc.shared, stream,
                           parameters.get(), nullptr);
  } else {
    CUlaunchConfig config = {};
    config.gridDimX = args.grid[0];
    config.gridDimY = args.grid[1];
    config.gridDimZ = args.grid[2];
    config.blockDimX = desc.block[0];
    config.blockDimY = desc.block[1];
    config.blockDimZ = desc.block[2];
    config.sharedMemBytes = desc.shared;
    config.hStream = stream;
    config.attrs = attributes.data();
    config.numAttrs = numAttributes;
    r = api.cuLaunchKernelEx(&config, kernel->function, parameters.get(),
                             nullptr);
  }
  if (deadline.passed() && api.cuStreamQuery(stream) != CUDA_SUCCESS)
    return missedDeadline(timeoutNs).in(where());
  if (r == CUDA_SUCCESS)
    return device.lost(); // perhaps by another thread, while it was simulated
  return device.check(r, numAttributes ? "cuLaunchKernelEx" : "cuLaunchKernel")
      .in(where());
}

Status CudaStream::record(DriverEvent &event) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  return device.check(
      api.cuEventRecord(static_cast<CudaEvent &>(event).event, stream),
      "cuEventRecord");
}

Status CudaStream::waitFor(DriverEvent &event) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  return device.check(
      api.cuStreamWaitEvent(stream, static_cast<CudaEvent &>(event).event, 0),
      "cuStreamWaitEvent");
}

Status CudaStream::missedDeadline(uint64_t waitedNs) {
  if (Status s = device.lost())
    return s;
  return loseByDeadline(device, [&] {
    return "work did not finish within its deadline of " +
           numberText(static_cast<double>(waitedNs) * 1e-6) + " ms";
  });
}

Status CudaStream::synchronize(uint64_t deadlineNs) {
  if (Status s = device.lost())
    return s;
  SimulatedDeadline deadline(api, deadlineNs);
  ScopedContext scope(device);
  CUresult r =
      device.waitUntil([&] { return api.cuStreamQuery(stream); }, deadlineNs);
  if (Status s = device.lost())
    return s;
  if (r == CUDA_ERROR_NOT_READY ||
      (r == CUDA_ERROR_LAUNCH_TIMEOUT && deadline.passed()))
    return missedDeadline(deadlineNs);
  if (Status s = device.check(r, "work on the stream")) {
    // The caller's memory for the reads may be gone when their bytes arrive.
    for (std::unique_ptr<Chunk> &chunk : closed)
      chunk->reads.clear();
    if (open)
      open->reads.clear();
    return s;
  }
  for (; !closed.empty(); closed.pop_front())
    recycle(std::move(closed.front()));
  if (open)
    recycle(std::move(open));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CudaEvent::~CudaEvent() {
  if (device.isLost())
    return;
  ScopedContext scope(device);
  device.api().cuEventDestroy(event);
}

Status CudaEvent::query(bool &done) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  CUresult r = device.api().cuEventQuery(event);
  if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY)
    return device.check(r, "cuEventQuery");
  done = r == CUDA_SUCCESS;
  return Status::ok();
}

Status CudaEvent::wait(uint64_t timeoutNs) {
  if (Status s = device.lost())
    return s;
  SimulatedDeadline deadline(device.api(), timeoutNs);
  ScopedContext scope(device);
  CUresult r = device.waitUntil(
      [&] { return device.api().cuEventQuery(event); }, timeoutNs);
  if (Status s = device.lost())
    return s;
  if (r == CUDA_ERROR_NOT_READY ||
      (r == CUDA_ERROR_LAUNCH_TIMEOUT && deadline.passed()))
    return loseByDeadline(device, [&] {
      return "the event was not reached within " +
             numberText(static_cast<double>(timeoutNs) * 1e-6) + " ms";
    });
  return device.check(r, "work before the event");
}

Status CudaEvent::elapsedSince(DriverEvent &start, uint64_t &nanoseconds) {
  if (Status s = device.lost())
    return s;
  ScopedContext scope(device);
  float milliseconds = 0;
  CUresult r = device.api().cuEventElapsedTime(
      &milliseconds, static_cast<CudaEvent &>(start).event, event);
  if (r == CUDA_ERROR_NOT_READY)
    return invalidArgument("an event of the two has not been reached; wait "
                           "for it first");
  if (r == CUDA_ERROR_INVALID_HANDLE)
    return invalidArgument("an event of the two was never recorded, or has no timing");
  if (Status s = device.check(r, "cuEventElapsedTime"))
    return s;
  if (milliseconds < 0)
    return invalidArgument("elapsed time: the events are in the wrong order");
  nanoseconds = static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
  return Status::ok();
}

} // namespace tilewright::cuda
