// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SPIR-V for Vulkan compute, as functions: kernel in thread form ->
// spirv.module
// -> words -> verdict, text. All are stateless and thread-safe.

#ifndef TILEWRIGHT_TARGET_SPIRV_SPIRV_H
#define TILEWRIGHT_TARGET_SPIRV_SPIRV_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace tilewright {

/// Builds the spirv.module of a kernel in thread form before it; the kernel
/// stays. Errors are emitted at the culprit.
mlir::FailureOr<mlir::spirv::ModuleOp>
convertKernelToSPIRV(mlir::func::FuncOp kernel, TargetAttr target);

/// What a device must have for this module, as entries of the manifest's
/// "requires": "feature:shaderFloat16", "subgroup:shuffle", "shared_memory"
/// (bytes), ….
llvm::json::Object getSPIRVRequirements(mlir::spirv::ModuleOp module);

/// The words of a module, checked by SPIRV-Tools in process against the Vulkan
/// version that the module's SPIR-V version belongs to. A module that does not
/// pass is an error, emitted at the module. Instructions that are newer than the
/// SPIRV-Tools cannot be checked: then `note`, where given, says so.
mlir::FailureOr<llvm::SmallVector<uint32_t>>
serializeSPIRV(mlir::spirv::ModuleOp module, bool debugInfo,
               std::string *note = nullptr);

/// SPIR-V words as assembly text, or empty where they are not SPIR-V.
std::string disassembleSPIRV(llvm::ArrayRef<uint32_t> words);

} // namespace tilewright

#endif
