// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_ATTRS_TD
#define TILEWRIGHT_ATTRS_TD

include "tilewright/Dialect/TilewrightBase.td"

class Tilewright_Attr<string name, string attrMnemonic>
    : AttrDef<Tilewright_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tilewright_Strategy : I32EnumAttr<"Strategy", "how a kernel is scheduled", [
    I32EnumAttrCase<"MatrixUnit", 0, "matrix_unit">,
    I32EnumAttrCase<"SimtContraction", 1, "simt_contraction">,
    I32EnumAttrCase<"SkinnyContraction", 2, "skinny_contraction">,
    I32EnumAttrCase<"Reduction", 3, "reduction">,
    I32EnumAttrCase<"Streaming", 4, "streaming">,
    I32EnumAttrCase<"Irregular", 5, "irregular">,
    I32EnumAttrCase<"WarpSpecialized", 6, "warp_specialized">,
    I32EnumAttrCase<"Attention", 7, "attention">]> {
  let cppNamespace = "::tilewright";
}

def Tilewright_TargetAttr : Tilewright_Attr<"Target", "target"> {
  let summary = "what stages may ask about the machine they compile for";
  let description = [{
    `name` is the normalised target text (`cuda:sm_80`), `backend` the room
    under Target/ that lowers for it (`nvvm`, `spirv`, `cpu`, `reference`), and
    `facts` a dictionary of limits. Keys every backend gives: `subgroup`
    (lanes), `max_threads`, `shared_memory` (bytes per block), `registers` (per
    thread), `access_bytes` (widest memory access), `index_bits`.

    ```mlir
    #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80", subgroup = 32}>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
                        StringRefParameter<>:$backend,
                        "::mlir::DictionaryAttr":$facts);
  let assemblyFormat = "`<` $name `,` $backend `,` $facts `>`";
  let extraClassDeclaration = [{
    /// The integer fact `key`, or `otherwise` where the target has none.
    int64_t getFact(::llvm::StringRef key, int64_t otherwise = 0) const;
    /// The text fact `key`, or empty.
    ::llvm::StringRef getText(::llvm::StringRef key) const;
    /// True if the unit fact `key` is present.
    bool has(::llvm::StringRef key) const;
  }];
}

def Tilewright_LoweringConfigAttr
    : Tilewright_Attr<"LoweringConfig", "lowering_config"> {
  let summary = "the complete schedule of one kernel, on its root op";
  let description = [{
    Written by `configure` or pinned by the user. Arrays follow the loops of
    the root op (its iteration space, in order).

      * `block`: tile of one thread block per loop; for reduction loops the
        step of the sequential loop (of a reduction by a body of its own: terms that are
        read before the first is taken). 0 means the whole dim in one tile.
      * `warps`: how the block's warps are spread over the rows and columns of a
        contraction (of warp_specialized those that multiply, four a warpgroup; a
        warpgroup that copies comes on top); elsewhere their product counts, and layouts follow memory.
      * `thread`: the register tile of CPUs. On GPUs it follows from `block`,
        `warps` and the lanes, and is not given.
      * `stages`: stages of shared memory per operand (1 = no double buffering).
        Where `async_copy` serves the operands they are a ring, filled stages - 1
        steps ahead; else there are at most two, filled through registers.
      * `promote`: operand numbers that go through shared memory.
      * `mma`: name of the matrix instruction (strategies matrix_unit and
        warp_specialized).
      * `registers`: of warp_specialized, what each thread has of the warps that
        copy, and of those that multiply; empty: as many each.
      * `splits`: parts that the outermost long reduction loop is cut into, one
        block each; a second kernel combines them, or, with as many blocks along the
        loop in `cluster`, these do (1 = no splitting). Such a loop's `block` entry
        divides the unit of the parts of a second kernel.
      * `raster`: rows of tiles that blocks walk down side by side (1 = row after
        row), see `tilewright.tile_id`.
      * `persistent`: of warp_specialized: as many blocks as the device has
        multiprocessors, each of which computes tile after tile; the next tile's
        copies are under way during a tile's epilogue.
      * `cluster`: of warp_specialized, blocks of a cluster per loop (empty: one). What
        several of them read is copied once and multicast to them; along the sum they
        have the parts of a tile's sum, and a slice of it each. Of reduction, blocks
        that share a row, each of which keeps a tile of it.
      * `tma_store`: of warp_specialized: results leave through shared memory, in
        pieces that copy engines store.
      * `two_level_sums`: of warp_specialized: each step along the reduction is summed
        by itself, and its partial sums are added in registers.
      * `stream_k`: of warp_specialized: so many persistent blocks share the steps of all
        tiles' sums evenly (#tilewright.shares, whose parts are `splits`); 0: they do not.
      * `producer`: of warp_specialized: whether warps of their own copy. If not, those
        that multiply start the copies of a later step in each step.
      * `tma_copy`: of warp_specialized: whether copy engines fill the ring, or threads
        (cp.async).

    Strategy `attention` is for `tilewright.attention`: `block` is a block of queries
    and the step along the keys, `warps` lie along the queries ([w, 1]), so that
    what is reduced along the keys stays in a warp. With an instruction of warpgroups
    (`wgmma.…`, that of the scores; the product with the values has all of their columns)
    another warpgroup copies queries, keys and values, keys and values `stages` steps
    ahead; `registers`, `persistent` and `tma_store` are as above. `raster` heads lie side
    by side: 1, a head's blocks of queries are neighbours.

    ```mlir
    #tilewright.lowering_config<strategy = simt_contraction,
        block = [128, 128, 16], warps = [2, 2, 1], stages = 2, promote = [0, 1]>
    ```
  }];
  let parameters = (ins
    "::tilewright::Strategy":$strategy,
    OptionalArrayRefParameter<"int64_t">:$block,
    OptionalArrayRefParameter<"int64_t">:$warps,
    OptionalArrayRefParameter<"int64_t">:$thread,
    DefaultValuedParameter<"int64_t", "1">:$stages,
    OptionalArrayRefParameter<"int64_t">:$promote,
    OptionalParameter<"::mlir::StringAttr">:$mma,
    DefaultValuedParameter<"int64_t", "1">:$splits,
    DefaultValuedParameter<"int64_t", "1">:$raster,
    OptionalArrayRefParameter<"int64_t">:$registers,
    DefaultValuedParameter<"bool", "false">:$persistent,
    OptionalArrayRefParameter<"int64_t">:$cluster,
    DefaultValuedParameter<"bool", "false">:$tma_store,
    DefaultValuedParameter<"bool", "false">:$two_level_sums,
    DefaultValuedParameter<"int64_t", "0">:$stream_k,
    DefaultValuedParameter<"bool", "true">:$producer,
    DefaultValuedParameter<"bool", "true">:$tma_copy);
  let builders = [
    // Without what only warp_specialized has.
    AttrBuilder<(ins "::tilewright::Strategy":$strategy,
        "::llvm::ArrayRef<int64_t>":$block, "::llvm::ArrayRef<int64_t>":$warps,
        "::llvm::ArrayRef<int64_t>":$thread, "int64_t":$stages,
        "::llvm::ArrayRef<int64_t>":$promote, "::mlir::StringAttr":$mma,
        "int64_t":$splits, "int64_t":$raster), [{
      return $_get($_ctxt, strategy, block, warps, thread, stages, promote, mma,
                   splits, raster, ::llvm::ArrayRef<int64_t>(), false,
                   ::llvm::ArrayRef<int64_t>(), false, false, 0, true, true);
    }]>];
  let extraClassDeclaration = [{
    /// The same with other entries of the fields that have one per loop.
    LoweringConfigAttr withLoops(
        ::llvm::function_ref<::llvm::SmallVector<int64_t>(
            ::llvm::ArrayRef<int64_t>)> change) const;
    /// The same with another value of one field.
    LoweringConfigAttr withBlock(::llvm::ArrayRef<int64_t> block) const;
    LoweringConfigAttr withPromote(::llvm::ArrayRef<int64_t> promote) const;
    LoweringConfigAttr withSplits(int64_t splits) const;
    LoweringConfigAttr withRaster(int64_t raster) const;
    LoweringConfigAttr withRegisters(::llvm::ArrayRef<int64_t> registers) const;
    LoweringConfigAttr withPersistent(bool persistent) const;
    LoweringConfigAttr withCluster(::llvm::ArrayRef<int64_t> cluster) const;
    LoweringConfigAttr withTmaStore(bool tmaStore) const;
    LoweringConfigAttr withTwoLevelSums(bool twoLevelSums) const;
    /// The same with `blocks` that share all sums, each cut into `splits` parts at most.
    LoweringConfigAttr withStream(int64_t blocks, int64_t splits) const;
    /// The same without warps that copy alone, whose registers nobody has.
    LoweringConfigAttr withoutProducer() const;
    /// The same with threads that fill the ring, of one block.
    LoweringConfigAttr withoutTmaCopy() const;
    /// Whether `warps` multiply what is in a ring, which warps of their own fill if there
    /// is a `producer`.
    bool isWarpSpecialized() const {
      return getStrategy() == Strategy::WarpSpecialized;
    }
    /// Whether those that multiply are warpgroups, by instructions that read shared
    /// memory; else they are warps, whose instructions read registers.
    bool isForWarpgroups() const {
      return isWarpSpecialized() && getMma() &&
             getMma().getValue().starts_with("wgmma.");
    }
    /// Whether some warps copy what others multiply: also of attention, where its
    /// instruction is a warpgroup's.
    bool hasRoles() const {
      return isWarpSpecialized() ||
             (getMma() && getMma().getValue().starts_with("wgmma."));
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tilewright_SharesAttr : Tilewright_Attr<"Shares", "shares"> {
  let summary = "how blocks share the steps of all tiles' sums evenly (stream-K)";
  let description = [{
    The sums of `tiles` tiles have `steps` steps each. All of them lie side by side,
    tile after tile, and block b of `blocks` takes those from b w / blocks on, rounded
    down, of w = tiles * steps: it may begin and end in the middle of a sum. What a
    block has of a tile is a *part* of it; the parts of a tile are those of neighbouring
    blocks, and are numbered in their order. Each tile has a place for `parts` of them;
    parts that no block is left for have no steps, and are zero. Where blocks are in
    clusters, `blocks` and `tiles` count these.

    *Items* count the parts of all tiles, part by part of tile after tile. Those of a
    block are neighbours, so that blocks walk over ranges of items that are known without
    asking anybody. Three blocks and two tiles of 4 steps in 2 parts:

    ```mlir
    #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2>
    // block    0     |     1     |     2
    // steps    0 1   | 2 3 · 4   | 5 6 7      of both tiles
    // items    0     | 1     2   | 3          (tile, part): (0, 0), (0, 1), (1, 0), (1, 1)
    ```
  }];
  let parameters = (ins "int64_t":$tiles, "int64_t":$steps, "int64_t":$blocks,
                        "int64_t":$parts);
  let assemblyFormat = [{
    `<` `tiles` `=` $tiles `,` `steps` `=` $steps `,` `blocks` `=` $blocks `,`
        `parts` `=` $parts `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Steps of all tiles.
    int64_t getWork() const { return getTiles() * getSteps(); }
    /// How many blocks share a tile's sum at most.
    static int64_t countParts(int64_t tiles, int64_t steps, int64_t blocks);
    /// Why blocks cannot share so many steps; empty if they can.
    static std::string whyNot(int64_t tiles, int64_t steps, int64_t blocks, int64_t parts);
  }];
}

def Tilewright_SharedAttr : Tilewright_Attr<"Shared", "shared"> {
  let summary = "memory space of a thread block's shared memory";
  let description = [{
    `#tilewright.shared` is plain; `#tilewright.shared<swizzle = [bits, base,
    shift]>` XORs bits [base+shift, base+shift+bits) of the element offset into
    bits [base, base+bits), and `[bits, base, shift, fold]` the bits from
    base+fold on as well. Row padding is in the memref's strides.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$swizzle);
  let assemblyFormat = "(`<` `swizzle` `=` `[` $swizzle^ `]` `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The swizzle, on element offsets; none of plain memory.
    layout::Swizzle getElementSwizzle() const;
    static SharedAttr getSwizzled(::mlir::MLIRContext *context,
                                  const layout::Swizzle &elementSwizzle);
  }];
}

def Tilewright_LayoutAttr : Tilewright_Attr<"Layout", "layout"> {
  let summary = "which warp, lane and register holds which vector element";
  let description = [{
    The text form of `tilewright::layout::DistributedLayout`, see
    include/tilewright/Layout.
  }];
  let parameters = (ins StringRefParameter<>:$text);
  let assemblyFormat = "`<` $text `>`";
}

def Tilewright_LaunchAttr : Tilewright_Attr<"Launch", "launch"> {
  let summary = "grid and block of a kernel";
  let description = [{
    `tiles` maps the dims named by `dims` (pairs of operand number and dim
    number, as symbols in order) to the number of tiles along each tiled loop;
    the grid is their product. `threads` per block, in subgroups of `subgroup`.
    `persistent`: at most as many blocks as the device has multiprocessors, each of
    which computes several tiles. `cluster` (optional): how many neighbouring tiles
    along each tiled loop the blocks of a cluster compute; the numbers of tiles are
    rounded up to it.

    ```mlir
    #tilewright.launch<threads = 128, subgroup = 32,
        tiles = affine_map<()[s0, s1] -> (s0 ceildiv 128, s1 ceildiv 128)>,
        dims = [0, 0, 1, 1]>
    ```
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$subgroup,
                        "::mlir::AffineMapAttr":$tiles,
                        OptionalArrayRefParameter<"int64_t">:$dims,
                        DefaultValuedParameter<"bool", "false">:$persistent,
                        OptionalArrayRefParameter<"int64_t">:$cluster);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tilewright_DimAttr : Tilewright_Attr<"Dim", "dim"> {
  let summary = "a kernel scalar: dim `dim` of operand `operand`";
  let parameters = (ins "int64_t":$operand, "int64_t":$dim);
  let assemblyFormat = "`<` $operand `,` $dim `>`";
}

def Tilewright_StrideAttr : Tilewright_Attr<"Stride", "stride"> {
  let summary = "a kernel scalar: elements between neighbours along dim `dim` "
                "of operand `operand`";
  let parameters = (ins "int64_t":$operand, "int64_t":$dim);
  let assemblyFormat = "`<` $operand `,` $dim `>`";
}

def Tilewright_OffsetAttr : Tilewright_Attr<"Offset", "offset"> {
  let summary = "a kernel scalar: elements from the buffer of operand `operand` "
                "to element 0";
  let parameters = (ins "int64_t":$operand);
  let assemblyFormat = "`<` $operand `>`";
}

def Tilewright_PlacesAttr : Tilewright_Attr<"Places", "places"> {
  let summary = "a kernel scalar: pixels of the result along dim of space `dim` of the "
                "images that operand `operand` is pixels of";
  let parameters = (ins "int64_t":$operand, "int64_t":$dim);
  let assemblyFormat = "`<` $operand `,` $dim `>`";
}

def Tilewright_ImageAttr : Tilewright_Attr<"Image", "image"> {
  let summary = "an operand of a kernel is pixels of images, as copy engines read them";
  let description = [{
    The operand's first dim counts the pixels of a convolution's result, row by row
    of image after image, the dims between are taps of its filter, the last are
    channels. In memory are images: `dims` and `strides` (elements; of all but the
    last, which is 1) are theirs, the number of images first, then up to three
    dims of space, then channels. A number of images that is open, `?`, is dim 0 of
    what the host gives as the operand. The other entries are for each dim of space:
    `places`, how many pixels the result has; `lower`, where the first window
    begins, negative in front of the image; `upper`, where, counted from the end
    of the image, no window begins any more; `steps` from window to window;
    `taps`, which dim of the operand counts taps (0: none), and `dilations`
    between them. What is outside of an image is zero.

    Where more than the number of images is open, three entries more are for each dim
    of space: `windows`, which dim of what the host gives as the operand counts
    windows, which open `places` are; `along`, whose stride is an open one of
    `strides` times a step, or a dilation if that dim counts taps (of images that of
    dim 0); `extents`, which host scalar an open dim is, or -1 where the image ends
    with its last window.

    ```mlir
    // 3 x 3 windows of two images of 16 x 16 x 64, padded by one: 512 x 3 x 3 x 64
    #tilewright.image<dims = [2, 16, 16, 64], strides = [16384, 1024, 64], places = [16, 16],
                      lower = [-1, -1], upper = [-1, -1], steps = [1, 1], taps = [1, 2],
                      dilations = [1, 1]>
    // Images of any size, which host scalars 0 and 1 are: ? x 3 x 3 x 64 of ? x ? x 3 x ? x 3 x 64
    #tilewright.image<dims = [?, ?, ?, 64], strides = [?, ?, 64], places = [?, ?], …,
                      windows = [1, 3], along = [2, 4], extents = [0, 1]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$dims, ArrayRefParameter<"int64_t">:$strides,
    ArrayRefParameter<"int64_t">:$places, ArrayRefParameter<"int64_t">:$lower,
    ArrayRefParameter<"int64_t">:$upper, ArrayRefParameter<"int64_t">:$steps,
    ArrayRefParameter<"int64_t">:$taps, ArrayRefParameter<"int64_t">:$dilations,
    OptionalArrayRefParameter<"int64_t">:$windows,
    OptionalArrayRefParameter<"int64_t">:$along,
    OptionalArrayRefParameter<"int64_t">:$extents);
  let assemblyFormat = [{
    `<` `dims` `=` `[` custom<Sizes>($dims) `]` `,`
        `strides` `=` `[` custom<Sizes>($strides) `]` `,`
        `places` `=` `[` custom<Sizes>($places) `]` `,` `lower` `=` `[` $lower `]` `,`
        `upper` `=` `[` $upper `]` `,` `steps` `=` `[` $steps `]` `,`
        `taps` `=` `[` $taps `]` `,` `dilations` `=` `[` $dilations `]`
        (`,` `windows` `=` `[` $windows^ `]` `,` `along` `=` `[` $along `]` `,`
         `extents` `=` `[` $extents `]`)? `>`
  }];
  let extraClassDeclaration = [{
    /// Whether more than the number of images is open.
    bool isOpen() const { return !getWindows().empty(); }
  }];
  let genVerifyDecl = 1;
}

def Tilewright_TensorMapAttr : Tilewright_Attr<"TensorMap", "tensor_map"> {
  let summary = "a kernel's tensor map: how boxes of operand `operand` are copied";
  let description = [{
    `box` has the extent of a box along each dim of the operand, in elements;
    what of it lies outside of the operand arrives as zeros. Rows of a box are
    `swizzle` bytes long in shared memory and swizzled by as many (32, 64, 128),
    or dense (0). The map's base, sizes and strides are those of the operand at
    the launch; its first `merged` dims are one. Of an `image` the box is so many
    pixels of so many channels.

    ```mlir
    #tilewright.tensor_map<operand = 0, box = [128, 64], swizzle = 128>
    ```
  }];
  let parameters = (ins "int64_t":$operand, ArrayRefParameter<"int64_t">:$box,
                        DefaultValuedParameter<"int64_t", "0">:$swizzle,
                        DefaultValuedParameter<"int64_t", "1">:$merged,
                        OptionalParameter<"::tilewright::ImageAttr">:$image);
  let assemblyFormat = [{
    `<` `operand` `=` $operand `,` `box` `=` `[` $box `]`
        (`,` `swizzle` `=` $swizzle^)? (`merged` `=` $merged^)?
        (`image` `=` $image^)? `>`
  }];
}

def Tilewright_HostScalarAttr
    : Tilewright_Attr<"HostScalar", "host_scalar"> {
  let summary = "a kernel scalar: scalar number `number` of the dispatch";
  let parameters = (ins "int64_t":$number);
  let assemblyFormat = "`<` $number `>`";
}

#endif
