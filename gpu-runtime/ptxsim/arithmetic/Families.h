// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decode functions of all instruction families, named by isa/Opcodes.def, and the pieces that opcodes such as `add`,
// which exist for integers and floating point, are split into.

#ifndef TILEWRIGHT_PTXSIM_ARITHMETIC_FAMILIES_H
#define TILEWRIGHT_PTXSIM_ARITHMETIC_FAMILIES_H

#include "decode/InstDecoder.h"

namespace tilewright::ptxsim {

#define PTXSIM_OPCODE(root, decode, ptx, sm, modifiers) bool decode(InstDecoder &);
#include "isa/Opcodes.def"

// Called with inst.type set.
bool decodeIntegerAddSub(InstDecoder &d, bool isSub);
bool decodeIntegerMul(InstDecoder &d);
bool decodeIntegerMad(InstDecoder &d);
bool decodeIntegerDiv(InstDecoder &d);
bool decodeIntegerAbs(InstDecoder &d);
bool decodeIntegerNeg(InstDecoder &d);
bool decodeIntegerMinMax(InstDecoder &d, bool isMax);
bool decodeFloatAddSub(InstDecoder &d, bool isSub);
bool decodeFloatMul(InstDecoder &d);
bool decodeFloatDiv(InstDecoder &d);
bool decodeFloatAbs(InstDecoder &d);
bool decodeFloatNeg(InstDecoder &d);
bool decodeFloatMinMax(InstDecoder &d, bool isMax);

/// Whether the type is computed in floating point (packed halves included).
inline bool isFloatLike(ScalarType type) {
  return isFloat(type) || type == ScalarType::F16x2 || type == ScalarType::BF16x2 || type == ScalarType::F32x2;
}

/// .cta, .cluster, .gpu or .sys, and a state space; both optional.
void takeScope(InstDecoder &d);
bool takeMemorySpace(InstDecoder &d);

/// atom of .b128, after the modifiers.
bool decodeWideAtomic(InstDecoder &d, bool isRed);

/// Puts the directed rounding of the instruction around its handler; nothing for the default mode.
void wrapRounding(Inst &inst);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ARITHMETIC_FAMILIES_H
