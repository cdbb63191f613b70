// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of host programs: made, looked at, copied, and seen otherwise.

#include "core/host_functions.h"

#include "core/few.h"

namespace tilewright::runtime {

namespace {

bool readDims(tw_context *context, const char *where, int32_t rank,
              const int64_t *dims, std::vector<int64_t> &result) {
  if (rank < 0 || rank > kMaxRank || (rank && !dims)) {
    context->record(internalError(std::string(where) + ": rank " +
                                  std::to_string(rank) + " is out of range"));
    return false;
  }
  result.assign(dims, dims + rank);
  return true;
}

// False, with an error, where the tensor is not live or has no dim `d`.
bool hasDim(tw_context *context, const char *where, const tw_view *view, int32_t d) {
  if (!context->isLive(view, where))
    return false;
  if (d >= 0 && size_t(d) < view->view.dims.size())
    return true;
  context->record(internalError(std::string(where) + ": the host program asks for dim " +
                                std::to_string(d) + " of " + view->view.text()));
  return false;
}

Status newTensor(tw_context *context, tw_dtype dtype, std::vector<int64_t> dims,
                 View &view) {
  Device &device = *context->program.device();
  if (Status s =
          allocateView(device, &context->stream, dtype, std::move(dims), view))
    return s;
  if (device.poison)
    return context->stream.poison(*view.buffer, 0, view.bytes);
  return Status::ok();
}

} // namespace

tw_view *apiAlloc(tw_context *context, int32_t dtype, int32_t rank,
                  const int64_t *dims) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> shape;
    if (!readDims(context, "alloc", rank, dims, shape))
      return;
    View view;
    if (Status s = newTensor(context, static_cast<tw_dtype>(dtype),
                             std::move(shape), view))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiPlace(tw_context *context, tw_view *arena, int64_t offset,
                  int32_t dtype, int32_t rank, const int64_t *dims) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> shape;
    if (!context->isLive(arena, "place") ||
        !readDims(context, "place", rank, dims, shape))
      return;
    const View &from = arena->view;
    View view;
    if (Status s = makeView(from.buffer, from.offset + uint64_t(offset),
                            static_cast<tw_dtype>(dtype), std::move(shape), view))
      return context->record(std::move(s).in("place"));
    if (offset < 0 || offset + view.bytes > from.bytes)
      return context->record(internalError(
          "place: " + view.text() + " at byte " + std::to_string(offset) +
          " does not fit into " + from.text()));
    if (context->program.device()->poison)
      if (Status s =
              context->stream.poison(*view.buffer, view.offset, view.bytes))
        return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiConstant(tw_context *context, int32_t id) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    const std::vector<View> &constants = context->program.constants();
    if (id < 0 || size_t(id) >= constants.size())
      return context->record(internalError(
          "the host program asks for constant " + std::to_string(id) + " of " +
          std::to_string(constants.size())));
    if (!constants[id].buffer)
      return context->record(internalError(
          "the host program asks for constant " + std::to_string(id) +
          ", which is there only while the program is loaded"));
    result = context->own(constants[id]);
  });
  return result;
}

void apiRetain(tw_context *context, tw_view *view) {
  guarded(context, [&] {
    if (view && context->isLive(view, "retain"))
      ++view->references;
  });
}

// Also runs after an error: it only ever lets go.
void apiRelease(tw_context *context, tw_view *view) {
  if (!context || !view)
    return;
  if (!context->views.has(view))
    return caught(context, [&] {
      context->record(
          internalError("release: the host program released a tensor twice"));
    });
  if (--view->references == 0)
    context->views.remove(view);
}

int64_t apiDim(tw_context *context, const tw_view *view, int32_t d) {
  int64_t result = 0;
  guarded(context, [&] {
    if (hasDim(context, "dim", view, d))
      result = view->view.dims[d];
  });
  return result;
}

void apiDispatch(tw_context *context, int32_t id, int32_t numViews,
                 tw_view *const *views, int32_t numScalars,
                 const uint64_t *scalars) {
  guarded(context, [&] {
    size_t count = context->program.desc().dispatches.size();
    if (id < 0 || size_t(id) >= count || numViews < 0 || numScalars < 0)
      return context->record(
          internalError("the host program launches dispatch " +
                        std::to_string(id) + " of " + std::to_string(count)));
    Few<const View *> operands(numViews);
    for (int32_t i = 0; i < numViews; ++i) {
      if (!context->isLive(views[i], "dispatch"))
        return;
      operands[i] = &views[i]->view;
    }
    context->record(context->program.launch(id, context->stream,
                                            operands.data(), operands.size(),
                                            scalars, numScalars));
  });
}

tw_view *apiClone(tw_context *context, const tw_view *source) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    if (!context->isLive(source, "clone"))
      return;
    View view;
    const View &from = source->view;
    if (Status s = allocateLike(*context->program.device(), &context->stream,
                                from, view))
      return context->record(std::move(s));
    if (Status s = context->stream.copy(*view.buffer, 0, *from.buffer,
                                        from.offset, from.bytes))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

void apiCopy(tw_context *context, tw_view *target, const tw_view *source) {
  guarded(context, [&] {
    if (!context->isLive(target, "copy") || !context->isLive(source, "copy"))
      return;
    const View &to = target->view, &from = source->view;
    if (to.dtype != from.dtype || to.dims != from.dims)
      return context->record(invalidArgument(
          "copy: the source is " + from.text() + ", the target " + to.text()));
    if (to.buffer == from.buffer && to.offset == from.offset &&
        to.strides == from.strides)
      return;
    context->record(copyElements(context->stream, to, from));
  });
}

tw_view *apiReshape(tw_context *context, tw_view *source, int32_t rank,
                    const int64_t *dims) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> shape;
    if (!context->isLive(source, "reshape") ||
        !readDims(context, "reshape", rank, dims, shape))
      return;
    const View &from = source->view;
    if (Status s = requireDense(from, "reshape"))
      return context->record(std::move(s));
    int64_t elements, bytes;
    if (Status s = denseSize(shape, from.dtype, elements, bytes))
      return context->record(std::move(s).in("reshape"));
    if (elements != from.elements)
      return context->record(programError(
          "reshape: " + from.text() + " has " + std::to_string(from.elements) +
          " elements, " + shapeText(shape, from.dtype) + " has " +
          std::to_string(elements)));
    View view;
    if (Status s = makeView(from.buffer, from.offset, from.dtype,
                            std::move(shape), view))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiWindow(tw_context *context, tw_view *source, int32_t rank,
                   const int64_t *offsets, const int64_t *sizes,
                   const int64_t *strides, uint64_t dropped) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> begin, count, step;
    if (!context->isLive(source, "window") ||
        !readDims(context, "window", rank, offsets, begin) ||
        !readDims(context, "window", rank, sizes, count) ||
        !readDims(context, "window", rank, strides, step))
      return;
    View view;
    if (Status s = makeWindow(source->view, begin, count, step, dropped, view))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiIm2col(tw_context *context, tw_view *source, int32_t rank,
                   const int64_t *sizes, int32_t sourceRank,
                   const int64_t *steps, const char *what) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> count, moves;
    if (!context->isLive(source, "im2col") ||
        !readDims(context, "im2col", rank, sizes, count))
      return;
    if (sourceRank < 0 || sourceRank > kMaxRank || (sourceRank * rank != 0 && !steps))
      return context->record(internalError("im2col: no steps"));
    moves.assign(steps, steps + size_t(sourceRank) * size_t(rank));
    View view;
    if (Status s = makeWindows(source->view, count, moves, view))
      return context->record(std::move(s).in(what));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiPad(tw_context *context, tw_view *source, int32_t rank,
                const int64_t *low, const int64_t *high, const char *what) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> before, behind;
    if (!context->isLive(source, "pad") ||
        !readDims(context, "pad", rank, low, before) ||
        !readDims(context, "pad", rank, high, behind))
      return;
    View view;
    if (Status s = makePadded(source->view, before, behind, view))
      return context->record(std::move(s).in(what));
    result = context->own(std::move(view));
  });
  return result;
}

int64_t apiStride(tw_context *context, const tw_view *view, int32_t d) {
  int64_t result = 0;
  guarded(context, [&] {
    if (hasDim(context, "stride", view, d))
      result = view->view.stride(d);
  });
  return result;
}

} // namespace tilewright::runtime
