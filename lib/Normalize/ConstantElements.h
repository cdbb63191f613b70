// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of integers that depend on coordinates and constants alone, computed by the folders of
// `arith`.

#ifndef TILEWRIGHT_LIB_NORMALIZE_CONSTANTELEMENTS_H
#define TILEWRIGHT_LIB_NORMALIZE_CONSTANTELEMENTS_H

#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {

/// The elements of a tensor of integers, in row-major order; one where all are the same. Null is
/// what nobody has written.
struct Elements {
  mlir::RankedTensorType type;
  std::vector<mlir::Attribute> values;

  bool isSplat() const { return values.size() == 1; }
  mlir::Attribute at(int64_t number) const { return values[isSplat() ? 0 : number]; }
};

/// The number of the element at `place` in row-major order.
int64_t numberOf(llvm::ArrayRef<int64_t> place, llvm::ArrayRef<int64_t> shape);

/// Moves `point` on in row-major order; false behind the last.
bool moveOn(llvm::MutableArrayRef<int64_t> point, llvm::ArrayRef<int64_t> sizes);

/// The elements of tensors, as far as they are known: of ops that are evaluated in the order of the
/// program.
class ConstantElements {
public:
  explicit ConstantElements(mlir::MLIRContext *context) : b(context) {}

  /// The elements of the only result of `op`; nothing where they are not known.
  std::optional<Elements> evaluate(mlir::Operation *op);
  /// Remembers them for ops behind.
  void add(mlir::Value value, const Elements &elements);
  /// Those that were added; null where there are none.
  const Elements *find(mlir::Value value) const;
  /// False where so much was computed that the rest is left alone.
  bool goesOn() const { return folds > 0; }

private:
  using Result = std::optional<Elements>;
  mlir::Attribute scalarOf(mlir::Value value) const;
  Result evaluate(mlir::linalg::GenericOp op);
  Result evaluate(mlir::tensor::ExtractSliceOp op);
  Result evaluate(mlir::tensor::InsertSliceOp op);
  Result evaluate(ScanOp op);
  mlir::Attribute evaluateBody(mlir::Block &body, llvm::ArrayRef<mlir::Attribute> arguments,
                               llvm::ArrayRef<int64_t> point);
  mlir::Attribute fold(mlir::Operation &op,
                       llvm::function_ref<mlir::Attribute(mlir::Value)> valueOf) const;
  mlir::Attribute extract(mlir::tensor::ExtractOp op,
                          llvm::function_ref<mlir::Attribute(mlir::Value)> valueOf) const;

  /// Ops that are folded in one function, those of each element counted.
  static constexpr int64_t kFolds = 1 << 20;

  mlir::Builder b;
  llvm::DenseMap<mlir::Value, Elements> known;
  int64_t folds = kFolds;
};

} // namespace tilewright

#endif
