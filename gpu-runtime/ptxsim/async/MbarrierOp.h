// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of mbarrier, as Inst::op has them. Source 0 is the address; source 1 the count, the bytes, the state or
// the parity. Inst::mode: an arrival that drops out, or a wait by parity.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_MBARRIEROP_H
#define TILEWRIGHT_PTXSIM_ASYNC_MBARRIEROP_H

#include <cstdint>

namespace tilewright::ptxsim {

struct ExecContext;
struct Inst;

enum class MbarrierOp : uint8_t {
  Init,
  Invalidate,
  ExpectTx,
  CompleteTx,
  Arrive,
  ArriveNoComplete,
  ArriveExpectTx,
  TestWait,
  TryWait
};

/// All of them, for the lanes of context.mask. Sets context.sleeps when a wait failed in all lanes.
void executeMbarrier(ExecContext &context, const Inst &inst);

/// mbarrier.try_wait, which may wait for any time.
bool isTryWait(const Inst &inst);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_MBARRIEROP_H
