// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linalg ops on tiles -> vector ops. Three shapes of op:
//
//   contraction   tilewright.mma of the operands as they lie in memory, zero
//                 outside along the summed loops
//   elementwise   the body on vectors over all loops
//   reduction     the body on vectors over all loops, then, per result, a
//                 vector.multi_reduction; lanes outside hold the neutral
//                 element of the combination
//
//   linalg.generic {maps (m, k) -> (m, k), (m, k) -> (m)} ins(%x) outs(%acc)
//     { %0 = arith.addf %in, %out }          tile 4 x 128, k partial
//   -> %v = vector.transfer_read %x[%i, %k], %zero {in_bounds = [true, false]}
//      %r = vector.multi_reduction <add>, %v, %acc [1]
//             : vector<4x128xf32> to vector<4xf32>

#include "Vectorizer.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
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

static LoweringConfigAttr configOf(linalg::LinalgOp op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  return kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
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
  LoweringConfigAttr config = configOf(op);
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
// Operands
//===----------------------------------------------------------------------===//

Value Vectorizer::toVector(OpState &state, Value value, Loops loops) {
  if (isa<VectorType>(value.getType()) || loops.empty())
    return value;
  return vector::BroadcastOp::create(
      b, state.op.getLoc(), state.getType(loops, value.getType()), value);
}

FailureOr<Value> Vectorizer::reorder(OpState &state, Value value, Loops from,
                                     Loops to) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return value;
  if (type != state.getType(from, type.getElementType()))
    return state.op.emitOpError()
           << "reads a tile of type " << type << " where its own tile is "
           << state.getType(from, type.getElementType());
  Location loc = state.op.getLoc();
  // Into the order of `to`, then a dim of one element for every missing loop.
  SmallVector<int64_t> permutation, shape;
  for (unsigned loop : to) {
    auto *found = llvm::find(from, loop);
    if (found != from.end()) {
      permutation.push_back(found - from.begin());
      shape.push_back(state.extents[loop]);
    } else {
      shape.push_back(1);
    }
  }
  if (permutation.size() != from.size())
    return state.op.emitOpError("has a result that lacks a parallel loop");
  if (!llvm::is_sorted(permutation))
    value = vector::TransposeOp::create(b, loc, value, permutation);
  if (from.size() == to.size())
    return value;
  // Missing loops in front need no dims: broadcast adds them.
  SmallVector<unsigned> present;
  ArrayRef<int64_t> inner(shape);
  unsigned leading = 0;
  while (leading < to.size() && !llvm::is_contained(from, to[leading]))
    ++leading;
  inner = inner.drop_front(leading);
  if (inner.size() != from.size())
    value = vector::ShapeCastOp::create(
        b, loc, VectorType::get(inner, type.getElementType()), value);
  return vector::BroadcastOp::create(
             b, loc, state.getType(to, type.getElementType()), value)
      .getResult();
}

FailureOr<Value> Vectorizer::readOperand(OpState &state, unsigned number,
                                         Loops loops, Attribute pad) {
  linalg::LinalgOp op = state.op;
  Location loc = op.getLoc();
  Value operand = op->getOperand(number);
  if (!isa<TensorType>(operand.getType()))
    return operand;
  const Tile *tile = lookup(operand);
  if (!tile)
    return op.emitOpError() << "operand " << number << " is no tile";
  Type element = getElementTypeOrSelf(operand.getType());
  switch (tile->kind) {
  case Tile::Splat:
    return tile->value;
  case Tile::Empty:
    return arith::ConstantOp::create(b, loc,
                                     cast<TypedAttr>(b.getZeroAttr(element)))
        .getResult();
  case Tile::Register:
    return reorder(state, tile->value, state.loopsOf(number), loops);
  case Tile::Memory:
    break;
  }

  // The larger operand is read as it lies in memory, then repeated: its layout
  // is what the product's follows.
  SmallVector<unsigned> own = state.loopsOf(number);
  if (state.larger == int64_t(number) && !own.empty() &&
      own.size() < loops.size()) {
    FailureOr<Value> value = readOperand(state, number, own, pad);
    return failed(value) ? value : reorder(state, *value, own, loops);
  }

  if (tile->packed)
    return readPacked(state, number, loops);
  SmallVector<Value> indices;
  for (OpFoldResult offset : tile->offsets)
    indices.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  AffineMap operandMap = state.maps[number];
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  bool any = false;
  for (unsigned loop : loops) {
    std::optional<unsigned> position =
        operandMap.getResultPosition(b.getAffineDimExpr(loop));
    any |= position.has_value();
    exprs.push_back(position ? b.getAffineDimExpr(*position)
                             : b.getAffineConstantExpr(0));
    inBounds.push_back(!position || !state.isPartial(loop));
  }
  if (!any)
    return tensor::ExtractOp::create(b, loc, tile->value, indices).getResult();
  AffineMap map =
      AffineMap::get(operandMap.getNumResults(), 0, exprs, b.getContext());
  Value padValue =
      arith::ConstantOp::create(b, loc, cast<TypedAttr>(pad)).getResult();
  return vector::TransferReadOp::create(b, loc, state.getType(loops, element),
                                        tile->value, indices, padValue, map,
                                        ArrayRef<bool>(inBounds))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

Value Vectorizer::makeMask(OpState &state, Loops order, Loops loops) {
  Location loc = state.op.getLoc();
  // With constant bounds, vector.create_mask would fold to a constant, which
  // has no form per thread; coordinates have one.
  bool constant = llvm::none_of(loops, [&](unsigned loop) {
    return state.isPartial(loop) && !getConstantIntValue(state.sizes[loop]);
  });
  if (constant) {
    Value mask;
    for (unsigned loop : loops) {
      if (!state.isPartial(loop))
        continue;
      Value step = vector::StepOp::create(
          b, loc, VectorType::get({state.extents[loop]}, b.getIndexType()));
      Value bound = arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(
              cast<VectorType>(step.getType()),
              b.getIndexAttr(*getConstantIntValue(state.sizes[loop]))));
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           step, bound);
      FailureOr<Value> wide = reorder(state, inside, {loop}, order);
      if (failed(wide))
        return {};
      mask = mask ? arith::AndIOp::create(b, loc, mask, *wide).getResult()
                  : *wide;
    }
    return mask;
  }
  SmallVector<Value> bounds;
  for (unsigned loop : order) {
    bool masked = llvm::is_contained(loops, loop) && state.isPartial(loop);
    bounds.push_back(
        masked ? getValueOrCreateConstantIndexOp(b, loc, state.sizes[loop])
               : arith::ConstantIndexOp::create(b, loc, state.extents[loop])
                     .getResult());
  }
  return vector::CreateMaskOp::create(b, loc,
                                      state.getType(order, b.getI1Type()),
                                      bounds);
}

Value Vectorizer::keepInside(OpState &state, Value value, Loops order,
                             Loops loops, Attribute outside) {
  if (llvm::none_of(loops, [&](unsigned l) { return state.isPartial(l); }))
    return value;
  value = toVector(state, value, order);
  Location loc = state.op.getLoc();
  Value other = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<VectorType>(value.getType()), outside));
  return arith::SelectOp::create(b, loc, makeMask(state, order, loops), value,
                                 other);
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
  LoweringConfigAttr config = configOf(op);
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
static StringAttr instructionOf(linalg::LinalgOp op, const Contraction &contraction,
                                bool isFirst, int64_t columns) {
  LoweringConfigAttr config = configOf(op);
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
      *(isFirst ? matchContraction(state.op) : matchOriented(state.op, configOf(state.op)));
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
                               instructionOf(state.op, contraction, isFirst, columns));
  setResult(state, 0, result);
  return success();
}

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

  // Lanes outside are neutral already if they come that way from memory.
  // Operands that are zero outside make products that are zero.
  auto argument = dyn_cast<BlockArgument>(combiner.element);
  bool padded = argument && argument.getOwner() == op.getBlock() &&
                choosePad(state, argument.getArgNumber()) == *neutral;
  if (padded) {
    AffineMap map = state.maps[argument.getArgNumber()];
    const Tile *tile = lookup(op->getOperand(argument.getArgNumber()));
    padded = tile && tile->kind == Tile::Memory &&
             llvm::all_of(reduced, [&](unsigned loop) {
               return !state.isPartial(loop) ||
                      map.getResultPosition(b.getAffineDimExpr(loop));
             });
  }
  if (state.skinny)
    padded = llvm::all_of(op.getDpsInputs(), [&](Value input) {
      const Tile *tile = lookup(input);
      return tile && tile->kind == Tile::Memory;
    });
  if (!padded)
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
