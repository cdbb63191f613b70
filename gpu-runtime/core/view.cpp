// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making and comparing views; see view.h.

#include "core/view.h"

#include "core/checked.h"

#include <numeric>

namespace tilewright::runtime {

int64_t View::stride(size_t d) const {
  if (!isDense())
    return strides[d];
  int64_t product = 1;
  for (size_t i = d + 1; i < dims.size(); ++i)
    product *= dims[i]; // fits: the view's size did
  return product;
}

std::string View::text() const {
  std::string result = shapeText(dims, dtype);
  if (isDense())
    return result;
  result += " with strides ";
  for (size_t i = 0; i < strides.size(); ++i)
    result += (i ? ", " : "") + std::to_string(strides[i]);
  return result;
}

namespace {
/// A dim of two views with the same stride: places i and j differ by `least` to `most`.
struct CommonDim {
  int64_t stride, least, most;
};

/// More places of one dim than this are not tried one by one.
constexpr int64_t kMaxTried = 4;

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Whether dims from `d` on, in order of strides, may add up to `apart` elements.
bool mayReach(const std::vector<CommonDim> &dims, size_t d, int64_t apart) {
  if (d == dims.size())
    return apart == 0;
  int64_t least = 0, most = 0; // of the dims behind
  for (size_t inner = d + 1; inner < dims.size(); ++inner) {
    least += dims[inner].stride * dims[inner].least;
    most += dims[inner].stride * dims[inner].most;
  }
  int64_t stride = dims[d].stride;
  int64_t first = std::max(dims[d].least, -floorDiv(most - apart, stride));
  int64_t last = std::min(dims[d].most, floorDiv(apart - least, stride));
  if (last - first >= kMaxTried)
    return true;
  for (int64_t step = first; step <= last; ++step)
    if (mayReach(dims, d + 1, apart - step * stride))
      return true;
  return false;
}

/// True for windows of the same strides that have no element in common; `apart` is how many
/// elements `right` begins behind `left`.
bool areApart(const View &left, const View &right, int64_t apart) {
  if (left.dims.size() != right.dims.size())
    return false;
  std::vector<CommonDim> dims;
  for (size_t d = 0; d < left.dims.size(); ++d) {
    if (left.dims[d] == 1 && right.dims[d] == 1)
      continue;
    int64_t stride = left.stride(d);
    if (stride != right.stride(d) || stride < 0)
      return false;
    if (stride > 0)
      dims.push_back({stride, 1 - right.dims[d], left.dims[d] - 1});
  }
  std::sort(dims.begin(), dims.end(),
            [](const CommonDim &a, const CommonDim &b) { return a.stride > b.stride; });
  return !mayReach(dims, 0, apart);
}
} // namespace

bool View::overlaps(const View &other) const {
  if (bytes == 0 || other.bytes == 0)
    return false;
  // Adopted buffers may name the same memory: compare addresses where buffers
  // have them, and offsets otherwise.
  uint64_t a = offset, b = other.offset;
  if (buffer != other.buffer) {
    if (!buffer->address() || !other.buffer->address())
      return false;
    a = address(), b = other.address();
  }
  if (a >= b + uint64_t(other.bytes) || b >= a + uint64_t(bytes))
    return false;
  uint64_t size = dtypeBytes(dtype);
  if ((isDense() && other.isDense()) || dtype != other.dtype || a % size ||
      b % size)
    return true;
  return !areApart(*this, other, int64_t(b / size) - int64_t(a / size));
}

Status makeView(std::shared_ptr<Buffer> buffer, uint64_t offset, tw_dtype dtype,
                std::vector<int64_t> dims, View &result) {
  View view;
  if (Status s = denseSize(dims, dtype, view.elements, view.bytes))
    return s;
  if (!rangeFits(offset, view.bytes, buffer->size()))
    return invalidArgument(
        "tensor " + shapeText(dims, dtype) + " at offset " +
        std::to_string(offset) + " takes " + std::to_string(view.bytes) +
        " bytes; its buffer has " + std::to_string(buffer->size()));
  if (offset % dtypeBytes(dtype))
    return invalidArgument("tensor " + shapeText(dims, dtype) + " at offset " +
                           std::to_string(offset) +
                           " is misaligned; expected a multiple of " +
                           std::to_string(dtypeBytes(dtype)));
  view.buffer = std::move(buffer);
  view.offset = offset;
  view.dtype = dtype;
  view.dims = std::move(dims);
  result = std::move(view);
  return Status::ok();
}

Status makeStridedView(std::shared_ptr<Buffer> buffer, uint64_t offset,
                       tw_dtype dtype, std::vector<int64_t> dims,
                       std::vector<int64_t> strides, View &result) {
  View view;
  if (Status s = denseSize(dims, dtype, view.elements, view.bytes))
    return s;
  if (strides.size() != dims.size())
    return invalidArgument("tensor " + shapeText(dims, dtype) + " has " +
                           std::to_string(strides.size()) + " strides");
  view.dtype = dtype;
  view.dims = dims;
  bool isDense = true;
  int64_t last = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t reach;
    if (strides[d] < 0)
      return invalidArgument("tensor " + shapeText(dims, dtype) + ": stride " +
                             std::to_string(d) + " is negative");
    isDense &= dims[d] <= 1 || strides[d] == view.stride(d);
    if (view.elements && (!checkedMul(dims[d] - 1, strides[d], reach) ||
                          !checkedAdd(last, reach, last)))
      return invalidArgument("tensor " + shapeText(dims, dtype) +
                             ": its strides reach beyond 2^63 elements");
  }
  if (isDense || !view.elements)
    return makeView(std::move(buffer), view.elements ? offset : 0, dtype,
                    std::move(dims), result);
  if (elementsPerByte(dtype) > 1)
    return invalidArgument("tensor " + shapeText(dims, dtype) +
                           " is a window, and elements of " + dtypeName(dtype) +
                           " share bytes; only dense tensors of " + dtypeName(dtype) +
                           " exist");
  view.strides = std::move(strides);
  int64_t size = dtypeBytes(dtype);
  if (!checkedAdd(last, 1, last) || !checkedMul(last, size, view.bytes) ||
      !rangeFits(offset, view.bytes, buffer->size()))
    return invalidArgument("tensor " + view.text() + " at offset " +
                           std::to_string(offset) + " ends outside of its " +
                           "buffer of " + std::to_string(buffer->size()) +
                           " bytes");
  if (offset % size)
    return invalidArgument("tensor " + view.text() + " at offset " +
                           std::to_string(offset) +
                           " is misaligned; expected a multiple of " +
                           std::to_string(size));
  view.buffer = std::move(buffer);
  view.offset = offset;
  result = std::move(view);
  return Status::ok();
}

Status makeWindow(const View &source, const std::vector<int64_t> &offsets,
                  const std::vector<int64_t> &sizes,
                  const std::vector<int64_t> &strides, uint64_t dropped,
                  View &result) {
  size_t rank = source.dims.size();
  if (offsets.size() != rank || sizes.size() != rank || strides.size() != rank)
    return internalError("a window of " + source.text() + " needs " +
                         std::to_string(rank) + " offsets, sizes and strides");
  std::vector<int64_t> dims, steps;
  int64_t first = 0;
  for (size_t d = 0; d < rank; ++d) {
    int64_t last = 0, end, step, skipped;
    bool good = offsets[d] >= 0 && sizes[d] >= 0 && strides[d] >= 1;
    if (good && sizes[d])
      good = checkedMul(sizes[d] - 1, strides[d], last) &&
             checkedAdd(last, 1, last);
    if (!good || !checkedAdd(offsets[d], last, end) || end > source.dims[d])
      return programError(
          "window: along dim " + std::to_string(d) + ", " +
          std::to_string(sizes[d]) + " elements from " +
          std::to_string(offsets[d]) + " in steps of " +
          std::to_string(strides[d]) + " are not inside of the " +
          std::to_string(source.dims[d]) + " of " + source.text());
    if (!checkedMul(offsets[d], source.stride(d), skipped) ||
        !checkedAdd(first, skipped, first))
      return internalError("window: an offset overflows");
    if (dropped >> d & 1) {
      if (sizes[d] != 1)
        return programError("window: dim " + std::to_string(d) +
                            " is dropped but has size " +
                            std::to_string(sizes[d]));
      continue;
    }
    // A step of a dim of one element says nothing, and may be huge.
    if (sizes[d] <= 1 || !checkedMul(strides[d], source.stride(d), step))
      step = source.stride(d);
    dims.push_back(sizes[d]);
    steps.push_back(step);
  }
  return makeStridedView(source.buffer,
                         source.offset + uint64_t(first) *
                                             dtypeBytes(source.dtype),
                         source.dtype, std::move(dims), std::move(steps),
                         result);
}

/// A view of `source`'s memory in which not all elements are there.
static Status makePaddedView(const View &source, std::vector<int64_t> dims,
                             std::vector<int64_t> strides, int64_t before,
                             View &result) {
  View view = source;
  int64_t dense;
  if (Status s = denseSize(dims, source.dtype, view.elements, dense))
    return s;
  view.dims = std::move(dims);
  view.strides = std::move(strides);
  view.isPadded = true;
  view.before = before;
  result = std::move(view);
  return Status::ok();
}

Status makeWindows(const View &source, const std::vector<int64_t> &sizes,
                   const std::vector<int64_t> &steps, View &result) {
  size_t rank = sizes.size();
  if (steps.size() != rank * source.dims.size())
    return internalError("windows of " + source.text() + " need " +
                         std::to_string(rank * source.dims.size()) + " steps");
  bool empty = false;
  for (int64_t size : sizes)
    empty |= size == 0;
  std::vector<int64_t> strides(rank, 0);
  for (size_t d = 0; d < source.dims.size(); ++d) {
    int64_t last = 0;
    for (size_t i = 0; i < rank; ++i) {
      int64_t step = steps[d * rank + i], reach, stride;
      bool good = step >= 0 && sizes[i] >= 0;
      // A step of a dim of one element says nothing, and may be huge.
      if (good && sizes[i] > 1)
        good = checkedMul(sizes[i] - 1, step, reach) &&
               checkedAdd(last, reach, last) &&
               checkedMul(step, source.stride(d), stride) &&
               checkedAdd(strides[i], stride, strides[i]);
      if (!good)
        return programError("dim " + std::to_string(i) + " of the windows," + " of size " +
                            std::to_string(sizes[i]) + " in steps of " +
                            std::to_string(step) + " overflows");
    }
    if (!empty && last >= source.dims[d])
      return programError("along dim " + std::to_string(d) +
                          ", the last window reaches element " +
                          std::to_string(last) + ", but " + source.text() +
                          " has " + std::to_string(source.dims[d]));
  }
  if (source.isPadded)
    return makePaddedView(source, sizes, std::move(strides), source.before, result);
  return makeStridedView(source.buffer, source.offset, source.dtype, sizes,
                         std::move(strides), result);
}

Status makePadded(const View &source, const std::vector<int64_t> &low,
                  const std::vector<int64_t> &high, View &result) {
  size_t rank = source.dims.size();
  if (low.size() != rank || high.size() != rank)
    return internalError("padding of " + source.text() + " needs " +
                         std::to_string(rank) + " sizes");
  std::vector<int64_t> dims(source.dims), strides;
  int64_t before = source.before;
  for (size_t d = 0; d < rank; ++d) {
    int64_t skipped;
    if (!checkedAdd(dims[d], low[d], dims[d]) ||
        !checkedAdd(dims[d], high[d], dims[d]) ||
        !checkedMul(low[d], source.stride(d), skipped) ||
        !checkedAdd(before, skipped, before))
      return programError("the padding of " + source.text() + " by " +
                          std::to_string(low[d]) + " and " +
                          std::to_string(high[d]) + " along dim " +
                          std::to_string(d) + " overflows");
    if (dims[d] < 0)
      return programError("dim " + std::to_string(d) + " of " + source.text() +
                          " has less than the " + std::to_string(-low[d] - high[d]) +
                          " elements that are taken off it");
    strides.push_back(source.stride(d));
  }
  return makePaddedView(source, std::move(dims), std::move(strides), before, result);
}

Status viewSharedBytes(const View &source, bool oneRow, View &result) {
  if (oneRow) {
    result = source;
    result.dtype = TW_I8;
    result.elements = source.bytes;
    result.dims = {source.bytes};
    return Status::ok();
  }
  int64_t shared = elementsPerByte(source.dtype);
  if (source.dims.empty() || source.dims.back() % shared)
    return invalidArgument("tensor " + source.text() + " has an innermost dim that is no "
                           "multiple of " + std::to_string(shared) + ", and so many elements "
                           "of a row share a byte");
  result = source;
  result.dtype = TW_I8;
  result.dims.back() /= shared;
  result.elements /= shared;
  return Status::ok();
}

ExpressionOperand describe(const View &view, int64_t offset) {
  uint64_t before = uint64_t(view.before) * dtypeBytes(view.dtype);
  return {view.dims.data(), static_cast<int>(view.dims.size()),
          view.address() - before,
          view.isDense() ? nullptr : view.strides.data(), offset, view.before};
}

Status forEachRun(
    const View &view,
    const std::function<Status(uint64_t, uint64_t, uint64_t)> &run) {
  if (view.isDense())
    return run(view.offset, 0, uint64_t(view.bytes));
  uint64_t size = dtypeBytes(view.dtype);
  size_t rank = view.dims.size();
  bool rows = view.strides[rank - 1] == 1;
  uint64_t length = rows ? uint64_t(view.dims[rank - 1]) * size : size;
  size_t counted = rows ? rank - 1 : rank;
  std::vector<int64_t> position(counted, 0);
  for (uint64_t dense = 0, end = uint64_t(view.elements) * size; dense < end;
       dense += length) {
    int64_t element = 0;
    for (size_t d = 0; d < counted; ++d)
      element += position[d] * view.strides[d];
    if (Status s = run(view.offset + uint64_t(element) * size, dense, length))
      return s;
    for (size_t d = counted; d-- > 0;) {
      if (++position[d] < view.dims[d])
        break;
      position[d] = 0;
    }
  }
  return Status::ok();
}

Status requireDense(const View &view, const std::string &what) {
  if (view.isDense())
    return Status::ok();
  return invalidArgument(what + ": the tensor is strided (" + view.text() +
                         "); expected a dense one");
}

Status allocateView(Device &device, Stream *stream, tw_dtype dtype,
                    std::vector<int64_t> dims, View &result) {
  int64_t elements, bytes;
  if (Status s = denseSize(dims, dtype, elements, bytes))
    return s;
  std::shared_ptr<Buffer> buffer;
  if (Status s = device.allocate(bytes, stream, buffer))
    return std::move(s).in("tensor " + shapeText(dims, dtype));
  return makeView(std::move(buffer), 0, dtype, std::move(dims), result);
}

Status allocateLike(Device &device, Stream *stream, const View &like,
                    View &result) {
  if (like.isDense())
    return allocateView(device, stream, like.dtype, like.dims, result);
  std::shared_ptr<Buffer> buffer;
  if (Status s = device.allocate(like.bytes, stream, buffer))
    return std::move(s).in("tensor " + like.text());
  return makeStridedView(std::move(buffer), 0, like.dtype, like.dims,
                         like.strides, result);
}

Status copyElements(Stream &stream, const View &to, const View &from) {
  auto copy = [&](uint64_t target, uint64_t source, uint64_t bytes) {
    return stream.copy(*to.buffer, target, *from.buffer, source, bytes);
  };
  if (to.isDense() && from.isDense())
    return copy(to.offset, from.offset, uint64_t(from.bytes));
  // Runs of the one with the shorter ones; both have the same order.
  std::vector<std::pair<uint64_t, uint64_t>> runs; // offset, bytes
  if (Status s = forEachRun(to, [&](uint64_t at, uint64_t, uint64_t bytes) {
        runs.emplace_back(at, bytes);
        return Status::ok();
      }))
    return s;
  size_t next = 0;
  uint64_t used = 0;
  return forEachRun(from, [&](uint64_t at, uint64_t, uint64_t bytes) -> Status {
    while (bytes) {
      uint64_t part = std::min(bytes, runs[next].second - used);
      if (Status s = copy(runs[next].first + used, at, part))
        return s;
      at += part, bytes -= part, used += part;
      if (used == runs[next].second)
        ++next, used = 0;
    }
    return Status::ok();
  });
}

Status checkViewType(const View &view, tw_dtype dtype,
                     const std::vector<int64_t> &shape,
                     const std::vector<int64_t> &strides,
                     const std::string &what) {
  auto differs = [&](const std::string &how) {
    return invalidArgument(what + ": expected " + shapeText(shape, dtype) +
                           ", got " + view.text() + ": " + how);
  };
  if (view.dtype != dtype)
    return differs("the element type differs");
  if (view.dims.size() != shape.size())
    return differs("the rank differs");
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] >= 0 && shape[i] != view.dims[i])
      return differs("dim " + std::to_string(i) + " differs");
  if (strides.empty())
    return requireDense(view, what);
  if (!view.elements)
    return Status::ok(); // nothing lies anywhere
  for (size_t i = 0; i < shape.size(); ++i)
    if (strides[i] >= 0 && view.dims[i] > 1 && view.stride(i) != strides[i])
      return differs("stride " + std::to_string(i) + " is " +
                     std::to_string(view.stride(i)) + ", not " +
                     std::to_string(strides[i]));
  return Status::ok();
}

} // namespace tilewright::runtime
