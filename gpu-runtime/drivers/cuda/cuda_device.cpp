// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a CUDA device; allocation, loss, creation of the other objects.
#include "cuda_device.h"

#include "cuda_module.h"
#include "cuda_stream.h"

#include <chrono>

namespace tilewright::cuda {

Status CudaDevice::open(std::shared_ptr<CudaLibrary> library, int ordinal,
                        std::unique_ptr<DriverDevice> &result) {
  std::unique_ptr<CudaDevice> device(new CudaDevice());
  if (Status s = device->initialize(std::move(library), ordinal))
    return s;
  result = std::move(device);
  return Status::ok();
}

Status CudaDevice::adopt(std::shared_ptr<CudaLibrary> library,
                         CUcontext context, int &ordinal,
                         std::unique_ptr<DriverDevice> &result) {
  if (!context)
    return invalidArgument("the CUcontext to adopt is null");
  std::unique_ptr<CudaDevice> device(new CudaDevice());
  device->library = std::move(library);
  device->current = context;
  const CudaLibrary &api = *device->library;
  CUresult r = api.cuCtxPushCurrent(context);
  if (r != CUDA_SUCCESS)
    return invalidArgument("this is no live CUcontext: cuCtxPushCurrent "
                           "failed: " +
                           api.resultName(r));
  r = api.cuCtxGetDevice(&device->device);
  CUcontext ignored = nullptr;
  api.cuCtxPopCurrent(&ignored);
  if (Status s = device->check(r, "cuCtxGetDevice"))
    return s;
  if (Status s = queryFacts(api, device->device, device->facts))
    return s;
  int count = 0;
  api.cuDeviceGetCount(&count);
  for (ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice candidate = 0;
    if (api.cuDeviceGet(&candidate, ordinal) == CUDA_SUCCESS &&
        candidate == device->device)
      break;
  }
  result = std::move(device);
  return Status::ok();
}

Status CudaDevice::initialize(std::shared_ptr<CudaLibrary> opened,
                              int ordinal) {
  library = std::move(opened);
  if (Status s = check(library->cuDeviceGet(&device, ordinal), "cuDeviceGet"))
    return s;
  if (Status s = queryFacts(*library, device, facts))
    return s;
  CUresult r = library->cuDevicePrimaryCtxRetain(&current, device);
  if (r != CUDA_SUCCESS) {
    current = nullptr;
    return unavailable("cuDevicePrimaryCtxRetain failed: " +
                       library->resultName(r));
  }
  isPrimary = true;
  return Status::ok();
}

CudaDevice::~CudaDevice() {
  if (isPrimary && (!isLost() || library->isSimulator))
    library->cuDevicePrimaryCtxRelease(device);
}

static uint64_t nanosecondsNow() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(
          std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

SimulatedDeadline::SimulatedDeadline(const CudaLibrary &api, uint64_t timeoutNs)
    : api(api) {
  uint64_t now = api.isSimulator ? nanosecondsNow() : 0;
  if (api.isSimulator && timeoutNs < INT64_MAX - now) {
    end = now + timeoutNs;
    api.ptxsimSetDeadline(end);
  }
}

SimulatedDeadline::~SimulatedDeadline() {
  if (end)
    api.ptxsimSetDeadline(0);
}

bool SimulatedDeadline::passed() const { return end && nanosecondsNow() >= end; }

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

Status CudaDevice::lost() const {
  if (!isLost())
    return Status::ok();
  std::lock_guard<std::mutex> lock(lostMutex);
  return deviceLost("the CUDA device is lost: " + lostReason);
}

void CudaDevice::lose(const std::string &reason) {
  std::lock_guard<std::mutex> lock(lostMutex);
  if (lostFlag.load())
    return;
  lostFlag.store(true, std::memory_order_release);
  if (library->isSimulator && current)
    library->ptxsimCancel(current);
  lostReason = reason; // last: there may be no memory for it
}

Status CudaDevice::check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return Status::ok();
  std::string message =
      std::string(what) + " failed: " + library->resultName(result);
  if (isSticky(result)) {
    lose(message);
    return lost();
  }
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return outOfMemory(message);
  case CUDA_ERROR_INVALID_VALUE:
  case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    return invalidArgument(message);
  case CUDA_ERROR_NOT_FOUND:
    return notFound(message);
  case CUDA_ERROR_NOT_SUPPORTED:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return unsupported(message);
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_INVALID_PTX:
    return corruptArtifact(message);
  case CUDA_ERROR_INVALID_DEVICE:
    return notFound(message);
  default:
    return internalError(message);
  }
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

int64_t CudaDevice::fact(std::string_view key) const {
  auto it = facts.find(key);
  return it == facts.end() ? 0 : it->second;
}

Status CudaDevice::checkRequirement(std::string_view key,
                                    int64_t value) const {
  int64_t sm = fact("sm");
  auto name = [](int64_t v) { return "sm_" + std::to_string(v); };
  // Code for "sm_90a" runs on 9.0 only; code for a family "sm_100f" on the
  // later members of its major version as well.
  if (key == "sm_exact" && sm != value)
    return unsupported("the program requires exactly " + name(value) +
                       " (it uses architecture-specific features); this "
                       "device is " +
                       name(sm));
  if (key == "sm_family" && (sm / 10 != value / 10 || sm < value))
    return unsupported("the program requires the family of " + name(value) +
                       "; this device is " + name(sm));
  if (key == "sm_exact" || key == "sm_family")
    return Status::ok();
  if (key == "sm" && sm < value)
    return unsupported("the program requires " + name(value) +
                       " or later; this device is " + name(sm));
  if (key == "ptx" && fact("ptx") < value)
    return unsupported(
        "the program's PTX is of version " + std::to_string(value / 10) + "." +
        std::to_string(value % 10) + "; this driver (CUDA " +
        versionName(library->version) + ") compiles up to " +
        std::to_string(fact("ptx") / 10) + "." +
        std::to_string(fact("ptx") % 10));
  if ((key == "subgroup" || key == "subgroup_size") &&
      value != fact("subgroup_size"))
    return unsupported("the program requires subgroups of " +
                       std::to_string(value) + "; a warp has " +
                       std::to_string(fact("subgroup_size")));
  if (key == "subgroup")
    return Status::ok();
  return DriverDevice::checkRequirement(key, value);
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

CudaBuffer::~CudaBuffer() {
  if (!owner || owner->isLost())
    return;
  ScopedContext scope(*owner);
  ignoringErrors(
      [&] { return owner->check(owner->api().cuMemFree(base), "cuMemFree"); });
}

Status CudaDevice::allocate(uint64_t size,
                            std::unique_ptr<DriverBuffer> &result) {
  if (Status s = lost())
    return s;
  ScopedContext scope(*this);
  std::string what = "allocating " + std::to_string(size) + " bytes";
  if (size > static_cast<uint64_t>(fact("memory")))
    return outOfMemory(what + " failed: this device has " +
                       std::to_string(fact("memory")) + " in all");
  uint64_t bytes = (size + 15) / 16 * 16;
  CUdeviceptr address = 0;
  CUresult r = library->cuMemAlloc(&address, bytes);
  if (r == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    library->cuMemGetInfo(&free, &total);
    return outOfMemory(what + " failed: " + std::to_string(free) + " of " +
                       std::to_string(total) + " bytes are free");
  }
  if (Status s = check(r, "cuMemAlloc"))
    return std::move(s).in(what);
  result = std::make_unique<CudaBuffer>(this, address, bytes);
  return Status::ok();
}

Status CudaDevice::beginUse(DriverBuffer &buffer, uint64_t size) {
  return beginUse(buffer, size, nullptr);
}

Status CudaDevice::beginUse(DriverBuffer &buffer, uint64_t size,
                            CUstream stream) {
  if (!library->ptxsimBeginUse)
    return Status::ok();
  if (Status s = lost())
    return s;
  ScopedContext scope(*this);
  return check(static_cast<CUresult>(
                   library->ptxsimBeginUse(buffer.address(), size, stream)),
               "ptxsimBeginUse");
}

Status CudaDevice::checkImport(uint64_t native, uint64_t size) {
  if (Status s = lost())
    return s;
  ScopedContext scope(*this);
  auto refuse = [&](const std::string &why) {
    return invalidArgument("cannot adopt " + std::to_string(size) +
                           " bytes of device memory: " + why);
  };
  unsigned type = 0, managed = 0;
  for (uint64_t at : {size - 1, uint64_t(0)}) {
    CUresult r = library->cuPointerGetAttribute(
        &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, native + at);
    if (r != CUDA_SUCCESS)
      return refuse("the CUDA driver does not know byte " + std::to_string(at) +
                    ": " + library->resultName(r));
  }
  // What an allocation cannot tell (pools have no context) is not held against
  // it.
  auto ask = [&](auto &value, CUpointer_attribute attribute) {
    return library->cuPointerGetAttribute(&value, attribute, native) ==
           CUDA_SUCCESS;
  };
  CUdeviceptr seen = 0;
  if (ask(seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER) && seen != native)
    return refuse("the device sees it at another address");
  if (type == CU_MEMORYTYPE_HOST ||
      (ask(managed, CU_POINTER_ATTRIBUTE_IS_MANAGED) && managed))
    return Status::ok();
  int ordinal = 0;
  CUdevice theirs = 0;
  CUcontext context = nullptr;
  if (ask(ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) &&
      library->cuDeviceGet(&theirs, ordinal) == CUDA_SUCCESS &&
      theirs != device)
    return refuse("it lies on CUDA device " + std::to_string(ordinal));
  if (ask(context, CU_POINTER_ATTRIBUTE_CONTEXT) && context &&
      context != current)
    return refuse("it belongs to another CUDA context; open the device over "
                  "that one with tilewright_device_adopt_cuda");
  return Status::ok();
}

Status CudaDevice::importBuffer(uint64_t native, uint64_t size,
                                std::unique_ptr<DriverBuffer> &result) {
  if (native == 0)
    return invalidArgument("the device pointer to adopt is null");
  result = std::make_unique<CudaBuffer>(nullptr, native, size);
  return Status::ok();
}

Status CudaDevice::loadModule(const ModuleDesc &desc,
                              std::unique_ptr<DriverModule> &result) {
  if (Status s = lost())
    return s;
  return CudaModule::load(*this, desc, result);
}

Status CudaDevice::createStream(std::unique_ptr<DriverStream> &result) {
  if (Status s = lost())
    return s;
  ScopedContext scope(*this);
  CUstream stream = nullptr;
  if (Status s = check(library->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
                       "cuStreamCreate"))
    return s;
  result = std::make_unique<CudaStream>(*this, stream, true);
  return Status::ok();
}

Status CudaDevice::importStream(uint64_t native,
                                std::unique_ptr<DriverStream> &result) {
  if (Status s = lost())
    return s;
  if (native == CU_STREAM_PER_THREAD_HANDLE)
    return invalidArgument("CU_STREAM_PER_THREAD is another stream in every "
                           "thread; adopt a stream made by cuStreamCreate, or "
                           "the default stream");
  auto stream = reinterpret_cast<CUstream>(native);
  if (library->cuStreamGetCtx && native > CU_STREAM_LEGACY_HANDLE) {
    ScopedContext scope(*this);
    CUcontext theirs = nullptr;
    CUresult r = library->cuStreamGetCtx(stream, &theirs);
    if (r != CUDA_SUCCESS)
      return invalidArgument("this is no CUstream: cuStreamGetCtx failed: " +
                             library->resultName(r));
    if (theirs != current)
      return invalidArgument("the CUstream belongs to another CUDA context; "
                             "open the device over that one with "
                             "tilewright_device_adopt_cuda");
  }
  result = std::make_unique<CudaStream>(*this, stream, false);
  return Status::ok();
}

Status CudaDevice::createEvent(bool timing,
                               std::unique_ptr<DriverEvent> &result) {
  if (Status s = lost())
    return s;
  ScopedContext scope(*this);
  CUevent event = nullptr;
  if (Status s = check(
          library->cuEventCreate(&event, timing ? CU_EVENT_DEFAULT
                                                : CU_EVENT_DISABLE_TIMING),
          "cuEventCreate"))
    return s;
  result = std::make_unique<CudaEvent>(*this, event);
  return Status::ok();
}

} // namespace tilewright::cuda
