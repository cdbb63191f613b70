// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_HOST_EMITHOST_H
#define TILEWRIGHT_TARGET_HOST_EMITHOST_H

#include "tilewright/Target/Host/Host.h"

namespace tilewright::host {

/// Generates code for a module in the LLVM dialect that defines twh_exports,
/// and links it. Fills the rest of `host`.
mlir::FailureOr<HostProgram> emitHost(mlir::ModuleOp module,
                                      const HostOptions &options,
                                      llvm::ArrayRef<std::string> allowed,
                                      HostProgram host);

} // namespace tilewright::host

#endif
