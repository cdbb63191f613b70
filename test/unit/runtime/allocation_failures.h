// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that runs out: allocation_failures.cpp defines malloc and its kin for
// the whole process, in front of the C library's. While one is set, the k-th
// allocation of any thread, by malloc or new, in any library, gives nothing.
#ifndef TILEWRIGHT_TEST_RUNTIME_ALLOCATION_FAILURES_H
#define TILEWRIGHT_TEST_RUNTIME_ALLOCATION_FAILURES_H

namespace tilewright::test {

/// The k-th allocation from here on fails, once, or it and all after it. 0: none.
void failAllocation(long k, bool andAllAfter);
/// Allocations since then.
long allocations();
/// Blocks that are not freed.
long liveAllocations();

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_RUNTIME_ALLOCATION_FAILURES_H
