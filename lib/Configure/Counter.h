// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what one block of a planned kernel does on a GPU, see CountWork.cpp. Strategies
// count their products with it (ScheduleStrategy::countProduct).

#ifndef TILEWRIGHT_LIB_CONFIGURE_COUNTER_H
#define TILEWRIGHT_LIB_CONFIGURE_COUNTER_H

#include "Bound.h"
#include "CostModel.h"
#include "Strategy.h"
#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/Support/MathExtras.h"

namespace tilewright {

/// Instructions of a thread in a step, beside its work.
inline constexpr double kPerStep = 12;

class Counter {
public:
  Counter(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
          TargetAttr target, const ChipFacts &chip);

  BlockWork count();

  //===--------------------------------------------------------------------===//
  // For strategies that count a product
  //===--------------------------------------------------------------------===//

  /// How often a block comes to an op.
  double runsOf(mlir::linalg::LinalgOp op) const;
  /// Elements of the tiles of all of its loops.
  double tileOf(mlir::linalg::LinalgOp op) const;
  /// Adds instructions that all warps issue, `each` per thread.
  void issue(double each) { work[Resource::Issue] += warps * each / chip.schedulers; }
  /// Adds operations of single lanes, on units that the chip's table names.
  void lanes(Resource resource, llvm::StringRef unit, double operations);
  /// The share of what blocks ask of L2 that comes from device memory.
  double memoryShare() const;
  /// Until what a block has asked for is there: from L2 what neighbours have read before.
  double loadCycles() const;
  std::optional<double> keptWait(llvm::ArrayRef<mlir::OpOperand *> kept, double steps) const;

  const KernelInfo &info;
  LoweringConfigAttr config;
  const TilePlan &plan;
  TargetAttr target;
  const ChipFacts &chip;
  std::optional<MatrixInstruction> instruction;
  double warps = 1;
  BlockWork work;

private:
  /// Steps that each wait for what they read.
  double waitsOf(unsigned number) const {
    return std::ceil(tilesOf(number) / double(plan.classes[number].terms));
  }
  /// Tiles of a class, of one part of it where it is cut into parts.
  double tilesOf(unsigned number) const {
    const LoopClass &loopClass = info.classes[number];
    int64_t parts = isSummedInCluster(number) ? plan.clusterSum->parts : loopClass.parts;
    return std::max<double>(
        1, llvm::divideCeil(llvm::divideCeil(nominalExtent(loopClass), parts),
                            plan.classes[number].step));
  }
  /// Whether blocks of a cluster have parts of a class.
  bool isSummedInCluster(unsigned number) const {
    return plan.clusterSum && plan.clusterSum->reduced == number;
  }
  /// Whether blocks lie side by side along a class.
  bool isSpread(unsigned number) const {
    return info.classes[number].parallel || plan.classes[number].blocks > 1;
  }
  bool isWalked(unsigned number) const {
    return !info.classes[number].parallel && plan.classes[number].loop;
  }
  bool isProduct(mlir::linalg::LinalgOp op) const {
    return llvm::is_contained(products, op);
  }
  /// Operands that copy engines bring beside the sums.
  llvm::SmallVector<mlir::OpOperand *> loaded;
  void countSpread();
  struct OperandTile;
  OperandTile tileOf(mlir::OpOperand &operand, bool isWritten) const;
  /// Accesses of threads, or copies `byEngine`, of a tile `runs` times.
  void countAccesses(const OperandTile &operand, double runs, bool byEngine);
  /// `again`: how often a block comes back to what it has read.
  void countOperand(mlir::OpOperand &operand, double runs, double again, bool isWritten);
  void countOperands();
  void countKept(mlir::OpOperand &operand, double runs, double passes);
  double memoryBytes() const;
  void countBody(mlir::linalg::LinalgOp op);
  void countReduction(mlir::linalg::LinalgOp op);
  void countClusterSum();

  const ScheduleStrategy &strategy;
  llvm::ArrayRef<mlir::linalg::LinalgOp> products;
  /// Of two products by warpgroups, the first.
  mlir::linalg::LinalgOp chained;
  /// Blocks of one wave along each class.
  llvm::SmallVector<double> wave;
  double waves = 1;
  /// Bytes of everything that the launch reads and writes, once.
  double footprint = 0;
  /// Bytes that a block asks for, whether or not L2 answers several blocks at once.
  double requested = 0;
  /// Of each operand: its bytes, those that one wave of blocks asks for, and how often a
  /// block comes back to them.
  struct Asked {
    double whole, once, again;
  };
  llvm::SmallVector<Asked> asked;
};

} // namespace tilewright

#endif
