// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's assembler, as a process: PTX to machine code (cubin), and what the
// code takes of the machine. Never needed for an artifact, which holds PTX: a
// machine with ptxas and one without write the same bytes.

#ifndef TILEWRIGHT_LIB_COMPILER_PTXAS_H
#define TILEWRIGHT_LIB_COMPILER_PTXAS_H

#include "Package.h"
#include "tilewright/Target/Observer.h"

namespace tilewright {

/// Path of ptxas: `given` unless empty, else on PATH, in $CUDA_HOME/bin, in
/// /usr/local/cuda/bin. The error names these places.
llvm::Expected<std::string> findPtxas(llvm::StringRef given);

/// Reads what `ptxas -v` says of one kernel; an error where it says nothing.
llvm::Error parseResources(llvm::StringRef log, KernelResources &resources);

/// Assembles every PTX kernel of `programs`: fills CompiledKernel::cubin, and
/// one entry per kernel of `resources`; each is a step of `observer`. Errors at `loc`.
mlir::LogicalResult
assembleKernels(mlir::Location loc,
                llvm::MutableArrayRef<CompiledProgram> programs,
                const CompileOptions &options, CompileObserver *observer,
                std::vector<KernelResources> &resources);

} // namespace tilewright

#endif
