// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_NORMALIZE_PASSES_TD
#define TILEWRIGHT_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeTensorOpsPass
    : Pass<"tilewright-decompose-tensor-ops", "::mlir::func::FuncOp"> {
  let summary = "Say tensor ops by structured ops, slices and reshapes";
  let description = [{
    `linalg.pack` becomes a `linalg.generic` that reads its source through sums of
    tile and place in the tile, `linalg.unpack` a transpose, reshape and slice;
    `tensor.generate` and `tensor.pad` with computed values compute each element from
    its coordinates; `tensor.reshape` goes through one dim, with a `cf.assert`
    that the number of elements stays. With tiles of dynamic size `linalg.pack` and
    `unpack` compute each element from its coordinates, with a `cf.assert` of what the
    sizes of tiles and tensors have to agree in.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SimplifySizesPass : Pass<"tilewright-simplify-sizes", "::mlir::func::FuncOp"> {
  let summary = "Let sizes that the program asserts to be equal be one";
  let description = [{
    Of two numbers that a `cf.assert` compares for equality, or equal multiples of them, the
    one that is computed first, or is a constant, is used in place of the other; the assert moves
    to where both are known. With `--asserts=off` there is nothing that says so.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"];
}

def SimplifyBodiesPass
    : Pass<"tilewright-simplify-bodies", "::mlir::func::FuncOp"> {
  let summary = "Bring bodies of structured ops to arith and math";
  let description = [{
    `scf.if` becomes `arith.select` of both sides, ops of the index dialect those of
    arith, and elementwise arithmetic on floats of 8 bits is done in f32 and rounded.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def EvaluateConstantsPass
    : Pass<"tilewright-evaluate-constants", "::mlir::func::FuncOp"> {
  let summary = "Compute integers that depend on coordinates and constants alone";
  let description = [{
    Of static tensors of integers, positions and masks say: what is the same everywhere becomes a
    constant; a scan, reduction or gather whose result is linear in the coordinates becomes a
    `linalg.generic` that computes it from them; what else these or a concatenation give is a table
    in the program up to 512 elements. Ops with a pinned `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SimplifyPowersPass : Pass<"tilewright-simplify-powers", "::mlir::func::FuncOp"> {
  let summary = "Squares, roots and reciprocals that are spelt as powers";
  let description = [{
    `math.powf` and `math.fpowi` of the exponents 0, 1, -1, 2, -2, 3, 4, 0.5 and -0.5 become
    products, quotients and roots, with the zeros, infinities and NaN of C's pow.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FoldScalarsPass : Pass<"tilewright-fold-scalars", "::mlir::func::FuncOp"> {
  let summary = "Compute what has one value everywhere outside of structured ops";
  let description = [{
    A `linalg.generic` whose body uses neither elements nor coordinates becomes scalar
    ops and a `linalg.fill`, which bodies that read it, and `tensor.extract`, see
    through, as they see through an element of `tensor.from_elements`. Ops with a pinned `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def FoldReshapesPass : Pass<"tilewright-fold-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Let elementwise ops with reshapes between them run over the same loops";
  let description = [{
    An elementwise `linalg.generic`, of which another reads the result as another shape, gets the
    loops of the shape with more dims, and so does the reader; reductions of one tensor that
    read it with fewer dims do, too. Reshapes move to arguments and results. Ops with a
    pinned `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def WriteTransposedPass
    : Pass<"tilewright-write-transposed", "::mlir::func::FuncOp"> {
  let summary = "Compute products transposed whose only reader transposes them";
  let description = [{
    The one reader of a product's result is an elementwise op that indexes it in another
    order than its own result: the product writes in the reader's order. An elementwise
    op between a product and one that only moves elements joins the latter before.
    Products have sums that begin with one value everywhere; ops with a pinned
    `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def MergeProductsPass : Pass<"tilewright-merge-products", "::mlir::func::FuncOp"> {
  let summary = "Products of one operand by several constant matrices become one";
  let description = [{
    Contractions that read the same operand and whose other operand is a constant, or computed
    at load, become one whose constants lie side by side: they are put there when the program
    is loaded. Elementwise ops on their results that read nothing but constants go along; the
    results are slices. Products whose kernels have other work, and those that are written
    into a part of a tensor or returned, stay, as do ops with a pinned
    `tilewright.lowering_config`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ReadExtractsPass : Pass<"tilewright-read-extracts", "::mlir::func::FuncOp"> {
  let summary = "Make operands of tensors that bodies read at coordinates of their loops";
  let description = [{
    `tensor.extract` at coordinates of loops, or at 0 of a dim of size 1, becomes an
    input of the `linalg.generic`. A coordinate that is 0 where a size is 1, which front
    ends broadcast dims of dynamic size by, is the loop's where that size is the loop's
    extent. Extents are known to be equal (by `ValueBoundsOpInterface`), else nothing
    changes. Ops with a pinned `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def WidenExtremaPass : Pass<"tilewright-widen-extrema", "::mlir::func::FuncOp"> {
  let summary = "Find the largest of floats of 8 bits among f32";
  let description = [{
    A `linalg.generic` with a reduction whose body has maxima and minima of floats of 8 bits
    alone finds them among f32: ops around it extend its inits and truncate its results, both
    exactly. Ops with a pinned `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def WriteDiagonalsPass : Pass<"tilewright-write-diagonals", "::mlir::func::FuncOp"> {
  let summary = "Write results on diagonals as whole tensors";
  let description = [{
    A `linalg.generic` without a reduction whose results have a loop for several of their dims
    (`(i) -> (i, i)`) gets a loop for each dim, and elsewhere writes what was there before. Of
    dims of unknown size an assert says that they are equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ReadOtherMapsPass : Pass<"tilewright-read-other-maps", "::mlir::func::FuncOp"> {
  let summary = "Gather inputs whose maps are no sums of loops";
  let description = [{
    An input of a `linalg.generic` that is indexed by divisions, remainders or loops that
    go backwards (`d0 floordiv 2`, `9 - d0`) is read by `tensor.extract` in the body. Of an
    op with a reduction an input with a loop for each dim at most is gathered by an op in
    front, so that each of its elements is looked for once. Ops with a pinned
    `tilewright.lowering_config`, and inputs that alone have a dim for one of the loops,
    stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ReadRotationsPass : Pass<"tilewright-read-rotations", "::mlir::func::FuncOp"> {
  let summary = "Read rotated tensors where they lie";
  let description = [{
    `tensor.concat` of the end of a tensor and its beginning, of static sizes, becomes a
    `linalg.generic` that reads each element by `tensor.extract` where it is; one of what
    another gives reads what that reads.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ReadNarrowOperandsPass : Pass<"tilewright-read-narrow-operands", "::mlir::func::FuncOp"> {
  let summary = "Read operands of products as they were before they were widened";
  let description = [{
    A body `init + a * b` of f32 or i32 with inputs that ops in front widen, or it does itself,
    (`extf` of f16, bf16 or floats of 8 bits; `extsi`, `extui` of i8), as other shapes, transposed
    or repeated since, too, reads what these read and widens by itself: the same to the last bit,
    and matrix units multiply it. Types that do not go together (f16 and bf16) stay, and so do ops
    with a pinned `tilewright.lowering_config`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertOperandsPass : Pass<"tilewright-convert-operands", "::mlir::func::FuncOp"> {
  let summary = "Convert operands of few bits in front of products";
  let description = [{
    In a body `init + a * b` of floats where one factor is an integer that is converted
    (`sitofp`, `uitofp`), or an extended float of 8 bits beside f16 or bf16, the conversion
    becomes an elementwise op in front: into the f16 or bf16 of the other input where that
    holds all values, else into what the body multiplies. Ops with a pinned
    `tilewright.lowering_config` stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GuardDivisionsPass : Pass<"tilewright-guard-divisions", "::mlir::func::FuncOp"> {
  let summary = "Divide integers that have no quotient by one";
  let description = [{
    In bodies, quotients and remainders of integers by zero, and of the least integer by -1, become those by
    one: CPUs trap there, and code generators of GPUs take it that no such division runs,
    so that what a body chooses in place of its result would be lost. Divisors that are other constants
    stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SplitZeroPointsPass : Pass<"tilewright-split-zero-points", "::mlir::func::FuncOp"> {
  let summary = "Take zero points out of products of integers";
  let description = [{
    In a body `c + (ext a - za) * (ext b - zb)` of integers, where `za` and `zb` are the same
    along the sum, the product becomes one of `a` and `b`, from which the sums of `a` times
    `zb` and of `b` times `za` are subtracted, and to which `za * zb` is added for each term.
    Products of at most 16 rows or columns stay, and so do ops with a pinned
    `tilewright.lowering_config`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DecomposeArgReductionsPass
    : Pass<"tilewright-decompose-arg-reductions", "::mlir::func::FuncOp"> {
  let summary = "Find the best element and its place by separate reductions";
  let description = [{
    A reduction whose results are the largest or smallest element and its index, the
    first or last of equal ones, becomes a reduction to the element and one to the least
    or greatest index of elements equal to it; both have combiners with neutral
    elements, and share a kernel. NaNs are passed over, win, or end the search, as the
    body says. Indices that another op computes, beside the elements, are computed in the
    body. Reductions with a pinned `tilewright.lowering_config` stay.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def HoistAssertsPass
    : Pass<"tilewright-hoist-asserts", "::mlir::func::FuncOp"> {
  let summary = "Assert outside of them what bodies of structured ops assert";
  let description = [{
    A condition from outside of the body is asserted in front of the op. Of
    conditions that depend on elements, a reduction over those of the op's loops
    that they depend on finds the number of the first that does not hold, and
    `tilewright.check` makes an error of it after the call.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::tilewright::TilewrightDialect"];
}

def InlineCallsPass : Pass<"tilewright-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Write private functions with one call where they are called";
  let description = [{
    The body of a private function of one block that is called at one place takes the
    call's place, and the function goes away. Functions with several calls stay, so
    that their kernels are compiled once, as do functions of memrefs.
  }];
}

def ExpandSlicesPass : Pass<"tilewright-expand-slices", "::mlir::func::FuncOp"> {
  let summary = "Split dims in front of slices";
  let description = [{
    `tensor.expand_shape` of a `tensor.extract_slice` becomes a slice of the expanded
    tensor, which moves nothing, where the slice begins at a multiple of what is inside
    of the first of the new dims and the sliced tensor's dim is one.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def SliceConstantDimsPass
    : Pass<"tilewright-slice-constant-dims", "::mlir::func::FuncOp"> {
  let summary = "Operands that are indexed by constants become slices";
  let description = [{
    A dim that an indexing map has a constant for is taken off its operand by
    `tensor.extract_slice`; of results, `tensor.insert_slice` puts the slice back.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def GeneralizePass : Pass<"tilewright-generalize", "::mlir::func::FuncOp"> {
  let summary = "Bring every structured op to linalg.generic or linalg.fill";
  let description = [{
    Named linalg ops become `linalg.generic`; `linalg.softmax` is decomposed
    into maximum, exponential, sum and quotient; elementwise arith and math ops
    on tensors become `linalg.generic`; tensors that hold one value everywhere
    (`tensor.splat`, splat constants, `tensor.from_elements` of rank 0) become
    `linalg.fill`. A pinned `tilewright.lowering_config` moves along.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def FoldRelayoutsPass
    : Pass<"tilewright-fold-relayouts", "::mlir::func::FuncOp"> {
  let summary = "Fold copies, transposes, broadcasts and constants into the "
                "maps and bodies of their readers";
  let description = [{
    A `linalg.generic` that only moves elements (its body yields its input) is
    read through: the reader's indexing map is composed with it. Filled
    tensors and scalar operands become scalars of the reader's body, an init
    that is read by an elementwise op becomes an input, and an init that is not
    read becomes `tensor.empty`. Dims of size one are dropped from the
    iteration space (except of ops with a pinned lowering config).
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ReadWindowsPass
    : Pass<"tilewright-read-windows", "::mlir::func::FuncOp"> {
  let summary = "Read convolutions' and poolings' operands through "
                "tilewright.im2col";
  let description = [{
    An input that is indexed by sums of loops times positive constants (stride,
    dilation) is replaced by the view of all its windows, which the loops index
    one by one. Of convolutions of few channels, a window's columns and channels
    become one loop first.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect", "::tilewright::TilewrightDialect"];
}

def CarryConfigsPass : Pass<"tilewright-carry-configs", "::mlir::func::FuncOp"> {
  let summary = "Pinned configs that speak of the kernel's loops wait for them";
  let description = [{
    A config with another number of entries than its op has loops is for what
    normalization makes of the op. It is moved to the op's location, which rewrites
    keep, and with `put-down` from there to the structured op that has it.
  }];
  let options = [Option<"putDown", "put-down", "bool", "false",
                        "move configs from locations to their ops">];
  let dependentDialects = ["::tilewright::TilewrightDialect"];
}

def AddInitsLastPass : Pass<"tilewright-add-inits-last", "::mlir::func::FuncOp"> {
  let summary = "Add what a product begins with to its sums, where it is a broadcast";
  let description = [{
    A product whose sums begin with a bias that was broadcast into a tensor of the
    result's shape begins with zero, and the bias is added to its result by an
    elementwise op, which reads it as it is: no tensor is written and read for it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ChannelsLastPass : Pass<"tilewright-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Store images with channels innermost where it pays";
  let description = [{
    Several convolutions of images `batch x channels x rows x columns`, and what follows
    them, take `batch x rows x columns x channels` instead; filters that are constants are
    stored as `rows x columns x channels x filters`: those of the text here, those of a
    parameter file by a transpose with `tilewright.at_load`. Images are transposed at the
    edges, where these are small beside the products.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ComputeAtLoadPass : Pass<"tilewright-compute-at-load", "::mlir::ModuleOp"> {
  let summary = "Compute what depends on constants alone when the program is loaded";
  let description = [{
    Ops whose operands are constants, of the text or of a parameter file, or results of
    such ops move to a private function `NAME.at_load` with `tilewright.at_load`, and what
    calls still need of them becomes `tilewright.loaded`. Bodies that compute from
    constants and other tensors are split. Results that take more memory than what they
    come from stay, and so do ops that only move elements, unless they have
    `tilewright.at_load`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::tilewright::TilewrightDialect"];
}

def DropConstantSumsPass : Pass<"tilewright-drop-constant-sums", "::mlir::func::FuncOp"> {
  let summary = "Reductions whose result does not depend on what they read do not reduce";
  let description = [{
    A reduction whose body yields values from outside of it becomes an elementwise op: its init where
    a dim that is reduced has no elements, else those values. One that has a pinned config is refused.
    A reduction of a dim without elements by its type is its init, unless it has a pinned config.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OrderLoopsPass : Pass<"tilewright-order-loops", "::mlir::func::FuncOp"> {
  let summary = "Put the loops of every linalg.generic into canonical order";
  let description = [{
    Parallel loops come first, in the order of the dims of the first result,
    so that its map is the identity on them; reduction loops follow in the
    order of the dims of the first operand that has them. A pinned
    `tilewright.lowering_config` stays as it is: it speaks of the loops as they are
    listed, in this order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def CollapseLoopsPass : Pass<"tilewright-collapse-loops", "::mlir::func::FuncOp"> {
  let summary = "Make one loop of a contraction's loops that run side by side";
  let description = [{
    Loops that are neighbours in every tensor of a contraction that has them, and
    in everything that reads its result, become one, and the tensors are seen
    through `tensor.collapse_shape` and `tensor.expand_shape`. Ops with a pinned
    lowering config stay, since it speaks of their loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CheckNormalizedPass
    : Pass<"tilewright-check-normalized", "::mlir::func::FuncOp"> {
  let summary = "Refuse structured ops that no later stage serves";
  let description = [{
    Reports every linalg op whose indexing maps are not projected
    permutations, whose element types or rank are outside the accepted subset,
    whose body holds ops other than scalar arithmetic, or whose parallel loops
    are not all written by a result. The error names the reason and a way out.
  }];
}

#endif
