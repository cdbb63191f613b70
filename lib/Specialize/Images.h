// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of images as copy engines read them, see DescribeImages.cpp.

#ifndef TILEWRIGHT_LIB_SPECIALIZE_IMAGES_H
#define TILEWRIGHT_LIB_SPECIALIZE_IMAGES_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// Windows as pixels of images.
struct PixelView {
  ImageAttr image;
  /// Dims of the windows that do not count pixels: taps and channels.
  mlir::SmallVector<unsigned> otherDims;
};

/// The images of which `argument` of a kernel is `windows`. `read`: how the product reads it;
/// `loops`: those of the product that run over pixels, in the order of its result. Refused
/// where copy engines do not read such windows.
OrRefusal<PixelView> describeImages(Im2colOp windows, mlir::BlockArgument argument,
                                    mlir::AffineMap read, llvm::ArrayRef<unsigned> loops);

} // namespace tilewright

#endif
