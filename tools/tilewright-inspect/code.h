// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's code says of itself, beyond the manifest.
#ifndef TILEWRIGHT_INSPECT_CODE_H
#define TILEWRIGHT_INSPECT_CODE_H

#include "core/artifact.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::inspect {

struct KernelCodeFacts {
  std::string language;      // "PTX 7.0", "SPIR-V 1.3", "cubin"
  uint64_t staticShared = 0; // bytes of shared memory inside the module
  std::vector<uint32_t> capabilities; // SPIR-V only
};

/// Of entry point `entry` of the module in `section`, whose kind is its name's
/// ending. CorruptArtifact for a module that has no such entry.
runtime::Status readKernelCode(const runtime::Artifact::Section &section,
                               const std::string &entry,
                               KernelCodeFacts &result);

/// "ptx", "spv", "so", …: the part behind the last dot; "" without one.
std::string kindOf(const std::string &section);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_CODE_H
