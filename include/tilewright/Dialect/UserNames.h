// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What errors call things: as the user wrote them. MLIR forgets names, and ops
// change theirs; locations go along with every rewrite. The compiler puts the
// names into them right after parsing:
//
//   %r = linalg.matmul …     loc(file:4:8)
//   -> loc("linalg.matmul"("%r"(file:4:8)))
//   func.func @f(%x: …)      loc(file:1:13)  ->  loc("%x"(file:1:13))
//
// Where there are no names, as in IR that a test has written, ops are called by
// their own and operands by their numbers.

#ifndef TILEWRIGHT_DIALECT_USERNAMES_H
#define TILEWRIGHT_DIALECT_USERNAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace tilewright {

/// `loc` with the name of an op and of its results (either may be empty).
mlir::Location nameLocation(mlir::Location loc, llvm::StringRef op,
                            llvm::StringRef value);

/// The op that the user wrote at `loc`, "linalg.matmul"; empty where unknown.
llvm::StringRef getWrittenOp(mlir::Location loc);

/// The op as the user wrote it, or as it is now.
llvm::StringRef nameOp(mlir::Operation *op);

/// The same and where it was written: "linalg.matmul (line 12)".
std::string nameOpAndLine(mlir::Operation *op);

/// `name`, what the user knows `op` by, and where it was written: "attention (line 12)".
std::string addLine(llvm::StringRef name, mlir::Operation *op);

/// What the user calls `value`, "%x", through casts, slices and reshapes; empty
/// where unknown.
llvm::StringRef getWrittenName(mlir::Value value);

/// "%x", or "operand 0".
std::string nameOperand(mlir::OpOperand &operand);

/// "operand 0 (%x)", or "operand 0": where a config speaks of its number.
std::string numberOperand(mlir::OpOperand &operand);

} // namespace tilewright

#endif // TILEWRIGHT_DIALECT_USERNAMES_H
