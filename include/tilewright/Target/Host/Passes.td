// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_HOST_PASSES
#define TILEWRIGHT_TARGET_HOST_PASSES

include "mlir/Pass/PassBase.td"

def PrepareDestinationsPass
    : Pass<"tilewright-prepare-destinations", "::mlir::ModuleOp"> {
  let summary = "gives every dispatch destinations that it may overwrite";
  let description = [{
    A dispatch writes into its `outs` in place. Where such a tensor is a
    function argument, a constant, or used again later, the dispatch gets a
    copy (`bufferization.alloc_tensor() copy(…)`), or, if the kernel only writes
    it, a new tensor of the same shape. Stores to memrefs
    (`bufferization.materialize_in_destination`) move to the end of the function;
    what a later one wants of a buffer that an earlier one overwrites is copied in
    front of that.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect",
                           "mlir::tensor::TensorDialect"];
}

def KeepOverwrittenPass : Pass<"tilewright-keep-overwritten", "::mlir::func::FuncOp"> {
  let summary = "copies what stores to memrefs overwrite and something wants later";
  let description = [{
    What a store to a memref (`bufferization.materialize_in_destination`) or the
    caller wants of a buffer that an earlier store overwrites is copied in front
    of that. Tensors of buffers that no store overwrites are not writable.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect"];
}

def ManageViewsPass : Pass<"tilewright-manage-views", "::mlir::ModuleOp"> {
  let summary = "adds the call context and counts references to tensors";
  let description = [{
    Every host function takes the call's context as its first argument. Every
    tensor value of host code owns one reference: it is released after its last
    use, and passed on by `scf.yield` and `func.return`; loops get a reference
    of their own to their initial values. Arguments are borrowed.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def CountIterationsPass : Pass<"tilewright-count-iterations"> {
  let summary = "loops of other steps than 1 count their iterations";
  let description = [{
    An `scf.for` compares its number with the end after each step, and never ends where the step
    leads beyond the greatest number of the type. The number of iterations is computed in front
    of the loop, and counted. Loops whose step is 1, or whose end is known to be a step away from
    the greatest number, stay.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def ConvertHostPass : Pass<"tilewright-convert-host", "::mlir::ModuleOp"> {
  let summary = "tensors of host code to opaque views";
  let description = [{
    Tensors and memrefs become pointers to the runtime's views, and operations
    on them calls of the support functions `twh_*`
    (lib/Target/Host/support/host_support.c). What the host cannot do is an
    error. Kernels are left alone.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::scf::SCFDialect"];
}

#endif
