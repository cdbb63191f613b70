// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cpu-reference, the oracle: the input module by upstream's path (one-shot
// bufferization, linalg to loops), none of our stages. Its functions compute
// on the host; there are no dispatches in its manifest, and no constants but those of the
// parameter file.

#ifndef TILEWRIGHT_TARGET_REFERENCE_REFERENCE_H
#define TILEWRIGHT_TARGET_REFERENCE_REFERENCE_H

#include "tilewright/Target/Host/Host.h"

namespace tilewright {

/// Compiles every function of a module as it was written (after upstream's
/// lowering of TOSA and affine at most). The module is not changed. Of
/// `options`, cpu and features are ignored: the program requires x86-64-v3.
mlir::FailureOr<HostProgram> compileReference(mlir::ModuleOp input,
                                              HostOptions options);

/// Loads what compileReference uses into `registry`.
void registerReferenceDialects(mlir::DialectRegistry &registry);

} // namespace tilewright

#endif
