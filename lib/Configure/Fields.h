// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields of pinned configs that strategies have in common, see Realized.cpp.

#ifndef TILEWRIGHT_LIB_CONFIGURE_FIELDS_H
#define TILEWRIGHT_LIB_CONFIGURE_FIELDS_H

#include "Strategy.h"

namespace tilewright {

/// Whether CPUs carry out every field of a pinned config.
mlir::LogicalResult checkCpu(const ScheduleStrategy &strategy, const KernelInfo &info,
                             LoweringConfigAttr config, std::string &reason);

} // namespace tilewright

#endif
