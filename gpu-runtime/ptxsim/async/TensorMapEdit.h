// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of tensor maps, by warps.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_TENSORMAPEDIT_H
#define TILEWRIGHT_PTXSIM_ASYNC_TENSORMAPEDIT_H

#include <cstdint>

namespace tilewright::ptxsim {

struct ExecContext;
struct Inst;

/// tensormap.cp_fenceproxy's copy, from shared to global memory; the addresses lack the instruction's offsets.
void copyTensorMap(ExecContext &context, const Inst &inst, unsigned lane, uint64_t to, uint64_t from);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_TENSORMAPEDIT_H
