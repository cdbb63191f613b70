// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --explain says of a kernel's config, beside what its strategy says.

#ifndef TILEWRIGHT_LIB_CONFIGURE_EXPLAINCONFIG_H
#define TILEWRIGHT_LIB_CONFIGURE_EXPLAINCONFIG_H

#include "CostModel.h"
#include "tilewright/Configure/Configure.h"

namespace tilewright {

std::string toString(mlir::Attribute attribute);

/// What earlier stages have said of the kernel.
void explainEarlierStages(mlir::func::FuncOp kernel, llvm::SmallVectorImpl<std::string> &explain);
/// The same, and of its ops.
void explainKernel(const KernelInfo &info, llvm::SmallVectorImpl<std::string> &explain);

/// Replaces what is said of the kernel, one line each.
void setExplanation(mlir::func::FuncOp kernel, llvm::ArrayRef<std::string> explain);

/// One line for each kind of refusal of a strategy: its first candidate, and how many more.
void explainRefusals(llvm::ArrayRef<Candidate> candidates,
                     llvm::SmallVectorImpl<std::string> &explain);

/// Why a reduction, or the sum of a product, is not split.
std::string whyWhole(const KernelInfo &info, TargetAttr target);

/// Says how many blocks share a reduction, or, by `whole`, why one block does what many
/// could share.
void explainGrid(const KernelInfo &info, llvm::StringRef whole,
                 llvm::SmallVectorImpl<std::string> &explain);

} // namespace tilewright

#endif
