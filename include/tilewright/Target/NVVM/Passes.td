// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_NVVM_PASSES
#define TILEWRIGHT_TARGET_NVVM_PASSES

include "mlir/Pass/PassBase.td"

def ConvertToNVVMPass : Pass<"tilewright-convert-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "thread form without structured control flow to the NVVM dialect";
  let description = [{
    Converts every kernel (docs/ir.md, thread form, after scf-to-cf) to an
    `llvm.func` with the kernel ABI of docs/abi.md:

      * `memref<?xT>` arguments become `!llvm.ptr<1>`, `noalias`, 16-byte
        aligned, and `readonly` where `tilewright.access` is "read";
      * `index` is i32, or i64 with `tilewright.index_bits = 64`;
      * other scalars smaller than 32 bits are passed as i32;
      * shared memory becomes globals in address space 3; from more than
        48 KiB on, one dynamic array whose size is recorded on the function as
        `tilewright.dynamic_shared`.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect",
                           "mlir::NVVM::NVVMDialect"];
}

def DependentLaunchPass : Pass<"tilewright-dependent-launch", "::mlir::ModuleOp"> {
  let summary = "kernels wait themselves for those in front of them";
  let description = [{
    Writes `griddepcontrol.wait` in front of the first op of each kernel that reads or writes what
    other kernels see, and `griddepcontrol.launch_dependents` behind it (sm_90 and newer). Such
    kernels have `"dependent_launch": true` in the manifest, and are launched as programmatic
    dependents (docs/abi.md).
  }];
  let dependentDialects = ["mlir::NVVM::NVVMDialect"];
}

def ShareReciprocalsPass : Pass<"tilewright-share-reciprocals"> {
  let summary = "divide by what several quotients share by its reciprocal and a correction";
  let description = [{
    Quotients of f32 by one number, of which a thread has several, are products with its
    reciprocal, corrected by what is left (0.5 + 2^-22 units in the last place). Quotients
    that become 16 bits are not corrected.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def NativeFloat8Pass : Pass<"tilewright-native-float8"> {
  let summary = "conversions of f8E4M3FN and f8E5M2 by the instructions that the hardware has";
  let description = [{
    Extensions become `cvt.rn.f16x2.e4m3x2`, or bits of f16, roundings `cvt.rn.satfinite` of two
    numbers (sm_89), with NaN or infinity of what is too large.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::vector::VectorDialect"];
}

def NativeExtremaPass : Pass<"tilewright-native-extrema"> {
  let summary = "the greater and the lesser of two numbers by one instruction";
  let description = [{
    `arith.maxnumf` and `minnumf` of f32 become `max` and `min`; from sm_80 on those of f16
    and bf16, too, and `maximumf` and `minimumf`, and selections that follow a comparison with a
    constant (`%x > 0 ? %x : 0`), become these and `max.NaN` and `min.NaN`, by what they make of NaN.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect"];
}

def NativeMathPass : Pass<"tilewright-native-math"> {
  let summary = "math by the instructions that the hardware has";
  let description = [{
    `math.exp2` of f32 that may be approximate (fastmath<afn>) becomes `ex2.approx.ftz`,
    within 2^-22 of the result.
    `math.exp` of f32 and narrower floats is `ex2.approx.ftz` of what is left of an integer power
    of two, within 3 units in the last place of f32; `math.tanh` is made of `ex2.approx` and
    `rcp.approx`, within 4, and of a polynomial next to zero. `math.rsqrt` is `rsqrt.approx`,
    within 2.2. A quotient from which nothing but products and roundings to 16 bits are made, or
    of which an operand is made of an exponential, is `div.full.f32`, within 2 of them.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::LLVM::LLVMDialect"];
}

#endif
