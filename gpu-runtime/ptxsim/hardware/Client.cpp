// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening the driver and writing answers.

#include "hardware/Client.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tilewright::ptxsim::confirm {

Client::Client(const std::string &library, const std::string &output) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::fprintf(stderr, "confirm: %s\n", dlerror());
    std::exit(1);
  }
  // A driver older than a function leaves it null; only what is asked for has to be there.
#define PTXSIM_API_NONE(name, symbol, version, params, args)                                                           \
  symbol = reinterpret_cast<CUresult(*) params>(dlsym(handle, #symbol));
#include "driver/Implemented.def"
  simulated = dlsym(handle, "ptxsimVersion") != nullptr;
  file = std::fopen(output.c_str(), "w");
  if (!file) {
    std::fprintf(stderr, "confirm: cannot write %s\n", output.c_str());
    std::exit(1);
  }
  char deviceName[256] = "";
  int version = 0;
  must(cuInit(0), "cuInit");
  must(cuDeviceGet(&device, 0), "cuDeviceGet");
  must(cuDeviceGetName(deviceName, sizeof(deviceName), device), "cuDeviceGetName");
  must(cuDriverGetVersion(&version), "cuDriverGetVersion");
  must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  std::fprintf(file, "{\"device\": \"%s\", \"driver\": %d}\n", deviceName, version);
  std::printf("confirm: %s, driver API %d.%d\n", deviceName, version / 1000, version % 1000 / 10);
}

void Client::record(const std::string &question, const std::string &expected, const std::string &got, bool agrees) {
  std::fprintf(file, "{\"question\": \"%s\", \"expected\": \"%s\", \"got\": \"%s\", \"agrees\": %s}\n",
               question.c_str(), expected.c_str(), got.c_str(), agrees ? "true" : "false");
  ++(agrees ? agreed : disagreed);
  if (!agrees)
    std::printf("differs: %s: expected %s, got %s\n", question.c_str(), expected.c_str(), got.c_str());
}

void Client::expect(const std::string &question, CUresult expected, CUresult got) {
  record(question, name(expected), name(got), expected == got);
}

std::string Client::name(CUresult result) {
  const char *text = nullptr;
  if (cuGetErrorName && cuGetErrorName(result, &text) == CUDA_SUCCESS && text)
    return text;
  return std::to_string(static_cast<int>(result));
}

void Client::must(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "confirm: %s: %s\n", what, name(result).c_str());
  std::exit(1);
}

void Client::reset() {
  cuDevicePrimaryCtxReset_v2(device);
  must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

int Client::finish() {
  std::fclose(file);
  std::printf("confirm: %u agree, %u differ\n", agreed, disagreed);
  return disagreed == 0 ? 0 : 2;
}

} // namespace tilewright::ptxsim::confirm
