// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A way to schedule kernels in program form: one class for each, in a folder of its own,
// and one list of all of them (Strategies.cpp). What configure decides goes through these
// questions, in this order:
//
//   isFor, match   whose kernel it is, and whose configs are tried
//   enumerate      configs, in an order that does not depend on anything but the kernel
//                  and the target; ranked by `rank`, then by cost
//   checkPlan      what a config asks that tiles alone do not show (its instruction);
//                  PlanTiles.cpp works out the tiles, for all strategies alike
//   footprint      threads are the plan's; shared memory and registers are from
//                  operandBytes, takesTurns and registers
//   fields, check  whether later stages carry out every field that a user pins
//   cost           which products CountWork.cpp counts, and how
//   explain        what `--explain` says
//
// docs/adding-a-strategy.md goes through them with the smallest one, Transpose. Attention
// and irregular ops are kernels of one op without loop classes, with plans of their own
// (tilewright/Configure/Attention.h, Irregular.h).

#ifndef TILEWRIGHT_LIB_CONFIGURE_STRATEGY_H
#define TILEWRIGHT_LIB_CONFIGURE_STRATEGY_H

#include "Fields.h"
#include "tilewright/Configure/TilePlan.h"

#include <string>
#include <vector>

namespace tilewright {

class Counter;

class ScheduleStrategy {
public:
  explicit ScheduleStrategy(Strategy name) : name(name) {}
  virtual ~ScheduleStrategy();

  /// What its configs are called.
  Strategy getName() const { return name; }

  //===--------------------------------------------------------------------===//
  // Match
  //===--------------------------------------------------------------------===//

  /// Whether a kernel without a pinned config is this strategy's by what it computes. The
  /// first of the list that says so has it. `target` may be null.
  virtual bool isFor(const KernelLoops &loops, TargetAttr target) const { return false; }
  /// Whether it is by the config that is pinned on its root.
  virtual bool isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                          TargetAttr target) const {
    return false;
  }
  /// Whether configs of this strategy are tried for a kernel: its own, or one that is
  /// another's by default.
  virtual bool match(const KernelInfo &info, TargetAttr target) const {
    return info.strategy == name;
  }
  /// Whether a kernel that is `info.strategy`'s may have the pinned config, which would be
  /// carried out by this strategy.
  virtual bool accepts(const KernelInfo &info, LoweringConfigAttr config) const {
    return config.getStrategy() == info.strategy;
  }

  //===--------------------------------------------------------------------===//
  // Enumerate
  //===--------------------------------------------------------------------===//

  virtual std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                                    TargetAttr target) const = 0;
  /// Configs of a lower rank come first, whatever their cost.
  virtual int rank() const { return 0; }
  /// What nobody has measured yet, and sweeps may try, beside the best config.
  virtual llvm::SmallVector<LoweringConfigAttr> neighbours(LoweringConfigAttr config) const {
    return {};
  }
  /// The same config with blocks that share the sums of all tiles, or null.
  virtual LoweringConfigAttr stream(const KernelInfo &info, LoweringConfigAttr config,
                                    TargetAttr target) const {
    return {};
  }

  //===--------------------------------------------------------------------===//
  // Plan
  //===--------------------------------------------------------------------===//

  /// The fields of a config, beside `block`, that later stages carry out. A config that sets
  /// another one is refused.
  virtual llvm::ArrayRef<ConfigField> fields() const = 0;
  /// What stands against `config` before there are tiles.
  virtual Refusal checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                            TargetAttr target) const {
    return {};
  }
  /// Whether operands are packed into panels: then `block` has a chunk of the sum, and
  /// `thread` the step of the inner loop.
  virtual bool isPacked(LoweringConfigAttr config) const { return false; }
  /// Whether arguments may be pixels of images, which copy engines alone read.
  virtual bool readsImages() const { return false; }
  /// Whether threads share the operands of a product through shared memory, and each has
  /// sums of its own.
  virtual bool contracts() const { return false; }
  /// Whether warps have roles: some copy, others multiply.
  virtual bool hasRoles() const { return false; }
  /// Threads of a block that only copy.
  virtual int64_t copyThreads(LoweringConfigAttr config) const { return 0; }
  /// Of two products whose first result is an operand of the second in registers, the
  /// first; null of all others.
  virtual mlir::linalg::LinalgOp getFirstProduct(const KernelInfo &info,
                                                 LoweringConfigAttr config) const {
    return {};
  }
  /// Its steps along its sum.
  virtual int64_t stepOfFirst(mlir::linalg::LinalgOp first) const { return 0; }
  /// Whether copy engines move a tile of `operand` through memory of its own.
  virtual bool isMovedByEngine(const KernelInfo &info, LoweringConfigAttr config,
                               mlir::OpOperand &operand) const {
    return false;
  }
  /// Whether threads add up sums together.
  virtual bool sharesSums() const { return false; }
  /// Whether `promote` names operands whose rows stay in shared memory; checkPlan says which
  /// can.
  virtual bool keepsRows() const { return false; }
  /// The reduced loop of which each block of a cluster has a part.
  virtual std::optional<unsigned> sharedLoop(LoweringConfigAttr config) const {
    return std::nullopt;
  }
  /// Of strategies whose threads lie over a tile as it lies in memory, so that only the number of
  /// warps counts: how `enumerate` writes as many as `config` has. A config that writes them
  /// otherwise is refused. Empty: threads lie as `warps` says.
  virtual llvm::SmallVector<llvm::SmallVector<int64_t>>
  warpSpellings(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target) const {
    return {};
  }
  /// What a pinned config says in the strategy's fields and later stages would not carry out.
  virtual Refusal check(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
                        TargetAttr target) const;

  //===--------------------------------------------------------------------===//
  // Footprint
  //===--------------------------------------------------------------------===//

  /// Bytes of shared memory for operands and results.
  virtual int64_t operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan, TargetAttr target) const;
  /// Whether values move between threads through the operands' memory, which is free when
  /// all steps are done.
  virtual bool takesTurns(const KernelInfo &info) const { return true; }
  /// Registers of a thread, by default those of `liveBytes` and some for addresses.
  virtual int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                            const TilePlan &plan, TargetAttr target) const;
  /// Bytes, over all threads, of values that live at once.
  virtual int64_t liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                            const TilePlan &plan) const;

  //===--------------------------------------------------------------------===//
  // Cost
  //===--------------------------------------------------------------------===//

  /// The ops that are counted by `countProduct`; all others are counted element by element.
  virtual llvm::ArrayRef<mlir::linalg::LinalgOp>
  getProducts(const KernelInfo &info) const {
    return {};
  }
  virtual void countProduct(Counter &counter, mlir::linalg::LinalgOp op) const {}
  /// Threads that share a sum of the root, and the sums of one of them, where that does not
  /// follow from the tile.
  virtual std::optional<std::pair<double, double>>
  sharedSums(const KernelInfo &info, const TilePlan &plan, double results,
             double reduced) const {
    return std::nullopt;
  }

  //===--------------------------------------------------------------------===//
  // Explain
  //===--------------------------------------------------------------------===//

  /// What the root does, after "root NAME".
  virtual std::string explain(const KernelInfo &info) const = 0;
  /// Why a product that an instruction computes has none; empty: other configs name one.
  virtual std::string whyNoInstruction() const { return ""; }
  /// More lines, of a kernel that is this strategy's, whose config `wasChosen` ("ranks first").
  virtual void explainMore(const KernelInfo &info, LoweringConfigAttr config,
                           llvm::StringRef wasChosen,
                           llvm::SmallVectorImpl<std::string> &lines) const {}

private:
  Strategy name;
};

/// All strategies of GPUs, or of CPUs, in the order in which they are asked.
llvm::ArrayRef<const ScheduleStrategy *> strategiesOf(bool isCpu);
/// Those for the target, which may be null.
llvm::ArrayRef<const ScheduleStrategy *> strategiesFor(TargetAttr target);

/// The strategy whose kernel it is.
const ScheduleStrategy &strategyOf(const KernelInfo &info, TargetAttr target);

/// The strategy that carries out `config` for the kernel.
const ScheduleStrategy &strategyOf(const KernelInfo &info, LoweringConfigAttr config,
                                   TargetAttr target);

} // namespace tilewright

#endif
