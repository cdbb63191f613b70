// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TILE_PASSES_TD
#define TILEWRIGHT_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TilePass : Pass<"tilewright-tile", "::mlir::ModuleOp"> {
  let summary = "Rewrite kernels as what one thread block computes";
  let description = [{
    Reads `#tilewright.lowering_config` on the root op of each kernel and
    replaces the kernel's body by the code of one block: `tilewright.tile_id`
    names the tile, every result's tile is computed with its producers fused,
    loops that a block runs through become `scf.for`. The kernel gets
    `tilewright.launch` and the config; each tiled op gets
    `tilewright.tile_sizes`, the static extents of its vectors. Attention is written as
    vectors at once (lib/Tile/AttentionBlock.cpp).
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect", "::tilewright::TilewrightDialect"
  ];
}

def PeelLoopsPass : Pass<"tilewright-peel-loops", "::mlir::ModuleOp"> {
  let summary = "Split loops of tiled kernels into whole tiles and the rest";
  let description = [{
    A loop over tiles whose last one may be partial becomes a loop over whole
    tiles, which needs no bounds checks, followed by the partial one. Only where
    the target has no lanes (CPUs): there a masked access costs branches, and
    code size little. Loops inside a partial tile stay as they are.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def CoalesceLoopsPass : Pass<"tilewright-coalesce-loops", "::mlir::ModuleOp"> {
  let summary = "Make one loop of nested loops around matrix instructions";
  let description = [{
    Loops that contain nothing but each other, with constant bounds, become one,
    so that `pipeline` can overlap all of its steps. Only in kernels whose config
    names a matrix instruction.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif
