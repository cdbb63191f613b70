// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one fragment of a warp for a while.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_INTERPRETER_H
#define TILEWRIGHT_PTXSIM_MACHINE_INTERPRETER_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// At most `budget` instructions of the fragment, or until it ends, waits, or the launch is given up.
void runFragment(ExecContext &context, Warp &warp, unsigned index, uint64_t budget);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_INTERPRETER_H
