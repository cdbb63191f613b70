// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How loads and stores are run.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_LOADSTORE_H
#define TILEWRIGHT_PTXSIM_MACHINE_LOADSTORE_H

#include "decode/Program.h"

namespace tilewright::ptxsim {

/// Gives an access whose operands are decoded the fastest way that its space and type allow. `isLocked`: one access
/// among those of other host threads, as strong ones of sixteen bytes are. `isKernelParam`: a parameter at a known place.
void setLoad(Inst &inst, bool isLocked, bool isKernelParam);
void setStore(Inst &inst, bool isLocked);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_LOADSTORE_H
