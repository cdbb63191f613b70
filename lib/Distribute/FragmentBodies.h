// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a kernel are in opaque fragments, and the elementwise ops on them
// (KeepFragments.cpp has the algorithm).

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_FRAGMENTBODIES_H
#define TILEWRIGHT_LIB_DISTRIBUTE_FRAGMENTBODIES_H

#include "LayoutRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {

class FragmentBodies {
public:
  explicit FragmentBodies(mlir::func::FuncOp kernel) : kernel(kernel) {}

  /// `value` is in fragments.
  void hold(mlir::Value value, const DistributedLayout &layout) {
    held.insert({value, {layout, elementOf(value)}});
  }
  /// Brings `value` into fragments of this layout where that is possible.
  bool request(mlir::Value value, const DistributedLayout &layout);
  /// The same for what a product accumulates onto: its own result as a loop carries it,
  /// scaled by rows, say. What repeats along a dim is cheap to bring into fragments.
  bool requestInit(mlir::Value value, const DistributedLayout &layout);
  /// Null: not in fragments.
  const DistributedLayout *layoutOf(mlir::Value value) const {
    auto it = held.find(value);
    return it == held.end() ? nullptr : &it->second.layout;
  }

  /// Drops ops whose results would have to be fragments of types that there are
  /// none of.
  void prune();
  /// Replaces chains of ops by map_fragments.
  void outline();

  /// Reads that fragments are to make; once they are placed, what stands for them.
  llvm::SmallVector<std::pair<mlir::vector::TransferReadOp, DistributedLayout>>
  takeReads();
  void replaceRead(mlir::vector::TransferReadOp read, mlir::Value by);

  void refuse(mlir::Operation *op, const llvm::Twine &why) {
    reasons[op] = why.str();
  }
  /// Why `op` is not done on fragments.
  std::string reasonFor(mlir::Operation *op) const;

private:
  /// A value in fragments: `base` is the type of the fragments whose arrangement
  /// its elements have. Values of another type exist inside of bodies only.
  struct Held {
    DistributedLayout layout;
    mlir::Type base;
  };

  static mlir::Type elementOf(mlir::Value value);
  bool isFragment(mlir::Value value) const {
    auto it = held.find(value);
    return it != held.end() && it->second.base == elementOf(value);
  }
  bool requestRead(mlir::vector::TransferReadOp read,
                   const DistributedLayout &layout);
  bool requestCarried(mlir::BlockArgument argument, const DistributedLayout &layout);
  /// Whether a kept op converts one accumulator type into another.
  bool isConversion(mlir::Operation *op) const;
  /// Whether a kept op's result is needed as a fragment.
  bool isRoot(mlir::Operation *op) const;
  bool isUsable(mlir::Operation *op) const;
  mlir::Value outline(mlir::Operation *root);

  mlir::func::FuncOp kernel;
  llvm::DenseMap<mlir::Value, Held> held;
  llvm::SetVector<mlir::Operation *> kept, reads;
  llvm::DenseMap<mlir::Operation *, std::string> reasons;
};

} // namespace tilewright

#endif
