// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tilewright dialect: the C++ face of Tilewright{Base,Attrs,Ops}.td.

#ifndef TILEWRIGHT_DIALECT_TILEWRIGHT_H
#define TILEWRIGHT_DIALECT_TILEWRIGHT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilewright/Layout/SharedLayout.h"

#include "tilewright/Dialect/TilewrightEnums.h.inc"
#include "tilewright/Dialect/TilewrightDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilewright/Dialect/TilewrightAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tilewright/Dialect/TilewrightTypes.h.inc"

#define GET_OP_CLASSES
#include "tilewright/Dialect/TilewrightOps.h.inc"

namespace tilewright {
/// Names of the discardable attributes that the dialect documents.
inline constexpr llvm::StringLiteral kTargetAttr = "tilewright.target";
inline constexpr llvm::StringLiteral kFpAttr = "tilewright.fp";
inline constexpr llvm::StringLiteral kRequireAttr = "tilewright.require";
inline constexpr llvm::StringLiteral kKernelAttr = "tilewright.kernel";
inline constexpr llvm::StringLiteral kConfigAttr = "tilewright.lowering_config";
inline constexpr llvm::StringLiteral kLaunchAttr = "tilewright.launch";
inline constexpr llvm::StringLiteral kAccessAttr = "tilewright.access";
inline constexpr llvm::StringLiteral kViewsAttr = "tilewright.views";
inline constexpr llvm::StringLiteral kAlignedAttr = "tilewright.aligned";
inline constexpr llvm::StringLiteral kImagesAttr = "tilewright.images";
inline constexpr llvm::StringLiteral kMergedAttr = "tilewright.merged";
inline constexpr llvm::StringLiteral kCopiesAttr = "tilewright.copies";
inline constexpr llvm::StringLiteral kScalarsAttr = "tilewright.scalars";
inline constexpr llvm::StringLiteral kTensorMapsAttr = "tilewright.tensor_maps";
inline constexpr llvm::StringLiteral kIndexBitsAttr = "tilewright.index_bits";
inline constexpr llvm::StringLiteral kLayoutsAttr = "tilewright.layouts";
inline constexpr llvm::StringLiteral kDivisibleAttr = "tilewright.divisible";
inline constexpr llvm::StringLiteral kChecksAttr = "tilewright.checks";
inline constexpr llvm::StringLiteral kVariantOfAttr = "tilewright.variant_of";
inline constexpr llvm::StringLiteral kExplainAttr = "tilewright.explain";
/// On a host function: the runtime calls it when it loads the program. On an op: what it
/// computes from constants is to be computed then, though it only moves elements.
inline constexpr llvm::StringLiteral kAtLoadAttr = "tilewright.at_load";
/// On a result of such a function: a hash of how it is computed.
inline constexpr llvm::StringLiteral kIdentityAttr = "tilewright.identity";
/// On the module: the file that has its constants without data.
inline constexpr llvm::StringLiteral kParametersAttr = "tilewright.parameters";

/// True for functions that are device code.
inline bool isKernel(mlir::FunctionOpInterface func) {
  return func->hasAttr(kKernelAttr);
}

/// The target of the program that encloses `op`, or null.
TargetAttr getTarget(mlir::Operation *op);

/// Bits of a kernel's index arithmetic, 32 or 64: its own, or its target's; 32 where neither
/// says so.
int64_t getIndexBits(mlir::FunctionOpInterface kernel);

/// Adds a line to what `tilewright.explain` of a function says, unless it is there.
void addExplanation(mlir::Operation *function, const llvm::Twine &line);
} // namespace tilewright

#endif
