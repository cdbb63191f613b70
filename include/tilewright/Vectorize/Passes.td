// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_VECTORIZE_PASSES_TD
#define TILEWRIGHT_VECTORIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def VectorizePass : Pass<"tilewright-vectorize", "::mlir::ModuleOp"> {
  let summary = "Turn the tiles of tiled kernels into vectors";
  let description = [{
    Every tile that an op of a tiled kernel computes becomes a vector of the
    static extents in `tilewright.tile_sizes`; the slices of the kernel's
    arguments become transfer reads and writes of the arguments themselves, in
    bounds where the tile is whole. Contractions become `tilewright.mma`, other
    reductions `vector.multi_reduction`, tensors carried by loops become
    carried vectors. What lies outside the bounds of a partial tile is masked
    before it takes part in a reduction or contraction.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect", "::tilewright::TilewrightDialect"
  ];
}

def DelayReductionsPass
    : Pass<"tilewright-delay-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduce across elements once, after the loop";
  let description = [{
    A loop that reduces a chunk into a small accumulator in every iteration
    keeps an accumulator of the chunk's shape instead, combines elementwise,
    and reduces once behind the loop. Floating-point reductions are
    reassociated by this, the same way in every run.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def FuseOnlineSumsPass
    : Pass<"tilewright-fuse-online-sums", "::mlir::ModuleOp"> {
  let summary = "Sum exponentials below a row's maximum in the loop of the maximum";
  let description = [{
    A softmax or log-sum-exp of rows that no block holds reads them for their maxima and
    again for the sums of exponentials below these. In kernels that `tile` has marked
    (`tilewright.online_sums`), one loop carries both: a sum is of exponentials below the
    maximum so far, and multiplied where a greater one comes. A remark says
    where fewer loops are joined than were planned.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif
