// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract's three steps in one call.

#ifndef TILEWRIGHT_TARGET_COMPILE_H
#define TILEWRIGHT_TARGET_COMPILE_H

#include "tilewright/Target/Target.h"

namespace tilewright {

/// Compiles one kernel, in its back end's kernel form, under the
/// `tilewright.target` around it. The kernel is copied into a module of its
/// own (with the program's attributes) and not changed. Thread-safe as far as
/// the context is.
mlir::FailureOr<KernelCode> compileKernel(const TargetRegistry &registry,
                                          mlir::FunctionOpInterface kernel,
                                          const BackendOptions &options);

} // namespace tilewright

#endif
