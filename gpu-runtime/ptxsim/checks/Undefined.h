// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How undefined bits travel through instructions that compute registers from registers.

#ifndef TILEWRIGHT_PTXSIM_CHECKS_UNDEFINED_H
#define TILEWRIGHT_PTXSIM_CHECKS_UNDEFINED_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// Called before the handler, while the sources still hold their values. Sets the definedness of the results.
void propagateUndefined(ExecContext &context, const Inst &inst);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_CHECKS_UNDEFINED_H
