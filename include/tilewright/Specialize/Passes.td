// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_SPECIALIZE_PASSES_TD
#define TILEWRIGHT_SPECIALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpecializePass : Pass<"tilewright-specialize", "::mlir::ModuleOp"> {
  let summary = "add variants of kernels: aligned rows, few or short rows, 64-bit indices";
  let description = [{
    A kernel whose operands have dynamic innermost dims cannot use wide memory
    accesses: rows may start anywhere. Each such kernel is cloned in front of
    itself; the clone promises in `tilewright.divisible` that those dims are
    multiples of one wide access, which the run time checks before it picks the
    variant (`tilewright.variant_of` names the original). Operands with strides
    are promised to have aligned rows in `tilewright.aligned`.

    Where warpgroups multiply, the aligned variant of a convolution of images becomes
    one whose rows are the pixels of the result (`tilewright.images`,
    `tilewright.merged`), which a copy engine gathers, padding and all.

    What tile is best for a product depends on how many rows it has. On GPUs, a
    product with a dynamic side has clones for at most 1, 16 and 64 rows in front of
    it (of the clone for aligned rows, if there is one), which `tilewright.at_most`
    promises. `configure` erases those that end up configured like what stands
    behind them.

    Rows that several ops of a reduction read stay on chip where it is known how long
    they are at most. On GPUs, a kernel with such rows of a dynamic extent has clones for
    rows of up to 1024 and 8192 elements and of as many as shared memory holds, in front of
    the clone for aligned rows, and as many in front of the kernel itself; `tilewright.at_least` promises that rows are not empty.

    Kernels compute indices with 32 bits. Where a buffer may have 2^31 elements
    or more and the target can compute with 64 (`wide_index`), a clone behind
    the kernel does (`tilewright.index_bits`); it runs where no guard in front
    of it holds.
  }];
}

def WidenIndicesPass : Pass<"tilewright-widen-indices", "::mlir::ModuleOp"> {
  let summary = "compute indices that bodies use as numbers in 64 bits where 32 are too few";
  let description = [{
    `index` has 64 bits on CPUs and in the reference program, 32 in most kernels of GPUs.
    Where a body compares indices or makes integers of them, and the ranges of its loops,
    constants and casts say that a value may need more bits than 32, that value is computed
    as an i64. Coordinates of tensors stay indices, which their sizes fit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ClampIndexCastsPass : Pass<"tilewright-clamp-index-casts", "::mlir::ModuleOp"> {
  let summary = "keep casts of wide integers to 32-bit indices in their order";
  let description = [{
    `index` has 64 bits on CPUs and in the reference program, 32 in most kernels of
    GPUs. An integer of more bits than 32 that a body casts to it, mostly a number of
    a row that the body brings into range next, would lose its upper half, and a
    number far behind the last row could become one in the middle. Where a kernel's
    indices have 32 bits, such an integer becomes the nearest one that they have
    first; comparisons with sizes, and limits to them, come out as with 64.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
