// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op reduces -> one vector.multi_reduction for each result. Lanes outside hold the neutral
// element of the combination: by the padding of the read where the read has no other user, else by
// a select.

#include "Vectorizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

Combiner tilewright::matchCombiner(linalg::LinalgOp op, unsigned number) {
  Block *body = op.getBlock();
  BlockArgument acc = body->getArgument(op.getNumDpsInputs() + number);
  Operation *combiner =
      body->getTerminator()->getOperand(number).getDefiningOp();
  if (!combiner || combiner->getBlock() != body ||
      combiner->getNumOperands() != 2 || !acc.hasOneUse())
    return {};
  unsigned side = combiner->getOperand(0) == acc ? 0 : 1;
  std::optional<vector::CombiningKind> kind =
      linalg::getCombinerOpKind(combiner);
  if (combiner->getOperand(side) != acc || !kind)
    return {};
  return {combiner, combiner->getOperand(1 - side), *kind};
}

Attribute Vectorizer::choosePad(OpState &state, unsigned number) {
  linalg::LinalgOp op = state.op;
  Attribute zero = b.getZeroAttr(getElementTypeOrSelf(op->getOperand(number)));
  if (op.getNumReductionLoops() == 0)
    return zero;
  BlockArgument argument = op.getBlock()->getArgument(number);
  // A window with other readers is read once, padded alike for all.
  if (!argument.hasOneUse() || !op->getOperand(number).hasOneUse())
    return zero;
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    Combiner combiner = matchCombiner(op, i);
    if (!combiner.op || combiner.element != argument)
      continue;
    if (auto neutral = arith::getNeutralElement(combiner.op))
      return *neutral;
  }
  return zero;
}

bool Vectorizer::isNeutralOutside(OpState &state, const Combiner &combiner, Attribute neutral,
                                  Loops reduced) {
  linalg::LinalgOp op = state.op;
  // Operands that are zero outside have products that are zero.
  if (state.skinny)
    return llvm::all_of(op.getDpsInputs(), [&](Value input) {
      const Tile *tile = lookup(input);
      return tile && tile->kind == Tile::Memory;
    });
  auto argument = dyn_cast<BlockArgument>(combiner.element);
  if (!argument || argument.getOwner() != op.getBlock() ||
      choosePad(state, argument.getArgNumber()) != neutral)
    return false;
  AffineMap map = state.maps[argument.getArgNumber()];
  const Tile *tile = lookup(op->getOperand(argument.getArgNumber()));
  return tile && tile->kind == Tile::Memory && llvm::all_of(reduced, [&](unsigned loop) {
           return !state.isPartial(loop) || map.getResultPosition(b.getAffineDimExpr(loop));
         });
}

FailureOr<Value> Vectorizer::reduce(OpState &state, unsigned result) {
  linalg::LinalgOp op = state.op;
  Location loc = op.getLoc();
  Combiner combiner = matchCombiner(op, result);
  if (!combiner.op)
    return op.emitOpError()
           << "result " << result
           << " is reduced by something else than one of add, mul, min, max, "
              "and, or, xor of the accumulator and a new value";
  Value value = state.values.lookup(combiner.element);
  if (!value)
    value = combiner.element; // from outside the body
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner.op);
  if (!neutral)
    return op.emitOpError() << "the neutral element of '"
                            << combiner.op->getName() << "' is not known";

  unsigned number = op.getNumDpsInputs() + result;
  SmallVector<unsigned> kept = state.loopsOf(number);
  SmallVector<unsigned> reduced;
  SmallVector<int64_t> positions;
  for (auto [position, loop] : llvm::enumerate(state.order))
    if (!llvm::is_contained(kept, loop)) {
      reduced.push_back(loop);
      positions.push_back(position);
    }
  value = toVector(state, value, state.order);

  if (!isNeutralOutside(state, combiner, *neutral, reduced))
    value = keepInside(state, value, state.order, reduced, *neutral);

  FailureOr<Value> acc = readOperand(
      state, number, kept, b.getZeroAttr(getElementTypeOrSelf(value)));
  if (failed(acc))
    return failure();
  Value start = toVector(state, *acc, kept);
  if (reduced.empty()) {
    if (op->hasAttr(kOverClusterAttr))
      return op.emitOpError("reduces an element of each block of the cluster; it must be "
                            "a vector");
    FailureOr<Value> ordered = reorder(state, value, state.order, kept);
    if (failed(ordered))
      return failure();
    return combineTerm(b, loc, combiner.kind, *ordered, start);
  }
  // multi_reduction leaves the kept dims in the order of the source.
  SmallVector<unsigned> left;
  for (unsigned loop : state.order)
    if (llvm::is_contained(kept, loop))
      left.push_back(loop);
  FailureOr<Value> ordered = reorder(state, start, kept, left);
  if (failed(ordered))
    return failure();
  auto reduceFrom = [&](Value acc) -> Value {
    return vector::MultiDimReductionOp::create(b, loc, acc.getType(), combiner.kind,
                                               value, acc, positions);
  };
  if (!op->hasAttr(kOverClusterAttr))
    return reorder(state, reduceFrom(*ordered), left, kept);
  // What the result begins with counts once, not in each block.
  Value none = arith::ConstantOp::create(b, loc, *neutral);
  Value part = reduceFrom(toVector(state, none, left));
  Value all = ClusterReduceOp::create(b, loc, combiner.kind, part);
  return reorder(state, combineTerm(b, loc, combiner.kind, all, *ordered), left, kept);
}
