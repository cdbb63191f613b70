// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_CONFIGURE_PIXELS_H
#define TILEWRIGHT_CONFIGURE_PIXELS_H

#include "tilewright/Analysis/KernelLoops.h"

namespace tilewright {

/// How many pixels an image has, if a class of loops runs over those of all images that the
/// root reads; kDynamic if that is open; else 1.
int64_t pixelsPerImage(const KernelLoops &info, unsigned loopClass);

} // namespace tilewright

#endif
