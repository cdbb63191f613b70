// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What setmaxnreg asks of a block as a whole.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_REGISTERPOOL_H
#define TILEWRIGHT_PTXSIM_ASYNC_REGISTERPOOL_H

namespace tilewright::ptxsim {

struct Block;
struct ExecContext;

/// At the end of the block: the four warps of a warpgroup must have executed the same setmaxnreg, in the same order.
void checkRegisterPool(ExecContext &context, const Block &block);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_REGISTERPOOL_H
