// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTXSIM_CLONES before a function: it is compiled for several instruction sets, and the widest that the processor has is
// chosen when the library is loaded. Functions it is to inline must be inline, and always_inline where they are large.

#ifndef TILEWRIGHT_PTXSIM_ARITHMETIC_CLONES_H
#define TILEWRIGHT_PTXSIM_ARITHMETIC_CLONES_H

#include <cstdlib>

// The choice is made by resolvers that run before a sanitizer is ready.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PTXSIM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PTXSIM_SANITIZED 1
#endif
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(PTXSIM_SANITIZED)
#define PTXSIM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PTXSIM_CLONES
#endif

#endif // TILEWRIGHT_PTXSIM_ARITHMETIC_CLONES_H
