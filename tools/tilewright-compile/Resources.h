// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CUDA kernels take of the machine, for people and for programs.

#ifndef TILEWRIGHT_TOOLS_COMPILE_RESOURCES_H
#define TILEWRIGHT_TOOLS_COMPILE_RESOURCES_H

#include "tilewright/Compiler/Compiler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

/// One object a kernel variant: program, kernel, registers, stack,
/// spill_stores, spill_loads, shared_static, shared_dynamic.
llvm::json::Array toJson(llvm::ArrayRef<tilewright::KernelResources> kernels);

/// A table, or a JSON array of objects.
void printResources(llvm::raw_ostream &os,
                    llvm::ArrayRef<tilewright::KernelResources> kernels,
                    bool asJson);

#endif
