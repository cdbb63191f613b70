// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operations of atom, red and the asynchronous reductions compute.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_ATOMIC_H
#define TILEWRIGHT_PTXSIM_MACHINE_ATOMIC_H

#include "decode/InstDecoder.h"

namespace tilewright::ptxsim {

/// The new value of a location that holds `old`; c is for cas alone.
uint64_t combineAtomic(AtomicOp op, ScalarType type, bool inGlobal, uint64_t old, uint64_t b, uint64_t c);

/// Takes the operation's modifier into inst.op.
bool takeAtomicOp(InstDecoder &d);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_ATOMIC_H
