// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of bf16 and f16, in LLVM IR, for processors that have no such registers.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_MOVEBITS_H
#define TILEWRIGHT_LIB_TARGET_CPU_MOVEBITS_H

#include "llvm/IR/Module.h"

namespace tilewright::cpu {

/// Loads, stores, shuffles and selects vectors of bf16 as integers.
void moveBf16AsIntegers(llvm::Module &module);

/// Has vectors of f16 become integers by way of f32.
void convertHalvesBySingles(llvm::Module &module);

} // namespace tilewright::cpu

#endif
