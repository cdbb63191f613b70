// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_DISTRIBUTE_PASSES_TD
#define TILEWRIGHT_DISTRIBUTE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LoadFragmentsPass : Pass<"tilewright-load-fragments", "::mlir::func::FuncOp"> {
  let summary = "read the operands of matrix instructions out of shared memory";
  let description = [{
    A `tilewright.mma` with an instruction takes its operands from registers: in
    front of it, operands in shared memory are read into vectors. Of an
    instruction with opaque fragments one step along k at a time, in a loop
    where the steps are many.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def KeepFragmentsPass : Pass<"tilewright-keep-fragments", "::mlir::func::FuncOp"> {
  let summary = "decide what is done to a product while it is in opaque fragments";
  let description = [{
    Elementwise ops that need no coordinates become `tilewright.map_fragments`;
    reads and writes of memory that the matrix instruction can make itself get
    an opaque layout in `tilewright.layouts`, behind a branch where a tile may
    be clipped. What remains goes through shared memory. `tilewright.explain`
    says which and why. Kernels without opaque fragments stay as they are.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def AssignLayoutsPass : Pass<"tilewright-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "give every block-level vector a layout";
  let description = [{
    Writes `tilewright.layouts` (one `#tilewright.layout` per vector result) on
    every op of a kernel that yields vectors, and inserts
    `tilewright.convert_layout` where a use needs another layout than its
    definition has. Matrix products and wide reads anchor the layouts;
    elementwise ops follow their strongest operand; what costs nothing to
    compute again (constants, masks, broadcast reads) is computed in the layout
    that each use asks for. Layouts already written on ops are kept. The number
    of warps and lanes is read from `tilewright.launch`.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect"];
}

def PrintLayoutsPass : Pass<"tilewright-print-layouts", "::mlir::ModuleOp"> {
  let summary = "draw layouts as pictures in text, on standard output";
  let description = [{
    For every vector of a kernel with layouts (behind
    `tilewright-assign-layouts`) a table over its last two dims that says which
    warp, lane and register holds each element, "1:5/0" for warp 1, lane 5,
    register 0; for every buffer in shared memory the bank that each element
    begins in. Nothing is changed. With `layout` only the layout in that text is
    drawn: one of registers, or with `strides=` one of shared memory (the table
    then has offsets in elements).

    ```
    tilewright-opt k.mlir -tilewright-assign-layouts -tilewright-print-layouts -o /dev/null
    tilewright-opt empty.mlir -tilewright-print-layouts='layout="regs=[2:1@1] lanes=[4:2@1, 8:1@0]"'
    ```
  }];
  let options = [
    Option<"layout", "layout", "std::string", "", "draw this layout alone">,
    Option<"rows", "rows", "int64_t", "16", "rows to draw at most">,
    Option<"columns", "columns", "int64_t", "32", "columns to draw at most">];
}

def DistributePass : Pass<"tilewright-distribute", "::mlir::func::FuncOp"> {
  let summary = "turn block-level vectors into per-thread code";
  let description = [{
    Rewrites a kernel in block form with layouts into thread form (docs/ir.md):
    a vector becomes the scalars that one thread holds, memory becomes rank 1,
    reductions become shuffles and trips through shared memory, conversions of
    layouts become what the layout library plans. The kernel's arguments become
    rank-1 memrefs followed by scalars, described by `tilewright.scalars`.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
      "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
      "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def UseLoadsEarlyPass : Pass<"tilewright-use-loads-early", "::mlir::func::FuncOp"> {
  let summary = "combine what is beside warpgroups' sums with them as it is loaded";
  let description = [{
    Of a kernel in thread form that copy engines bring tiles beside its sums
    (`tilewright.loaded_tiles`): behind the product, what is computed from a load, without
    side effects, moves up to it as far as it meets the sums, and what follows down to its
    first use. So the registers of a residual's piece are free when the next piece is
    loaded, and an activation has those of a piece that leaves.
  }];
}

def CountStagesPass : Pass<"tilewright-count-stages", "::mlir::func::FuncOp"> {
  let summary = "count stages of rings in loops, in place of dividing positions";
  let description = [{
    Of a kernel in thread form: a loop that waits for stages of a ring whose number is no power
    of two carries the stage and the phase of its step, and the stage of the step before, as
    values that it counts, in place of quotients and remainders of its position.
  }];
}

def RecomputeScalarsPass : Pass<"tilewright-recompute-scalars", "::mlir::func::FuncOp"> {
  let summary = "compute bounds and coordinates in each role that changes its registers";
  let description = [{
    Of a kernel in thread form whose roles begin with `tilewright.set_registers`: sums and
    minima of scalars that a role reads are computed behind it once more, where their
    operands are there anyway, so that fewer values are alive across the change.
  }];
}

def PlaceSharedMemoryPass
    : Pass<"tilewright-place-shared-memory", "::mlir::func::FuncOp"> {
  let summary = "give each buffer of a kernel its place in shared memory";
  let description = [{
    Every `memref.alloc` of a kernel in thread form gets `tilewright.shared_place`, its
    offset in bytes, and the kernel `tilewright.shared_bytes`, what all of them take.
    Buffers that are never alive together share bytes: the tile of a result that threads
    exchange on its way out lies where the ring of the product's operands was. Where
    variables in shared memory have a type (`typed_shared_memory`, Vulkan), such buffers of
    one element type begin at one place, and are one variable. More than the target has is
    an error.
  }];
}

def PlaceBarriersPass : Pass<"tilewright-place-barriers", "::mlir::func::FuncOp"> {
  let summary = "let threads meet between accesses to the same bytes of shared memory";
  let description = [{
    Of a kernel in thread form whose buffers have places: in front of an access whose bytes
    another thread may have touched since the threads met last, a barrier, of all threads of
    the block or of those of the role that has the buffer. Rings have the barriers of their
    schedule already (`tilewright.stages`, mbarriers), and so have accesses to global memory
    that must be in order.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect", "::mlir::gpu::GPUDialect"];
}

#endif
