// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writes a ring and the code around it. The members are implemented by subject:
//   WriteRing.cpp   roles and tiles
//   SumRing.cpp     sums and what comes after them
//   FillRing.cpp    which stage is filled when, by whom, and with what
//   DualProduct.cpp     the products of a step, one or several of one operand
//   SecondProduct.cpp   a product of what becomes of the sums
//   LoadedTiles.cpp     what copy engines bring beside the sums

#ifndef TILEWRIGHT_LIB_PROMOTE_RINGWRITER_H
#define TILEWRIGHT_LIB_PROMOTE_RINGWRITER_H

#include "ComputedOperand.h"
#include "RingOperand.h"
#include "Roles.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// What a role does for each tile.
struct TileBody {
  /// From values of the kernel to those of this tile.
  mlir::IRMapping mapping;
  /// The ring's position at the tile's first step; null: 0.
  mlir::Value begin;
  /// How many tiles the block has come to, and how many of those are inside of the tensors;
  /// null where nothing depends on it.
  mlir::Value count, inside;
  /// Whether this one is, null: always.
  mlir::Value isInside;
  /// The loop over tiles.
  mlir::scf::ForOp loop;
};

class RingWriter {
public:
  /// `products`: one, or those of a dual product. `second`: multiplies what becomes of the
  /// result of the one; may be null.
  RingWriter(mlir::func::FuncOp kernel, mlir::ArrayRef<MmaOp> products, MmaOp second,
             LoweringConfigAttr config)
      : kernel(kernel), products(products), product(products.front()), second(second),
        config(config), loc(product.getLoc()) {}
  mlir::LogicalResult write();

private:
  mlir::LogicalResult check();
  mlir::LogicalResult checkSecond();
  mlir::IRMapping beginA(mlir::OpBuilder &b, const TileBody &body, mlir::Value step);
  mlir::Value finishA(mlir::OpBuilder &b, mlir::IRMapping &mapping,
                      mlir::ValueRange tiles);
  void mapStep(mlir::OpBuilder &b, mlir::IRMapping &mapping, mlir::Value step);
  /// The ops in front of the roles: what the addresses of copies come from.
  mlir::LogicalResult findShared();
  mlir::IntegerAttr multicastOf(RingOperand &operand);
  /// A loop over tiles where blocks are persistent; `b` goes on in it.
  void addTileLoop(mlir::OpBuilder &b, TileBody &body);
  void endTile(mlir::OpBuilder &b, const TileBody &body, mlir::Value steps);
  mlir::Value countSteps(mlir::OpBuilder &b, const TileBody &body);
  mlir::Value position(mlir::OpBuilder &b, const TileBody &body, mlir::Value step);
  void fillStage(mlir::OpBuilder &b, mlir::Value ring, const TileBody &body,
                 mlir::Value step, bool isEmpty);
  void writeProducer(mlir::OpBuilder &b, mlir::Value ring);
  void fillSecond(mlir::OpBuilder &b, const TileBody &body);
  mlir::Value writeSecond(const TileBody &body);
  void fillFirst(mlir::OpBuilder &b, mlir::Value ring, const TileBody &body,
                 mlir::Value steps);
  void fillNext(mlir::OpBuilder &b, mlir::Value ring, const TileBody &body,
                mlir::Value step, mlir::Value steps);
  void writeConsumers(WarpsOp role, mlir::Value ring,
                      mlir::ArrayRef<mlir::Operation *> rest);
  mlir::LogicalResult checkDual();
  mlir::Operation *writeSums(mlir::OpBuilder &b, mlir::Value ring, const TileBody &body,
                             mlir::Value steps);
  mlir::SmallVector<mlir::Value> multiplyStage(mlir::OpBuilder &b, mlir::Value a,
                                               mlir::ValueRange tiles, mlir::ValueRange sums);
  mlir::Value endStep(mlir::OpBuilder &b, mlir::Value ring, MmaOp next, mlir::Value acc,
                      mlir::Value at);
  void release(mlir::OpBuilder &b, mlir::Value ring, mlir::Value at);
  void releaseBefore(mlir::OpBuilder &b, mlir::Value ring, const TileBody &body,
                     mlir::Value step);
  void writeLoads(const TileBody &body);
  bool knowsReads() const;
  void skipWithoutTile(mlir::OpBuilder &b, TileBody &body,
                       mlir::ArrayRef<mlir::Operation *> epilogue);
  void meetCluster(mlir::OpBuilder &copiers);
  void explainRing(RingType ring);
  void explainSums();
  mlir::Value constant(mlir::OpBuilder &b, int64_t value);

  mlir::func::FuncOp kernel;
  mlir::SmallVector<MmaOp> products;
  MmaOp product, second; // the first of them; what multiplies its result
  LoweringConfigAttr config;
  mlir::Location loc;
  mlir::scf::ForOp loop; // null where one step is all
  mlir::SmallVector<RingOperand> operands;
  /// Of each product, which of them its operands are.
  mlir::SmallVector<std::pair<unsigned, unsigned>> operandsOf;
  /// Tiles beside the sums that copy engines bring, and the rings that they come through, by
  /// their types.
  mlir::SmallVector<mlir::vector::TransferReadOp> loads;
  llvm::MapVector<mlir::Type, mlir::Value> loadRings;
  /// B of the second product, and its ring of one stage.
  RingOperand secondOperand;
  mlir::Value secondRing;
  /// Whether it is the same for all tiles of a block, which fills the stage once.
  bool isSecondShared = false;
  /// Whether blocks of a cluster have parts of the sum, which consumers add up.
  bool sumsOverCluster = false;
  /// Where A is in registers: what it is computed by.
  std::optional<ComputedOperand> computedA;
  /// The tiled loop along which a cluster's blocks share the operand's tile.
  mlir::SmallVector<mlir::IntegerAttr> multicasts;
  /// Index arithmetic in the loop; in front of it; of that, what is of one tile.
  mlir::SetVector<mlir::Operation *> inside, shared, ofTile;
  TileIdOp tileId;
  /// Where blocks share all sums; null where each tile is one block's.
  WorkItemOp workItem;
};

} // namespace tilewright

#endif
