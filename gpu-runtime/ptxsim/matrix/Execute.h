// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running the matrix instructions of a warp.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_EXECUTE_H
#define TILEWRIGHT_PTXSIM_MATRIX_EXECUTE_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// All 32 lanes are at the instruction; `frames` are their registers.
void executeMatrix(ExecContext &context, const Inst &inst, Frame *const frames[warpSize]);

struct WarpRegisters;
/// mma.
void executeMultiply(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code);
/// mma.m8n8k4 with f16, which is unlike the others (Quads.cpp).
void multiplyQuads(const WarpRegisters &registers, const MatrixCode &code);
/// wmma.load and wmma.store, wmma.mma (Wmma.cpp).
void moveFragment(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code);
void multiplyFragments(const WarpRegisters &registers, const Inst &inst, const MatrixCode &code);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_EXECUTE_H
