// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --serve: many compilations in one process, for those who try many configs of
// one program. What a process costs to start, and kernels that compilations
// have in common, are paid for once.

#ifndef TILEWRIGHT_TOOLS_COMPILE_SERVE_H
#define TILEWRIGHT_TOOLS_COMPILE_SERVE_H

#include "tilewright/Compiler/Compiler.h"

/// Answers requests from standard input, a JSON object a line, until it ends;
/// each with one line on standard output. `options` has what the command line
/// says, which holds for all.
///
///   {"id": 7, "input": "p.mlir", "output": "p.tw", "configs":
///   {"main_matmul_0": {…}}}
///   -> {"id": 7, "ok": true, "diagnostics": "", "seconds": 0.07}
///   {"id": 8, "input": "p.mlir", "list": true}
///   -> {…, "kernels": [{"program": "cuda_sm_80", "kernel": "main_matmul_0",
///        "problem": {…}, "shape": [512, 512, 512], "configs": ["#tilewright…",
///        …], "refused": {"shared_memory": 120, "registers": 33},
///        "explain": ["strategy …", "refused …"]}]}
///
/// "configs" is as in the file of --config. With --resources a reply has
/// "resources", what each CUDA kernel takes. A line that is no request is
/// answered by "ok": false. The caller limits time and memory, by ending the
/// process.
int serve(const tilewright::CompileOptions &options);

#endif
