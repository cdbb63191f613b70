// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function of the oracle with bounds beside its values; see
// BoundErrors.cpp.

#ifndef TILEWRIGHT_LIB_TARGET_REFERENCE_BOUNDER_H
#define TILEWRIGHT_LIB_TARGET_REFERENCE_BOUNDER_H

#include "ErrorRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace tilewright {

/// The function that callers inside of the program use: bounds of arguments
/// come in behind the arguments, those of results go out behind the results.
std::string getPairName(llvm::StringRef function);

/// One clone of a function.
class Bounder {
public:
  /// `float8Sums`: kFloat8SumsAttr, or empty.
  Bounder(mlir::func::FuncOp func, bool isEntry, bool tracksIntegers,
          bool isTf32, llvm::ArrayRef<int64_t> float8Sums)
      : func(func), builder(func.getContext()), rules(builder),
        isEntry(isEntry), tracksIntegers(tracksIntegers), isTf32(isTf32),
        float8Sums(float8Sums) {}
  mlir::LogicalResult run();

private:
  bool isTracked(mlir::Type type);
  mlir::Type companionType(mlir::Type type);
  mlir::Value zerosLike(mlir::Location loc, mlir::Value value);
  mlir::Value filled(mlir::Location loc, mlir::Value memref, double value);
  mlir::Value fill(mlir::Location loc, mlir::Value memref, double value);
  /// The companion of a value that must have one.
  mlir::Value materialize(mlir::Location loc, mlir::Value value);
  mlir::SmallVector<mlir::Value> materializeAll(mlir::Location loc,
                                                mlir::ValueRange values);

  void addArguments();
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitView(mlir::Operation *op, mlir::Value source);
  mlir::LogicalResult visitCall(mlir::func::CallOp call);
  void visitReturn(mlir::func::ReturnOp op);
  void visitBranch(mlir::BranchOpInterface branch);
  void visitCopy(mlir::memref::CopyOp copy);
  void visitScalar(mlir::Operation *op);
  mlir::LogicalResult visitGeneric(mlir::linalg::GenericOp op);
  void boundTerms(mlir::linalg::GenericOp op);
  void boundInit(mlir::Location loc, mlir::Value init, mlir::Value companion, mlir::Value each);
  void visitBody(mlir::Block &body);
  mlir::LogicalResult visitIf(mlir::scf::IfOp op);
  mlir::Value boundFloat8Sum(mlir::Operation *addition, mlir::Value terms);

  mlir::func::FuncOp func;
  mlir::OpBuilder builder;
  ErrorRules rules;
  bool isEntry, tracksIntegers, isTf32;
  llvm::ArrayRef<int64_t> float8Sums;
  /// Companions; a value without one is exact.
  llvm::DenseMap<mlir::Value, mlir::Value> companions;
  /// Of the additions of the generic op that is visited: what a term allows.
  llvm::DenseMap<mlir::Operation *, mlir::Value> perTerm;
};

} // namespace tilewright

#endif
