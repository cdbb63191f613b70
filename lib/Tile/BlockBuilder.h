// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the code of one block, on demand: to compute a tile of a value is to
// compute the tiles of what it reads, at the offsets and sizes that the loop
// classes have at that point.
//
// The state of the loop classes is an *environment*: offset and size per class.
// It starts as "all of it"; a block's tile fixes the parallel classes, every
// loop around the point of writing narrows one more. Because all ops name their
// loops by class, one environment says where every op of the kernel is, and
// fusing a producer is nothing but computing it in the consumer's environment.
//
//   softmax, 4 rows a block, columns 1024 at a time:
//     env {rows: (4 * id, 4), columns: all}     max = loop over columns
//       env {rows: .., columns: (j, 1024)}        max of that part of x
//     env {rows: .., columns: all}              sum = loop over columns
//       env {rows: .., columns: (j, 1024)}        exp(x - max), summed
//     result: loop over columns
//       env {rows: .., columns: (j, 1024)}        exp(x - max) / sum, stored
//
// exp is elementwise, so it is written again wherever a tile of it is needed;
// max and sum are written once, before the loops that use them.

#ifndef TILEWRIGHT_LIB_TILE_BLOCKBUILDER_H
#define TILEWRIGHT_LIB_TILE_BLOCKBUILDER_H

#include "tilewright/Configure/TilePlan.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <map>

namespace tilewright {

/// Offset and size of every loop class at one point of the code.
struct Environment {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
  /// The class is narrowed to one tile.
  llvm::SmallVector<bool> tiled;
};

class BlockBuilder {
public:
  BlockBuilder(mlir::OpBuilder &builder, const KernelInfo &info,
               const TilePlan &plan);

  /// Writes the whole body at the builder's insertion point. Returns the new
  /// values of the kernel's results and sets `tileCounts` to the expressions
  /// over `countDims` (argument number, dim) of the number of tiles.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> build();

  /// Tiles along each loop that is spread over blocks, as expressions over
  /// symbols, and what the symbols are: (argument number, dim) pairs.
  llvm::SmallVector<mlir::AffineExpr> tileCounts;
  llvm::SmallVector<std::pair<unsigned, unsigned>> countDims;
  /// Blocks of a cluster along each of them; empty: no clusters.
  llvm::SmallVector<int64_t> cluster;
  /// Loops whose steps are one term each of a reduction, and how many of these are read at once.
  llvm::SmallVector<std::pair<mlir::scf::ForOp, int64_t>> loopsOfTerms;

private:
  using Key = std::pair<mlir::Operation *, std::vector<const void *>>;
  using Scope = std::map<Key, llvm::SmallVector<mlir::Value>>;
  /// One loop of a nest being written: the class and its tile. Where there is a `base`, the
  /// bounds count from it.
  struct Loop {
    unsigned number;
    mlir::OpFoldResult lower, upper;
    int64_t step;
    mlir::OpFoldResult base;
  };
  using Body =
      llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(
          const Environment &, mlir::ValueRange)>;

  // PlaceBlock.cpp
  mlir::OpFoldResult getExtent(unsigned number);
  mlir::OpFoldResult tileSize(unsigned number, int64_t step,
                              mlir::OpFoldResult offset,
                              mlir::OpFoldResult end);
  /// The classes that blocks are spread over, in the order of tile ids: that of the root's
  /// loops.
  llvm::SmallVector<unsigned> spreadClasses(SharesAttr shares);
  /// Tiles along each of them, and blocks along the class that those of a cluster share,
  /// which joins `spread`, and that have parts of a sum; fills `tileCounts`.
  llvm::SmallVector<mlir::Value> countTiles(llvm::SmallVectorImpl<unsigned> &spread);
  void setRaster(TileIdOp tile, int64_t raster, mlir::ArrayRef<unsigned> loops);
  TileIdOp writeTileId(llvm::ArrayRef<mlir::Value> counts, llvm::ArrayRef<unsigned> spread,
                       LoweringConfigAttr config, WorkItemOp item);
  /// Fixes the parallel classes by tile ids.
  Environment placeBlock();
  /// Finds the part of a split loop that this block runs over.
  void placePart(const Environment &env);
  /// The same of a part that blocks share.
  void placeShare(WorkItemOp item, Environment &env);
  /// The part of a sum, and the slice of its tile, that are the `block`th's of a cluster.
  void placeClusterPart(mlir::Value block, Environment &env);

  /// Of the root, which blocks of a cluster have parts of: this block's slice of the sum.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> writeSlice(const Environment &env);

  /// Writes a nest of scf.for over `loops` that carries `inits`; `body` is
  /// called inside with the narrowed environment.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  writeLoops(mlir::Location loc, llvm::ArrayRef<Loop> loops,
             const Environment &env, mlir::ValueRange inits, Body body);

  /// Sequential classes among `op`'s loops that still need a loop.
  llvm::SmallVector<Loop> sequentialLoops(mlir::linalg::LinalgOp op,
                                          const Environment &env,
                                          bool reductions);
  /// Writes producers of `op` that none of `loops` touches.
  mlir::LogicalResult hoistProducers(mlir::linalg::LinalgOp op,
                                     const Environment &env,
                                     llvm::ArrayRef<Loop> loops);
  /// The tile of each result of `op`.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  writeOp(mlir::linalg::LinalgOp op, const Environment &env);
  /// The tiles of the results of `ops`, which reduce over `loops`, in one nest of them.
  mlir::LogicalResult writeReductions(llvm::ArrayRef<mlir::linalg::LinalgOp> ops,
                                      const Environment &env, llvm::ArrayRef<Loop> loops);
  /// One tiled copy of `op`; `inits` replaces its destinations where given.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  writeTile(mlir::linalg::LinalgOp op, const Environment &env,
            mlir::ValueRange inits);
  /// The tile of `operand` in `env`.
  mlir::Value writePick(mlir::Location loc, const Pick &pick, mlir::OpFoldResult entry);
  mlir::FailureOr<mlir::Value> writeOperand(mlir::OpOperand &operand,
                                            const Environment &env);
  /// Computes result `number` and inserts it into `destination`.
  mlir::FailureOr<mlir::Value> writeResult(unsigned number,
                                           const Environment &env,
                                           mlir::Value destination);
  Key makeKey(mlir::linalg::LinalgOp op, const Environment &env);

  mlir::OpBuilder &b;
  const KernelInfo &info;
  const TilePlan &plan;
  mlir::func::FuncOp kernel;
  llvm::SmallVector<mlir::OpFoldResult> extents;
  /// Bounds of the part of a split loop, which count from `partBase` where there is one.
  mlir::OpFoldResult partBegin, partEnd, partBase;
  /// Where a block has a slice of a tile: offset and size of the tile along that class, the
  /// tiled loop that counts the slices, and whether the tile itself is written.
  mlir::OpFoldResult tileOffset, wholeSize;
  int64_t sliceLoop = 0;
  bool writesWholeTile = false;
  /// Values written so far and visible here, innermost scope last.
  std::vector<Scope> scopes;
  /// Destination argument -> its current value.
  llvm::DenseMap<mlir::Value, mlir::Value> current;
  /// Table, entry, number of matrices -> the number of the matrix that the entry names.
  llvm::DenseMap<std::tuple<mlir::Value, void *, int64_t>, mlir::Value> picked;
  /// Destinations whose tile here is written already.
  llvm::DenseSet<mlir::Value> written;
};

} // namespace tilewright

#endif
