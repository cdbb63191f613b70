// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_NVVM_PASSES_H
#define TILEWRIGHT_TARGET_NVVM_PASSES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Target/NVVM/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/Target/NVVM/Passes.h.inc"

void registerTargetNVVMPasses();

} // namespace tilewright

#endif
