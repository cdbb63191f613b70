// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of a SPIR-V module what a launch depends on. Vulkan drivers trust the
// words they are given (some crash on bad ones), so structure, entry points,
// workgroup size, bindings, shared memory and capabilities are looked at here
// and refused with a reason. This is no validator of function bodies.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_SPIRV_READER_H
#define TILEWRIGHT_DRIVERS_VULKAN_SPIRV_READER_H

#include "core/driver.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::runtime::vulkan {

struct SpirvBinding {
  uint32_t set = 0;
  uint32_t binding = 0;
  bool isUniform = false; // a uniform block, not a storage buffer
};

struct SpirvEntryPoint {
  std::string name;
  Extent3 localSize = {0, 0, 0}; // zeros: decided by a specialization constant
  std::vector<SpirvBinding> bindings; // distinct, of the variables it may use
  uint64_t sharedBytes = 0;           // its Workgroup variables together
  bool usesPushConstants = false;
};

struct SpirvModule {
  uint32_t version = 0; // 10 * major + minor
  std::vector<uint32_t> words;
  std::vector<uint32_t> capabilities;
  std::vector<SpirvEntryPoint> entryPoints; // compute shaders only

  const SpirvEntryPoint *find(const std::string &name) const;
};

/// CorruptArtifact with the word's number for what is not SPIR-V.
Status readSpirv(const uint8_t *bytes, size_t size, SpirvModule &result);

/// The fact of vulkan_capabilities.h that a capability stands on, or null when
/// every device has it (or we do not know it: the driver decides). `name` is
/// the capability's name for messages.
const char *factOfCapability(uint32_t capability, const char *&name);

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_SPIRV_READER_H
