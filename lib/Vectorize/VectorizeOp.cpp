// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linalg ops on tiles -> vector ops. Three shapes of op:
//
//   contraction   tilewright.mma (VectorizeContraction.cpp)
//   elementwise   the body on vectors over all loops (VectorizeBody.cpp)
//   reduction     the body on vectors over all loops, then, per result, a
//                 vector.multi_reduction (VectorizeReduction.cpp)
//
//   linalg.generic {maps (m, k) -> (m, k), (m, k) -> (m)} ins(%x) outs(%acc)
//     { %0 = arith.addf %in, %out }          tile 4 x 128, k partial
//   -> %v = vector.transfer_read %x[%i, %k], %zero {in_bounds = [true, false]}
//      %r = vector.multi_reduction <add>, %v, %acc [1]
//             : vector<4x128xf32> to vector<4xf32>

#include "Vectorizer.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// The op's loops
//===----------------------------------------------------------------------===//

bool Vectorizer::OpState::isPartial(unsigned loop) const {
  return extents[loop] && !isConstantIntValue(sizes[loop], extents[loop]);
}

VectorType Vectorizer::OpState::getType(Loops loops, Type element) const {
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(extents[loop]);
  return VectorType::get(shape, element);
}

SmallVector<unsigned> Vectorizer::OpState::loopsOf(unsigned number) const {
  SmallVector<unsigned> loops;
  for (unsigned i = 0, e = maps[number].getNumResults(); i < e; ++i)
    if (unsigned loop = maps[number].getDimPosition(i); extents[loop])
      loops.push_back(loop);
  return loops;
}

FailureOr<Vectorizer::OpState> Vectorizer::prepare(linalg::LinalgOp op) {
  OpState state;
  state.op = op;
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(kTileSizesAttr);
  if (!attr || attr.size() != int64_t(op.getNumLoops()))
    return op.emitOpError() << "has no '" << kTileSizesAttr
                            << "' for its loops; run tilewright-tile";
  state.extents.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  if (llvm::any_of(state.extents, [](int64_t extent) { return extent < 0; }))
    return op.emitOpError() << "'" << kTileSizesAttr << "' has negative sizes";
  state.maps = op.getIndexingMapsArray();
  LoweringConfigAttr config = getConfig();
  if (std::optional<Contraction> product = matchProduct(op);
      product && traitsOf(config).sharesSums) {
    state.skinny = true;
    auto elements = [&](unsigned number) {
      int64_t count = 1;
      for (unsigned i = 0, e = state.maps[number].getNumResults(); i < e; ++i)
        count *= std::max<int64_t>(
            1, state.extents[state.maps[number].getDimPosition(i)]);
      return count;
    };
    state.larger = elements(product->b) >= elements(product->a) ? product->b
                                                                 : product->a;
  }
  state.sizes.resize(op.getNumLoops());
  for (auto [number, map] : llvm::enumerate(state.maps)) {
    if (!map.isProjectedPermutation())
      return op.emitOpError() << "operand " << number
                              << " is not read through a projected permutation";
    const Tile *tile = lookup(op->getOperand(number));
    if (!tile)
      continue;
    for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
      if (!state.sizes[map.getDimPosition(i)])
        state.sizes[map.getDimPosition(i)] = tile->sizes[i];
  }
  return state;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Vectorizer::setResult(OpState &state, unsigned result, Value value) {
  unsigned number = state.op.getNumDpsInputs() + result;
  Tile tile{Tile::Register, value, {}, {}, {}};
  for (unsigned i = 0, e = state.maps[number].getNumResults(); i < e; ++i) {
    unsigned loop = state.maps[number].getDimPosition(i);
    tile.sizes.push_back(state.sizes[loop]);
    tile.extents.push_back(state.extents[loop]);
  }
  tiles[state.op->getResult(result)] = std::move(tile);
}

LogicalResult Vectorizer::visitLinalg(linalg::LinalgOp op) {
  FailureOr<OpState> state = prepare(op);
  if (failed(state))
    return failure();
  for (unsigned loop = 0, e = op.getNumLoops(); loop < e; ++loop)
    if (state->extents[loop] && !state->sizes[loop])
      return op.emitOpError() << "the size of loop " << loop << " is not known";
  dead.push_back(op);

  // Dims of the vectors: those of the first result, then what is reduced.
  state->order = state->loopsOf(op.getNumDpsInputs());
  for (bool reduced : {false, true})
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if (state->extents[loop] &&
          reduced == (iterator != utils::IteratorType::parallel) &&
          !llvm::is_contained(state->order, unsigned(loop)))
        state->order.push_back(loop);

  // What is configured as a reduction (one row by a matrix along the sum) is one.
  std::optional<Contraction> contraction = matchContraction(op);
  LoweringConfigAttr config = getConfig();
  if (contraction && !state->skinny && !traitsOf(config).reducesProducts) {
    auto anyTiled = [&](ArrayRef<unsigned> loops) {
      return llvm::any_of(
          loops, [&](unsigned loop) { return state->extents[loop] != 0; });
    };
    if (anyTiled(contraction->m) && anyTiled(contraction->n) &&
        anyTiled(contraction->k))
      return visitContraction(*state);
  }
  return visitGeneric(*state);
}

/// True where every reduction loop of `op` takes one step at a time.
static bool takesTermByTerm(linalg::LinalgOp op, ArrayRef<int64_t> extents) {
  return llvm::all_of(
      llvm::zip_equal(op.getIteratorTypesArray(), extents), [](auto loop) {
        auto [type, extent] = loop;
        return type == utils::IteratorType::parallel || extent <= 1;
      });
}

LogicalResult Vectorizer::visitGeneric(OpState &state) {
  linalg::LinalgOp op = state.op;
  // Term by term, what is reduced is a value of the body like any other.
  bool reduction =
      op.getNumReductionLoops() &&
      !(isSequentialReduction(op) && takesTermByTerm(op, state.extents));
  for (OpOperand &operand : op->getOpOperands()) {
    if ((reduction && op.isDpsInit(&operand)) ||
        !op.payloadUsesValueFromOperand(&operand))
      continue;
    unsigned number = operand.getOperandNumber();
    FailureOr<Value> value = readOperand(state, number, state.order,
                                         choosePad(state, number));
    if (failed(value))
      return failure();
    state.values[op.getBlock()->getArgument(number)] = *value;
  }
  if (failed(vectorizeBody(state)))
    return failure();

  Operation *yield = op.getBlock()->getTerminator();
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    FailureOr<Value> value;
    if (reduction) {
      value = reduce(state, i);
    } else {
      Value yielded = yield->getOperand(i);
      if (Value mapped = state.values.lookup(yielded))
        yielded = mapped;
      value = reorder(state, toVector(state, yielded, state.order), state.order,
                      state.loopsOf(op.getNumDpsInputs() + i));
    }
    if (failed(value))
      return failure();
    setResult(state, i, *value);
  }
  return success();
}
