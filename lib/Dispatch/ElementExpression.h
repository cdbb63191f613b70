// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element of a tensor is computed from, through any number of elementwise ops,
// broadcasts and reshapes: a tree of scalar ops over elements of other tensors, constants
// and coordinates. However a program spreads a formula over linalg.generics, the tree is
// the same.
//
//   %b = generic (i, j): %a[i, j] * 0.5          element (x, y) of %d:
//   %d = generic (i, j): exp(%b[j, i])    ->     exp(%a[y, x] * 0.5)
//
// Where a reshape joins dims, a coordinate of the joined dim has parts, one for each, the
// outermost first; a coordinate without parts is an *atom*. Equal coordinates have equal
// atoms, whatever reshapes they came through.

#ifndef TILEWRIGHT_LIB_DISPATCH_ELEMENTEXPRESSION_H
#define TILEWRIGHT_LIB_DISPATCH_ELEMENTEXPRESSION_H

#include "Extent.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <map>
#include <optional>

namespace tilewright {

using Coordinates = llvm::SmallVector<unsigned>;

/// The coordinate along a dim of one, which has no atoms.
inline constexpr unsigned kUnitCoordinate = ~0u;

struct ElementExpression {
  enum Kind { Scalar, Constant, Element, Coordinate };
  Kind kind = Element;
  mlir::Type type;
  /// Scalar: the op, and what it is applied to. A value of an op with regions or several results
  /// is not simple: nothing is known of it but what it depends on.
  mlir::Operation *op = nullptr;
  llvm::SmallVector<const ElementExpression *, 3> operands;
  /// Constant: of a float.
  double constant = 0;
  /// Element: of this tensor (or the scalar itself), at these coordinates. Scalar: where
  /// an op computes it as an element, if one does.
  mlir::Value tensor;
  Coordinates coordinates;
  /// Coordinate: which one.
  unsigned coordinate = 0;

  bool is(llvm::StringRef name) const;
  bool isSimple() const;
  /// Whether it or something that it is computed from `isWanted`; each is asked once.
  bool anyOf(llvm::function_ref<bool(const ElementExpression &)> isWanted) const;
  /// The number, of a constant.
  std::optional<double> getConstant() const;
  /// An element of a tensor, not a scalar of the program.
  bool isElement() const {
    return kind == Element && mlir::isa<mlir::RankedTensorType>(tensor.getType());
  }
};

/// Makes trees and keeps them.
class ElementExpressions {
public:
  /// A coordinate from zero up to `extent`.
  unsigned addCoordinate(const Extent &extent);
  /// Reshapes that would cut `coordinate` are not seen through.
  void keepWhole(unsigned coordinate) { places[coordinate].isWhole = true; }
  Extent extentOf(unsigned coordinate) const;
  /// Its size, which may be dynamic.
  int64_t sizeOf(unsigned coordinate) const { return extentOf(coordinate).getStatic(); }
  Coordinates atomsOf(llvm::ArrayRef<unsigned> coordinates) const;
  bool isAtom(unsigned coordinate) const {
    return coordinate != kUnitCoordinate && places[coordinate].parts.empty();
  }

  /// Element `at` of `tensor`.
  const ElementExpression *ofElement(mlir::Value tensor, mlir::ArrayRef<unsigned> at);
  /// `value` in the body of `op`, whose loops are `loops`.
  const ElementExpression *ofScalar(mlir::linalg::GenericOp op, mlir::Value value,
                                    mlir::ArrayRef<unsigned> loops);
  /// Steps from an element of `tensor` to the one that ops which only move it read.
  void throughMoves(mlir::Value &tensor, Coordinates &at);
  bool isSame(const ElementExpression &left, const ElementExpression &right) const;
  /// The atoms that `expression` depends on, in order.
  Coordinates atomsOf(const ElementExpression &expression) const;

  /// A coordinate for each of `sizes`, which together are `coordinate`: false if its parts
  /// are others.
  bool split(unsigned coordinate, llvm::ArrayRef<Extent> sizes, Coordinates &parts);
  /// The coordinate whose parts are `coordinates`.
  unsigned join(llvm::ArrayRef<unsigned> coordinates);

private:
  bool isSame(const ElementExpression &left, const ElementExpression &right,
              llvm::DenseSet<std::pair<const ElementExpression *, const ElementExpression *>> &seen)
      const;
  const ElementExpression *add(ElementExpression expression) {
    kept.push_back(std::move(expression));
    return &kept.back();
  }
  const ElementExpression *find(mlir::Value tensor, mlir::ArrayRef<unsigned> at);
  bool throughReshape(mlir::Value &tensor, Coordinates &at);
  std::pair<unsigned, unsigned> cut(unsigned atom, const Extent &outerExtent,
                                    const Extent &innerExtent);
  bool takeDynamic(const Extent &wanted, bool isOutermost, Coordinates &left,
                   Coordinates &own);
  bool takeStatic(int64_t need, Coordinates &left, Coordinates &own);

  struct Place {
    Extent extent;
    Coordinates parts;
    bool isWhole = false;
  };
  std::vector<Place> places;
  std::deque<ElementExpression> kept;
  std::map<std::pair<void *, std::vector<unsigned>>, const ElementExpression *> elements,
      scalars;
};

/// The coordinates of `operand`'s element at `loops` of its op.
Coordinates coordinatesOf(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                          mlir::ArrayRef<unsigned> loops);
/// What the loops of `op` are, reductions `reduced`, where its result's element is `at`.
Coordinates loopsAt(mlir::linalg::LinalgOp op, mlir::OpResult result,
                    mlir::ArrayRef<unsigned> at, unsigned reduced);

/// How often loop `loop` of `op` runs, by an operand that tells.
Extent extentOfLoop(mlir::linalg::LinalgOp op, unsigned loop);

/// `tensor`, whose element is at `coordinates`, reshaped so that each dim is an atom, in
/// the order of `atoms`; null where sizes are not known.
mlir::Value reshapeToAtoms(mlir::OpBuilder &b, mlir::Value tensor,
                           llvm::ArrayRef<unsigned> coordinates,
                           const ElementExpressions &expressions, Coordinates &atoms);
/// A tensor with a dim for each of `atoms`, `innermost` last, whose elements are what
/// `write` makes, in the body of an elementwise op, of the scalars that `leaves` become
/// there; null where one cannot be computed in such a body. `sizeOf` knows sizes of atoms.
mlir::Value
writeTensor(mlir::OpBuilder &b, mlir::Location loc,
            llvm::ArrayRef<const ElementExpression *> leaves,
            const ElementExpressions &expressions, mlir::Type element,
            llvm::ArrayRef<unsigned> innermost,
            llvm::function_ref<mlir::OpFoldResult(unsigned)> sizeOf, Coordinates &atoms,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> write);

} // namespace tilewright

#endif
