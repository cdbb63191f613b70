// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing what a bulk copy has read.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_BULKMOVE_H
#define TILEWRIGHT_PTXSIM_ASYNC_BULKMOVE_H

#include "machine/MemoryAccess.h"

namespace tilewright::ptxsim {

struct PendingBulk;

/// Stores the copy's bytes from `at` on.
void putBytes(ExecContext &context, const PendingBulk &copy, const Place &to, uint64_t address, uint32_t at,
              unsigned bytes);
/// Combines them, as elements of this type, with what is there; each element by itself is atomic.
void reduceBytes(ExecContext &context, const PendingBulk &copy, ScalarType type, const Place &to, uint64_t address,
                 uint32_t at, unsigned bytes);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_BULKMOVE_H
