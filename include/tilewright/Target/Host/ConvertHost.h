// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of tilewright-convert-host.

#ifndef TILEWRIGHT_TARGET_HOST_CONVERTHOST_H
#define TILEWRIGHT_TARGET_HOST_CONVERTHOST_H

#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilewright::host {

/// vector.print to the runtime's print functions.
void populatePrintPatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);

/// Ops that make tensors, name them again or look at their elements.
void populateTensorPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// Ops whose result is part of, or more than, their source: slices, pads,
/// windows of convolutions. All are views; the runtime copies nothing.
void populateWindowPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// Guards what would trap or never end in the functions' own code: integer
/// division, and loops whose condition is data.
void guardTraps(mlir::Operation *func);

/// Writes `tilewright.dispatch_id` on each dispatch; `names` by number.
void numberDispatches(mlir::ModuleOp module, std::vector<std::string> &names);

/// Writes `tilewright.constant_id` on tensor constants of host functions and on
/// what was computed at load; equal constants have one number.
HostConstants numberConstants(mlir::ModuleOp module);

} // namespace tilewright::host

#endif
