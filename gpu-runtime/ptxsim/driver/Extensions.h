// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulator's libcuda exports beside the driver API. All functions are thread-safe.

#ifndef TILEWRIGHT_PTXSIM_DRIVER_EXTENSIONS_H
#define TILEWRIGHT_PTXSIM_DRIVER_EXTENSIONS_H

#include <stddef.h>

#define PTXSIM_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// Name and version; that this symbol exists means that the library is the simulator.
PTXSIM_API const char *ptxsimVersion(void);

/// The findings so far as a JSON array. Writes at most `bytes` with a terminating zero and returns what the whole needs.
PTXSIM_API size_t ptxsimFindings(char *buffer, size_t bytes);
PTXSIM_API void ptxsimClearFindings(void);

/// Says that [address, address + bytes) of an allocation is a buffer of its own from now on, with undefined contents. As
/// soon as an allocation has any, accesses outside all of them are findings. `label` may be null and is copied. Takes
/// effect at once, so callers order it with work on streams. Returns a CUresult.
PTXSIM_API int ptxsimDefineSubBuffer(unsigned long long address, size_t bytes, const char *label);
/// For allocators that hand memory out again: from here on in the order of `stream` (a CUstream of the current context;
/// null for at once), the allocation that begins at `address` has one buffer, its first `bytes` bytes, with undefined
/// contents. What is ordered neither before nor after that and touches the memory races. Returns a CUresult.
PTXSIM_API int ptxsimBeginUse(unsigned long long address, size_t bytes, void *stream);
/// Ones bits in memory that was handed out, in the order of `stream` (of the current context). Unlike a fill it is no work of
/// the device: a launch as a programmatic dependent behind it may overlap those in front of it. Returns a CUresult.
PTXSIM_API int ptxsimPoison(unsigned long long address, size_t bytes, void *stream);
/// Kernels run inside the call that enqueues them or waits for them. Those that this thread runs from now on are given
/// up when CLOCK_MONOTONIC shows so many nanoseconds: the launch ends between two of its blocks' turns, and its context
/// answers CUDA_ERROR_LAUNCH_TIMEOUT. A call that has to wait for the kernel of another thread until then answers
/// CUDA_ERROR_NOT_READY. 0: never, as at the start.
PTXSIM_API void ptxsimSetDeadline(unsigned long long nanoseconds);
/// Gives up the launch that runs in the context (a CUcontext), and all that are still to come, like a deadline that
/// passed. Waits for nothing.
PTXSIM_API void ptxsimCancel(void *context);
/// Ends the buffer that begins at `address`.
PTXSIM_API int ptxsimEndSubBuffer(unsigned long long address);

#ifdef __cplusplus
}
#endif

#endif // TILEWRIGHT_PTXSIM_DRIVER_EXTENSIONS_H
