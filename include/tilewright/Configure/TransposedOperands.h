// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose operands warpgroups do not read as they lie. Instructions of warpgroups read
// operands of 16 bits out of shared memory in either order, all others along K alone; registers
// transpose one operand (A), so that a product with K across the rows of both,
//
//   A: K x M, B: K x N     int8, fp8, tf32
//
// is one of warps (mma.sync), at a third of the speed. A kernel in front of it that writes one
// of the two transposed, N x K, takes as long as to read and write that operand once.
//
// Nor do copy engines read rows that are no whole 16 bytes. Operands of 16 bits whose columns are,
//
//   A: M x K, B: K x N     f16, bf16; N = 50257
//
// are transposed in front, too, and multiplied in that order.

#ifndef TILEWRIGHT_CONFIGURE_TRANSPOSEDOPERANDS_H
#define TILEWRIGHT_CONFIGURE_TRANSPOSEDOPERANDS_H

#include "tilewright/Configure/PredictTime.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace tilewright {

/// Operands that are worth a kernel each that transposes them in front of the product.
struct TransposedOperands {
  /// Numbers among the inputs, ascending.
  llvm::SmallVector<unsigned> numbers;
  /// By loop, what a dynamic extent must be for it to pay: at least so many, and a multiple of
  /// so many, as copy engines want rows. 0 and 1 where it is known, or a pinned config decides.
  llvm::SmallVector<int64_t> atLeast, multipleOf;
  /// Whether warpgroups multiply then, or warps that read along K.
  bool forWarpgroups = true;
  /// Whether they are transposed for their rows to be whole 16 bytes.
  bool forAlignment = false;
  /// What was predicted, or who decides.
  std::string why;
};

/// What the product that `ops` end in takes in all of the kernels that it becomes, and the config
/// of the first of them.
using PredictProduct =
    llvm::function_ref<std::optional<PredictedKernel>(llvm::ArrayRef<mlir::linalg::LinalgOp> ops)>;

/// Which operands of `product` to transpose in memory, or why none, in numbers. A pinned config
/// decides by what it has in shared memory (`promote`).
OrRefusal<TransposedOperands> chooseTransposed(mlir::linalg::LinalgOp product, TargetAttr target,
                                               PredictProduct predict);

/// Whether `value`, in front of all control flow of its function, is data of the program or what
/// is computed when it is loaded: a copy of it behind that is made once, too.
bool isKnownAtLoad(mlir::Value value);

/// How an operand of a product lies then: dim d of it is dim `result[d]` of what it is now, with
/// the product's K innermost, or M or N where K is now.
llvm::SmallVector<int64_t> transposedOrder(mlir::OpOperand &operand);

/// `source` in that order, by an op that copies.
mlir::linalg::GenericOp createTransposedCopy(mlir::OpBuilder &b, mlir::Location loc,
                                             mlir::Value source, llvm::ArrayRef<int64_t> order);
/// Whether `op` writes a copy that the compiler added, which no reader takes into its kernel:
/// it has `tilewright.copies`, or its body `tilewright.identity`.
bool isAddedCopy(mlir::linalg::LinalgOp op);

} // namespace tilewright

#endif
