// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles beside a product's sums, a residual say, come by copy engines where its
// results leave by them (`tma_store`): of 16 bits, whose neighbours in memory are too few in
// a lane for whole sectors, and f32, which would take as many registers as the sums. They
// come piece by piece, and use the memory of results of the same type.
//
//   linalg.generic ins(%product : f32, %residual : bf16) outs(… : bf16)
//     { extf %residual, addf, truncf }

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "TensorMaps.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"

using namespace mlir;
using namespace tilewright;

/// Whether all that is computed from `value` in the body of `op` meets what is computed from
/// the kernel's other ops before it is a result.
static bool meetsSums(linalg::LinalgOp op, Value value) {
  llvm::SmallPtrSet<Value, 16> ofSums;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get().getDefiningOp<linalg::LinalgOp>())
      ofSums.insert(op.getMatchingBlockArgument(input));
  for (Operation &inner : op.getBlock()->without_terminator())
    if (llvm::any_of(inner.getOperands(), [&](Value operand) {
          return ofSums.contains(operand);
        }))
      ofSums.insert(inner.result_begin(), inner.result_end());
  SmallVector<Value> work{value};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user->getNumResults() != 1 || user->getNumRegions())
        return false;
      if (!ofSums.contains(user->getResult(0)))
        work.push_back(user->getResult(0));
    }
  return true;
}

bool tilewright::isLoadedTile(const KernelInfo &info, LoweringConfigAttr config,
                              OpOperand &operand, const MatrixLoops &loops) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  auto argument = dyn_cast<BlockArgument>(operand.get());
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!config.isForWarpgroups() || !config.getTmaStore() || !argument || !type ||
      type.getRank() < 2 || op.isDpsInit(&operand) || op.getNumReductionLoops() ||
      isFusedProducer(info, op))
    return false;
  Type element = type.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return false;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  ArrayRef<unsigned> classes = info.getClasses(op), root = info.getClasses(info.getRoot());
  int64_t last = type.getRank() - 1;
  return classes[map.getDimPosition(last - 1)] == root[loops.m] &&
         classes[map.getDimPosition(last)] == root[loops.n] &&
         !whyNoTensorMap(info.kernel, argument) &&
         storePieceOf(config.getBlock()[loops.n], bytesPerElement(type)).rowBytes &&
         llvm::count_if(argument.getUsers(), llvm::IsaPred<linalg::LinalgOp>) == 1 &&
         meetsSums(op, op.getMatchingBlockArgument(&operand));
}

/// Whether `operand` has the rows and columns of the product's tile.
static bool isTile(const KernelInfo &info, OpOperand &operand, const MatrixLoops &loops) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  ArrayRef<unsigned> classes = info.getClasses(op), root = info.getClasses(info.getRoot());
  bool hasRows = false, hasColumns = false;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      hasRows |= classes[dim.getPosition()] == root[loops.m];
      hasColumns |= classes[dim.getPosition()] == root[loops.n];
    }
  return hasRows && hasColumns && isa<BlockArgument>(operand.get());
}

/// Whether the operand has a number for each column of the product's tile, for all of its rows.
static bool isOfColumns(const KernelInfo &info, OpOperand &operand, const MatrixLoops &loops) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  ArrayRef<unsigned> classes = info.getClasses(op), root = info.getClasses(info.getRoot());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  return isa<BlockArgument>(operand.get()) && map.getNumResults() == 1 &&
         isa<AffineDimExpr>(map.getResult(0)) && classes[map.getDimPosition(0)] == root[loops.n];
}

int64_t tilewright::registersBesideSums(const KernelInfo &info, LoweringConfigAttr config,
                                        const MatrixLoops &loops, int64_t groups) {
  ArrayRef<int64_t> block = config.getBlock();
  ArrayRef<linalg::LinalgOp> products = info.getProducts();
  int64_t whole = 0, brought = 0, ofColumns = 0;
  SmallVector<int64_t> pieces;
  for (linalg::LinalgOp op : info.ops) {
    if (llvm::is_contained(products, op) || isFusedProducer(info, op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (isOfColumns(info, *input, loops))
        ofColumns += block[loops.n] / 4;
      if (!isTile(info, *input, loops))
        continue;
      int64_t bytes = bytesPerElement(input->get().getType());
      // Bytes are widened when they are read, in registers of their own.
      auto registers = [&](int64_t elements) {
        return elements * (bytes == 1 ? 8 : bytes) / 4 / 128;
      };
      int64_t all = registers(block[loops.m] * block[loops.n] / groups);
      // Results that leave by plain stores have no pieces, nor layouts of their own where
      // elements are as wide as the sums.
      bool inOneBlock = !config.getTmaStore() && bytes >= 4;
      if (inOneBlock || isLoadedTile(info, config, *input, loops)) {
        StorePiece store = storePieceOf(block[loops.n], bytes);
        pieces.push_back(registers(store.rows * store.columns));
        brought += all;
      } else {
        whole += all;
      }
    }
  }
  // What copy engines bring meets the sums piece by piece; of several tiles, the assembler
  // lets about half wait for the others. Other reads, which it moves to where they are used,
  // cannot pass the barriers of pieces that leave.
  bool isAlone = pieces.size() == 1 && (config.getTmaStore() || !whole);
  // Of a cluster's sums a block has a slice.
  if (clusterSumLoop(info, config))
    return (whole + brought) / config.getSplits();
  if (!config.getTmaStore() && !isAlone)
    return whole + brought;
  // Numbers of columns, of which a thread has a quarter, wait where tiles that are brought put a
  // barrier in front of the pieces; ptxas 13.0 has seven of eight in registers at once.
  if (!pieces.empty())
    whole += ofColumns * 7 / 8;
  return whole + (isAlone ? pieces.front() : brought / 2);
}

SmallVector<OpOperand *> tilewright::loadedTiles(const KernelInfo &info,
                                                 LoweringConfigAttr config) {
  SmallVector<OpOperand *> tiles;
  if (!config.isForWarpgroups())
    return tiles;
  std::optional<MatrixLoops> loops =
      findMatrixLoops(*info.getOriented(config), config);
  if (!loops)
    return tiles;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isLoadedTile(info, config, *input, *loops))
        tiles.push_back(input);
  return tiles;
}
