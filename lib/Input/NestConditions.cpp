// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions in a nest of loops. What is stored under one becomes an update that keeps the
// old element where it does not hold; before that, each has one branch and no value:
//
//   scf.if %i < %n { store %x, %a[%i] } else { store %y, %a[%i] }
// becomes
//   affine.if (n - 1 - i >= 0) { store %x, %a[%i] }
//   affine.if (i - n >= 0) { store %y, %a[%i] }
// and
//   %v = scf.if %c { %x = load %a[%i]; yield %x } else { yield %y }
// becomes
//   %x = load %a[%i];  %v = arith.select %c, %x, %y
//
// Conditions on loops and values from outside are affine.if, so that dependences respect
// them; all others are scf.if.

#include "NestRaiser.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

/// What an affine.if asks, as a number of i1.
static Value conditionOf(affine::AffineIfOp op, OpBuilder &b) {
  IntegerSet set = op.getIntegerSet();
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), all;
  for (auto [number, expr] : llvm::enumerate(set.getConstraints())) {
    Value left = affine::AffineApplyOp::create(
        b, loc, AffineMap::get(set.getNumDims(), set.getNumSymbols(), expr),
        op.getOperands());
    Value holds = arith::CmpIOp::create(
        b, loc, set.isEq(number) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
        left, zero);
    all = all ? arith::AndIOp::create(b, loc, all, holds).getResult() : holds;
  }
  return all;
}

static void moveBody(Block *from, Block *to) {
  if (!to->empty())
    to->getTerminator()->erase();
  to->getOperations().splice(to->end(), from->getOperations());
}

/// An affine.if that has two branches, or values, as one of scf.
static void toScf(affine::AffineIfOp op, OpBuilder &b) {
  b.setInsertionPoint(op);
  Value condition = conditionOf(op, b);
  auto made = scf::IfOp::create(b, op.getLoc(), op.getResultTypes(), condition,
                                /*withElseRegion=*/op.hasElse());
  moveBody(op.getThenBlock(), made.thenBlock());
  if (op.hasElse())
    moveBody(op.getElseBlock(), made.elseBlock());
  for (Region &region : made->getRegions())
    for (Block &block : region) {
      Operation *yield = block.getTerminator();
      b.setInsertionPoint(yield);
      scf::YieldOp::create(b, yield->getLoc(), yield->getOperands());
      yield->erase();
    }
  op.replaceAllUsesWith(made.getResults());
  op.erase();
}

/// The second branch as a condition of its own.
static scf::IfOp splitBranches(scf::IfOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  b.setInsertionPointAfter(op);
  Value inverse;
  if (auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>()) {
    inverse = arith::CmpIOp::create(b, loc, arith::invertPredicate(compare.getPredicate()),
                                    compare.getLhs(), compare.getRhs());
  } else {
    Value one = arith::ConstantIntOp::create(b, loc, 1, 1);
    inverse = arith::XOrIOp::create(b, loc, op.getCondition(), one);
  }
  auto other = scf::IfOp::create(b, loc, TypeRange(), inverse, /*withElseRegion=*/false);
  moveBody(op.elseBlock(), other.thenBlock());
  op.getElseRegion().front().erase();
  return other;
}

/// Adds what `condition` asks of loops and values from outside; false if it asks for
/// anything else.
bool NestRaiser::addConstraints(Value condition, SmallVectorImpl<AffineExpr> &constraints,
                                SmallVectorImpl<bool> &equalities,
                                SmallVectorImpl<Value> &operands) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return addConstraints(both.getLhs(), constraints, equalities, operands) &&
           addConstraints(both.getRhs(), constraints, equalities, operands);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  std::optional<AffineExpr> left = exprOf(compare.getLhs(), operands),
                            right = exprOf(compare.getRhs(), operands);
  if (!left || !right)
    return false;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::eq:
    constraints.push_back(*left - *right);
    break;
  case arith::CmpIPredicate::sgt:
    constraints.push_back(*left - *right - 1);
    break;
  case arith::CmpIPredicate::sle:
    constraints.push_back(*right - *left);
    break;
  case arith::CmpIPredicate::slt:
    constraints.push_back(*right - *left - 1);
    break;
  default:
    return false;
  }
  equalities.push_back(compare.getPredicate() == arith::CmpIPredicate::eq);
  return true;
}

/// One branch and no value for each condition, but for those of scf with values.
void NestRaiser::splitConditions() {
  SmallVector<affine::AffineIfOp> choices;
  nest->walk([&](affine::AffineIfOp op) {
    if (op.getNumResults() || op.hasElse())
      choices.push_back(op);
  });
  for (affine::AffineIfOp op : choices)
    toScf(op, b);
  SmallVector<scf::IfOp> ifs;
  nest->walk([&](scf::IfOp op) {
    if (!op.getNumResults())
      ifs.push_back(op);
  });
  for (unsigned number = 0; number < ifs.size(); ++number) {
    scf::IfOp op = ifs[number];
    if (op.elseBlock())
      ifs.push_back(splitBranches(op, b));
    SmallVector<AffineExpr> constraints;
    SmallVector<bool> equalities;
    SmallVector<Value> operands;
    if (!addConstraints(op.getCondition(), constraints, equalities, operands))
      continue;
    b.setInsertionPoint(op);
    auto made = affine::AffineIfOp::create(
        b, op.getLoc(), IntegerSet::get(operands.size(), 0, constraints, equalities),
        operands, /*withElseRegion=*/false);
    Operation *yield = op.thenBlock()->getTerminator();
    b.setInsertionPoint(yield);
    affine::AffineYieldOp::create(b, yield->getLoc());
    yield->erase();
    moveBody(op.thenBlock(), made.getThenBlock());
    op.erase();
  }
}

/// Conditions that give values are choices between what both branches compute. A load in a
/// branch reads wherever its loops are.
std::optional<NestRefusal> NestRaiser::selectValues() {
  SmallVector<scf::IfOp> ifs;
  nest->walk([&](scf::IfOp op) {
    if (op.getNumResults())
      ifs.push_back(op);
  });
  for (scf::IfOp op : ifs) {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.front().without_terminator()) {
        if (isa<affine::AffineLoadOp>(inner))
          inner.setAttr(kAlwaysLoaded, b.getUnitAttr());
        else if (!isPure(&inner) || inner.getNumRegions())
          return refuse(&inner, "stands in a branch of a condition that gives values");
      }
    for (Block *branch : {op.thenBlock(), op.elseBlock()})
      op->getBlock()->getOperations().splice(
          op->getIterator(), branch->getOperations(), branch->begin(),
          branch->getTerminator()->getIterator());
    b.setInsertionPoint(op);
    for (auto [result, yes, no] :
         llvm::zip_equal(op.getResults(), op.thenYield().getOperands(),
                         op.elseYield().getOperands()))
      result.replaceAllUsesWith(arith::SelectOp::create(b, op.getLoc(), op.getCondition(),
                                                        yes, no)
                                    .getResult());
    op.erase();
  }
  return std::nullopt;
}

/// Dependences as if conditions of scf always held, which upstream's analysis does not know.
std::optional<NestRefusal> NestRaiser::checkDependences() {
  b.setInsertionPoint(nest);
  Operation *copy = b.clone(*nest);
  copies.push_back(copy);
  SmallVector<Statement> statements = collectStatements(copy);
  copy->walk([](scf::IfOp op) {
    Block *body = op.thenBlock();
    op->getBlock()->getOperations().splice(op->getIterator(), body->getOperations(),
                                           body->begin(),
                                           body->getTerminator()->getIterator());
    op.erase();
  });
  if (std::optional<Conflict> conflict = findConflict(statements))
    return refuse(conflict->first, conflict->reason, conflict->second);
  return std::nullopt;
}
