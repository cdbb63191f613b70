// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_NVVM_EMIT_H
#define TILEWRIGHT_TARGET_NVVM_EMIT_H

#include "tilewright/Target/Target.h"

namespace tilewright::nvvm {

/// PTX of a module that holds one kernel in target form.
mlir::FailureOr<KernelCode> emitPTX(mlir::ModuleOp module,
                                    const BackendOptions &options);

} // namespace tilewright::nvvm

#endif
