// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor on a device: a range of a buffer with an element type and a shape.
// Dense and row-major, or strided: a window of a larger tensor. A padded view has
// more elements than there are in memory. Views are values; they share their
// buffer.
#ifndef TILEWRIGHT_CORE_VIEW_H
#define TILEWRIGHT_CORE_VIEW_H

#include "core/device.h"
#include "core/dtype.h"
#include "core/expression.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::runtime {

struct View {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset = 0; // bytes
  tw_dtype dtype = TW_F32;
  std::vector<int64_t> dims;
  /// Elements between neighbours along each dim, none negative; empty: dense.
  std::vector<int64_t> strides;
  int64_t elements = 0;
  /// From element 0 to the end of the last one; 0 without elements. Of a padded
  /// view all that its source has.
  int64_t bytes = 0;
  /// Not all elements are in memory: kernels know which. `offset` is where the
  /// source begins, and element 0 would lie `before` elements in front of it.
  bool isPadded = false;
  int64_t before = 0;

  bool isDense() const { return strides.empty(); }
  /// Elements between neighbours along dim `d`, dense or not.
  int64_t stride(size_t d) const;
  /// "4x8xf32", and the strides of a strided view.
  std::string text() const;
  /// Address of element 0 on the device, or an offset with the same alignment.
  uint64_t address() const { return buffer->address() + offset; }
  /// Whether the two may have an element in common: exact for dense views and
  /// for windows of one tensor with the same strides, else a question of ranges.
  bool overlaps(const View &other) const;
};

/// A view of existing memory; the range must lie in the buffer.
Status makeView(std::shared_ptr<Buffer> buffer, uint64_t offset, tw_dtype dtype,
                std::vector<int64_t> dims, View &result);

/// The same with a stride per dim, in elements. Strides that say no more than
/// the dims do make a dense view.
Status makeStridedView(std::shared_ptr<Buffer> buffer, uint64_t offset,
                       tw_dtype dtype, std::vector<int64_t> dims,
                       std::vector<int64_t> strides, View &result);

/// The window of `source` that begins at `offsets` and takes `sizes` elements
/// along each dim, every `strides`-th one. Dims with a bit in `dropped` have
/// size 1 and are left out. It must lie inside of the source.
Status makeWindow(const View &source, const std::vector<int64_t> &offsets,
                  const std::vector<int64_t> &sizes,
                  const std::vector<int64_t> &strides, uint64_t dropped,
                  View &result);

/// Every window of `source`: dims of `sizes`; one step along dim i of the result
/// moves by steps[d * rank + i] along dim d of the source. Windows may overlap,
/// and must lie inside of the source.
Status makeWindows(const View &source, const std::vector<int64_t> &sizes,
                   const std::vector<int64_t> &steps, View &result);

/// `source` with `low` elements more in front and `high` behind along each dim,
/// which are nowhere. Windows of it are made by makeWindows.
Status makePadded(const View &source, const std::vector<int64_t> &low,
                  const std::vector<int64_t> &high, View &result);

/// The bytes of a dense tensor of i4 or i2, as i8 with half or a quarter of the innermost
/// dim, or all in one row: what compiled code sees. An error where a row of several does
/// not end where a byte does.
Status viewSharedBytes(const View &source, bool oneRow, View &result);

/// What expressions see of a view that a kernel gets from `offset` elements
/// before its first one on.
ExpressionOperand describe(const View &view, int64_t offset);

/// Calls `run` for what lies together in memory, in row-major order: its offset
/// in the buffer, its offset among the elements side by side, its size; bytes.
Status forEachRun(
    const View &view,
    const std::function<Status(uint64_t, uint64_t, uint64_t)> &run);

/// An error unless the view is dense; `what` starts the message.
Status requireDense(const View &view, const std::string &what);

/// A new tensor for use on `stream` (null: any).
Status allocateView(Device &device, Stream *stream, tw_dtype dtype,
                    std::vector<int64_t> dims, View &result);

/// A new tensor of the type, shape and strides of another.
Status allocateLike(Device &device, Stream *stream, const View &like,
                    View &result);

/// Copies between views of one shape; a copy on the device for each run of
/// elements that lies together in both.
Status copyElements(Stream &stream, const View &to, const View &from);

/// Whether `view` is of the declared type: element type, rank, static dims and
/// strides (empty: dense). The error says what differs, prefixed with `what`
/// ("input 0").
Status checkViewType(const View &view, tw_dtype dtype,
                     const std::vector<int64_t> &shape,
                     const std::vector<int64_t> &strides,
                     const std::string &what);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_VIEW_H
