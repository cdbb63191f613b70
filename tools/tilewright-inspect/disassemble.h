// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of an artifact as text.
#ifndef TILEWRIGHT_INSPECT_DISASSEMBLE_H
#define TILEWRIGHT_INSPECT_DISASSEMBLE_H

#include "describe.h"

#include <string>

namespace tilewright::inspect {

struct CodeRequest {
  std::string target;  // empty: every program
  std::string kernel;  // a variant or a function of the host program; empty: all
  std::string objdump; // program; empty: llvm-objdump-22, llvm-objdump, objdump
  bool raw = false;    // the module's bytes as they are; one kernel only
};

/// PTX as it is, SPIR-V by SPIRV-Tools, host code by objdump, each under a line
/// that says where it lies. Throws RunError if nothing fits the request.
std::string codeText(const Opened &opened, const CodeRequest &request);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_DISASSEMBLE_H
