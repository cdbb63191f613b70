// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_PROMOTE_PASSES_TD
#define TILEWRIGHT_PROMOTE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PromotePass : Pass<"tilewright-promote", "::mlir::func::FuncOp"> {
  let summary = "route operands of matrix products through shared memory";
  let description = [{
    For every `tilewright.mma` of a kernel and each operand number in `promote`
    of the kernel's lowering config: allocates shared memory for the operand's
    tile, writes the operand's vector to it, and lets the product read the
    memory. For multiply-add the tile has the accumulator's dims innermost, so
    that a thread reads neighbouring rows of A (columns of B) with one access;
    for matrix instructions the reduction dim, or the order of the operand in
    memory, where matrices are loaded either way. Rows are swizzled where that
    avoids bank conflicts, else padded. Barriers come later
    (`tilewright-place-barriers`).

    Where warps have roles, those that copy fill a ring of stages instead, and
    a reduction that keeps its rows on chip has these in shared memory.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::gpu::GPUDialect", "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
      "::mlir::vector::VectorDialect"];
}

def ChunkSumsPass : Pass<"tilewright-chunk-sums", "::mlir::func::FuncOp"> {
  let summary = "run a CPU's sum of rows a few rows at a time";
  let description = [{
    Where `tile` left `tilewright.chunks` (tiles of a block, steps of the sum in a
    chunk) on a CPU kernel: exchanges the loop over the result's tiles with the
    one over the sum, chunk by chunk. Between chunks the sums are in memory of
    the thread.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
}

def PackPanelsPass : Pass<"tilewright-pack-panels", "::mlir::func::FuncOp"> {
  let summary = "copy operands of a CPU's contraction into panels";
  let description = [{
    Where the lowering config of a CPU kernel names the operands of its
    `tilewright.mma` in `promote`: rewrites the loops around it so that, for each
    chunk of the sum, the operands' tiles are first copied into memory of the
    thread in the order in which the inner loop reads them. How many tiles and
    steps a block has says `tilewright.panels` on the kernel, which `tile` writes.
    Between chunks the accumulators are in memory of the thread.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
}

#endif
