// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions -> tilewright.mma of the operands as they lie in memory, zero outside along the
// reduction dimensions, with the instruction of the kernel's config.

#include "Vectorizer.h"
#include "tilewright/Analysis/Instructions.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace tilewright;

/// Whether another product of the kernel multiplies what becomes of the result of `op`: the
/// last one is that which the config speaks of. Those of a dual product stand side by side.
static bool isChained(linalg::LinalgOp op) {
  linalg::LinalgOp last;
  op->getParentOfType<func::FuncOp>().walk([&](linalg::LinalgOp other) {
    if (matchContraction(other))
      last = other;
  });
  if (last == op || last->getBlock() != op->getBlock())
    return last != op;
  SetVector<Operation *> ofResult;
  getForwardSlice(op.getOperation(), &ofResult);
  return ofResult.contains(last);
}

/// The config's matrix instruction, if it is for these types. That of warpgroups has all
/// of the `columns` of the first of two products.
static StringAttr instructionOf(LoweringConfigAttr config, linalg::LinalgOp op,
                                const Contraction &contraction, bool isFirst, int64_t columns) {
  if (!config || !config.getMma())
    return {};
  auto instruction =
      MatrixInstruction::parse(op.getContext(), config.getMma().getValue());
  if (!instruction || !hasTypesOf(op, contraction, *instruction))
    return {};
  return config.isForWarpgroups() && isFirst
             ? withColumns(config.getMma(), columns)
             : config.getMma();
}

LogicalResult Vectorizer::visitContraction(OpState &state) {
  // The config's warps are those of the last product's loops.
  bool isFirst = isChained(state.op);
  Contraction contraction =
      *(isFirst ? matchContraction(state.op) : matchOriented(state.op, getConfig()));
  unsigned numbers[] = {contraction.a, contraction.b, 2};
  // Dims of the maps: the loops that are vector dims, in order.
  SmallVector<int64_t> position(state.op.getNumLoops(), -1);
  unsigned numDims = 0;
  for (auto [loop, extent] : llvm::enumerate(state.extents))
    if (extent)
      position[loop] = numDims++;

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (unsigned number : numbers) {
    SmallVector<unsigned> loops = state.loopsOf(number);
    Attribute zero =
        b.getZeroAttr(getElementTypeOrSelf(state.op->getOperand(number)));
    FailureOr<Value> value = readOperand(state, number, loops, zero);
    if (failed(value))
      return failure();
    const Tile *tile = lookup(state.op->getOperand(number));
    Value vector = toVector(state, *value, loops);
    if (number != 2 && tile && tile->kind != Tile::Memory)
      vector = keepInside(state, vector, loops, contraction.k, zero);
    operands.push_back(vector);
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : loops)
      exprs.push_back(b.getAffineDimExpr(position[loop]));
    maps.push_back(AffineMap::get(numDims, 0, exprs, b.getContext()));
  }
  ArrayAttr signedness;
  if (!contraction.signedness[0].empty() || !contraction.signedness[1].empty()) {
    SmallVector<StringRef> words;
    for (StringRef word : contraction.signedness)
      words.push_back(word.empty() ? StringRef("signed") : word);
    signedness = b.getStrArrayAttr(words);
  }
  int64_t columns = 1;
  for (unsigned loop : contraction.n)
    columns *= std::max<int64_t>(1, state.extents[loop]);
  Value result = MmaOp::create(b, state.op.getLoc(), operands[0], operands[1],
                               operands[2], b.getAffineMapArrayAttr(maps),
                               signedness,
                               instructionOf(getConfig(), state.op, contraction, isFirst,
                                             columns));
  setResult(state, 0, result);
  return success();
}
