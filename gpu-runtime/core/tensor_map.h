// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps for launches: what a copy engine is told of an operand, made from the
// operand as it is at the launch and the box that the manifest names.
#ifndef TILEWRIGHT_CORE_TENSOR_MAP_H
#define TILEWRIGHT_CORE_TENSOR_MAP_H

#include "core/driver.h"
#include "core/view.h"

#include <optional>

namespace tilewright::runtime {

/// A size or a stride that only a launch tells.
inline constexpr int64_t kOpen = -1;

/// The images in memory of which an operand is windows. Arrays have the outermost dim
/// first.
struct ImageParam {
  /// Of the images: their number, up to three dims of space, channels; elements from
  /// neighbour to neighbour along all but the last, whose neighbours lie side by side. In the
  /// manifest some are kOpen, at a launch none is.
  std::vector<int64_t> dims, strides;
  /// For each dim of space: where the first window begins, where, from the end of the
  /// image on, none begins any more, and steps from window to window.
  std::vector<int64_t> lower, upper, steps;
};

/// A tensor map as the manifest describes it.
struct TensorMapParam {
  /// Elements of a box along each dim of the operand, outermost first; of images how
  /// many pixels of how many channels.
  std::vector<int64_t> box;
  /// Bytes of the swizzle pattern: 0, 32, 64 or 128.
  unsigned swizzle = 0;
  /// So many leading dims of the operand are one dim of the map.
  size_t merged = 1;
  std::optional<ImageParam> image = std::nullopt;
};

/// What the hardware refuses of the map, whatever is in the operand, which has elements
/// of `dtype`. Limits: CUDA driver API, cuTensorMapEncodeTiled and
/// cuTensorMapEncodeIm2col.
Status checkTensorMapBox(const TensorMapParam &param, tw_dtype dtype, size_t rank);

/// The description of `view`, which has elements; an error names the limit that the
/// operand passes.
Status describeTensorMap(const View &view, const TensorMapParam &param,
                         TensorMapDesc &result);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_TENSOR_MAP_H
