/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the runtime does and when, for profilers: a function of the caller's
 * hears of every slice of time after it has ended.
 *
 * Slices of the host (program loads, calls, launches, transfers, waits) lie on
 * one lane per thread; those of one thread contain each other or are apart.
 * Slices of the device (kernels and transfers as its timestamps tell) lie on one
 * lane per stream and are reported when the stream is next synchronised; a
 * device without timestamps has none.
 *
 * While no function is set, tracing costs one load and one branch per call.
 * While one is set, each launch and transfer carries two timed events, and the
 * first on a stream waits for the stream once, to learn how the clocks relate.
 */
#ifndef TILEWRIGHT_TRACE_H
#define TILEWRIGHT_TRACE_H

#include "tilewright/tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tilewright_trace_event {
  const char *name;     /* "main", "main_matmul_0", "write", … */
  const char *category; /* load, call, launch, transfer, wait; kernel for what
                           a device did of launches */
  const char *arguments; /* a JSON object, {"variant":"k_sg8","grid":[8,1,1]} */
  int32_t on_device;     /* 0: the lane is a thread; 1: it is a stream */
  uint32_t lane;         /* 1, 2, … in the order in which they first appeared */
  uint64_t begin;        /* nanoseconds of CLOCK_MONOTONIC */
  uint64_t end;
} tilewright_trace_event;

/* Called from any thread that uses the device, possibly several at once; must
 * not call the runtime. The event and its strings live during the call. */
typedef void (*tilewright_trace_function)(void *user,
                                          const tilewright_trace_event *event);

/* Traces all that happens on the device through this runtime from here on; null
 * ends it. Not while another thread uses the device. Synchronise streams before
 * ending it, or their last slices are lost. */
TILEWRIGHT_API tilewright_status *
tilewright_device_set_trace(tilewright_device *device,
                            tilewright_trace_function function, void *user);

#ifdef __cplusplus
}
#endif

#endif /* TILEWRIGHT_TRACE_H */
