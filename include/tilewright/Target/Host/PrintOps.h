// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of tilewright-convert-host.

#ifndef TILEWRIGHT_TARGET_HOST_PRINTOPS_H
#define TILEWRIGHT_TARGET_HOST_PRINTOPS_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilewright::host {

/// vector.print to the runtime's print functions.
void populatePrintPatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);

/// Writes `tilewright.dispatch_id` on each dispatch; `names` by number.
void numberDispatches(mlir::ModuleOp module, std::vector<std::string> &names);

/// Writes `tilewright.constant_id` on tensor constants of host functions;
/// equal constants have one number.
void numberConstants(mlir::ModuleOp module,
                     std::vector<mlir::ElementsAttr> &constants);

} // namespace tilewright::host

#endif
