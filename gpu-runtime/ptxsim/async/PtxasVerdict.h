// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether NVIDIA's ptxas honours setmaxnreg in a kernel, and with how many registers the kernel begins. Where the kernel
// does not say that itself, nobody else knows: it depends on the code.
#ifndef TILEWRIGHT_PTXSIM_ASYNC_PTXASVERDICT_H
#define TILEWRIGHT_PTXSIM_ASYNC_PTXASVERDICT_H

#include "parser/Ast.h"

#include <string>

namespace tilewright::ptxsim {

struct PtxasVerdict {
  /// Registers per thread at entry; 0: setmaxnreg is ignored, or nobody could be asked.
  unsigned registers = 0;
  /// What ptxas said where it ignores it; empty where it was not asked.
  std::string ignored;
};

/// Assembles `kernel` of `module` with the ptxas that PTXSIM_PTXAS names ("off": none), or that of PATH, CUDA_HOME or
/// /usr/local/cuda; once per kernel.
PtxasVerdict askPtxas(const Module &module, const Function &kernel);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_PTXASVERDICT_H
