// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements of loop nests; see LoopStatements.h. Dependences are upstream's.
//
//   for %i { for %j { a[%i, %j] = …(0); b[%i, %j] = a[%i, %j - 1] …(1) } }
//
// (0) for all %i and %j, then (1): allowed, as each element that (1) reads was stored
// before. a[%i, %j + 1] was stored after, in a later iteration: that pair is a conflict.

#include "LoopStatements.h"
#include "Views.h"

#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;

bool Statement::isOwnElement(affine::AffineLoadOp load) const {
  // What is loaded in front of an inner loop is not what the loop has stored.
  Operation *to = store, *around = store;
  while (around->getBlock() != load->getBlock() &&
         isa<affine::AffineIfOp, scf::IfOp>(around->getParentOp()))
    around = around->getParentOp();
  return load->getBlock() == around->getBlock() &&
         affine::MemRefAccess(load) == affine::MemRefAccess(to);
}

static void collectSlice(Value value, Operation *nest, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op || !nest->isProperAncestor(op) || ops.contains(op))
    return;
  // What a load's place is computed from is in its map.
  if (!isa<affine::AffineLoadOp>(op))
    for (Value operand : op->getOperands())
      collectSlice(operand, nest, ops);
  ops.insert(op);
}

SmallVector<Statement> tilewright::collectStatements(Operation *nest) {
  SmallVector<Statement> statements;
  nest->walk<WalkOrder::PreOrder>([&](affine::AffineStoreOp store) {
    statements.push_back(statementOf(store, nest));
  });
  return statements;
}

Statement tilewright::statementOf(affine::AffineStoreOp store, Operation *nest) {
  Statement statement{store, {}, {}, {}};
  llvm::SetVector<Operation *> slice;
  collectSlice(store.getValueToStore(), nest, slice);
  for (Operation *op = store->getParentOp(); nest->isAncestor(op); op = op->getParentOp()) {
    if (auto loop = dyn_cast<affine::AffineForOp>(op)) {
      statement.loops.push_back(loop);
      continue;
    }
    statement.ifs.push_back(op);
    if (auto choice = dyn_cast<scf::IfOp>(op))
      collectSlice(choice.getCondition(), nest, slice);
  }
  std::reverse(statement.loops.begin(), statement.loops.end());
  std::reverse(statement.ifs.begin(), statement.ifs.end());
  statement.slice.assign(slice.begin(), slice.end());
  return statement;
}

/// Whether an instance of `first` comes before one of `second` at the same element. Views
/// of one memref may always meet.
static bool mayFollow(Operation *first, Operation *second) {
  affine::MemRefAccess a(first), b(second);
  if (a.memref != b.memref)
    return rootOf(a.memref) == rootOf(b.memref);
  unsigned common = affine::getNumCommonSurroundingLoops(*first, *second);
  for (unsigned depth = 1; depth <= common + 1; ++depth)
    if (!affine::noDependence(affine::checkMemrefAccessDependence(a, b, depth)))
      return true;
  return false;
}

/// `reason`, or that it is not known what meets: accesses through different views of one memref.
static std::string reasonFor(Operation *first, Operation *second, StringRef reason) {
  if (affine::MemRefAccess(first).memref == affine::MemRefAccess(second).memref)
    return reason.str();
  return "may meet an element that is stored through another view of the same memref; use the "
         "memref itself, whose indices are told apart";
}

std::optional<Conflict> tilewright::findConflict(ArrayRef<Statement> statements) {
  for (auto [number, statement] : llvm::enumerate(statements)) {
    Operation *store = statement.store;
    for (const Statement &earlier : statements.take_front(number))
      if (mayFollow(store, earlier.store))
        return Conflict{store, earlier.store,
                        reasonFor(store, earlier.store,
                                  "stores an element that a later iteration stores by what stands "
                                  "in front of it")};
    for (Operation *op : statement.slice) {
      auto load = dyn_cast<affine::AffineLoadOp>(op);
      if (!load)
        continue;
      for (auto [other, writer] : llvm::enumerate(statements)) {
        Operation *written = writer.store;
        if (other < number && mayFollow(load, written))
          return Conflict{load, written,
                          reasonFor(load, written,
                                    "loads an element before it is stored, by what stands in "
                                    "front of it in the nest")};
        if (other >= number && !(other == number && statement.isOwnElement(load)) &&
            mayFollow(written, load))
          return Conflict{load, written,
                          reasonFor(load, written, "loads what another iteration has stored")};
      }
    }
  }
  return std::nullopt;
}
