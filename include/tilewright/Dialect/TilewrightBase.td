// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_BASE_TD
#define TILEWRIGHT_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Tilewright_Dialect : Dialect {
  let name = "tilewright";
  let cppNamespace = "::tilewright";
  let summary = "programs, kernels and the decisions made about them";
  let description = [{
    A *program* is a `builtin.module` with a `tilewright.target` attribute: the
    input cloned for one target. It holds host functions and *kernels*:
    functions with the unit attribute `tilewright.kernel`, one fused
    computation each. Both are ordinary upstream ops so that every upstream
    pass works on them; the dialect adds what upstream has no word for: the
    dispatch from host to kernel, which tile a block computes, block-level
    matrix products, layouts and conversions between them, warp
    specialisation, and the attributes in which `configure` writes down its
    decisions.

    Discardable attributes:
      * `tilewright.target` (program): `#tilewright.target`.
      * `tilewright.fp` (program): array of strings out of `contract`, `ftz`,
        `tf32`, `fast-f8-sums`, `winograd`: what floating-point arithmetic may do
        beyond the text.
      * `tilewright.require` (program): array of strings out of `matrix-unit`:
        what every product must run on, or its kernel is refused.
      * `tilewright.kernel` (function): unit; the function is device code.
      * `tilewright.lowering_config` (op): the root op's schedule.
      * `tilewright.launch` (kernel, from `tile` on): `#tilewright.launch`.
      * `tilewright.access` (kernel): array of "read" / "write" / "readwrite",
        one per tensor or memref argument, in order.
      * `tilewright.views` (kernel): array with one entry per tensor or memref
        argument, in order: `unit` where it is dense, `strided<[…], offset: ?>`
        where it is a window of a larger tensor.
      * `tilewright.scalars` (kernel, after `distribute`): array of
        `#tilewright.dim`, `#tilewright.stride`, `#tilewright.offset` and
        `#tilewright.host_scalar`, the meaning of the scalar arguments that
        follow the buffers.
      * `tilewright.tensor_maps` (kernel, after `distribute`): array of
        `#tilewright.tensor_map`, the meaning of the tensor maps that follow the
        scalar arguments.
      * `tilewright.index_bits` (kernel): 32 or 64.
      * `tilewright.divisible` (kernel): array of i64 in threes, operand, dim,
        divisor: the variant's guard promises that the dynamic dim is a multiple
        of the divisor, so that rows are aligned for wide accesses.
      * `tilewright.aligned` (kernel): array of i64, numbers of operands with
        strides: the variant's guard promises that their rows begin at addresses
        that are aligned for wide accesses.
      * `tilewright.variant_of` (kernel): name of the kernel that dispatches
        call; this one runs instead where its promises (`tilewright.divisible`)
        hold. Variants stand in front of that kernel, best first.
      * `tilewright.checks` (kernel): array of `{dims = array<i64: o, d, p, e>,
        message = "…"}`: at each launch dim d of operand o must equal dim e of
        operand p.
      * `tilewright.explain` (kernel, from `configure` on): array of strings, what
        was decided and why.
      * `tilewright.copies` (op): text, why the compiler added this copy.
      * `tilewright.layouts` (op): one `#tilewright.layout` per vector result. On
        a write of a vector: the layout in which it is written, if not the pass
        that assigns layouts is to choose. An opaque layout on a read or write
        of memory: a matrix instruction's own, without threads' registers.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::vector::VectorDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif
