// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One nest of loops over memrefs on its way to structured ops: brought to affine form
// (AffineNest.cpp), then built, statement by statement (BuildStatements.cpp).

#ifndef TILEWRIGHT_LIB_INPUT_NESTRAISER_H
#define TILEWRIGHT_LIB_INPUT_NESTRAISER_H

#include "LoopStatements.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// Why a nest stays as it is, where, and what else has to do with it.
struct NestRefusal {
  mlir::Operation *op;
  std::string reason;
  mlir::Operation *other = nullptr;
};

/// A view of what an access reaches, and the map from the loops to its dims.
struct AccessView {
  mlir::Value memref;
  mlir::AffineMap map;
};

/// What has to hold where a statement is carried out: `map` of `operands` is not negative,
/// or 0; or a number of i1, where there is no map.
struct Condition {
  mlir::AffineMap map;
  llvm::SmallVector<mlir::Value> operands;
  bool isEquality;
};

/// A load that a choice of values needs on both ways.
inline constexpr llvm::StringLiteral kAlwaysLoaded = "tilewright.always_loaded";

class NestRaiser {
public:
  explicit NestRaiser(mlir::Operation *nest) : nest(nest), b(nest) {}
  /// Puts structured ops in the place of the nest; else leaves the nest as it is.
  mlir::LogicalResult run();
  /// Why the nest stays, for whoever says so; nothing of a loop around kernels and calls.
  std::optional<std::pair<mlir::Location, std::string>> why;
  std::optional<mlir::Location> other;
  /// Whether that is a dependence between iterations, and nothing else is known of the nest.
  bool isDependence = false;

private:
  std::optional<NestRefusal> refuse(mlir::Operation *op, const llvm::Twine &reason,
                                    mlir::Operation *other = nullptr) {
    return NestRefusal{op, reason.str(), other};
  }
  std::optional<NestRefusal> checkOps();
  std::optional<NestRefusal> countInIndices(mlir::scf::ForOp loop);
  mlir::AffineMap mapOf(mlir::ValueRange values, llvm::SmallVectorImpl<mlir::Value> &operands);
  std::optional<NestRefusal> loopToAffine(mlir::scf::ForOp loop);
  std::optional<NestRefusal> accessToAffine(mlir::Operation *op);
  std::optional<NestRefusal> toAffine();
  std::optional<mlir::AffineExpr> exprOf(mlir::Value value,
                                         llvm::SmallVectorImpl<mlir::Value> &operands);
  std::optional<mlir::AffineExpr>
  exprOf(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &operands,
         llvm::DenseMap<mlir::Value, mlir::AffineExpr> &known);
  std::optional<NestRefusal> setTrips(llvm::ArrayRef<mlir::affine::AffineForOp> loops);
  std::optional<NestRefusal> keepCarried();
  mlir::Value standInFor(mlir::Value value);
  void dropStandIns();

  // NestConditions.cpp
  bool addConstraints(mlir::Value condition,
                      llvm::SmallVectorImpl<mlir::AffineExpr> &constraints,
                      llvm::SmallVectorImpl<bool> &equalities,
                      llvm::SmallVectorImpl<mlir::Value> &operands);
  void splitConditions();
  std::optional<NestRefusal> selectValues();
  std::optional<NestRefusal> checkDependences();

  // NestRectangles.cpp
  using DoneSet = llvm::SmallDenseSet<std::pair<mlir::Operation *, unsigned>>;
  static bool isRectangle(const Statement &statement);
  mlir::Value largestOf(mlir::AffineMap map, mlir::ValueRange operands);
  bool makeRectangle(mlir::affine::AffineForOp loop);
  void beginAt(mlir::affine::AffineForOp loop, mlir::AffineExpr from,
               llvm::ArrayRef<mlir::Value> operands);
  void narrowByConditions(Statement &statement, DoneSet &done);
  void collectConditions(Statement &statement, const DoneSet &done);
  bool isNatural(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> operands);
  std::optional<NestRefusal> narrowByMemref(mlir::Operation *access, Statement &statement);
  std::optional<NestRefusal> isolate(Statement &statement);

  // BuildStatements.cpp
  mlir::OpFoldResult offsetOf(mlir::Value memref, int64_t dim, mlir::AffineMap offset,
                              llvm::SmallVector<mlir::OpFoldResult> inputs,
                              mlir::OpFoldResult size);
  mlir::OpFoldResult reachOf(llvm::ArrayRef<std::pair<unsigned, int64_t>> terms,
                             mlir::Location loc);
  OrRefusal<AccessView> viewOf(mlir::Operation *access, Statement &statement, bool isStore);
  void addWindow(Statement &statement, llvm::SmallVectorImpl<mlir::Value> &inputs,
                 llvm::SmallVectorImpl<mlir::AffineMap> &maps);
  std::optional<NestRefusal> build(Statement &statement);
  void buildBody(Statement &statement, const mlir::IRMapping &loads, mlir::Value old,
                 mlir::OpBuilder &b, mlir::Location loc);

  mlir::Operation *nest;
  mlir::OpBuilder b;
  /// Iterations of each loop of the statement that is built.
  llvm::SmallVector<mlir::OpFoldResult> trips;
  /// The conditions of that statement.
  llvm::SmallVector<Condition> conditions;
  /// The nests that statements have of their own.
  llvm::SmallVector<mlir::Operation *> copies;
  /// Values of the function's top level, each for one that is not of it.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> standIns;
  /// What holds the values that the nest itself gives.
  llvm::SmallVector<mlir::Value> given;
};

} // namespace tilewright

#endif
