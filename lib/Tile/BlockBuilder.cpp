// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of one block, see BlockBuilder.h for the idea.

#include "BlockBuilder.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Windows.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace tilewright;

BlockBuilder::BlockBuilder(OpBuilder &builder, const KernelInfo &info,
                           const TilePlan &plan)
    : b(builder), info(info), plan(plan), kernel(info.kernel) {
  extents.resize(info.classes.size());
  scopes.emplace_back();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
BlockBuilder::writeLoops(Location loc, ArrayRef<Loop> loops,
                         const Environment &env, ValueRange inits, Body body) {
  if (loops.empty())
    return body(env, inits);
  const Loop &loop = loops.front();
  Value lower = getValueOrCreateConstantIndexOp(b, loc, loop.lower);
  Value upper = getValueOrCreateConstantIndexOp(b, loc, loop.upper);
  Value step = arith::ConstantIndexOp::create(b, loc, loop.step);
  auto forOp = scf::ForOp::create(b, loc, lower, upper, step, inits);

  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  scopes.emplace_back();
  Environment inside = env;
  inside.offsets[loop.number] = forOp.getInductionVar();
  inside.sizes[loop.number] =
      tileSize(loop.number, loop.step, forOp.getInductionVar(), upper);
  if (loop.base)
    inside.offsets[loop.number] = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) + b.getAffineDimExpr(1),
        {loop.base, inside.offsets[loop.number]});
  inside.tiled[loop.number] = true;
  FailureOr<SmallVector<Value>> values = writeLoops(
      loc, loops.drop_front(), inside, forOp.getRegionIterArgs(), body);
  scopes.pop_back();
  if (failed(values))
    return failure();
  scf::YieldOp::create(b, loc, *values);
  if (int64_t terms = plan.classes[loop.number].terms; terms > 1)
    loopsOfTerms.push_back({forOp, terms});
  return SmallVector<Value>(forOp.getResults());
}

SmallVector<BlockBuilder::Loop>
BlockBuilder::sequentialLoops(linalg::LinalgOp op, const Environment &env,
                              bool reductions) {
  SmallVector<Loop> loops;
  for (auto [iterator, number] :
       llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
    if ((iterator != utils::IteratorType::parallel) == reductions &&
        !info.classes[number].parallel && !env.tiled[number]) {
      bool isSplit = (info.split && info.split->reduced == number) ||
                     (plan.clusterSum && plan.clusterSum->reduced == number);
      loops.push_back({number, isSplit ? partBegin : b.getIndexAttr(0),
                       isSplit ? partEnd : getExtent(number),
                       plan.classes[number].step,
                       isSplit ? partBase : OpFoldResult()});
    }
  return loops;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static linalg::LinalgOp getProducer(Value value) {
  return lookThroughCasts(value).getDefiningOp<linalg::LinalgOp>();
}

/// Loops of `op` that index its results.
static SmallVector<unsigned> resultLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      loops.push_back(loop);
  return loops;
}

BlockBuilder::Key BlockBuilder::makeKey(linalg::LinalgOp op,
                                        const Environment &env) {
  Key key{op, {}};
  for (unsigned loop : resultLoops(op)) {
    unsigned number = info.getClasses(op)[loop];
    key.second.push_back(env.offsets[number].getOpaqueValue());
    key.second.push_back(env.sizes[number].getOpaqueValue());
  }
  return key;
}

/// True if the tile that `op` starts from is read.
static bool readsInit(linalg::LinalgOp op, OpOperand &operand) {
  return op.payloadUsesValueFromOperand(&operand);
}

LogicalResult BlockBuilder::hoistProducers(linalg::LinalgOp op,
                                           const Environment &env,
                                           ArrayRef<Loop> loops) {
  for (OpOperand &operand : op->getOpOperands()) {
    linalg::LinalgOp producer = getProducer(operand.get());
    if (!producer || (op.isDpsInit(&operand) && !readsInit(op, operand)))
      continue;
    bool touched = llvm::any_of(resultLoops(producer), [&](unsigned loop) {
      unsigned number = info.getClasses(producer)[loop];
      return llvm::any_of(loops, [&](const Loop &loop) {
        return loop.number == number;
      });
    });
    if (failed(touched ? hoistProducers(producer, env, loops)
                       : LogicalResult(writeOp(producer, env))))
      return failure();
  }
  return success();
}

/// The number of the matrix that entry `entry` of the table names, in front of the loops that
/// read it; inside, whatever it is.
Value BlockBuilder::writePick(Location loc, const Pick &pick, OpFoldResult entry) {
  Value &known = picked[{pick.table, entry.getOpaqueValue(), pick.count}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  if (auto value = dyn_cast<Value>(entry))
    b.setInsertionPointAfterValue(value);
  else
    b.setInsertionPointToStart(pick.table.getOwner());
  Value number = tensor::ExtractOp::create(b, loc, pick.table,
                                           getValueOrCreateConstantIndexOp(b, loc, entry));
  number = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  Value last = arith::ConstantIndexOp::create(b, loc, pick.count - 1);
  return known = arith::MinUIOp::create(b, loc, number, last);
}

FailureOr<Value> BlockBuilder::writeOperand(OpOperand &operand,
                                            const Environment &env) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  if (linalg::LinalgOp producer = getProducer(operand.get())) {
    FailureOr<SmallVector<Value>> values = writeOp(producer, env);
    if (failed(values))
      return failure();
    unsigned number =
        cast<OpResult>(lookThroughCasts(operand.get())).getResultNumber();
    return (*values)[number];
  }
  Value source = lookThroughCasts(operand.get());
  if (written.contains(source))
    return op.emitOpError() << "operand " << operand.getOperandNumber()
                            << " is a destination that another result has "
                               "written by then; dispatch it as a kernel of "
                               "its own";
  if (auto updated = current.find(source); updated != current.end())
    source = updated->second;
  if (!isa<RankedTensorType>(source.getType()))
    return source;
  SmallVector<OpFoldResult> offsets, sizes;
  for (unsigned number : info.getClasses(operand)) {
    offsets.push_back(env.offsets[number]);
    sizes.push_back(env.sizes[number]);
  }
  if (source.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(
               b, op.getLoc(), sizes,
               cast<RankedTensorType>(source.getType()).getElementType())
        .getResult();
  if (std::optional<Pick> pick = getPick(source))
    offsets.front() = writePick(op.getLoc(), *pick, offsets.front());
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, op.getLoc(), source, offsets, sizes,
                                        strides)
      .getResult();
}

FailureOr<SmallVector<Value>>
BlockBuilder::writeTile(linalg::LinalgOp op, const Environment &env,
                        ValueRange inits) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> value;
    if (!op.isDpsInit(&operand)) {
      value = writeOperand(operand, env);
    } else if (!inits.empty()) {
      value = inits[operand.getOperandNumber() - op.getNumDpsInputs()];
    } else if (readsInit(op, operand)) {
      value = writeOperand(operand, env);
    } else {
      SmallVector<OpFoldResult> sizes;
      for (unsigned number : info.getClasses(operand))
        sizes.push_back(env.sizes[number]);
      value = tensor::EmptyOp::create(b, op.getLoc(), sizes,
                                      getElementTypeOrSelf(operand.get()))
                  .getResult();
    }
    if (failed(value))
      return failure();
    operands.push_back(*value);
    if (op.isDpsInit(&operand))
      types.push_back(value->getType());
  }
  auto tiled = cast<linalg::LinalgOp>(clone(b, op, types, operands));
  tiled->removeAttr(kConfigAttr);
  for (auto [iterator, number] :
       llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
    if (iterator == utils::IteratorType::reduction && plan.getSharedClass() == number)
      tiled->setAttr(kOverClusterAttr, b.getUnitAttr());
  SmallVector<OpFoldResult> offsets;
  for (unsigned number : info.getClasses(op))
    offsets.push_back(env.offsets[number]);
  linalg::offsetIndices(b, tiled, offsets);
  return SmallVector<Value>(tiled->getResults());
}

FailureOr<SmallVector<Value>> BlockBuilder::writeOp(linalg::LinalgOp op,
                                                    const Environment &env) {
  Key key = makeKey(op, env);
  for (Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;

  if (plan.clusterSum && op == info.getRoot() && !writesWholeTile)
    return writeSlice(env);
  SmallVector<Loop> loops = sequentialLoops(op, env, /*reductions=*/true);
  FailureOr<SmallVector<Value>> values;
  if (loops.empty()) {
    values = writeTile(op, env, {});
    if (succeeded(values))
      scopes.back()[key] = *values;
    return values;
  }
  // The products of a dual product share a loop.
  SmallVector<linalg::LinalgOp> together{op};
  if (info.isRootProduct(op))
    together = info.rootProducts;
  if (failed(writeReductions(together, env, loops)))
    return failure();
  return scopes.back().at(key);
}

FailureOr<SmallVector<Value>> BlockBuilder::writeSlice(const Environment &env) {
  linalg::LinalgOp root = info.getRoot();
  unsigned sliced = plan.clusterSum->sliced;
  Environment whole = env;
  whole.offsets[sliced] = tileOffset;
  whole.sizes[sliced] = wholeSize;
  writesWholeTile = true;
  FailureOr<SmallVector<Value>> sums = writeOp(root, whole);
  writesWholeTile = false;
  if (failed(sums))
    return failure();
  SmallVector<OpFoldResult> sizes;
  int64_t dim = 0;
  for (auto [i, number] : llvm::enumerate(info.getClasses(*root.getDpsInitOperand(0)))) {
    sizes.push_back(env.sizes[number]);
    dim = number == sliced ? i : dim;
  }
  Value into = tensor::EmptyOp::create(b, root.getLoc(), sizes,
                                       getElementTypeOrSelf(sums->front()));
  SmallVector<Value> slice{ClusterScatterOp::create(b, root.getLoc(), into.getType(),
                                                    sums->front(), into, dim, sliceLoop)};
  scopes.back()[makeKey(root, env)] = slice;
  return slice;
}

LogicalResult BlockBuilder::writeReductions(ArrayRef<linalg::LinalgOp> ops,
                                            const Environment &env, ArrayRef<Loop> loops) {
  SmallVector<Value> inits;
  for (linalg::LinalgOp op : ops) {
    if (failed(hoistProducers(op, env, loops)))
      return failure();
    for (OpOperand &init : op.getDpsInitsMutable()) {
      FailureOr<Value> value = writeOperand(init, env);
      if (failed(value))
        return failure();
      inits.push_back(*value);
    }
  }
  FailureOr<SmallVector<Value>> values = writeLoops(
      linalg::LinalgOp(ops.front()).getLoc(), loops, env, inits,
      [&](const Environment &inside, ValueRange carried) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> tiles;
        for (linalg::LinalgOp op : ops) {
          unsigned count = op.getNumDpsInits();
          FailureOr<SmallVector<Value>> tile =
              writeTile(op, inside, carried.slice(tiles.size(), count));
          if (failed(tile))
            return failure();
          llvm::append_range(tiles, *tile);
        }
        return tiles;
      });
  if (failed(values))
    return failure();
  ArrayRef<Value> rest = *values;
  for (linalg::LinalgOp op : ops) {
    scopes.back()[makeKey(op, env)] = llvm::to_vector(rest.take_front(op.getNumDpsInits()));
    rest = rest.drop_front(op.getNumDpsInits());
  }
  return success();
}

FailureOr<Value> BlockBuilder::writeResult(unsigned number,
                                           const Environment &env,
                                           Value destination) {
  OpResult result = info.results[number];
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  BlockArgument argument = info.getDestination(number);
  SmallVector<Loop> loops = sequentialLoops(op, env, /*reductions=*/false);
  if (!loops.empty() && failed(hoistProducers(op, env, loops)))
    return failure();
  FailureOr<SmallVector<Value>> values = writeLoops(
      op.getLoc(), loops, env, destination,
      [&](const Environment &inside,
          ValueRange carried) -> FailureOr<SmallVector<Value>> {
        current[argument] = carried.front();
        FailureOr<SmallVector<Value>> tile = writeOp(op, inside);
        if (failed(tile))
          return failure();
        ArrayRef<unsigned> classes =
            info.getClasses(*op.getDpsInitOperand(result.getResultNumber()));
        SmallVector<OpFoldResult> offsets, sizes;
        for (unsigned position : classes) {
          offsets.push_back(inside.offsets[position]);
          sizes.push_back(inside.sizes[position]);
        }
        SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
        auto inserted = tensor::InsertSliceOp::create(
            b, op.getLoc(), (*tile)[result.getResultNumber()], carried.front(),
            offsets, sizes, strides);
        if (std::optional<unsigned> shared = plan.getSharedClass();
            shared && !llvm::is_contained(classes, *shared))
          inserted->setAttr(kOneBlockAttr, b.getUnitAttr());
        return SmallVector<Value>{inserted.getResult()};
      });
  if (failed(values))
    return failure();
  current[argument] = values->front();
  written.insert(argument);
  return values->front();
}

FailureOr<SmallVector<Value>> BlockBuilder::build() {
  Environment env = placeBlock();

  // Register tiles: loops around everything. The last loop is outermost for
  // contractions, so that one panel of the right-hand side stays in cache
  // while the rows go by.
  SmallVector<Loop> registerLoops;
  for (unsigned number : info.getClasses(info.getRoot())) {
    const ClassTile &tile = plan.classes[number];
    if (!info.classes[number].parallel || !tile.innerLoop)
      continue;
    OpFoldResult end = affine::makeComposedFoldedAffineApply(
        b, kernel.getLoc(), b.getAffineDimExpr(0) + b.getAffineDimExpr(1),
        {env.offsets[number], env.sizes[number]});
    registerLoops.push_back({number, env.offsets[number], end, tile.inner, OpFoldResult()});
  }
  if (info.getContraction(info.getRoot()))
    std::reverse(registerLoops.begin(), registerLoops.end());

  SmallVector<Value> destinations;
  for (unsigned number = 0; number < info.results.size(); ++number)
    destinations.push_back(info.getDestination(number));
  return writeLoops(
      info.getRoot().getLoc(), registerLoops, env, destinations,
      [&](const Environment &inside,
          ValueRange carried) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> values;
        written.clear();
        for (auto [number, value] : llvm::enumerate(carried))
          current[info.getDestination(number)] = value;
        for (auto [number, value] : llvm::enumerate(carried)) {
          FailureOr<Value> updated = writeResult(number, inside, value);
          if (failed(updated))
            return failure();
          values.push_back(*updated);
        }
        return values;
      });
}
