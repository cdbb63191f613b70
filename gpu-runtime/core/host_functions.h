// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the functions of the table share (host_api.cpp), and those that make tensors
// (host_tensors.cpp). Host code has no unwind tables: nothing may be thrown through it, so each
// function runs in `guarded`, which also makes it a no-op once an error is recorded.
#ifndef TILEWRIGHT_CORE_HOST_FUNCTIONS_H
#define TILEWRIGHT_CORE_HOST_FUNCTIONS_H

#include "core/host_api.h"

#include <new>

namespace tilewright::runtime {

/// Runs `body`; exceptions become errors, in words that need no memory.
template <typename Body> void caught(tw_context *context, Body body) noexcept {
  try {
    body();
  } catch (const std::bad_alloc &) {
    context->record(outOfMemory("no host memory"));
  } catch (const std::exception &) {
    context->record(internalError("unexpected"));
  }
}

/// The same unless an error is recorded.
template <typename Body> void guarded(tw_context *context, Body body) noexcept {
  if (context && context->ok())
    caught(context, body);
}

tw_view *apiAlloc(tw_context *context, int32_t dtype, int32_t rank, const int64_t *dims);
tw_view *apiConstant(tw_context *context, int32_t id);
void apiRetain(tw_context *context, tw_view *view);
void apiRelease(tw_context *context, tw_view *view);
int64_t apiDim(tw_context *context, const tw_view *view, int32_t d);
void apiDispatch(tw_context *context, int32_t id, int32_t numViews, tw_view *const *views,
                 int32_t numScalars, const uint64_t *scalars);
tw_view *apiClone(tw_context *context, const tw_view *source);
void apiCopy(tw_context *context, tw_view *target, const tw_view *source);
tw_view *apiReshape(tw_context *context, tw_view *source, int32_t rank, const int64_t *dims);
tw_view *apiWindow(tw_context *context, tw_view *source, int32_t rank, const int64_t *offsets,
                   const int64_t *sizes, const int64_t *strides, uint64_t dropped);
int64_t apiStride(tw_context *context, const tw_view *view, int32_t d);
tw_view *apiIm2col(tw_context *context, tw_view *source, int32_t rank, const int64_t *sizes,
                   int32_t sourceRank, const int64_t *steps, const char *what);
tw_view *apiPlace(tw_context *context, tw_view *arena, int64_t offset, int32_t dtype, int32_t rank,
                  const int64_t *dims);
tw_view *apiPad(tw_context *context, tw_view *source, int32_t rank, const int64_t *low,
                const int64_t *high, const char *what);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_HOST_FUNCTIONS_H
