// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a CUDA driver library and asks it for every function at the version
// whose signature we declare.
#include "cuda_library.h"

#include <dlfcn.h>

namespace tilewright::cuda {

using runtime::unavailable;

namespace {

/// cuGetProcAddress under its two signatures: with a result since 12.0.
struct Getter {
  CUresult (*v2)(const char *, void **, int, uint64_t,
                 CUdriverProcAddressQueryResult *) = nullptr;
  CUresult (*v1)(const char *, void **, int, uint64_t) = nullptr;

  void *find(const char *name, int version) const {
    void *address = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = v2 ? v2(name, &address, version, 0, &found)
                         : v1(name, &address, version, 0);
    return result == CUDA_SUCCESS && found == CU_GET_PROC_ADDRESS_SUCCESS
               ? address
               : nullptr;
  }
};

} // namespace

Status CudaLibrary::open(const std::string &path, bool wantSimulator,
                         std::shared_ptr<CudaLibrary> &result) {
  auto library = std::make_shared<CudaLibrary>();
  if (Status s = library->load(path, wantSimulator))
    return s;
  if (Status s = library->initialize())
    return s;
  result = std::move(library);
  return Status::ok();
}

Status CudaLibrary::load(const std::string &path, bool wantSimulator) {
  bool chosen = !path.empty();
  std::string file = chosen ? path : "libcuda.so.1";
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return unavailable((wantSimulator ? "no PTX simulator: "
                                      : "no CUDA driver: ") +
                       std::string(why ? why : file.c_str()) +
                       (wantSimulator
                            ? " (TILEWRIGHT_PTXSIM_LIBRARY can name another)"
                            : " (TILEWRIGHT_CUDA_LIBRARY can name one)"));
  }
  isSimulator = dlsym(handle, "ptxsimVersion") != nullptr;
  if (isSimulator) {
    ptxsimBeginUse = reinterpret_cast<decltype(ptxsimBeginUse)>(
        dlsym(handle, "ptxsimBeginUse"));
    ptxsimPoison = reinterpret_cast<decltype(ptxsimPoison)>(
        dlsym(handle, "ptxsimPoison"));
    ptxsimSetDeadline = reinterpret_cast<decltype(ptxsimSetDeadline)>(
        dlsym(handle, "ptxsimSetDeadline"));
    ptxsimCancel = reinterpret_cast<decltype(ptxsimCancel)>(
        dlsym(handle, "ptxsimCancel"));
    if (!ptxsimBeginUse || !ptxsimPoison || !ptxsimSetDeadline || !ptxsimCancel)
      return unavailable(file + " is an older PTX simulator; this runtime "
                                "needs the one it was built with");
  }
  if (wantSimulator && !isSimulator)
    return unavailable(file + " is not the PTX simulator: it does not export "
                              "ptxsimVersion");
  if (!wantSimulator && isSimulator && !chosen)
    return unavailable("the libcuda.so.1 found here is the PTX simulator; its "
                       "device is ptxsim");
  Getter getter;
  getter.v2 = reinterpret_cast<decltype(getter.v2)>(
      dlsym(handle, "cuGetProcAddress_v2"));
  getter.v1 = reinterpret_cast<decltype(getter.v1)>(
      dlsym(handle, "cuGetProcAddress"));
  if (!getter.v1 && !getter.v2)
    return unavailable(file + " exports no cuGetProcAddress: a driver of CUDA "
                              "11.3 or later is needed");
#define TW_CUDA_SYMBOL(NAME, VERSION, PARAMETERS)                              \
  NAME = reinterpret_cast<CUresult(*) PARAMETERS>(getter.find(#NAME, VERSION)); \
  if (!NAME)                                                                   \
    return unavailable(file + " lacks " #NAME " of CUDA " +                    \
                       versionName(VERSION));
#define TW_CUDA_OPTIONAL(NAME, VERSION, PARAMETERS)                            \
  NAME = reinterpret_cast<CUresult(*) PARAMETERS>(getter.find(#NAME, VERSION));
#include "cuda_symbols.def"
  return Status::ok();
}

Status CudaLibrary::initialize() {
  CUresult result = cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return unavailable("the CUDA driver finds no device");
  if (result != CUDA_SUCCESS)
    return unavailable("cuInit failed: " + resultName(result));
  result = cuDriverGetVersion(&version);
  if (result != CUDA_SUCCESS)
    return unavailable("cuDriverGetVersion failed: " + resultName(result));
  return Status::ok();
}

std::string CudaLibrary::resultName(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return "CUDA error " + std::to_string(static_cast<unsigned>(result));
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

bool isSticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
  case CUDA_ERROR_EXTERNAL_DEVICE:
  case CUDA_ERROR_UNKNOWN:
    return true;
  default:
    return false;
  }
}

std::string versionName(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

} // namespace tilewright::cuda
