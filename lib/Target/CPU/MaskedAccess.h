// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_CPU_MASKEDACCESS_H
#define TILEWRIGHT_TARGET_CPU_MASKEDACCESS_H

#include "llvm/IR/Module.h"

namespace tilewright::cpu {

/// Gives masked loads and stores of elements under `nativeBits` bits a form
/// that stays small: a call of a loop over the mask's set bits. 16-bit floats
/// become integers first. Masks that are constants keep their form, but stores of one lane,
/// which are those of its element.
void lowerMaskedAccesses(llvm::Module &module, unsigned nativeBits);

/// Masked loads of several registers become one for each register. LLVM 22 for x86 without
/// AVX-512 splits them itself, but reads a part whose lanes are all masked off as if none were.
/// Elements under `nativeBits` bits are left to `lowerMaskedAccesses`.
void splitMaskedLoads(llvm::Module &module, unsigned registerBits, unsigned nativeBits);

/// Stores of 16-bit floats, as many as no power of two, become masked stores of
/// integers: for SVE, of which LLVM 22 cannot store 31 ("Cannot select").
void maskOddStores(llvm::Module &module);

} // namespace tilewright::cpu

#endif
