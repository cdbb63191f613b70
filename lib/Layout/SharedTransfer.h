// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of last resort: through shared memory.

#ifndef TILEWRIGHT_LIB_LAYOUT_SHAREDTRANSFER_H
#define TILEWRIGHT_LIB_LAYOUT_SHAREDTRANSFER_H

#include "tilewright/Layout/Conversion.h"

namespace tilewright::layout {

/// Tries every dimension as the fastest, and wide runs against narrow ones:
/// wide runs take fewer instructions, but leave fewer ways to spread over the
/// banks. A wavefront counts as much as issuing two instructions.
Result<SharedTransfer> planSharedTransfer(const DistributedLayout &from,
                                          const DistributedLayout &to,
                                          int elementBits,
                                          const ConversionOptions &options);

} // namespace tilewright::layout

#endif // TILEWRIGHT_LIB_LAYOUT_SHAREDTRANSFER_H
