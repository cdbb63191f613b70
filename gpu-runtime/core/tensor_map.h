// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps for launches: what a copy engine is told of an operand, made from the
// operand as it is at the launch and the box that the manifest names.
#ifndef TILEWRIGHT_CORE_TENSOR_MAP_H
#define TILEWRIGHT_CORE_TENSOR_MAP_H

#include "core/driver.h"
#include "core/view.h"

namespace tilewright::runtime {

/// A tensor map as the manifest describes it.
struct TensorMapParam {
  /// Elements of a box along each dim of the operand, outermost first.
  std::vector<int64_t> box;
  /// Bytes of the swizzle pattern: 0, 32, 64 or 128.
  unsigned swizzle = 0;
};

/// What the hardware refuses of the box alone; `dtype` is the operand's. Limits:
/// CUDA driver API, cuTensorMapEncodeTiled.
Status checkTensorMapBox(const TensorMapParam &param, tw_dtype dtype, size_t rank);

/// The description of `view`, which has elements; an error names the limit that the
/// operand passes.
Status describeTensorMap(const View &view, const TensorMapParam &param,
                         TensorMapDesc &result);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_TENSOR_MAP_H
