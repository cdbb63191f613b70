// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions by the names that targets list (fact `mma`) and lowering
// configs give:
//
//   mma.m16n8k16.f16.f32   A: 16x16 f16, B: 16x8 f16, accumulator: 16x8 f32,
//                          by one warp
//   mma.m16n8k32.u8.s32    unsigned bytes (in i8), i32 accumulator
//   mma.m16n8k32.s8.u8.s32 A of signed and B of unsigned bytes
//   mma.m16n8k64.s4.s32    nibbles, two in each i8: k is counted in bytes, 32
//   mma.m16n8k32.e4m3.f32  f8E4M3FN; e5m2 is f8E5M2
//   mma.m16n8k8.tf32.f32   f32 operands, rounded on the way in
//   wgmma.m64n256k16.bf16.f32   by a warpgroup of four warps, asynchronous; A and
//                          B are read out of shared memory
//   coopmat.m16n16k16.f16.f32   a cooperative matrix product of Vulkan: its
//                          fragments are opaque, see docs/ir.md
//   dot.m1n16k4.u8.s8.s32  (fact `panel_mma`) vectors of dot products on a CPU: 16
//                          columns of B, four bytes of a row of A for all of them
//   amx.m16n16k64.s8.s32   tile registers of a CPU

#ifndef TILEWRIGHT_DIALECT_MATRIXINSTRUCTION_H
#define TILEWRIGHT_DIALECT_MATRIXINSTRUCTION_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tilewright {

struct MatrixInstruction {
  /// In elements as the IR has them.
  int64_t m = 0, n = 0, k = 0;
  /// Numbers that one element of an operand holds along k: two of s4 or u4.
  int64_t perElement = 1;
  /// Of A and of B, and of C and D, as the IR has them (tf32 is f32, s8 is i8, two
  /// s4 are i8).
  mlir::Type operands[2], accumulator;
  /// "signed" or "unsigned": how integer operands are extended; else empty.
  llvm::StringRef signedness[2];
  /// Operands lose bits that the program's types have: only with --fp=tf32.
  bool rounds = false;
  /// Only the instruction knows which thread holds which element: fragments
  /// are converted through memory, which they are read from in any order.
  bool opaque = false;
  /// Four warps work on it together and go on before it is done; its operands are
  /// in shared memory.
  bool warpgroup = false;
  /// Of a CPU: multiplies operands that are packed into panels of memory, in which
  /// `perWord()` numbers along k lie side by side. Of fewer rows than `m`, too.
  bool panels = false;
  /// Its operands and accumulators are in tile registers (AMX).
  bool tiles = false;

  /// Bits of an element of A, and of B.
  unsigned operandBits() const { return operands[0].getIntOrFloatBitWidth(); }

  /// Numbers along k in the 32 bits that a lane multiplies.
  int64_t perWord() const { return 32 / operandBits(); }

  /// Dot products multiply unsigned by signed bytes: of two signed or two unsigned operands
  /// each byte of the accumulator's rows is packed with its sign bit flipped.
  bool turnsRows() const {
    return panels && !tiles && !signedness[0].empty() && signedness[0] == signedness[1];
  }

  /// Nothing where `name` is not understood.
  static std::optional<MatrixInstruction> parse(mlir::MLIRContext *context,
                                                llvm::StringRef name);
};

} // namespace tilewright

#endif
