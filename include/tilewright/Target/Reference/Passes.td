// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_REFERENCE_PASSES
#define TILEWRIGHT_TARGET_REFERENCE_PASSES

include "mlir/Pass/PassBase.td"

def DecomposeOpsPass : Pass<"tilewright-decompose-ops"> {
  let summary = "attention, and softmax, concat, pack and unpack as upstream decomposes them";
  let description = [{
    Upstream's own decompositions of the operations that its path to loops does
    not know, for the reference target; attention as the dialect defines it.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::linalg::LinalgDialect",
                           "mlir::tensor::TensorDialect",
                           "mlir::math::MathDialect"];
}

def WidenAccumulatorsPass : Pass<"tilewright-widen-accumulators"> {
  let summary = "computes float sums of linalg.generic in f64";
  let description = [{
    A reduction that adds, or multiplies and adds, in f16, bf16 or f32 gets an
    f64 accumulator (and f64 products), and its result is truncated once at the
    end. Nothing else changes the program's types. The addition remembers the
    type that the program has for the sum (`tilewright.accumulator`), in f64, too.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::linalg::LinalgDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::tensor::TensorDialect"];
}

def BoundErrorsPass : Pass<"tilewright-bound-errors", "::mlir::ModuleOp"> {
  let summary = "error bounds of every element, in functions beside the public ones";
  let description = [{
    Running error analysis of a bufferized module: `@f.bounds` computes what `@f`
    does and by how much each element of it may differ in a program that is right.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::cf::ControlFlowDialect",
                           "mlir::linalg::LinalgDialect",
                           "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect"];
}

def CopyReturnedViewsPass : Pass<"tilewright-copy-returned-views", "::mlir::func::FuncOp"> {
  let summary = "returned slices of unknown strides become dense";
  let description = [{
    Copies what a function returns where upstream's bufferization casts a view,
    whose strides are known only when the program runs, to a dense buffer.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def CopyEqualResultsPass : Pass<"tilewright-copy-equal-results"> {
  let summary = "copies of tensors that an op has as two of its results";
  let description = [{
    Upstream's bufferization writes one of two results in place though they are one
    buffer. Of the operands of a terminator that are one tensor, or parts of one, all but the first are
    copied.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect"];
}

def CopyPartialInitsPass : Pass<"tilewright-copy-partial-inits"> {
  let summary = "copies inits of which a linalg op writes a part only";
  let description = [{
    Upstream's bufferization does not take such an init for read, and the elements
    that the op does not write would be undefined.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect"];
}

def OrderConstantsPass : Pass<"tilewright-order-constants", "::mlir::ModuleOp"> {
  let summary = "globals of dense constants in the order of their first use";
  let description = [{
    Gives the `__constant_…` globals that bufferization makes names and places
    that do not depend on the order in which it visited the functions.
  }];
}

def ConvertReferenceMemoryPass
    : Pass<"tilewright-convert-reference-memory", "::mlir::ModuleOp"> {
  let summary = "allocations, copies, assertions and printing of the reference";
  let description = [{
    Host functions take the support functions' context first; memory comes from
    the runtime through it, and errors leave the call. Globals with a
    `tilewright.constant_id` are parameters, whose memory is the runtime's.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect"];
}

def ExpandDynamicShapesPass : Pass<"tilewright-expand-dynamic-shapes"> {
  let summary = "memref.expand_shape with several dynamic dims made of one, by strides";
  let description = [{
    Upstream's expansion of strided metadata takes all but one of the dims that are
    made of one for static. Such ops become `memref.reinterpret_cast` before.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect"];
}

#endif
