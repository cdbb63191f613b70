// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running wgmma.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_WGMMA_H
#define TILEWRIGHT_PTXSIM_MATRIX_WGMMA_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// mma_async, fence, commit_group or wait_group of a whole warp.
void executeWgmma(ExecContext &context, const Inst &inst, const MatrixCode &code, Frame *const frames[warpSize]);

/// Whether this is a wait_group for multiplications that other warps of the warpgroup have yet to commit: a multiplication
/// is complete when all four warps have had their share.
bool mustWaitForWarpgroup(const ExecContext &context, const Inst &inst, const Warp &warp);

/// Reports registers that a wgmma in flight owns, and remembers which were written since the last fence; for every
/// instruction of a warp that uses wgmma.
void checkRegisters(ExecContext &context, const Inst &inst);
/// The same for the registers of a matrix instruction.
void checkMatrixRegisters(ExecContext &context, const Inst &inst, const MatrixCode &code);

/// What was not waited for, and warpgroups that did not go together.
void checkWgmmaAtEnd(ExecContext &context, const Block &block);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_WGMMA_H
