// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element of a tensor is computed from, through any number of elementwise ops:
// a tree of scalar ops over elements of other tensors, constants and coordinates.
// However a program spreads a formula over linalg.generics, the tree is the same.
//
//   %b = generic (i, j): %a[i, j] * 0.5          element (x, y) of %d:
//   %d = generic (i, j): exp(%b[j, i])    ->     exp(%a[y, x] * 0.5)

#ifndef TILEWRIGHT_LIB_DISPATCH_ELEMENTEXPRESSION_H
#define TILEWRIGHT_LIB_DISPATCH_ELEMENTEXPRESSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <deque>
#include <optional>

namespace tilewright {

/// Coordinates are numbers that the user of the trees chooses, one for each loop.
using Coordinates = llvm::SmallVector<unsigned>;

struct ElementExpression {
  enum Kind { Scalar, Constant, Element, Coordinate };
  Kind kind = Element;
  /// Scalar: the op, and what it is applied to.
  mlir::Operation *op = nullptr;
  llvm::SmallVector<const ElementExpression *, 3> operands;
  /// Constant: of a float.
  double constant = 0;
  /// Element: of this tensor (or the scalar itself), at these coordinates.
  mlir::Value tensor;
  Coordinates coordinates;
  /// Coordinate: which one.
  unsigned coordinate = 0;

  bool is(llvm::StringRef name) const;
  /// The number, of a constant.
  std::optional<double> getConstant() const;
};

bool isSame(const ElementExpression &left, const ElementExpression &right);

/// Makes trees and keeps them.
class ElementExpressions {
public:
  /// Element `at` of `tensor`.
  const ElementExpression *ofElement(mlir::Value tensor, mlir::ArrayRef<unsigned> at);
  /// `value` in the body of `op`, whose loops are `loops`.
  const ElementExpression *ofScalar(mlir::linalg::GenericOp op, mlir::Value value,
                                    mlir::ArrayRef<unsigned> loops);

private:
  const ElementExpression *add(ElementExpression expression) {
    kept.push_back(std::move(expression));
    return &kept.back();
  }
  std::deque<ElementExpression> kept;
};

/// The coordinates of `operand`'s element at `loops` of its op.
Coordinates coordinatesOf(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                          mlir::ArrayRef<unsigned> loops);
/// What the loops of `op` are, reductions `reduced`, where its result's element is `at`.
Coordinates loopsAt(mlir::linalg::LinalgOp op, mlir::OpResult result,
                    mlir::ArrayRef<unsigned> at, unsigned reduced);

} // namespace tilewright

#endif
