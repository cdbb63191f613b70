// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a kernel in program form, and the loops that they share.
//
// The ops of a kernel are fused into one iteration space. A *loop class* is one
// loop of that space: all loops of all ops that run together because a value
// that flows from one op to the next ties them. Row softmax, for example, has
// five ops and two classes:
//
//   max   (d0, d1) -> (d0)    reduces d1
//   exp   (d0, d1) -> (d0, d1)
//   sum   (d0, d1) -> (d0)    reduces d1
//   div   (d0, d1) -> (d0, d1)
//                             class 0 = every d0: parallel, tiled over blocks
//                             class 1 = every d1: sequential inside a block
//
// `max` shares no tensor with the others along d1 except the kernel's argument;
// such classes are joined too, as long as no op would have two loops in one
// class (in x * x^T both loops that run over rows of x stay apart).
//
// A class is *parallel* when it is a parallel loop of the root and no op
// reduces over it. All others are *sequential*: a block runs through the whole
// extent, either as one tile or in a loop.

#ifndef TILEWRIGHT_ANALYSIS_KERNELLOOPS_H
#define TILEWRIGHT_ANALYSIS_KERNELLOOPS_H

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tilewright {

struct LoopClass {
  /// Static extent or ShapedType::kDynamic.
  int64_t extent = mlir::ShapedType::kDynamic;
  /// What the extent is at most: a guard promises that of some dynamic ones (others:
  /// ShapedType::kDynamic).
  int64_t most = mlir::ShapedType::kDynamic;
  /// Where the extent is read at run time: dim `dim` of the function's
  /// argument `argument`.
  unsigned argument = 0, dim = 0;
  bool parallel = false;
  /// It is a loop of a contraction and not a batch loop of all of them.
  bool contracted = false;
  /// Steps of one element: an op reduces it by a body of its own.
  bool sequential = false;
  /// Parts that the loop is cut into; a block runs over one of them.
  int64_t parts = 1;
  /// What decisions assume of a dynamic extent; a settled one is no guess that more
  /// work for a GPU may raise: a guard promises no more, say.
  int64_t nominal = 1024;
  bool isSettled = false;
};

/// A kernel that computes parts of a reduction (Splits.h), by class numbers.
struct SplitClasses {
  /// The class that counts the parts: parallel, one part a block.
  unsigned part = 0;
  /// The class that is cut into parts.
  unsigned reduced = 0;
  /// Parts are multiples of so many elements.
  int64_t unit = 1;
};

struct KernelLoops {
  /// Analyses a kernel in program form; emits an error that names the op and
  /// the reason where it is none.
  static mlir::FailureOr<KernelLoops> get(mlir::func::FuncOp kernel);

  mlir::func::FuncOp kernel;
  /// In program order.
  llvm::SmallVector<mlir::linalg::LinalgOp> ops;
  /// The op whose loops a lowering config speaks of: the one that carries a
  /// config already, else the last contraction, else the reduction of highest
  /// rank, else the result op of highest rank.
  mlir::linalg::LinalgOp root;
  mlir::linalg::LinalgOp getRoot() const { return root; }
  /// The contractions, in order; of several the last is the root.
  llvm::SmallVector<mlir::linalg::LinalgOp> products;
  llvm::ArrayRef<mlir::linalg::LinalgOp> getProducts() const { return products; }
  /// What matchContraction() says of an op of the kernel: asked often, of every candidate among configs.
  llvm::DenseMap<mlir::Operation *, Contraction> contractions;
  const Contraction *getContraction(mlir::Operation *op) const {
    auto found = contractions.find(op);
    return found == contractions.end() ? nullptr : &found->second;
  }
  /// The root's contraction as `config`'s instruction multiplies it (matchOriented()), if it is one.
  std::optional<Contraction> getOriented(LoweringConfigAttr config) const;
  /// Those that run in the root's loop over the sum, in order: the root, and what makes a dual
  /// product with it. None where the root is no contraction.
  llvm::SmallVector<mlir::linalg::LinalgOp> rootProducts;
  bool isRootProduct(mlir::Operation *op) const {
    return llvm::is_contained(rootProducts, op);
  }
  bool isDual() const { return rootProducts.size() > 1; }
  /// Whether the root multiplies what another product becomes.
  bool isChained() const { return getProducts().size() > rootProducts.size(); }
  llvm::SmallVector<LoopClass> classes;
  std::optional<SplitClasses> split;
  /// 1 where nothing is split.
  int64_t getSplits() const {
    return split ? classes[split->reduced].parts : 1;
  }
  /// Loops of the root that a lowering config speaks of: all but the one that
  /// counts parts, which is the last.
  unsigned getNumConfigLoops() const;
  /// Whether loop `loop` of the root is the one that is cut into parts.
  bool isSplit(unsigned loop) const {
    return split && getClasses(root)[loop] == split->reduced;
  }
  /// The class of every loop of every op.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> loopClasses;
  /// The class of each dim of every operand whose dims are loops.
  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<unsigned>> operandClasses;
  /// Result number -> the linalg op's result that is returned.
  llvm::SmallVector<mlir::OpResult> results;

  llvm::ArrayRef<unsigned> getClasses(mlir::Operation *op) const {
    auto found = loopClasses.find(op);
    assert(found != loopClasses.end() && "is no op of the kernel");
    return found->second;
  }
  llvm::ArrayRef<unsigned> getClasses(mlir::OpOperand &operand) const {
    auto found = operandClasses.find(&operand);
    assert(found != operandClasses.end() && "has dims that are no loops, or is no op's of the kernel");
    return found->second;
  }
  /// The destination argument that result `number` is tied to.
  mlir::BlockArgument getDestination(unsigned number) const;
};

/// Whether `op` computes, element by element, an operand of the root's product and
/// nothing else.
bool isFusedProducer(const KernelLoops &loops, mlir::linalg::LinalgOp op);
/// Whether `op` reduces rows of an operand, or computes something of the results, for those
/// that compute the operand and for nothing else: a norm's statistics.
bool isFusedReduction(const KernelLoops &loops, mlir::linalg::LinalgOp op);
/// What the body of `op` computes from inputs for which `isOfRow` holds alone: once for a
/// row, as it is the same for all of the row's elements.
llvm::SmallPtrSet<mlir::Operation *, 8>
bodyOfRows(mlir::linalg::LinalgOp op,
           llvm::function_ref<bool(mlir::OpOperand &)> isOfRow);

} // namespace tilewright

#endif
