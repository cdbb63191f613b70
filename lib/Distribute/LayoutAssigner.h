// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of assign-layouts. AssignLayouts.cpp proposes layouts (and has the
// algorithm), ResolveLayouts.cpp resolves them.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_LAYOUTASSIGNER_H
#define TILEWRIGHT_LIB_DISTRIBUTE_LAYOUTASSIGNER_H

#include "LayoutRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

namespace tilewright {

class LayoutAssigner {
public:
  explicit LayoutAssigner(mlir::func::FuncOp kernel) : kernel(kernel) {}
  mlir::LogicalResult run();

private:
  /// How much a proposed layout counts.
  enum Strength {
    None = 0,
    Repeated = 1,
    Read = 2,
    Reduced = 3,
    Matrix = 4,
    Pinned = 5
  };

  struct Proposal {
    DistributedLayout layout;
    Strength strength = None;
  };

  mlir::LogicalResult propose(mlir::Block &block);
  mlir::LogicalResult propose(mlir::Operation *op);
  mlir::LogicalResult proposePinned(mlir::Operation *op);
  mlir::LogicalResult proposeProduct(MmaOp mma);
  mlir::LogicalResult proposeRead(mlir::vector::TransferReadOp read);
  mlir::LogicalResult proposeReduction(mlir::vector::MultiDimReductionOp reduction);
  /// Of an op whose layout follows from its operands'.
  void proposeDerived(mlir::Operation *op);
  mlir::LogicalResult proposeIf(mlir::scf::IfOp branch);
  mlir::LogicalResult proposeFor(mlir::scf::ForOp loop);
  /// Keeps the stronger of the old and the new proposal.
  void offer(mlir::Value value, const DistributedLayout &layout,
             Strength strength) {
    Proposal &old = proposals[value];
    if (strength > old.strength)
      old = {layout, strength};
  }
  /// The strongest proposal among the vector operands, or null.
  const Proposal *strongestOperand(mlir::Operation *op);

  mlir::LogicalResult resolve(mlir::Block &block);
  mlir::LogicalResult resolve(mlir::Operation *op);
  /// Asks for the vector operands of `op` in the layouts that it needs them in.
  mlir::LogicalResult settleOperands(mlir::Operation *op);
  mlir::LogicalResult settleStore(mlir::vector::TransferWriteOp store);
  /// Of products, and of ops that move elements, by the `layout` of their result.
  mlir::LogicalResult settleProduct(MmaOp mma, const DistributedLayout &layout);
  mlir::LogicalResult settleMoved(mlir::Operation *op, const DistributedLayout &layout);
  // By value: callers pass elements of maps, which these add to.
  mlir::FailureOr<mlir::Value> inLayout(mlir::Value value, DistributedLayout layout);
  mlir::Value convert(mlir::Value value, DistributedLayout layout);
  mlir::LogicalResult useInLayout(mlir::OpOperand &operand, DistributedLayout layout) {
    mlir::FailureOr<mlir::Value> value = inLayout(operand.get(), std::move(layout));
    if (mlir::succeeded(value))
      operand.set(*value);
    return mlir::success(mlir::succeeded(value));
  }
  bool isCheap(mlir::Operation *op);
  void write(mlir::Operation *op, llvm::ArrayRef<DistributedLayout> layouts);
  mlir::FailureOr<DistributedLayout> naturalLayout(mlir::VectorType type,
                                                   mlir::AffineMap map);

  mlir::func::FuncOp kernel;
  ThreadRange threads;
  int64_t accessBytes = 16;
  /// Of a reduction, for each shape that is read: how many elements surely lie at a multiple
  /// of as many.
  std::map<llvm::SmallVector<int64_t>, int64_t> aligned;
  bool opaque = false; // the kernel has opaque fragments
  llvm::DenseMap<mlir::Value, Proposal> proposals;
  /// Layouts that values ended up with.
  llvm::DenseMap<mlir::Value, DistributedLayout> settled;
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<std::string, mlir::Value>>>
      versions;
};

/// An elementwise op on vectors that have layouts.
bool isElementwise(mlir::Operation *op);
/// An operand of a matrix instruction out of shared memory, multiplied at once or
/// in the next iteration of a loop.
bool isFragment(mlir::vector::TransferReadOp read);

} // namespace tilewright

#endif
