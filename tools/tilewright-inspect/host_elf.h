// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a host program's shared object says of itself, read as bytes. Nothing
// of it is loaded or run.
//
// The compiler strips symbols. The functions and the CPU's kernels are listed
// in a table of the kind that program_abi.h calls TilewrightProgramExports,
//
//   version │ #functions │ #kernels │ 0 │ functions ─▶ name, address, …
//                                       │ kernels   ─▶ name, address, …
//
// whose pointers are relocations of the form "base + addend". It is found by
// its shape: two such relocations side by side behind a header that fits.
#ifndef TILEWRIGHT_INSPECT_HOST_ELF_H
#define TILEWRIGHT_INSPECT_HOST_ELF_H

#include "core/status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::inspect {

struct NamedCode {
  std::string name;
  uint64_t begin = 0, end = 0; // virtual addresses
};

struct HostElf {
  std::string machine; // "x86-64"
  std::vector<std::string> imports, exports, needed; // dynamic symbols, libraries
  /// Version of the interface with the runtime; 0 if no table was found.
  uint32_t interfaceVersion = 0;
  std::vector<NamedCode> functions, kernels;
};

/// CorruptArtifact for what is not a 64-bit little-endian ELF file, or whose
/// tables point out of the file.
runtime::Status readHostElf(const uint8_t *data, size_t size, HostElf &result);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_HOST_ELF_H
