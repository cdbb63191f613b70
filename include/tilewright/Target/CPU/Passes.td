// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_CPU_PASSES
#define TILEWRIGHT_TARGET_CPU_PASSES

include "mlir/Pass/PassBase.td"

def ReadPaddingPass : Pass<"tilewright-read-padding", "::mlir::func::FuncOp"> {
  let summary = "reads of padded operands touch what is inside only";
  let description = [{
    What `tilewright.padding` says of an argument becomes code: tiles inside of the
    source are read as they are, others element by element through the stack.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def CallLibrariesPass : Pass<"tilewright-call-libraries", "::mlir::ModuleOp"> {
  let summary = "products that a library computes as calls of its functions";
  let description = [{
    `tilewright.gemm` becomes a call of `cblas_sgemm` or `cblas_dgemm`, or a loop of them
    over the matrices of a batch. Strides follow from the operands' dims.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def FlattenArgumentsPass
    : Pass<"tilewright-flatten-arguments", "::mlir::func::FuncOp"> {
  let summary = "the kernel ABI for block form: buffers, then scalars";
  let description = [{
    The CPU's stand-in for `tilewright-distribute`. The arguments of a kernel
    become its memrefs in order, then one `index` per dynamic dim, then the
    host's scalars, described by `tilewright.scalars`. `memref.dim` of an
    argument becomes that scalar. Buffers of i1 become buffers of i8.
  }];
  let dependentDialects = ["::tilewright::TilewrightDialect",
                           "mlir::arith::ArithDialect"];
}

def ReadRunsPass : Pass<"tilewright-read-runs", "::mlir::func::FuncOp"> {
  let summary = "gathers of neighbours become reads";
  let description = [{
    Where the index of a gather goes up or down by one from lane to lane, or is the same in all
    of them, and no bound that it is held to comes into effect, which is found out at run time,
    the elements are read at once, reversed if need be.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::ub::UBDialect",
                           "mlir::vector::VectorDialect"];
}

def UnrollVectorsPass : Pass<"tilewright-unroll-vectors", "::mlir::func::FuncOp"> {
  let summary = "vectors of block form as rows that fit vector registers";
  let description = [{
    Matrix products become fused multiply-adds of rows, transfers become
    transfers of rows under masks, reductions become operations on rows, and
    loops carry rows. Rows are as long as the last dim; the code generator cuts
    them into registers.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::vector::VectorDialect", "mlir::ub::UBDialect"];
}

def FuseRowLoopsPass : Pass<"tilewright-fuse-row-loops", "::mlir::func::FuncOp"> {
  let summary = "loops over the same tiles become one where they do not wait for each other";
  let description = [{
    Of two loops, or nests of them, one after the other that read the same tiles of a row, the
    second moves into the first where it needs nothing that the first computes and writes
    nothing. What both compute is computed once. Squares of distances to the first one's mean
    are summed up around a running mean; of less than 32 registers, not of numbers that are
    widened, whose distances are kept instead (tilewright-keep-computed-rows).
  }];
  let options = [Option<"registers", "registers", "int64_t", "32",
                        "vector registers of the target">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def KeepComputedRowsPass : Pass<"tilewright-keep-computed-rows", "::mlir::func::FuncOp"> {
  let summary = "what two loops over a row compute is computed once";
  let description = [{
    Transcendental functions of the same values in two loops one after the other, as the
    sum and the result of a softmax have, and what takes more steps than a store and a load,
    are stored in the first and read in the others.
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "256 * 1024",
                        "the most that a block may keep">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::vector::VectorDialect"];
}

def PipelineRowsPass : Pass<"tilewright-pipeline-rows", "::mlir::func::FuncOp"> {
  let summary = "results of a row are stored while the next row is computed";
  let description = [{
    Of several loops over a row one after the other the last one, which writes results, runs
    beside one of those of the next row, in one loop: stores past the caches take as long as
    what the others compute, or as what the only other one waits for memory. Rows have to be a
    known number, two or more, four of the latter. Of less than 32 registers, the other loop
    computes an exponential. What was done, or what stands against it, is said to --explain.
  }];
  let options = [Option<"pipelines", "pipelines", "bool", "true",
                        "false: only say that the target does not">,
                 Option<"registers", "registers", "int64_t", "32",
                        "vector registers of the target">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def PrefetchRowsPass : Pass<"tilewright-prefetch-rows", "::mlir::func::FuncOp"> {
  let summary = "loops over the same row prefetch the next";
  let description = [{
    Where loops, or nests of loops, one after the other read the same rows, the first of them
    would wait for memory. Those that read these rows prefetch those of the next tile, each a
    part of its lines that is as large as the loop's part of the work.
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "256 * 1024",
                        "the most that the rows of a tile may have">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def PrefetchEpiloguesPass : Pass<"tilewright-prefetch-epilogues", "::mlir::func::FuncOp"> {
  let summary = "what is done to products prefetches its tiles";
  let description = [{
    Tiles of inputs and results that are read and written behind a loop over the sums of a
    product are prefetched in front of it, a line at a time.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def Avx2MathPass : Pass<"tilewright-avx2-math", "::mlir::func::FuncOp"> {
  let summary = "functions of f32 by lookups in registers of AVX2, four registers at a time";
  let description = [{
    Greatest and least numbers as in tilewright-avx512-math. Exponentials and GELU look up
    numbers in a register; other functions are split into registers. Errors are within the
    bounds of the expansions; functions of 16-bit floats are computed in f32.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::math::MathDialect", "mlir::ub::UBDialect",
                           "mlir::vector::VectorDialect"];
}

def Avx512MathPass : Pass<"tilewright-avx512-math", "::mlir::func::FuncOp"> {
  let summary = "functions of f32 that AVX-512 has instructions for";
  let description = [{
    Greatest and least numbers become calls of LLVM's intrinsics, or comparisons where one
    operand is never NaN. Exponentials, the error function, hyperbolic tangents and GELU look
    up numbers in registers; their errors are within the bounds of the expansions, and those of
    16-bit floats are computed in f32.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::math::MathDialect", "mlir::ub::UBDialect",
                           "mlir::vector::VectorDialect"];
}

def ScanVectorsPass : Pass<"tilewright-scan-vectors", "::mlir::func::FuncOp"> {
  let summary = "scans of elements side by side go on a cache line at a time";
  let description = [{
    The elements of a line are combined with those before them within a vector, and then with
    what is before the line. The combiner is associative; the order of elements stays.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def StreamStoresPass : Pass<"tilewright-stream-stores", "::mlir::func::FuncOp"> {
  let summary = "stores of large results pass the caches by";
  let description = [{
    Vectors of whole cache lines that a kernel writes into a result which no cache keeps
    are stored non-temporally, where the kernel neither reads the result nor sums up a
    product in it. That are results of a quarter of a cache, of kernels whose buffers are
    larger than it. Of dynamic sizes that is found out at run time.
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "32 * 1024 * 1024",
                        "the size of a cache">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def LowerTilesPass : Pass<"tilewright-lower-tiles", "::mlir::func::FuncOp"> {
  let summary = "products of packed panels in tile registers (AMX)";
  let description = [{
    The loop over a product by an instruction `amx.…` carries tile registers
    instead of its accumulator, which goes to and comes from memory around it.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::memref::MemRefDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::vector::VectorDialect"];
}

def CarrySinglesPass : Pass<"tilewright-carry-singles", "::mlir::func::FuncOp"> {
  let summary = "loops carry f32 where their steps compute f16 or bf16 in f32";
  let description = [{
    Behind `arith-emulate-unsupported-floats`, whose casts have `contract`: numbers that a loop
    carries are not rounded and widened in each step, as those between ops are not.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def FoldExactCastsPass : Pass<"tilewright-fold-exact-casts"> {
  let summary = "bytes as f16 or bf16, widened to f32, are not rounded in between";
  let description = [{
    The significand of f16 and bf16 has eight bits at least, so a byte is what it is as
    f32 in either: the integer is converted to f32 at once.
  }];
}

def DivideRowsPass : Pass<"tilewright-divide-rows", "::mlir::func::FuncOp"> {
  let summary = "quotients of a row by one number that become f16 or bf16 are products with its reciprocal";
  let description = [{
    The number is divided by a power of two first, so that the reciprocal and the products
    are in the range of f32 where the quotients are. These are off by at most 3 units in the last place of
    f32 before they are rounded.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def DivideVectorsPass : Pass<"tilewright-divide-vectors"> {
  let summary = "quotients and remainders of vectors of integers through floats, exactly";
  let description = [{
    x86 has no division of vectors of integers. Those of 32 bits are divided as f64, those of 16
    and 8 bits as f32, whose quotients have the right integer part. With `divide-long` those of 64
    bits are multiplied by a reciprocal of f64, twice, and what is left is compared with the
    divisor; AVX-512 has the conversions and the product for that. What is divided by a constant stays
    for the code generator up to 32 bits.
  }];
  let options = [Option<"divideLong", "divide-long", "bool", "false", "Integers of 64 bits, too">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def ConvertToCPUPass : Pass<"tilewright-convert-to-cpu", "::mlir::ModuleOp"> {
  let summary = "puts the C interface of CPU kernels in front of a kernel";
  let description = [{
    `void kernel(const uint64_t *params, uint32_t x, uint32_t y, uint32_t z)`
    unpacks its parameters and calls the kernel, whose block number is x.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect"];
}

#endif
