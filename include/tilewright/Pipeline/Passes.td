// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_PIPELINE_PASSES_TD
#define TILEWRIGHT_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PipelinePass : Pass<"tilewright-pipeline", "::mlir::func::FuncOp"> {
  let summary = "overlap loads of the next tile with work on this one";
  let description = [{
    Rewrites loops that fill shared memory and then multiply from it, when the
    kernel's lowering config asks for `stages` of 2 or more. With a matrix
    instruction, on a target that has asynchronous copies, shared tiles become
    rings of `stages` stages that are filled stages - 1 steps ahead, provided that
    each operand is copied as it is and at least 4 bytes of it lie together,
    aligned, in both memories. Else shared tiles get two stages; while a step
    multiplies from one stage, the next step's tile is loaded into registers and
    then stored to the other; operands of which 16 bytes lie together are still
    copied. One barrier per step remains in both cases.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def PeelMasksPass : Pass<"tilewright-peel-masks", "::mlir::func::FuncOp"> {
  let summary = "steps of a loop that need no mask, in a loop without it";
  let description = [{
    A loop whose body chooses between values and masked values by comparisons of its
    induction variable with limits, marked `tilewright.whole`, becomes one more for each:
    where all of them hold without the mask, in front of it and behind it with the mask.
    Marked comparisons elsewhere choose the masked values.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def OverlapProductsPass : Pass<"tilewright-overlap-products", "::mlir::func::FuncOp"> {
  let summary = "the second product of a step beside the first one of the next";
  let description = [{
    In roles of warps, a loop with two asynchronous products, of which the second
    multiplies what is made of the first one's sums, is rotated: the second product of a
    step starts behind the first one of the next, and both run while what lies between
    them is computed.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DropLastReleasesPass : Pass<"tilewright-drop-last-releases", "::mlir::func::FuncOp"> {
  let summary = "leave out releases that no producer waits for";
  let description = [{
    A stage that is never filled again need not be said to be empty: of a ring, the last
    `stages` releases behind all loops go. A ring without any is filled once.
  }];
}

#endif
