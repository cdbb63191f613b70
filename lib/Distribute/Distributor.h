// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over a kernel in block form (Distribute.cpp; loops, branches and roles in
// ControlFlow.cpp).

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_DISTRIBUTOR_H
#define TILEWRIGHT_LIB_DISTRIBUTE_DISTRIBUTOR_H

#include "ThreadCode.h"

namespace tilewright {

class Distributor {
public:
  Distributor(mlir::func::FuncOp source, mlir::func::FuncOp target, LaunchAttr launch)
      : code(source, target, launch) {}
  mlir::LogicalResult block(mlir::Block &source);

  ThreadCode code;

private:
  mlir::LogicalResult op(mlir::Operation *op);
  mlir::LogicalResult scalar(mlir::Operation *op);
  /// DistributeConstant.cpp.
  mlir::LogicalResult constant(mlir::arith::ConstantOp op);
  mlir::LogicalResult elementwise(mlir::Operation *op);
  mlir::LogicalResult broadcast(mlir::vector::BroadcastOp op);
  mlir::LogicalResult sameRegisters(mlir::Operation *op);
  mlir::LogicalResult interleave(mlir::vector::InterleaveOp op);
  mlir::LogicalResult mask(mlir::vector::CreateMaskOp op);
  mlir::LogicalResult mask(mlir::vector::ConstantMaskOp op);
  mlir::LogicalResult mask(mlir::Operation *op, llvm::ArrayRef<Index> bounds,
                           llvm::ArrayRef<int64_t> divisors);
  mlir::LogicalResult step(mlir::vector::StepOp op);
  mlir::LogicalResult loop(mlir::scf::ForOp op);
  mlir::LogicalResult branch(mlir::scf::IfOp op);
  mlir::LogicalResult loop(mlir::scf::WhileOp op);
  mlir::LogicalResult eachThread(mlir::scf::ForallOp op);
  mlir::LogicalResult warps(WarpsOp op);
  mlir::LogicalResult ofOneBlock(mlir::Operation *op);
  mlir::LogicalResult dim(mlir::memref::DimOp op);
  /// Scalars and registers of values, flattened; those whose entry of `carried` is an
  /// accumulator that stays packed (staysPacked), by pairs.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> flatten(mlir::ValueRange values, mlir::ValueRange carried = {});
  /// The reverse: defines `values` from flat ones.
  mlir::LogicalResult unflatten(mlir::ValueRange values, mlir::ValueRange flat, mlir::ValueRange carried = {});
};

} // namespace tilewright

#endif
