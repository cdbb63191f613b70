// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_CPU_STREAMSTORES_H
#define TILEWRIGHT_TARGET_CPU_STREAMSTORES_H

#include "llvm/IR/Module.h"

namespace tilewright::cpu {

/// Non-temporal stores of x86 become ordinary ones where their address turns out not to
/// be aligned to cache lines, in registers of `vectorBytes`; a fence ends functions that have any.
void guardStreamedStores(llvm::Module &module, unsigned vectorBytes);

} // namespace tilewright::cpu

#endif
