// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SPIR-V back end's passes.

#ifndef TILEWRIGHT_TARGET_SPIRV_PASSES_H
#define TILEWRIGHT_TARGET_SPIRV_PASSES_H

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Target/SPIRV/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/Target/SPIRV/Passes.h.inc"

void registerTargetSPIRVPasses();

} // namespace tilewright

#endif
