// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_DISPATCH_PASSES_TD
#define TILEWRIGHT_DISPATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackInt4ProductsPass
    : Pass<"tilewright-pack-int4-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply i4 as they lie, two a byte, where a matrix instruction does";
  let description = [{
    A product of tensors of i4 whose sums run along the rows of both becomes one of
    bytes that takes both nibbles of each, if the target has instructions for that.
    Others stay products of unpacked bytes; `tilewright.unpacked` on the op says why,
    for --explain. A pinned lowering config speaks of numbers, not bytes, and decides
    by its `mma`.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect"];
}

def PickMatricesPass
    : Pass<"tilewright-pick-matrices", "::mlir::func::FuncOp"> {
  let summary = "Let products read matrices that a table names where they lie";
  let description = [{
    A `linalg.generic` that copies matrices of a tensor, named by a table, for batched
    products alone becomes `tilewright.pick`, which is no kernel: the products' kernels read
    the matrices by the table. Where the matrices' sizes or number are open it stays a copy.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect"];
}

def FuseElementwisePass
    : Pass<"tilewright-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Merge elementwise ops into the elementwise op or reduction "
                "that is their only reader";
  let description = [{
    An elementwise `linalg.generic` with one reader is merged into it when the
    reader touches each element once, so that nothing is computed twice. One of
    few ops on coordinates and scalars alone is merged into each of its readers:
    to compute it takes no longer than to read it. So is one that converts, scales or shifts
    elements of no more bits than its result has (a gain in f16 that f32 is multiplied by), but for
    what a reduction or a product leaves, which a kernel has once a row. Never merged: into
    contractions (they keep their body), from a contraction's epilogue into a
    reduction, and ops with a pinned lowering config.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitConcatReadersPass
    : Pass<"tilewright-split-concat-readers", "::mlir::func::FuncOp"> {
  let summary = "Let elementwise ops read the parts of a concatenation";
  let description = [{
    An elementwise `linalg.generic` that reads a concatenation, parts that
    `tensor.insert_slice` puts side by side into a new tensor, becomes one for each part,
    whose results are put side by side likewise: no kernel copies parts. Not where another
    op needs the whole, where sizes along the dim are unknown, and where the op may be the
    end of a kernel that reduces.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def JoinConcatPartsPass
    : Pass<"tilewright-join-concat-parts", "::mlir::func::FuncOp"> {
  let summary = "Compute parts of a tensor from the same inputs in one op";
  let description = [{
    Where parts that `tensor.insert_slice` puts into a tensor are computed by elementwise
    ops over the same loops, two to four, which read a tensor that is the same, one op with
    as many results computes them. Its kernel writes the windows where they lie. What is
    put together only to be put into another tensor is put there part by part.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackOperandsPass
    : Pass<"tilewright-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Let products compute their operands from packed i4";
  let description = [{
    Where an operand of a product is computed from a tensor of i4, in pairs, and reshaped,
    it is computed in order from `tilewright.unpack` of the bytes, if the product's
    kernel can compute it (`mayFuseProducers` of `tilewright/Configure/TileFusion.h`).
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def TransposeOperandsPass
    : Pass<"tilewright-transpose-operands", "::mlir::func::FuncOp"> {
  let summary = "Transpose operands of products in memory, for warpgroups";
  let description = [{
    Where instructions of warpgroups read neither operand of a product as it lies (int8, fp8
    and tf32 with K across the rows of both), kernels in front of it write one operand, or
    both, with K along the rows, if the predicted times of all together are shorter
    (`chooseTransposed` of `tilewright/Configure/TransposedOperands.h`). So they do where rows of
    16-bit operands are no whole 16 bytes, but columns are. Of dynamic extents the
    host decides, unless other ops compute with the result in the product's kernel. A pinned
    config decides by `promote`. `tilewright.explain` of the function says what was done or
    why not.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CallBlasPass : Pass<"tilewright-call-blas", "::mlir::func::FuncOp"> {
  let summary = "Products of matrices become calls of a library";
  let description = [{
    In a program with `tilewright.external_blas`, the name of a shared library, products
    of f32 and f64 that CBLAS has a function for become `tilewright.gemm`, if the target's
    kernels can call libraries (fact `calls_libraries`). Sums that begin with zero
    overwrite the result, others are added to it. What is not such a product stays, and
    `tilewright.explain` of the function says why.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::tensor::TensorDialect"];
}

def WinogradPass : Pass<"tilewright-winograd", "::mlir::func::FuncOp"> {
  let summary = "Convolutions of 3 x 3 windows by Winograd's F(2 x 2, 3 x 3)";
  let description = [{
    In a program whose `tilewright.fp` has `winograd`, convolutions of f32 with windows of
    3 x 3, steps of one, static and even sizes and channels innermost become transforms of
    filters (at load, where these are constants), of the image and of the result, and 16
    products of matrices. For targets with `dispatch_vector_bytes`. `tilewright.explain`
    of the function says which, and why others did not.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackWeightsPass : Pass<"tilewright-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Store constant weights of products in strips of columns";
  let description = [{
    Weights that are constants, and larger than what a cache keeps, get the order
    strips x rows x columns of a strip, by an op with `tilewright.at_load`; the loop over
    columns becomes one over strips and one over the columns of a strip, and so does
    that of elementwise ops on the result. For targets with `dispatch_vector_bytes`, which
    say how wide a strip is; of f32 and f64.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def ExpandOperandsPass
    : Pass<"tilewright-expand-operands", "::mlir::func::FuncOp"> {
  let summary = "Let products sum over the dims in which an operand is computed";
  let description = [{
    Where an operand of a product is computed element by element and then reshaped,
    groups of a sum into one dim, the product sums over both dims of it instead, and
    the other operand is reshaped, which moves nothing. Then the product's kernel can
    compute the operand (`mayFuseProducers` of `tilewright/Configure/TileFusion.h`).
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def SplitArgReductionsPass
    : Pass<"tilewright-split-arg-reductions", "::mlir::func::FuncOp"> {
  let summary = "Search for the best element of few long rows and its place in parts";
  let description = [{
    A reduction to the largest or smallest element and those to the least or greatest place
    of what equals it, where the first would be cut into parts (`tilewright/Configure/Splits.h`):
    the elements are parts of equal length, as many as divide them evenly, each of which one
    kernel searches for both, and another kernel combines them. The elements are read once.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitExponentialSumsPass
    : Pass<"tilewright-split-exponential-sums", "::mlir::func::FuncOp"> {
  let summary = "Cut few long rows into parts that have a largest element and a sum of "
                "exponentials each";
  let description = [{
    A maximum along a loop and the sum of exponentials of what is below it, as of softmax and
    log-sum-exp, of so few and long rows that tilewright-split-reductions would cut both:
    each part of a row has its own of both, which are combined, and the row is read once for
    them. Rows of a static number of elements that parts of about the wanted length divide.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductionsPass
    : Pass<"tilewright-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Cut long reductions with few results into parts that many "
                "blocks compute, and combine them";
  let description = [{
    Which, and into how many parts, is decided as for lowering configs
    (`tilewright/Configure/Splits.h`): from shapes and target, or by `splits` in
    a pinned config. A reduction with a dynamic number of results that nothing
    could be fused with becomes an `scf.if` between both forms. The op that computes the parts carries `tilewright.split`
    and the pinned config.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def SplitScansPass : Pass<"tilewright-split-scans", "::mlir::func::FuncOp"> {
  let summary = "Let many threads share a long scan";
  let description = [{
    A long `tilewright.scan` along the second of three dims, of elements that are neighbours,
    is one whose blocks look back (tilewright/Dialect/LookBack.h) on targets where
    blocks may wait for each other (`forward_progress`). Elsewhere, and without a target, as for
    the oracle, a long one, of which there are few side by side, becomes one of each
    chunk's total, one of these totals, and one within each chunk; chunks depend on the
    shape alone. Of dynamic sizes the host decides.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def SplitMarkedPass : Pass<"tilewright-split-marked", "::mlir::func::FuncOp"> {
  let summary = "Cut reductions by a marked combiner into parts that threads compute side "
                "by side";
  let description = [{
    A `linalg.generic` with `tilewright.associative` whose results are not each combined by
    add, mul, min, max, … has parts, each of every n-th element, and an op that combines
    them, which is cut the same way until few are left. What elementwise ops compute of the
    elements is computed in the body of the first. Of one that cannot be cut a remark says
    why; it takes its terms one by one.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def UpdateInPlacePass
    : Pass<"tilewright-update-in-place", "::mlir::func::FuncOp"> {
  let summary = "Let elementwise ops write over the input that they replace";
  let description = [{
    Where the result of an elementwise `linalg.generic` is stored to the memref,
    or put into the window, that one of its inputs was read from, and both have
    the same indexing map, the input becomes the destination.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PadChannelsPass
    : Pass<"tilewright-pad-channels", "::mlir::func::FuncOp"> {
  let summary = "Give convolutions of few channels enough of them for asynchronous copies";
  let description = [{
    A convolution for matrix units of GPUs, whose windows' columns and channels are one
    loop (tilewright-read-windows), reads a padded copy of its image with channels of a
    multiple of 8 bytes, where windows read each element four times or more and a third
    more is computed at most. The filter's further channels are zeros.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
}

def FlattenWindowsPass
    : Pass<"tilewright-flatten-windows", "::mlir::func::FuncOp"> {
  let summary = "Make one row of all rows of a narrow image, for the vectors of CPUs";
  let description = [{
    A convolution with stride 1 of a padded image, whose rows fill vectors badly, is
    computed over the padded image as one row: its result is a window of what is
    computed. For targets with `dispatch_vector_bytes`.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def MaterializeWindowsPass
    : Pass<"tilewright-materialize-windows", "::mlir::func::FuncOp"> {
  let summary = "Copy windows of tensors where kernels cannot use them in place";
  let description = [{
    A window is a `tensor.extract_slice`, or the tensor of a memref argument
    with strides. Kernels read windows where they lie, and write them where a
    structured op computes what a `tensor.insert_slice` puts there. Everything
    else (return, yield, call, reshape, access to single elements) needs a dense
    tensor: it gets a copy, made by a kernel. `tilewright.copies` on the copy
    says why, for --explain.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def RaiseAttentionPass
    : Pass<"tilewright-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "Find attention that is written in linalg";
  let description = [{
    A contraction of a softmax of scaled, masked scores, which are a contraction, becomes
    `tilewright.attention` where the target has a kernel for it, however the formula is
    spread over elementwise ops, transposes, broadcasts and reshapes. Comparisons of the
    numbers of queries and keys become `causal` and `window`, with `lengths` where the diagonal
    lies elsewhere; masks that are neither these nor a tensor are computed in front of it. Scores
    that something else reads stay a contraction beside it. Where there is a softmax in front of a contraction but
    something else is not known, `tilewright.decomposed` on the contraction says what,
    for --explain.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitAttentionPass
    : Pass<"tilewright-split-attention", "::mlir::func::FuncOp"> {
  let summary = "Write attention that has no kernel of its own in linalg";
  let description = [{
    Where no lowering config of strategy `attention` fits the op and the target,
    `tilewright.attention` becomes contractions and a softmax with the scores in memory;
    `tilewright.decomposed` on the op that gives its result says why, for --explain.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def SplitKeysPass : Pass<"tilewright-split-keys", "::mlir::func::FuncOp"> {
  let summary = "Attention of few queries: rows of grouped heads, parts of keys";
  let description = [{
    Where each head has one query, the heads that share keys and values become the
    queries of one block. Where blocks of queries are few and keys are many,
    `tilewright.attention` computes a result for each of several parts of the keys
    (`key_parts`), and a `linalg.generic` puts these together by their log-sum-exps; of
    a dynamic number of keys only where the host finds enough of them, of a dynamic number
    of heads or sequences only where it finds few. `splits` of a pinned lowering config
    asks for parts. `tilewright.explain` on the op says so.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def InlineNormsPass : Pass<"tilewright-inline-norms", "::mlir::ModuleOp"> {
  let summary = "Write norms in functions where a product reads what they return";
  let description = [{
    A private function of a few reductions and elementwise ops that is called at several
    places is written at the calls whose result a product reads, as a GPU's kernel of the
    product may reduce the rows itself (Groups.h). Other calls stay.
  }];
}

def OutlineAttentionPass
    : Pass<"tilewright-outline-attention", "::mlir::ModuleOp"> {
  let summary = "Make a kernel of each attention";
  let description = [{
    `tilewright.attention` becomes a private function with `tilewright.kernel`, as
    groups of linalg ops do (`tilewright-form-dispatches`); the host keeps a
    `tilewright.dispatch`. Queries, keys, values and masks may be windows.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::func::FuncDialect",
    "::mlir::tensor::TensorDialect"];
}

def OutlineIrregularPass
    : Pass<"tilewright-outline-irregular", "::mlir::ModuleOp"> {
  let summary = "Make a kernel of each scatter, scan and sort";
  let description = [{
    `tilewright.scatter`, `tilewright.scan` and `tilewright.sort` become private functions with
    `tilewright.kernel`, as attention does. A scatter updates its destination; the others
    only write theirs. What they read may be windows.
  }];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::func::FuncDialect"];
}

def FormDispatchesPass
    : Pass<"tilewright-form-dispatches", "::mlir::ModuleOp"> {
  let summary = "Group structured ops into kernels and outline them";
  let description = [{
    Greedy and deterministic, in program order: an op joins the group of its
    producers when one iteration space serves both (see Groups.h), otherwise it
    opens a group. Each group becomes a private function with
    `tilewright.kernel` and `tilewright.access` in destination-passing style;
    the host keeps a `tilewright.dispatch`. Scalars that a body captures are
    passed along; constants and fills are cloned into kernels.

    With `fuse=false` every op becomes a kernel of its own.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true",
                        "Put several ops into one kernel where that is legal">];
  let dependentDialects = [
    "::tilewright::TilewrightDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoadDispatchesPass : Pass<"tilewright-load-dispatches", "::mlir::ModuleOp"> {
  let summary = "Launch kernels that read constants alone when the program is loaded";
  let description = [{
    A `tilewright.dispatch` whose operands are constants, results of such kernels or
    `tilewright.loaded` moves to the function `NAME.at_load`, where kernels only read its
    results, which are no larger than the largest of its inputs and 1 MiB.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect"];
}

def IdentifyLoadedPass : Pass<"tilewright-identify-loaded", "::mlir::ModuleOp"> {
  let summary = "Name what functions at load compute after how they do";
  let description = [{
    Results of functions with `tilewright.at_load` get `tilewright.identity`, a SHA-256 of the
    ops that they come from and the bodies of kernels. The runtime has results of one identity,
    target and parameter file once for all programs of a device.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect"];
}

def CheckHostPass : Pass<"tilewright-check-host", "::mlir::func::FuncOp"> {
  let summary = "Refuse ops that neither a kernel nor the host can run";
  let description = [{
    What is left in host functions must be control flow, scalar arithmetic,
    calls, printing of scalars, or a tensor op that touches at most single
    elements (`tensor.empty`, `dim`, `cast`, `extract`, `insert`,
    `from_elements`, reshapes of whole tensors).
  }];
}

#endif
