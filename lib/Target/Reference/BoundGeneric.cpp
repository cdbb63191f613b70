// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds in linalg.generic; see BoundErrors.cpp.

#include "Bounder.h"

#include "tilewright/Dialect/Float8.h"
#include "tilewright/Target/Reference/BoundErrors.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tilewright;

void Bounder::visitBody(Block &body) {
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops) {
    builder.setInsertionPointAfter(op);
    if (!op->hasAttr(kAccumulatorAttr)) {
      (void)visit(op);
      continue;
    }
    // The pass that marks additions puts the accumulator first.
    Value acc = op->getOperand(0), term = op->getOperand(1);
    companions[op->getResult(0)] =
        rules.getSumBound(companions.lookup(acc), companions.lookup(term), term,
                          perTerm.lookup(op));
  }
}

/// A choice in the body of an op: the bounds of the branch that is taken. Of one that
/// inexact values make, nothing is known.
LogicalResult Bounder::visitIf(scf::IfOp op) {
  for (Region &region : op->getRegions())
    if (!region.empty())
      visitBody(region.front());
  bool isExact = !companions.lookup(op.getCondition());
  SmallVector<unsigned> bounded;
  SmallVector<Type> types(op->getResultTypes());
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    if (!isTracked(result.getType()))
      continue;
    builder.setInsertionPointAfter(op);
    if (!isExact) {
      companions[result] = rules.constant(std::numeric_limits<double>::infinity());
      continue;
    }
    if (!companions.lookup(op.thenYield().getOperand(number)) &&
        !companions.lookup(op.elseYield().getOperand(number)))
      continue;
    bounded.push_back(number);
    types.push_back(builder.getF64Type());
  }
  if (bounded.empty())
    return success();
  builder.setInsertionPoint(op);
  auto pair = scf::IfOp::create(builder, op.getLoc(), types, op.getCondition());
  pair.getThenRegion().takeBody(op.getThenRegion());
  pair.getElseRegion().takeBody(op.getElseRegion());
  for (scf::YieldOp yield : {pair.thenYield(), pair.elseYield()}) {
    builder.setInsertionPoint(yield);
    SmallVector<Value> values(yield.getOperands());
    for (unsigned number : bounded)
      values.push_back(materialize(op.getLoc(), yield.getOperand(number)));
    yield->setOperands(values);
  }
  unsigned numResults = op->getNumResults();
  op->replaceAllUsesWith(pair->getResults().take_front(numResults));
  for (auto [position, number] : llvm::enumerate(bounded))
    companions[pair->getResult(number)] = pair->getResult(numResults + position);
  op->erase();
  return success();
}

/// Whether the term that an op adds is a product of two extended 8-bit floats.
static bool addsFloat8Product(Operation *addition) {
  auto narrow = [](Value value) {
    while (auto extension = value.getDefiningOp<arith::ExtFOp>())
      value = extension.getIn();
    return value;
  };
  Value term = narrow(addition->getOperand(1));
  auto product = term.getDefiningOp<arith::MulFOp>();
  return product && isFloat8(narrow(product.getLhs()).getType()) &&
         isFloat8(narrow(product.getRhs()).getType());
}

/// What a term of a sum in few bits allows beside the roundings of f32, relative to all
/// terms; null where it is none. `terms`: how often the sum is cut.
Value Bounder::boundFloat8Sum(Operation *addition, Value terms) {
  if (float8Sums.size() != 2 || !addsFloat8Product(addition))
    return nullptr;
  if (float8Sums[1])
    terms = rules.smaller(terms, rules.constant(double(float8Sums[1] + 8)));
  return rules.mul(terms, rules.constant(std::ldexp(1.0, 1 - int(float8Sums[0]))));
}

/// What each term of a sum in the body allows: (K + 8) u, known in front of the loops.
void Bounder::boundTerms(linalg::GenericOp op) {
  Location loc = op.getLoc();
  Value terms;
  perTerm.clear();
  for (Operation &inner : *op.getBody()) {
    auto type = inner.getAttrOfType<TypeAttr>(kAccumulatorAttr);
    if (!type)
      continue;
    if (!terms) {
      auto ranges = cast<linalg::LinalgOp>(op.getOperation())
                        .createLoopRanges(builder, loc);
      terms = rules.constant(1);
      for (auto [range, kind] :
           llvm::zip_equal(ranges, op.getIteratorTypesArray()))
        if (kind == utils::IteratorType::reduction)
          terms = rules.mul(terms, rules.widen(getValueOrCreateConstantIndexOp(
                                       builder, loc, range.size)));
      terms = rules.add(terms, rules.constant(8));
    }
    // The oracle's own sum rounds in f64, which counts where the program's
    // does.
    double unit =
        getUnitRoundoff(type.getValue()) * (type.getValue().isF64() ? 2 : 1);
    Value each = rules.mul(terms, rules.constant(unit));
    if (isTf32 && type.getValue().isF32())
      each = rules.add(each, rules.constant(0x1p-10));
    if (Value few = boundFloat8Sum(&inner, terms))
      each = rules.add(each, few);
    perTerm[&inner] = each;
  }
}

/// The value that a sum starts from is one of its terms: adds `each` of it to its bound.
void Bounder::boundInit(Location loc, Value init, Value companion, Value each) {
  int64_t rank = cast<MemRefType>(companion.getType()).getRank();
  SmallVector<AffineMap> identity(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, loc, init, companion, identity, loops,
      [&](OpBuilder &b, Location l, ValueRange args) {
        ErrorRules inner(b);
        linalg::YieldOp::create(b, l, inner.getSumBound(args[1], Value(), args[0], each));
      });
}

LogicalResult Bounder::visitGeneric(linalg::GenericOp op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  boundTerms(op);

  SmallVector<Value> inputs(op.getInputs()), outputs(op.getOutputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineMap> inputMaps(maps.begin(), maps.begin() + inputs.size());
  SmallVector<AffineMap> outputMaps(maps.begin() + inputs.size(), maps.end());
  SmallVector<BlockArgument> withCompanion;
  unsigned numInputs = inputs.size(), numOutputs = outputs.size();
  for (unsigned i = 0; i < numInputs; ++i)
    if (Value companion = companions.lookup(inputs[i])) {
      inputs.push_back(companion);
      inputMaps.push_back(inputMaps[i]);
      withCompanion.push_back(op.getBody()->getArgument(i));
    }
  SmallVector<unsigned> bounded;
  for (unsigned i = 0; i < numOutputs; ++i) {
    Value companion = companions.lookup(outputs[i]);
    if (!companion)
      continue;
    Operation *last = op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
    if (Value each = last ? perTerm.lookup(last) : Value())
      boundInit(loc, op.getOutputs()[i], companion, each);
    outputs.push_back(companion);
    outputMaps.push_back(outputMaps[i]);
    bounded.push_back(i);
  }
  llvm::append_range(inputMaps, outputMaps);
  auto pair = linalg::GenericOp::create(builder, loc, inputs, outputs,
                                        inputMaps, op.getIteratorTypesArray());
  // The body moves; its arguments change places.
  Block *body = op.getBody();
  SmallVector<Value> oldArguments(body->getArguments());
  pair.getRegion().takeBody(op.getRegion());
  for (unsigned i = numInputs; i < inputs.size(); ++i)
    companions[withCompanion[i - numInputs]] =
        body->insertArgument(i, builder.getF64Type(), loc);
  for (unsigned i : bounded)
    companions[oldArguments[numInputs + i]] =
        body->addArgument(builder.getF64Type(), loc);
  visitBody(*body);
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  builder.setInsertionPoint(yield);
  SmallVector<Value> yielded(yield.getOperands());
  for (unsigned i : bounded)
    yielded.push_back(materialize(loc, yield.getOperand(i)));
  yield->setOperands(yielded);
  op.erase();
  return success();
}
