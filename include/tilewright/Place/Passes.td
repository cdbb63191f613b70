// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_PLACE_PASSES_TD
#define TILEWRIGHT_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ResolveDimsPass : Pass<"tilewright-resolve-dims", "::mlir::func::FuncOp"> {
  let summary = "Take the dims of a dispatch's results from its destinations";
  let description = [{
    `tensor.dim` of a result becomes `tensor.dim` of the `outs` operand it is
    tied to, and so on up to a function argument or a size given to
    `tensor.empty`; the host then never waits for a kernel to know a size.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def WriteInPlacePass : Pass<"tilewright-write-in-place", "::mlir::ModuleOp"> {
  let summary = "Let kernels write straight into the memrefs that their "
                "results are stored to";
  let description = [{
    A dispatch result that `bufferization.materialize_in_destination` stores to
    a memref is written there by the kernel itself, if the kernel only writes
    its destination and nobody reads the memref's old contents from the dispatch
    on. Otherwise the copy stays.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def PlaceWindowsPass : Pass<"tilewright-place-windows", "::mlir::ModuleOp"> {
  let summary = "Let kernels read and write windows of tensors where they lie";
  let description = [{
    A dispatch result that a `tensor.insert_slice` puts into a tensor, and
    nothing else uses, gets that window of the tensor as its destination. Then
    every kernel with operands that are windows (`tensor.extract_slice`, the
    tensor of a memref with strides) gets `tilewright.views`, with the strides
    that are static.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def PlanTemporariesPass
    : Pass<"tilewright-plan-temporaries", "::mlir::func::FuncOp"> {
  let summary = "Give temporaries of known size their places in one allocation";
  let description = [{
    Every `tensor.empty` of static shape in the first block of a host function
    that does not leave the function gets `tilewright.temporary`, its number and
    its offset in bytes; the function gets `tilewright.arena`, the size of all,
    and how much of that is alive at once. Tensors that are never alive together
    share bytes. Fewer than two are left to the runtime's pool.
  }];
}

def NumberDispatchesPass
    : Pass<"tilewright-number-dispatches", "::mlir::ModuleOp"> {
  let summary = "Give every kernel its number in the manifest";
  let description = [{
    Kernels that no dispatch names are erased; the others get
    `tilewright.dispatch_id`, counting in the order in which the program holds
    them.
  }];
}

def CollectChecksPass
    : Pass<"tilewright-collect-checks", "::mlir::func::FuncOp"> {
  let summary = "Write down which dims of a kernel's operands must be equal";
  let description = [{
    Dims of tensors that one loop of a structured op runs over must have one
    size. Where that is not known statically, the kernel gets an entry of
    `tilewright.checks`: `{dims = array<i64: o, d, o', d'>, message = …}`, dim d
    of tensor operand o must equal dim d' of operand o'. The runtime evaluates
    them before each launch.
  }];
}

#endif
