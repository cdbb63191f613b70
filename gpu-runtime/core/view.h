// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor on a device: a range of a buffer with an element type and a shape.
// Dense and row-major, always. Views are values; they share their buffer.
#ifndef TILEWRIGHT_CORE_VIEW_H
#define TILEWRIGHT_CORE_VIEW_H

#include "core/device.h"
#include "core/dtype.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::runtime {

struct View {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset = 0; // bytes
  tw_dtype dtype = TW_F32;
  std::vector<int64_t> dims;
  int64_t elements = 0;
  int64_t bytes = 0;

  std::string text() const { return shapeText(dims, dtype); }
  /// Address of element 0 on the device, or an offset with the same alignment.
  uint64_t address() const { return buffer->address() + offset; }
  /// Whether the two have a byte in common.
  bool overlaps(const View &other) const;
};

/// A view of existing memory; the range must lie in the buffer.
Status makeView(std::shared_ptr<Buffer> buffer, uint64_t offset, tw_dtype dtype,
                std::vector<int64_t> dims, View &result);

/// A new tensor for use on `stream` (null: any).
Status allocateView(Device &device, Stream *stream, tw_dtype dtype,
                    std::vector<int64_t> dims, View &result);

/// Whether `view` is of the declared type: element type, rank, static dims. The
/// error says what differs, prefixed with `what` ("input 0").
Status checkViewType(const View &view, tw_dtype dtype,
                     const std::vector<int64_t> &shape,
                     const std::string &what);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_VIEW_H
