// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_IRREGULAR_OPS_TD
#define TILEWRIGHT_IRREGULAR_OPS_TD

include "tilewright/Dialect/TilewrightBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tilewright_IrregularOp<string mnemonic, list<Trait> traits = []>
    : Op<Tilewright_Dialect, mnemonic, !listconcat(traits, [
          IsolatedFromAbove, DestinationStyleOpInterface,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$combiner);
  let hasVerifier = 1;
}

def Tilewright_ScatterOp : Tilewright_IrregularOp<"scatter"> {
  let summary = "puts slices into a tensor, at places that another tensor has";
  let description = [{
    The last dim of `indices` has a coordinate for each of `dims`, dims of the
    destination; the dims before it count the updates. Of each update, `updates` has a
    slice: the other dims of the destination, whole, in order.

        for n, in row-major order:  out[.., indices[n, 0], .., s, ..] = updates[n, s..]

    Coordinates are signed; an update of which one is negative, or beyond the
    destination, is left out. Where several updates have one place, the last one stays,
    or, with a combiner, they are combined in order, each (the first argument) with what
    is there (the second one); so the result does not depend on the schedule. `unique`
    promises that no two updates have one place: all are then put at once.

    ```mlir
    // the gradient of an embedding: rows of which several may be one row of the table
    %r = tilewright.scatter ins(%rows, %tokens : tensor<?x768xf32>, tensor<?x1xi32>)
        outs(%table : tensor<50257x768xf32>) {dims = array<i64: 0>} combine {
    ^bb0(%new: f32, %old: f32):
      %s = arith.addf %old, %new : f32
      tilewright.combined %s : f32
    } -> tensor<50257x768xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$updates, AnyShaped:$indices, AnyShaped:$dest,
                       DenseI64ArrayAttr:$dims, UnitAttr:$unique);
  let assemblyFormat = [{
    `ins` `(` $updates `,` $indices `:` type($updates) `,` type($indices) `)`
    `outs` `(` $dest `:` type($dest) `)` attr-dict (`combine` $combiner^)?
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::ShapedType getUpdatesType() { return ::llvm::cast<::mlir::ShapedType>(getUpdates().getType()); }
    ::mlir::ShapedType getIndicesType() { return ::llvm::cast<::mlir::ShapedType>(getIndices().getType()); }
    ::mlir::ShapedType getDestType() { return ::llvm::cast<::mlir::ShapedType>(getDest().getType()); }
    /// Dims of the destination that an update has whole, in order.
    ::llvm::SmallVector<int64_t> getSliceDims();
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
  }];
}

def Tilewright_ScanOp : Tilewright_IrregularOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "what elements along a dim are, combined with all before them";
  let description = [{
    Along `dim`, with an associative combiner f of what was so far and the next element:

        out[0] = in[0]            or f(init, in[0]) where an init is given
        out[i] = f(out[i - 1], in[i])

    `exclusive`: without the element itself, out[0] = init, which then is needed.
    `reverse`: from the last element to the first. `init` has the other dims.

    Elements along the dim may be combined in chunks, whose length depends on the shape
    alone. The rest is what the compiler makes of long scans (`tilewright-prepare-irregular`):
    with `chunk`, each run of so many elements is a scan of its own, and `init` has one
    for each chunk along the dim; `carried`: that of the chunk before, and none for the
    first. With `totals`, the output has the last value of each chunk alone.

    With `look_back`, which `tilewright-split-scans` makes of scans for targets whose blocks may wait for
    each other, all is one kernel: each block scans a tile of `chunk` elements, and finds what is
    before it among what others have published in `scratch` (Dialect/LookBack.h): states, zero at the
    beginning, and values. `init` then is that of the whole scan.

    ```mlir
    // running sums of rows
    %r = tilewright.scan ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {dim = 1 : i64} combine {
    ^bb0(%sum: f32, %next: f32):
      %s = arith.addf %sum, %next : f32
      tilewright.combined %s : f32
    } -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, Optional<AnyShaped>:$init,
                       Optional<Index>:$chunk, AnyShaped:$output,
                       Variadic<AnyShaped>:$scratch, I64Attr:$dim,
                       UnitAttr:$exclusive, UnitAttr:$reverse, UnitAttr:$carried,
                       UnitAttr:$totals, UnitAttr:$look_back);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` (`init` `(` $init^ `:` type($init) `)`)?
    (`chunk` `(` $chunk^ `)`)? `outs` `(` $output `:` type($output) `)`
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)? attr-dict
    `combine` $combiner (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::ShapedType getInputType() { return ::llvm::cast<::mlir::ShapedType>(getInput().getType()); }
    ::mlir::ShapedType getOutputType() { return ::llvm::cast<::mlir::ShapedType>(getOutput().getType()); }
    /// Whether each chunk is a scan of its own, with an init of its own.
    bool hasOwnChunks() { return getChunk() && !getLookBack(); }
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      unsigned count = 1 + getScratch().size();
      return ::mlir::MutableOperandRange(getOperation(), getNumOperands() - count, count);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Between blocks: code of one thread
//===----------------------------------------------------------------------===//

class Tilewright_BetweenBlocksOp<string mnemonic> : Op<Tilewright_Dialect, mnemonic>;

def Tilewright_TakeNumberOp : Tilewright_BetweenBlocksOp<"take_number"> {
  let summary = "how many have taken a number before: 0, 1, 2, ...";
  let description = [{
    An atomic increment of an element. A block that waits only for those with smaller numbers waits
    for blocks that have begun, whatever order the device starts them in.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead, MemWrite]>:$counter, Variadic<Index>:$indices);
  let results = (outs I32:$number);
  let assemblyFormat = "$counter `[` $indices `]` attr-dict `:` type($counter)";
}

def Tilewright_PublishOp : Tilewright_BetweenBlocksOp<"publish"> {
  let summary = "stores a state, and with it all that this thread has written before";
  let description = [{
    A release store at the scope of the device: who sees the state by `tilewright.observe` sees
    what was written before it.
  }];
  let arguments = (ins I32:$state, Arg<AnyMemRef, "", [MemWrite]>:$states, Variadic<Index>:$indices);
  let assemblyFormat = "$state `,` $states `[` $indices `]` attr-dict `:` type($states)";
}

def Tilewright_ObserveOp : Tilewright_BetweenBlocksOp<"observe"> {
  let summary = "loads a state, and after it what was written before that was published";
  let description = [{ An acquire load at the scope of the device. }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead, MemWrite]>:$states, Variadic<Index>:$indices);
  let results = (outs I32:$state);
  let assemblyFormat = "$states `[` $indices `]` attr-dict `:` type($states)";
}

def Tilewright_SortOp : Tilewright_IrregularOp<"sort", [AttrSizedOperandSegments]> {
  let summary = "elements along a dim in order, and others beside them";
  let description = [{
    The rows of the first input along `dim` are put in order, and those of the other
    inputs are permuted alike. The sort is stable: what is equal stays in its order.

    Integers are signed, i1 is false before true. -0 equals 0, and NaN is larger than all numbers and equal to
    itself: the last one, or with `descending` the first. Another order is a block that
    says whether the first of two elements goes in front of the second; it has two
    arguments of each input's type in turn (first, second, first, second, …), and
    yields an i1. It is to be a strict order of them, as < is: where it is not (≤, or <
    of numbers that may be NaN), each result is one of the row's elements, which one is
    not defined.

    `runs` and `width` are what the compiler makes of sorts
    (`tilewright-prepare-irregular`), along the second of three dims: with `runs`,
    runs of 32 elements are each in order, or, where there are twice as many outputs, the
    second half of which is scratch memory, runs of 512; with `width`, runs of so many elements are in
    order, and become half as many. With `halves`, which of `top_k` keeps what may still be
    among the first, only the first `width` elements of two runs remain.

    ```mlir
    // rows in order, and where their elements were
    %r:2 = tilewright.sort ins(%x, %numbers : tensor<?x?xf32>, tensor<?x?xi32>)
        outs(%e, %f : tensor<?x?xf32>, tensor<?x?xi32>) {dim = 1 : i64, descending}
        -> tensor<?x?xf32>, tensor<?x?xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyShaped>:$inputs, Optional<Index>:$width,
                       Variadic<AnyShaped>:$outputs, I64Attr:$dim,
                       UnitAttr:$descending, UnitAttr:$runs,
                       UnitAttr:$halves);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` (`width` `(` $width^ `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict (`compare` $combiner^)?
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// Outputs that are what is left of memory that a block merges through.
    bool hasScratch() { return getOutputs().size() > getInputs().size(); }
    ::mlir::ShapedType getKeyType() { return ::llvm::cast<::mlir::ShapedType>(getInputs()[0].getType()); }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

def Tilewright_TopKOp : Op<Tilewright_Dialect, "top_k", [
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the largest elements along a dim, and where they are";
  let description = [{
    As many of each row along `dim` as `values` has there, which is at most as many as the
    input: the largest one first, or with `smallest` the smallest one; where several are
    equal, as `tilewright.sort` has it, those in front come first. `indices` has their
    numbers along the dim.

    ```mlir
    %r:2 = tilewright.top_k ins(%x : tensor<?x?xf32>)
        outs(%v, %i : tensor<?x5xf32>, tensor<?x5xi64>) {dim = 1 : i64}
        -> tensor<?x5xf32>, tensor<?x5xi64>
    ```
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$values, AnyShaped:$indices,
                       I64Attr:$dim, UnitAttr:$smallest);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `outs` `(` $values `,` $indices `:` type($values) `,` type($indices) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 1, 2);
    }
  }];
}

def Tilewright_NonzeroOp : Op<Tilewright_Dialect, "nonzero", [
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "where elements are that are not zero, and how many these are";
  let description = [{
    Row j of `indices` becomes the coordinates of the j-th element that is not zero, in
    row-major order, as long as there are rows; those behind stay as they were. `count` is
    the number of all elements that are not zero, which may be more than `indices` has rows.
    -0 is zero, and NaN is not.

    ```mlir
    %r:2 = tilewright.nonzero ins(%x : tensor<?x?xf32>)
        outs(%places, %count : tensor<?x2xi64>, tensor<i64>) -> tensor<?x2xi64>, tensor<i64>
    // the rows that were written, a tensor whose size depends on data
    %n = tensor.extract %r#1[] : tensor<i64>
    %size = arith.index_cast %n : i64 to index
    %found = tensor.extract_slice %r#0[0, 0] [%size, 2] [1, 1] : tensor<?x2xi64> to tensor<?x2xi64>
    ```
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$indices, AnyShaped:$count);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `outs` `(` $indices `,` $count `:` type($indices) `,` type($count) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 1, 2);
    }
  }];
}

def Tilewright_UniqueOp : Op<Tilewright_Dialect, "unique", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the different elements in order, and how many these are";
  let description = [{
    Row j of `values` becomes the j-th of the different elements of the input, in the
    order of `tilewright.sort`, as long as there are rows; those behind stay as they were.
    `count` is the number of different elements, which may be more than there are rows.
    As in a sort, -0 equals 0 and NaN equals NaN; of equal elements the first is taken.

    On request: row j of `indices` is the place of that first one in the input, in
    row-major order; `inverse`, of the input's shape, is the number of each element among
    the values; row j of `counts` is how often the j-th value is there, and 0 where there is
    none.

    ```mlir
    %r:4 = tilewright.unique ins(%x : tensor<?x?xf32>) outs(%v, %n : tensor<?xf32>, tensor<i64>)
        inverse(%i : tensor<?x?xi64>) counts(%c : tensor<?xi64>)
        -> tensor<?xf32>, tensor<i64>, tensor<?x?xi64>, tensor<?xi64>
    ```
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$values, AnyShaped:$count,
                       Optional<AnyShaped>:$indices, Optional<AnyShaped>:$inverse,
                       Optional<AnyShaped>:$counts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `outs` `(` $values `,` $count `:` type($values) `,` type($count) `)`
    (`indices` `(` $indices^ `:` type($indices) `)`)?
    (`inverse` `(` $inverse^ `:` type($inverse) `)`)?
    (`counts` `(` $counts^ `:` type($counts) `)`)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 1, getNumOperands() - 1);
    }
  }];
}

def Tilewright_CombinedOp : Op<Tilewright_Dialect, "combined", [
    Pure, Terminator, ParentOneOf<["ScatterOp", "ScanOp", "SortOp"]>]> {
  let summary = "what a combiner makes of two elements";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tilewright_GemmOp
    : Op<Tilewright_Dialect, "gemm",
         [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a product of matrices that a library computes";
  let description = [{
    What `tilewright-call-blas` makes of a product: C = A B, or C = C + A B with
    `accumulate`, by a function of CBLAS in the shared library `library`, once for each
    matrix of a batch. `maps` are indexing maps as those of a `linalg.generic`: of the
    loops that result and both factors have, every index is a matrix of its own; one loop
    counts rows (A and C have it), one columns (B and C), and one is summed over (A and
    B). What C has last are the columns; the last dim of A and of B is one of their two.

    ```mlir
    %r = tilewright.gemm ins(%a, %b : tensor<8x64x32xf32>, tensor<8x16x32xf32>)
        outs(%c : tensor<8x64x16xf32>) {library = "libopenblas.so.0",
          maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
                  affine_map<(b, m, n, k) -> (b, m, n)>]} -> tensor<8x64x16xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$a, AnyShaped:$b, AnyShaped:$c, AffineMapArrayAttr:$maps,
                       StrAttr:$library, UnitAttr:$accumulate);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $c `:` type($c) `)`
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
    /// The library's function.
    ::llvm::StringRef getFunction() {
      return ::llvm::cast<::mlir::ShapedType>(getC().getType()).getElementType().isF64()
                 ? "cblas_dgemm" : "cblas_sgemm";
    }
  }];
}

#endif
