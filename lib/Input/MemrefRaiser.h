// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How memrefs become tensors: see RaiseMemrefs.cpp.

#ifndef TILEWRIGHT_LIB_INPUT_MEMREFRAISER_H
#define TILEWRIGHT_LIB_INPUT_MEMREFRAISER_H

#include "Views.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright {

inline bool isMemref(mlir::Value value) {
  return mlir::isa<mlir::BaseMemRefType>(value.getType());
}

inline mlir::RankedTensorType tensorOf(mlir::Value memref) {
  auto type = mlir::cast<mlir::MemRefType>(memref.getType());
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType());
}

/// Keeps, for each memref of a function, the tensor that it holds.
class MemrefRaiser {
public:
  explicit MemrefRaiser(mlir::func::FuncOp func)
      : func(func), rewriter(func.getContext()) {}
  mlir::LogicalResult run();

private:
  mlir::LogicalResult raiseBlock(mlir::Block &block);
  mlir::LogicalResult raiseOp(mlir::Operation *op);
  mlir::LogicalResult raiseStructured(mlir::DestinationStyleOpInterface op);
  mlir::LogicalResult raiseFor(mlir::scf::ForOp op);
  mlir::LogicalResult raiseIf(mlir::scf::IfOp op);
  mlir::LogicalResult raiseCopy(mlir::memref::CopyOp op);
  mlir::LogicalResult raiseLoads(mlir::DestinationStyleOpInterface op);

  /// What `memref`, or a view, holds here; ops are made at the insertion point.
  mlir::Value read(mlir::Location loc, mlir::Value memref);
  void write(mlir::Location loc, mlir::Value memref, mlir::Value value);

  mlir::func::FuncOp func;
  mlir::IRRewriter rewriter;
  /// What each memref that is no view holds at the point that is being raised.
  llvm::DenseMap<mlir::Value, mlir::Value> current;
  /// Those that something was written into.
  llvm::DenseSet<mlir::Value> stored;
};

} // namespace tilewright

#endif
