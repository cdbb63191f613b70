// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One nest of loops over memrefs on its way to structured ops: brought to affine form
// (AffineNest.cpp), then built, statement by statement (RaiseLoops.cpp).

#ifndef TILEWRIGHT_LIB_INPUT_NESTRAISER_H
#define TILEWRIGHT_LIB_INPUT_NESTRAISER_H

#include "LoopStatements.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// Why a nest stays as it is, where, and what else has to do with it.
struct Refusal {
  mlir::Operation *op;
  std::string reason;
  mlir::Operation *other = nullptr;
};

/// A view of what an access reaches, and the map from the loops to its dims.
struct AccessView {
  mlir::Value memref;
  mlir::AffineMap map;
};

class NestRaiser {
public:
  explicit NestRaiser(mlir::Operation *nest) : nest(nest), b(nest) {}
  /// Puts structured ops in the place of the nest; else says why not, unless it is a host
  /// loop around something else or `quiet`, and leaves the nest as it is.
  mlir::LogicalResult run(bool quiet);
  /// Whether a remark was made.
  bool said = false;

private:
  std::optional<Refusal> refuse(mlir::Operation *op, const llvm::Twine &reason,
                                mlir::Operation *other = nullptr) {
    return Refusal{op, reason.str(), other};
  }
  std::optional<Refusal> checkOps();
  std::optional<Refusal> toAffine();
  std::optional<mlir::AffineExpr> exprOf(mlir::Value value,
                                         llvm::SmallVectorImpl<mlir::Value> &operands);
  std::optional<Refusal> setTrips(llvm::ArrayRef<mlir::affine::AffineForOp> loops);
  std::optional<Refusal> keepCarried();
  mlir::FailureOr<AccessView> viewOf(mlir::Operation *access, Statement &statement,
                                     bool isStore, std::string &reason);
  void addWindow(Statement &statement, llvm::SmallVectorImpl<mlir::Value> &inputs,
                 llvm::SmallVectorImpl<mlir::AffineMap> &maps);
  std::optional<Refusal> build(Statement &statement);
  void buildBody(Statement &statement, const mlir::IRMapping &loads, mlir::OpBuilder &b,
                 mlir::Location loc);

  mlir::Operation *nest;
  mlir::OpBuilder b;
  /// Iterations of each loop of the statement that is built.
  llvm::SmallVector<mlir::OpFoldResult> trips;
  /// What holds the values that the nest itself gives.
  llvm::SmallVector<mlir::Value> given;
};

} // namespace tilewright

#endif
