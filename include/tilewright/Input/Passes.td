// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_INPUT_PASSES_TD
#define TILEWRIGHT_INPUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckInputPass : Pass<"tilewright-check-input", "::mlir::ModuleOp"> {
  let summary = "Refuse modules whose functions the ABI cannot carry";
  let description = [{
    A module must define a public function. Arguments and results of public
    functions are ranked dense tensors, memrefs with a positive stride per dim
    (arguments only) or scalars, of accepted element types and ranks, and of sizes whose
    product fits 63 bits. The errors name the function, the value and what would
    be accepted.
  }];
}

def ConvertTosaPass : Pass<"tilewright-convert-tosa", "::mlir::func::FuncOp"> {
  let summary = "TOSA to linalg, tensor, arith and scf by upstream's conversions";
  let description = [{
    Shapes are inferred, operands made broadcastable, constants folded, and every
    tosa op is converted by upstream's patterns: to named linalg ops, linalg.generic,
    tensor, scf and arith. Where these refuse an op or differ from TOSA's
    specification, ours go first (lib/Input/Tosa.h). An op that no pattern converts
    is an error. Functions without tosa ops stay as they are.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tosa::TosaDialect", "::tilewright::TilewrightDialect"];
}

def DropAssertsPass : Pass<"tilewright-drop-asserts", "::mlir::func::FuncOp"> {
  let summary = "Drop cf.assert where the module says so";
  let description = [{
    With `tilewright.asserts = "off"` on the module, which `--asserts=off` sets,
    every `cf.assert` of the program is dropped.
  }];
}

def AliasArgumentsPass : Pass<"tilewright-alias-arguments", "::mlir::ModuleOp"> {
  let summary = "Results in the memory of arguments that the caller gives away";
  let description = [{
    An argument with `tf.aliasing_output = N`, a tensor of the type of result N, becomes a
    memref, into which that result is written; the function does not return it any more.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DefineFoldsPass : Pass<"tilewright-define-folds", "::mlir::func::FuncOp"> {
  let summary = "What upstream's folders get wrong, in other ops";
  let description = [{
    `arith.ceildivsi`, whose quotients of the least number by a positive one are folded with the wrong
    sign, as `arith.divsi` and a choice; of `index` it stays. `scf.for` between constants
    whose distance overflows, which would be taken for none, counts its iterations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DefineShiftsPass : Pass<"tilewright-define-shifts", "::mlir::func::FuncOp"> {
  let summary = "Shifts by the width of a number or more move all bits out";
  let description = [{
    `arith.shli` and `arith.shrui` then give 0, `arith.shrsi` the sign in every bit;
    negative amounts are large ones. Amounts that are seen to be smaller than the
    width stay as they are. Those of tensors of dynamic shape are in bodies by then
    (`tilewright-generalize-integers`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PassIndicesPass : Pass<"tilewright-pass-indices", "::mlir::ModuleOp"> {
  let summary = "Pass tensors of indices as tensors of i64";
  let description = [{
    Arguments and results of functions that are tensors of `index` become tensors of i64, with
    `arith.index_cast` at both ends; so do operands and results of calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GeneralizeIntegersPass
    : Pass<"tilewright-generalize-integers", "::mlir::func::FuncOp"> {
  let summary = "Arithmetic on integer tensors of dynamic shape as linalg.generic";
  let description = [{
    Arithmetic of `arith` with two or more integer operands, some of whose folds are constants:
    a constant tensor has no operand that its sizes could come from.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandSwitchesPass : Pass<"tilewright-expand-switches", "::mlir::func::FuncOp"> {
  let summary = "scf.index_switch as scf.if, scf.execute_region as what is in it";
  let description = [{
    Each case of an `scf.index_switch` becomes an `scf.if`, in whose else branch the next
    one is. An `scf.execute_region` of one block is replaced by its ops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ResolveCalleesPass : Pass<"tilewright-resolve-callees", "::mlir::ModuleOp"> {
  let summary = "Calls of functions that are values as calls by name";
  let description = [{
    `func.call_indirect` of a `func.constant` becomes `func.call`; of an `arith.select` of
    them `scf.if` with a call in each branch. Other functions that are values are errors.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def DefineMemrefsPass : Pass<"tilewright-define-memrefs", "::mlir::ModuleOp"> {
  let summary = "Constant memrefs as the tensors that they hold, allocations alike";
  let description = [{
    `memref.get_global` of a constant `memref.global` becomes `bufferization.to_buffer` of an
    `arith.constant`, and `memref.alloca` becomes `memref.alloc`. Globals that are written, or
    have no values, are errors.
  }];
  let options = [Option<"copyTensors", "copy-tensors", "bool", /*default=*/"false",
                        "have bufferization.to_tensor take copies, for the oracle">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def InlineMemrefCallsPass : Pass<"tilewright-inline-memref-calls", "::mlir::ModuleOp"> {
  let summary = "Functions of memrefs are written where they are called";
  let description = [{
    Each call of a function with memrefs as arguments or results is replaced by a copy of the
    function's ops; private ones that nothing calls then are erased. Calls of functions that call
    themselves, or have several blocks, and of those without a body stay.
  }];
}

def CropPadsPass : Pass<"tilewright-crop-pads", "::mlir::func::FuncOp"> {
  let summary = "Slices in front of pads of fewer than no elements";
  let description = [{
    A `tensor.pad` by -2 in front leaves out the first two elements of that dim. It becomes a
    slice without them, which is padded at the other edges.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect"];
}

def DecomposeWinogradPass
    : Pass<"tilewright-decompose-winograd", "::mlir::func::FuncOp"> {
  let summary = "Say the transforms of Winograd convolutions by products";
  let description = [{
    `linalg.winograd_filter_transform`, `_input_transform` and `_output_transform` of
    static shapes become `linalg.generic`, sums over the elements of a tile times those of
    a constant matrix, which upstream's decomposition of one tile has.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def DecomposeGathersPass
    : Pass<"tilewright-decompose-gathers", "::mlir::func::FuncOp"> {
  let summary = "Say tensor.gather by other tensor ops, tensor.scatter by ours";
  let description = [{
    A gather becomes a `tensor.generate` whose body reads the coordinates and the
    element, a scatter `tilewright.scatter`.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def UnpackSubBytesPass : Pass<"tilewright-unpack-sub-bytes", "::mlir::func::FuncOp"> {
  let summary = "Read tensors of i4 and i2 as bytes";
  let description = [{
    Arguments and constants `tensor<...xNxi4>` become `tensor<...xN/2xi8>`, two
    elements to a byte, the first in the low four bits; of i2, four share a byte. A
    structured op takes them apart, and elementwise ops that read them (dequantisation)
    work on the groups of two or four with it. If N is no multiple of that, all of a static tensor is one row of bytes, of
    which readers pick their bits, as `tensor.extract` does of any. Bodies only
    extend and convert such elements; what else uses such a tensor is an error.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SequenceParallelLoopsPass
    : Pass<"tilewright-sequence-parallel-loops", "::mlir::func::FuncOp"> {
  let summary = "scf.forall, scf.parallel and affine.parallel as loops one after the other";
  let description = [{
    `scf.forall` becomes `scf.for` that carries the shared tensors, into which slices
    are inserted; `scf.parallel` becomes `scf.for`, its reductions what that carries;
    `affine.parallel` without results becomes `affine.for`. Which of them are kernels is
    up to `tilewright-raise-loops` and to the structured ops in them.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseLoopsPass : Pass<"tilewright-raise-loops", "::mlir::func::FuncOp"> {
  let summary = "Loops over memrefs become structured ops";
  let description = [{
    A nest of `affine.for`, or of `scf.for`, around loads, stores and arithmetic becomes
    a `linalg.generic` on memrefs for each store, one after the other, if dependences
    allow that and places are sums of loops. Loops in the place of the store are
    parallel, others reductions. Bounds that depend on other loops, `affine.if` and
    `scf.if` become choices between the new element and the old one over a rectangle.
    `affine.for` that does not become a structured op is an error that names the pair of
    accesses; `scf.for` stays on the host, its body is tried, and a remark says why if
    elements are loaded and stored there then.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def RaiseMemrefsPass : Pass<"tilewright-raise-memrefs", "::mlir::func::FuncOp"> {
  let summary = "Bring structured ops on memrefs to tensors";
  let description = [{
    Every memref gets a current tensor value: `bufferization.to_tensor
    restrict writable` of an argument, `tensor.empty` for an allocation, the
    result of the structured op that wrote it last. Values written inside
    `scf.for` and `scf.if` are carried out of them. At the end of the function
    arguments that were written receive their value by
    `bufferization.materialize_in_destination`. Arguments are taken not to
    overlap. Views (`memref.subview`, `cast`, `transpose`, `expand_shape`,
    `collapse_shape`) are slices and reshapes of the value of what they view,
    and written by putting the slice back. Calls with memrefs are refused, and ops
    that write a part of a memref and read an overlapping one at another place; where
    offsets of a run decide that, a `cf.assert` is added.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def PrepareIrregularPass
    : Pass<"tilewright-prepare-irregular", "::mlir::func::FuncOp"> {
  let summary = "Bring scatters, scans and sorts into the forms that have kernels";
  let description = [{
    The updates of a `tilewright.scatter` are counted by one dim. A `tilewright.scan` is
    along the second of three dims. A `tilewright.sort`
    becomes one of runs, and a loop of merges; where slices take the first elements alone,
    another loop drops the others. A `tilewright.top_k` becomes slices of a sort, a
    `tilewright.nonzero` a scan of what is not zero, and a scatter to where that counts,
    a `tilewright.unique` a sort, a scan of where it differs, and scatters, a
    `tilewright.fft` products with constant matrices.
  }];
  let options = [Option<"keepSorts", "keep-sorts", "bool", /*default=*/"false",
                        "leave sorts as they are, for the oracle">];
  let dependentDialects = ["::tilewright::TilewrightDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif
