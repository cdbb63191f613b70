// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// malloc that fails when told; see allocation_failures.h.

#include "allocation_failures.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

// glibc's own, under the names that it keeps for those who put something in front.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
}

namespace {

std::atomic<long> failAt{0}, count{0}, live{0};
std::atomic<bool> allAfter{false};

bool fails() {
  long number = ++count, k = failAt;
  bool result = k && (number == k || (number > k && allAfter));
  if (result)
    errno = ENOMEM;
  return result;
}

void *counted(void *memory) {
  live += memory != nullptr;
  return memory;
}

} // namespace

void tilewright::test::failAllocation(long k, bool andAllAfter) {
  failAt = 0;
  count = 0;
  allAfter = andAllAfter;
  failAt = k;
}
long tilewright::test::allocations() { return count; }
long tilewright::test::liveAllocations() { return live; }

extern "C" {

void *malloc(size_t size) {
  return fails() ? nullptr : counted(__libc_malloc(size));
}
void *calloc(size_t number, size_t size) {
  return fails() ? nullptr : counted(__libc_calloc(number, size));
}
void *realloc(void *memory, size_t size) {
  if (fails())
    return nullptr;
  live -= memory != nullptr;
  void *result = __libc_realloc(memory, size);
  live += result || (memory && size);
  return result;
}
void *memalign(size_t alignment, size_t size) {
  return fails() ? nullptr : counted(__libc_memalign(alignment, size));
}
void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  void *memory = memalign(alignment, size);
  if (!memory)
    return ENOMEM;
  *result = memory;
  return 0;
}
void free(void *memory) {
  live -= memory != nullptr;
  __libc_free(memory);
}

} // extern "C"
