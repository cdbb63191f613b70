// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_HOST_PASSES_H
#define TILEWRIGHT_TARGET_HOST_PASSES_H

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Target/Host/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/Target/Host/Passes.h.inc"

void registerTargetHostPasses();

} // namespace tilewright

#endif
