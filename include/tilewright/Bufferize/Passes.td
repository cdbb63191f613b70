// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_BUFFERIZE_PASSES_TD
#define TILEWRIGHT_BUFFERIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def BufferizePass : Pass<"tilewright-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn the tensor arguments of vectorized kernels into memrefs";
  let description = [{
    After `tilewright-vectorize` the only tensors of a kernel are its arguments
    and what they become as tiles are written. Arguments become memrefs of
    identity layout, reads and writes go to them in place, results disappear.
    Whatever would need an allocation or a copy is an error that names the op.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif
