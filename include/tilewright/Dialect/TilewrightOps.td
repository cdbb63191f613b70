// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_OPS_TD
#define TILEWRIGHT_OPS_TD

include "tilewright/Dialect/TilewrightAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tilewright_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tilewright_Dialect, mnemonic, traits>;

def Tilewright_DispatchOp : Tilewright_Op<"dispatch", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches a kernel from host code";
  let description = [{
    Runs kernel `callee` on `inputs` (tensors and scalars) and `outs` (tensors,
    destination-passing: each is overwritten or updated and its new value is
    the corresponding result).

    ```mlir
    %r = tilewright.dispatch @k0(%a, %b : tensor<?x8xf32>, tensor<8xf32>)
           outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       Variadic<AnyType>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `(` ($inputs^ `:` type($inputs))? `)`
    (`outs` `(` $outs^ `:` type($outs) `)`)? attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Tilewright_LoadedOp : Tilewright_Op<"loaded", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a tensor that was computed when the program was loaded";
  let description = [{
    Result `number` of `function`, a private function without arguments that has
    `tilewright.at_load`. The runtime calls it once, when it loads the program;
    for the functions that users call its results are constants.

    ```mlir
    func.func private @main.at_load() -> tensor<3x3x64x64xf32>
        attributes {tilewright.at_load}
    %filter = tilewright.loaded @main.at_load[0] : tensor<3x3x64x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, I64Attr:$number);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $function `[` $number `]` attr-dict `:` type($result)
  }];
}

def Tilewright_CheckOp : Tilewright_Op<"check"> {
  let summary = "an error after the call, if a kernel found one";
  let description = [{
    The run fails with message n if n, an element that work so far computes, is less
    than the number of messages. The host does not wait for it: whoever synchronises
    with the work hears of it.

    ```mlir
    %n = linalg.generic … // the smallest number of an assert that does not hold, or 2
    tilewright.check %n, ["index is negative", "index is beyond the table"] : tensor<i32>
    ```
  }];
  let arguments = (ins 0DTensorOf<[I32]>:$number, StrArrayAttr:$messages);
  let assemblyFormat = "$number `,` $messages attr-dict `:` type($number)";
}

def Tilewright_Im2colOp : Tilewright_Op<"im2col", [Pure]> {
  let summary = "every window of a tensor, as a view of it";
  let description = [{
    Element (d0, d1, …) of the result is the element of `source` at
    `map(d0, d1, …)`; each result of the map is a sum of dims times positive
    constants. Windows may overlap: nothing is copied, the result is a strided
    view (Windows.h), so that a convolution or a pooling reads it like a
    contraction or a reduction reads any tensor. `sizes` are the sizes of dims
    that are not static. Windows that leave the source are an error when the
    view is made.

    ```mlir
    // 3x3 windows, every second one, of a 9x9 image with 8 channels
    %v = tilewright.im2col %x[] {map = affine_map<(oh, kh, ow, kw, c) ->
           (oh * 2 + kh, ow * 2 + kw, c)>}
           : tensor<9x9x8xf32> to tensor<4x3x4x3x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$sizes,
                       AffineMapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` $sizes `]` attr-dict `:` type($source) `to` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getSourceType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getSource().getType());
    }
    ::mlir::RankedTensorType getType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getResult().getType());
    }
    /// How far a step along each dim of the result moves along `dim` of the
    /// source.
    ::llvm::SmallVector<int64_t> getSteps(unsigned dim);
  }];
  let hasVerifier = 1;
}

def Tilewright_TileIdOp : Tilewright_Op<"tile_id", [Pure, AttrSizedOperandSegments]> {
  let summary = "which tile this block computes";
  let description = [{
    Given the number of tiles along each tiled loop, yields the coordinates of
    the tile that the executing block works on, or of tile `number` where a block
    computes several. Everything about the order of tiles (raster, swizzling for the
    second-level cache, which tiles a cluster computes) is in how this op is lowered,
    and nowhere else. `order` lists the loops from the
    fastest-varying to the slowest; by default the last loop is fastest.

    `raster = g` walks the two fastest loops in bands of g tiles along the second
    one: down the g tiles of a band, then on along the fastest loop, so that
    blocks that run side by side read few different rows and columns. The last
    band has what is left. With counts 5 x 3 and g = 2, in the order of blocks:

        0  2  4
        1  3  5
        6  8 10
        7  9 11
       12 13 14
  }];
  let arguments = (ins Variadic<Index>:$counts,
                       Optional<Index>:$number,
                       OptionalAttr<DenseI64ArrayAttr>:$order,
                       OptionalAttr<I64Attr>:$raster);
  let results = (outs Variadic<Index>:$ids);
  let assemblyFormat = [{
    `(` $counts `)` (`number` $number^)? attr-dict `:` type($ids)
  }];
  let hasVerifier = 1;
}

def Tilewright_MmaOp : Tilewright_Op<"mma", [Pure,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "block-level matrix product with accumulation";
  let description = [{
    `result[b.., m.., n..] = acc + sum over k of a * b`, in the iteration space
    given by `maps` (for a, b and acc; parallel dims are those of acc). The
    accumulator is a vector held in registers; a and b are vectors or memrefs
    in shared memory. Integer operands are extended as `signedness` says
    ("signed" or "unsigned") per operand. In shared memory, columns may be cut into
    boxes as copy engines write them: two results of the map, `n floordiv 64` and
    `n mod 64`. By an instruction that is asynchronous (wgmma) the result is there
    after a `tilewright.mma_wait`; only the next product may take it before.

    ```mlir
    %r = tilewright.mma %a, %b, %acc
        {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                 affine_map<(m, n, k) -> (m, n)>]}
        : memref<128x16xf32, #tilewright.shared>,
          memref<16x128xf32, #tilewright.shared>, vector<128x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[AnyVectorOfAnyRank, AnyMemRef]>>:$a,
    Arg<AnyTypeOf<[AnyVectorOfAnyRank, AnyMemRef]>>:$b,
    AnyVectorOfAnyRank:$acc, AffineMapArrayAttr:$maps,
    OptionalAttr<StrArrayAttr>:$signedness,
    OptionalAttr<StrAttr>:$instruction);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tilewright_ConvertLayoutOp : Tilewright_Op<"convert_layout", [Pure,
    AllTypesMatch<["source", "result"]>]> {
  let summary = "the same vector under another layout";
  let description = [{
    The only op that moves data between lanes and warps. Whether that takes
    nothing, a register permutation, shuffles or a trip through shared memory
    is planned by the layout library.
  }];
  let arguments = (ins AnyVectorOfAnyRank:$source,
                       Tilewright_LayoutAttr:$from, Tilewright_LayoutAttr:$to);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat =
      "$source `from` $from `to` $to attr-dict `:` type($result)";
}

def Tilewright_IdentityOp : Tilewright_Op<"identity", [Pure, Elementwise,
    Scalarizable, Vectorizable, Tensorizable, SameOperandsAndResultType]> {
  let summary = "its operand";
  let description = [{
    The body of a copy that is wanted: canonicalization would take a
    `linalg.generic` that only yields its input for superfluous. `bufferize`
    drops it.

    ```mlir
    %y = tilewright.identity %x : f32
    ```
  }];
  let arguments = (ins AnyType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

def Tilewright_WarpsOp : Tilewright_Op<"warps", [SingleBlock, NoTerminator,
    RecursiveMemoryEffects]> {
  let summary = "code that only some of the block's warps run";
  let description = [{
    The region is executed by warps [first, first + count). Layouts inside name
    warps of that range. The producer and consumer parts of a warp-specialised
    kernel are such regions side by side.
  }];
  let arguments = (ins I64Attr:$first, I64Attr:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`[` $first `,` $count `]` attr-dict-with-keyword $body";
}

def Tilewright_RoleOp : Tilewright_Op<"role", [SingleBlock, NoTerminator,
    NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "what the threads of some of a block's warps do, in thread form";
  let description = [{
    A `tilewright.warps` between distribute and tilewright-place-barriers, which puts a
    branch in its place: those `threads` threads for which `mine` is true execute the
    region, all of them. Where they exchange bytes of shared memory, they meet at
    the named barrier `barrier`, which nothing else uses.

    ```mlir
    tilewright.role if %consumer meets 9 threads = 128 {
      memref.store %f, %a[%n] : memref<512xf32, #tilewright.shared>
    }
    ```
  }];
  let arguments = (ins I1:$mine, I64Attr:$barrier, I64Attr:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`if` $mine `meets` $barrier `threads` `=` $threads attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tilewright_BarrierOp : Tilewright_Op<"barrier"> {
  let summary = "named barrier of a block";
  let description = [{
    `sync` waits until `threads` threads have arrived at barrier `id` (sync and
    arrive both count), `arrive` only counts. Shared-memory accesses before an
    arrival are visible after the wait that it completes.
  }];
  let arguments = (ins I64Attr:$id, I64Attr:$threads, UnitAttr:$arrive);
  let assemblyFormat =
      "(`arrive` $arrive^)? $id `threads` `=` $threads attr-dict";
}

def Tilewright_AsyncCopyOp : Tilewright_Op<"async_copy", [
    AttrSizedOperandSegments]> {
  let summary = "starts to copy a tile of global memory into shared memory";
  let description = [{
    The block fills `dest`, whose shape is the tile's, from `source` at `indices`;
    what is outside of the source is zero. Dim d of the tile runs along dim
    `map`(d) of the source; `in_bounds` says for each dim of the tile that it
    ends inside. Where `live` is given and false, the whole tile is zero and
    nothing is read.

    The copy goes on by itself: nothing may touch `dest` before an `async_wait`
    for the copy's group, and a barrier behind it for what other threads copied.

    ```mlir
    tilewright.async_copy %a[%i, %k] to %stage if %live
        {in_bounds = [false, true], map = affine_map<(d0, d1) -> (d0, d1)>}
        : memref<?x512xf16> to memref<128x32xf16, #tilewright.shared>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<Index>:$indices,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       Optional<I1>:$live, AffineMapAttr:$map,
                       BoolArrayAttr:$in_bounds);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $dest (`if` $live^)? attr-dict `:`
    type($source) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def Tilewright_AsyncCopyRunOp : Tilewright_Op<"async_copy_run"> {
  let summary = "starts to copy neighbouring elements into shared memory";
  let description = [{
    What `async_copy` becomes in per-thread code: `count` elements, of 4, 8 or 16
    bytes in all, at addresses that are multiples of that. Of those, the first
    `valid` (at most `count`) are read; the others are zero.

    ```mlir
    tilewright.async_copy_run %a[%i] to %s[%j] valid %n {count = 8 : i64}
        : memref<?xf16> to memref<8192xf16, #tilewright.shared>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Index:$from,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest, Index:$to,
                       Optional<Index>:$valid, I64Attr:$count);
  let assemblyFormat = [{
    $source `[` $from `]` `to` $dest `[` $to `]` (`valid` $valid^)? attr-dict `:`
    type($source) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def Tilewright_AsyncCommitOp : Tilewright_Op<"async_commit"> {
  let summary = "closes a group of asynchronous copies";
  let description = [{
    All copies that this thread started since the last commit, none included.
  }];
  let assemblyFormat = "attr-dict";
}

def Tilewright_AsyncWaitOp : Tilewright_Op<"async_wait"> {
  let summary = "waits for asynchronous copies";
  let description = [{
    Until at most the last `pending` groups of this thread are under way.

    ```mlir
    tilewright.async_wait 1
    gpu.barrier
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tilewright_LoadMatricesOp : Tilewright_Op<"load_matrices"> {
  let summary = "8x8 matrices of 16-bit elements out of shared memory, by a warp";
  let description = [{
    In per-thread code. Lanes 8i .. 8i+7 give the element offsets of the rows of
    matrix i: 8 neighbours at a multiple of 16 bytes. Lane l gets the elements
    (l / 4, 2 (l % 4)) and (l / 4, 2 (l % 4) + 1) of every matrix, or those of the
    transposed matrix. One, two or four matrices: two results each.

    Of 8-bit elements the same with pairs of neighbours in place of elements: rows
    of 16, four results a matrix, never transposed (that would part the pairs).
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$base, Index:$offset,
                       UnitAttr:$transposed);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $base `[` $offset `]` attr-dict `:` type($base)
    `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tilewright_LoadFragmentOp : Tilewright_Op<"load_fragment"> {
  let summary = "an opaque fragment out of memory, by a subgroup";
  let description = [{
    In per-thread code. A vector of rank 2 there is a fragment: one matrix that
    the subgroup holds together, in an arrangement that only the matrix
    instruction knows (a cooperative matrix). `use` says as what: `a` (m, k), `b`
    (k, n) or `acc` (m, n). Rows are `stride` elements apart in memory, shared or
    global, of which offset names the first; `transposed`: columns are.

    ```mlir
    %a = tilewright.load_fragment "a" %s[%i] stride %c40
           : memref<1280xf16, #tilewright.shared> -> vector<16x16xf16>
    ```
  }];
  let arguments = (ins StrAttr:$use, Arg<AnyMemRef, "", [MemRead]>:$base,
                       Index:$offset, Index:$stride, UnitAttr:$transposed);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = [{
    $use (`transposed` $transposed^)? $base `[` $offset `]` `stride` $stride
    attr-dict `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tilewright_StoreFragmentOp : Tilewright_Op<"store_fragment"> {
  let summary = "an opaque fragment into memory, by a subgroup";
  let description = [{
    The reverse of `load_fragment`, of an accumulator.
  }];
  let arguments = (ins AnyVectorOfAnyRank:$value,
                       Arg<AnyMemRef, "", [MemWrite]>:$base, Index:$offset,
                       Index:$stride, UnitAttr:$transposed);
  let assemblyFormat = [{
    (`transposed` $transposed^)? $value `,` $base `[` $offset `]` `stride` $stride
    attr-dict `:` type($value) `,` type($base)
  }];
  let hasVerifier = 1;
}

def Tilewright_MapFragmentsOp : Tilewright_Op<"map_fragments", [
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a scalar body on every element of opaque fragments";
  let description = [{
    What can be done to fragments by threads that do not know which elements they
    hold: the body is run on each element, of all `fragments` at the same place,
    and may use scalars from outside, which are the same for the whole block. It
    has no memory and no control flow. Fragments and result are of one type (the
    arrangement of another may be another); between them the body computes in
    whatever types it likes. On block vectors until `distribute`, then on one
    fragment each.

    ```mlir
    %r = tilewright.map_fragments %acc, %skip : (vector<64x64xf32>, vector<64x64xf32>) -> vector<64x64xf32> {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      %m = arith.maximumf %s, %zero : f32
      tilewright.yield %m : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyVectorOfAnyRank>:$fragments);
  let results = (outs AnyVectorOfAnyRank:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $fragments `:` functional-type($fragments, results) attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Tilewright_YieldOp : Tilewright_Op<"yield", [
    Pure, Terminator, HasParent<"MapFragmentsOp">]> {
  let summary = "what the body of `map_fragments` makes of an element";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tilewright_MmaFragmentOp : Tilewright_Op<"mma_fragment", [Pure, AttrSizedOperandSegments]> {
  let summary = "one matrix instruction of a warp, on registers";
  let description = [{
    What `mma` becomes in per-thread code: the registers of one instruction's
    fragments in the order of the instruction's atom. A and B registers are
    scalars of the element type in atom order (targets pack them); of an
    instruction with opaque fragments each of A, B and the accumulator is one
    vector of rank 2.
  }];
  let arguments = (ins StrAttr:$instruction, Variadic<AnyType>:$a,
                       Variadic<AnyType>:$b, Variadic<AnyType>:$acc);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $instruction `(` $a `:` type($a) `)` `,` `(` $b `:` type($b) `)` `,`
    `(` $acc `:` type($acc) `)` attr-dict `->` type($results)
  }];
}

#endif
