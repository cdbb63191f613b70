// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads explanations off the IR and the compiled code.

#ifndef TILEWRIGHT_LIB_COMPILER_EXPLAIN_H
#define TILEWRIGHT_LIB_COMPILER_EXPLAIN_H

#include "Package.h"
#include "tilewright/Compiler/Explanation.h"

namespace tilewright {

/// What the kernels of a program carry in `tilewright.explain`; of variants,
/// what is not said of the kernel itself.
void collectKernelLines(mlir::ModuleOp program,
                        std::vector<KernelExplanation> &into);
/// What they carry in `tilewright.configs`.
void collectConfigs(mlir::ModuleOp program,
                    std::vector<KernelExplanation> &into);

/// Kernels and functions of a program after `place`.
ProgramExplanation explainProgram(mlir::ModuleOp program,
                                  const ParsedTarget &target);

/// Adds what the finished program knows.
void explainCode(const CompiledProgram &program, ProgramExplanation &into);

/// Bytes of shared memory that a kernel in thread form asks for.
int64_t getSharedBytes(mlir::func::FuncOp kernel);

/// What its config was admitted for.
PlannedResources getPlanned(mlir::func::FuncOp kernel);

} // namespace tilewright

#endif
