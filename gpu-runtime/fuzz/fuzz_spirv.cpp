// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as SPIR-V, by the reader that looks at a kernel before the driver does.

#include "drivers/vulkan/spirv_reader.h"

using namespace tilewright::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vulkan::SpirvModule module;
  (void)vulkan::readSpirv(data, size, module);
  return 0;
}
