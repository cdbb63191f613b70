// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_RING_OPS_TD
#define TILEWRIGHT_RING_OPS_TD

include "tilewright/Dialect/TilewrightAttrs.td"
include "tilewright/Dialect/TilewrightTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ring_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tilewright_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Block form
//===----------------------------------------------------------------------===//

def Tilewright_RingOp : Ring_Op<"ring"> {
  let summary = "a ring in shared memory, all stages empty";
  let description = [{
    Producers and consumers walk over positions 0, 1, 2, …; position p is in
    stage p mod stages. A stage goes round: `acquire` waits until it is empty,
    copies into it start, `fill` says that it is full when they have all arrived,
    `wait` waits for that, `release` says that it is empty again.

    ```mlir
    %ring = tilewright.ring : !tilewright.ring<4, memref<128x64xbf16, #a>, memref<64x4x64xbf16, #b>>
    tilewright.warps [8, 1] {
      scf.for %p = %c0 to %steps step %c1 {
        %a, %b = tilewright.acquire %ring[%p] : !tilewright.ring<…>
        tilewright.tile_copy %A[%i, %k] to %a …
        tilewright.tile_copy %B[%k, %j] to %b …
        tilewright.fill %ring[%p] : !tilewright.ring<…>
      }
    }
    tilewright.warps [0, 8] {
      %sum = scf.for %p = %c0 to %steps step %c1 iter_args(%acc = %zero) -> … {
        %a, %b = tilewright.wait %ring[%p] : !tilewright.ring<…>
        %next = tilewright.mma %a, %b, %acc …
        tilewright.release %ring[%p] : !tilewright.ring<…>
        …
    ```

    A position is a number that the roles count for themselves, so that loops
    may be nested and rings of different depth stand side by side. Each role
    must name every position once, in order. Of a ring that nobody releases each
    `acquire` knows that its stage is empty.
  }];
  let results = (outs Tilewright_Ring:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
}

/// The tiles of one stage, by one role.
class Ring_StageOp<string mnemonic>
    : Ring_Op<mnemonic, [InferTypeOpAdaptor]> {
  let arguments = (ins Tilewright_Ring:$ring, Index:$position);
  let results = (outs Variadic<AnyMemRef>:$tiles);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
}

def Tilewright_AcquireOp : Ring_StageOp<"acquire"> {
  let summary = "waits until a stage is empty, to fill it";
  let description = [{
    Not with `known_empty`: then the stage was never filled, or whoever fills it has
    himself waited for all that read it.
  }];
  let arguments = (ins Tilewright_Ring:$ring, Index:$position, UnitAttr:$known_empty);
}

def Tilewright_WaitOp : Ring_StageOp<"wait"> {
  let summary = "waits until a stage is full, to read it";
}

def Tilewright_FillOp : Ring_Op<"fill"> {
  let summary = "a stage is full when all copies into its tiles have arrived";
  let description = [{
    Every tile of the stage is the destination of exactly one `tile_copy` since
    the stage was acquired.
  }];
  let arguments = (ins Tilewright_Ring:$ring, Index:$position);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
}

def Tilewright_ReleaseOp : Ring_Op<"release"> {
  let summary = "a stage is empty when all warps of the consumers have released it";
  let arguments = (ins Tilewright_Ring:$ring, Index:$position);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
}

def Tilewright_TileWalkOp : Ring_Op<"tile_walk", [Pure]> {
  let summary = "which tiles a block computes that computes several";
  let description = [{
    Given the number of tiles along each tiled loop: tiles `first`, `first + step`, …
    below `end`. Blocks of a cluster walk together: they have one number, of which
    `tilewright.tile_id` makes a tile for each of them.

    ```mlir
    %first, %end, %step = tilewright.tile_walk(%rows, %columns)
    scf.for %number = %first to %end step %step {
      %i, %j = tilewright.tile_id(%rows, %columns) number %number : index, index
    ```
  }];
  let arguments = (ins Variadic<Index>:$counts);
  let results = (outs Index:$first, Index:$end, Index:$step);
  let assemblyFormat = "`(` $counts `)` attr-dict";
}

def Tilewright_WorkWalkOp : Ring_Op<"work_walk", [Pure]> {
  let summary = "which parts of tiles a block computes, where blocks share all sums";
  let description = [{
    Items `first` to `end` of `shares`, one after the other.

    ```mlir
    %first, %end = tilewright.work_walk #tilewright.shares<tiles = 6, steps = 16, blocks = 4, parts = 2>
    scf.for %number = %first to %end step %c1 {
      %tile, %part, %begin, %stop = tilewright.work_item #tilewright.shares<…> number %number
      %i, %j = tilewright.tile_id(%rows, %columns) number %tile : index, index
    ```
  }];
  let arguments = (ins Tilewright_SharesAttr:$shares);
  let results = (outs Index:$first, Index:$end);
  let assemblyFormat = "$shares attr-dict";
}

def Tilewright_WorkItemOp : Ring_Op<"work_item", [Pure]> {
  let summary = "a part of a tile: which one, of what tile, and its steps";
  let description = [{
    Steps `begin` to `end` of the sum of tile `tile` are item `number` of `shares`; without
    a number, the one that the block is at. `begin` is `end` where no block is left for
    the part.
  }];
  let arguments = (ins Tilewright_SharesAttr:$shares, Optional<Index>:$number);
  let results = (outs Index:$tile, Index:$part, Index:$begin, Index:$end);
  let assemblyFormat = "$shares (`number` $number^)? attr-dict";
}

def Tilewright_TileCopyOp : Ring_Op<"tile_copy"> {
  let summary = "starts to copy a tile of global memory into a stage";
  let description = [{
    Fills `dest`, a tile that `acquire` gave or a `memref.subview` of one, from `source`, an argument of the
    kernel: the element at (d0, d1, …) is that of the source at `indices` plus
    `map`(d0, d1, …); what lies outside of the source is zero. The copy engine
    does it (TMA); the warp that starts it goes on. A result of the map is a dim
    of the tile, or a sum of dims times constants: of `d1 * 64 + d2` the columns
    are cut into boxes of 64, one behind the other, as wide as the swizzle.

    With `multicast = d` the blocks of a cluster that differ along tiled loop d alone
    read this tile: each copies a part of it to all of them.

    With `by_threads` all threads of the current warps copy (cp.async), 16 bytes at a
    time, and no copy engine; so they do all tiles of a ring. Matrix instructions that
    read the stage out of shared memory see it behind `wait` as they do otherwise.

    ```mlir
    tilewright.tile_copy %B[%k, %j] to %b {map = affine_map<(k, box, n) -> (k, box * 64 + n)>}
        : memref<?x?xbf16> to memref<64x4x64xbf16, strided<[64, 4096, 1]>, #tilewright.shared<swizzle = [3, 3, 3]>>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<Index>:$indices,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       AffineMapAttr:$map, OptionalAttr<I64Attr>:$multicast,
                       UnitAttr:$by_threads);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $dest attr-dict `:` type($source) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def Tilewright_TileStoreOp : Ring_Op<"tile_store"> {
  let summary = "starts to store a tile of sums into global memory";
  let description = [{
    The element of `value` at (r, c) goes to `dest`, an argument of the kernel, at
    `indices` plus (0, …, r, c); what lies outside of it is left out. Each warpgroup
    puts its part into shared memory, in pieces of 64 rows as wide as a swizzle, two
    of which take turns, and the copy engine stores them (TMA). The warps go on; a
    `store_wait` stands before the end of the kernel.
  }];
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $value `to` $dest `[` $indices `]` attr-dict `:` type($value) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def Tilewright_TileLoadOp : Ring_Op<"tile_load"> {
  let summary = "loads a tile beside sums from global memory, as they lie in registers";
  let description = [{
    The other way of `tile_store`, of elements of 16 or 32 bits: element (r, c) is what `source`, an
    argument of the kernel, has at `indices` plus (0, …, r, c); zero outside of it. Each
    warpgroup has copy engines bring its part in the same pieces, each into a stage of
    `ring`: two for each warpgroup, whose memory tiles of this type are stored from, too.
    Nobody else fills or releases them; `position` counts the tiles that came through it.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Variadic<Index>:$indices,
                       Arg<Tilewright_Ring, "", [MemRead, MemWrite]>:$ring, Index:$position);
  let results = (outs AnyType:$value);
  let assemblyFormat = [{
    $source `[` $indices `]` `through` $ring `[` $position `]` attr-dict
    `:` type($source) `,` type($ring) `->` type($value)
  }];
  let hasVerifier = 1;
}

def Tilewright_SetRegistersOp : Ring_Op<"set_registers"> {
  let summary = "how many registers each thread of these warps has from here on";
  let description = [{
    First in the region of a whole number of warpgroups: the producers give
    away what the consumers' accumulators need. A multiple of 8 from 24 to 240.
  }];
  let arguments = (ins I64Attr:$count);
  let assemblyFormat = "$count attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Both forms
//===----------------------------------------------------------------------===//

def Tilewright_MmaWaitOp : Ring_Op<"mma_wait", [
    InferTypeOpAdaptor]> {
  let summary = "waits for asynchronous matrix products";
  let description = [{
    Until at most the last `pending` products (`tilewright.mma` by an instruction
    that is asynchronous) of this warpgroup are under way; their operands may be
    released then. An accumulator may be read only as a result of this op.

    ```mlir
    tilewright.mma_wait 1
    %sum = tilewright.mma_wait 0 (%acc : vector<128x256xf32>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$pending,
                       Variadic<AnyType>:$values);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$pending (`(` $values^ `:` type($values) `)`)? attr-dict";
}

def Tilewright_StoreWaitOp : Ring_Op<"store_wait"> {
  let summary = "waits for stores by copy engines";
  let description = [{
    Until at most the last `pending` groups of stores that this thread has committed
    have yet to read shared memory.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Thread form
//===----------------------------------------------------------------------===//

def Tilewright_ElectOp : Ring_Op<"elect"> {
  let summary = "true for one lane of the warp, all of which are here";
  let description = [{
    The assembler knows that one lane goes on behind a branch on it, which it does
    not of a comparison of lane numbers.
  }];
  let results = (outs I1:$isElected);
  let assemblyFormat = "attr-dict";
}

def Tilewright_MbarrierInitOp : Ring_Op<"mbarrier_init"> {
  let summary = "a barrier in memory, whose phases complete after `arrivals`";
  let arguments = (ins Arg<AnyMemRef, "", [MemWrite]>:$barriers, Index:$index,
                       I64Attr:$arrivals);
  let assemblyFormat = [{
    $barriers `[` $index `]` `arrivals` $arrivals attr-dict `:` type($barriers)
  }];
}

def Tilewright_MbarrierFenceOp : Ring_Op<"mbarrier_fence"> {
  let summary = "copy engines see the barriers that this thread has initialised";
  let assemblyFormat = "attr-dict";
}

def Tilewright_MbarrierArriveOp : Ring_Op<"mbarrier_arrive"> {
  let summary = "one arrival, and as many bytes that have yet to arrive";
  let description = [{
    At this block's barrier, or at that of block `block` of the cluster. With
    `after_copies` it comes when all that this thread has started to copy
    (`async_copy_run`) has arrived.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead, MemWrite]>:$barriers,
                       Index:$index, Optional<Index>:$block,
                       OptionalAttr<I64Attr>:$bytes, UnitAttr:$after_copies);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`block` $block^)? (`expect` $bytes^)?
    (`after_copies` $after_copies^)? attr-dict
    `:` type($barriers)
  }];
}

def Tilewright_MbarrierWaitOp : Ring_Op<"mbarrier_wait"> {
  let summary = "waits until the phase of this parity (0 or 1) is complete";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead, MemWrite]>:$barriers,
                       Index:$index, Index:$parity);
  let assemblyFormat = [{
    $barriers `[` $index `]` `parity` $parity attr-dict `:` type($barriers)
  }];
}

def Tilewright_TensorCopyOp : Ring_Op<"tensor_copy", [AttrSizedOperandSegments]> {
  let summary = "starts to copy a box of a tensor into shared memory";
  let description = [{
    The box at `coordinates` (outermost dim first) of what `map` describes goes to
    `dest` from element `offset` on; its bytes count for the barrier. Where `blocks`
    is given, that is so in every block of the cluster whose bit it has. Of a map of
    images the coordinates are those of the first pixel's window, and `offsets` leads,
    along each dim of space, to the tap of the windows that is copied.
  }];
  let arguments = (ins Tilewright_TensorMap:$map, Variadic<Index>:$coordinates,
                       Variadic<Index>:$offsets,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest, Index:$offset,
                       Arg<AnyMemRef, "", [MemRead, MemWrite]>:$barriers,
                       Index:$barrier, Optional<Index>:$blocks);
  let assemblyFormat = [{
    $map `[` $coordinates `]` (`offsets` `[` $offsets^ `]`)? `to` $dest `[` $offset `]` `,`
    $barriers `[` $barrier `]` (`blocks` $blocks^)? attr-dict `:` type($dest) `,` type($barriers)
  }];
}

def Tilewright_TensorStoreOp : Ring_Op<"tensor_store"> {
  let summary = "starts to store a box of a tensor from shared memory";
  let description = [{
    As `tensor_copy`, the other way; a `store_commit` closes the group.
  }];
  let arguments = (ins Arg<Tilewright_TensorMap, "", [MemWrite]>:$map,
                       Variadic<Index>:$coordinates,
                       Arg<AnyMemRef, "", [MemRead]>:$source, Index:$offset);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `from` $source `[` $offset `]` attr-dict `:` type($source)
  }];
}

def Tilewright_StoreMatricesOp : Ring_Op<"store_matrices"> {
  let summary = "8x8 matrices of 16-bit elements into shared memory, by a warp";
  let description = [{
    The opposite of `load_matrices`: lanes 8i .. 8i+7 give the element offsets of the
    rows of matrix i, lane l the elements (l / 4, 2 (l % 4)) and (l / 4, 2 (l % 4) + 1)
    of one, two or four matrices.
  }];
  let arguments = (ins Variadic<AnyType>:$values, Arg<AnyMemRef, "", [MemWrite]>:$base,
                       Index:$offset);
  let assemblyFormat = [{
    $values `to` $base `[` $offset `]` attr-dict `:` type($values) `to` type($base)
  }];
}

def Tilewright_StoreCommitOp : Ring_Op<"store_commit"> {
  let summary = "this thread's stores since the last commit are one group";
  let assemblyFormat = "attr-dict";
}

def Tilewright_ProxyFenceOp : Ring_Op<"proxy_fence"> {
  let summary = "copy engines see what this thread has written to shared memory";
  let assemblyFormat = "attr-dict";
}

def Tilewright_WarpBarrierOp : Ring_Op<"warp_barrier"> {
  let summary = "all lanes of the warp are here, and have read what they read before";
  let assemblyFormat = "attr-dict";
}

def Tilewright_GroupBarrierOp : Ring_Op<"group_barrier"> {
  let summary = "named barrier whose number is computed: one for each warpgroup";
  let arguments = (ins Index:$id, I64Attr:$threads);
  let assemblyFormat = "$id `threads` `=` $threads attr-dict";
}

def Tilewright_ClusterRankOp : Ring_Op<"cluster_rank", [Pure]> {
  let summary = "the number of this block in its cluster";
  let results = (outs Index:$rank);
  let assemblyFormat = "attr-dict";
}

def Tilewright_ClusterBarrierOp : Ring_Op<"cluster_barrier"> {
  let summary = "all threads of the cluster's blocks have arrived here";
  let description = [{
    What they have written to shared memory, barriers among it, is seen by all.
  }];
  let assemblyFormat = "attr-dict";
}

def Tilewright_MatrixDescriptorOp : Ring_Op<"matrix_descriptor", [Pure]> {
  let summary = "where the matrix of a warpgroup's product lies in shared memory";
  let description = [{
    As wgmma reads it, from `advance` elements behind element `offset` on. `swizzle` is the width of a row in
    bytes (32, 64, 128). `stride` bytes lie between groups of eight rows, `leading`
    bytes between neighbouring boxes where rows of the matrix are longer than that.
    PTX ISA, "Matrix descriptor format" of wgmma.

    Descriptors of one matrix that differ in `advance` alone are one descriptor and
    sums with constants, which is why the constant stands apart.
  }];
  let arguments = (ins AnyMemRef:$base, Index:$offset, I64Attr:$advance,
                       I64Attr:$leading, I64Attr:$stride, I64Attr:$swizzle);
  let results = (outs I64:$result);
  let assemblyFormat = "$base `[` $offset `]` `+` $advance attr-dict `:` type($base)";
}

def Tilewright_WarpgroupMmaOp : Ring_Op<"warpgroup_mma", [AttrSizedOperandSegments]> {
  let summary = "one asynchronous matrix instruction of a warpgroup";
  let description = [{
    B is a descriptor, A one, or the thread's registers (A is m by k, B n by k in
    rows, or the other way round where transposed); the accumulator is the thread's
    registers in the order of the instruction's atom. Without one, sums begin at zero.

    ```mlir
    %p:64 = tilewright.warpgroup_mma "wgmma.m64n128k32.e4m3.f32" (%a : i64), %b -> f32, …
    ```
  }];
  let arguments = (ins StrAttr:$instruction, Variadic<AnyType>:$a, I64:$b,
                       Variadic<AnyType>:$acc, UnitAttr:$transposed_a,
                       UnitAttr:$transposed_b);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $instruction `(` $a `:` type($a) `)` `,` $b (`,` `(` $acc^ `:` type($acc) `)`)? attr-dict
    `->` type($results)
  }];
}

def Tilewright_MmaFenceOp : Ring_Op<"mma_fence", [InferTypeOpAdaptor]> {
  let summary = "asynchronous products see the registers as they are now";
  let description = [{
    The accumulators go through it, so that whatever puts values into their
    registers stands in front of the fence.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "(`(` $values^ `:` type($values) `)`)? attr-dict";
}

def Tilewright_MmaCommitOp : Ring_Op<"mma_commit"> {
  let summary = "the products since the last commit are one group";
  let assemblyFormat = "attr-dict";
}

#endif
