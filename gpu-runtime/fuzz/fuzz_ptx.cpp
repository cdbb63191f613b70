// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text as PTX: parsed, checked and decoded by the simulator.

#include "machine/LoadedModule.h"

using namespace tilewright::ptxsim;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MachineOptions options;
  options.computeCapability = 90;
  options.memoryBytes = 1 << 20;
  DeviceMemory memory(options.memoryBytes);
  Diagnostic error;
  LoadedModule::Failure failure;
  (void)LoadedModule::load(std::string(reinterpret_cast<const char *>(data), size), memory, options, nullptr, error,
                           failure);
  return 0;
}
