// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what the threads of a block do of an irregular op: the frame, and
// small helpers. Irregular.cpp has scatters and scans, Sort.cpp sorts, LookBack.cpp
// scans of blocks that look back.

#ifndef TILEWRIGHT_LIB_BUFFERIZE_IRREGULARWRITER_H
#define TILEWRIGHT_LIB_BUFFERIZE_IRREGULARWRITER_H

#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
class IrregularWriter {
public:
  IrregularWriter(mlir::OpBuilder &b, mlir::func::FuncOp kernel,
                  mlir::Operation *op, const mlir::IRMapping &memory,
                  LoweringConfigAttr config, LaunchAttr launch)
      : b(b), loc(op->getLoc()), kernel(kernel), memory(memory), config(config),
        launch(launch) {}

  void scatter(ScatterOp op);
  void scan(ScanOp op);
  void sort(SortOp op); // Sort.cpp

protected:
  void scanRows(ScanOp op);
  void scanVectors(ScanOp op, mlir::Value outer, mlir::Value inner);
  using Body = llvm::function_ref<void()>;

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value subtract(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  mlir::Value multiply(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  mlir::Value divide(mlir::Value x, int64_t y) {
    return y == 1
               ? x
               : mlir::arith::DivUIOp::create(b, loc, x, index(y)).getResult();
  }
  mlir::Value modulo(mlir::Value x, int64_t y) {
    return y == 1
               ? index(0)
               : mlir::arith::RemUIOp::create(b, loc, x, index(y)).getResult();
  }
  mlir::Value isLess(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult,
                                       x, y);
  }
  mlir::Value least(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinUIOp::create(b, loc, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return x ? mlir::arith::AndIOp::create(b, loc, x, y).getResult() : y;
  }
  mlir::Value dim(mlir::Value memref, int64_t number) {
    return mlir::memref::DimOp::create(b, loc, memref, number);
  }
  mlir::Value load(mlir::Value memref, mlir::ValueRange at) {
    return mlir::memref::LoadOp::create(b, loc, memref, at);
  }
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange at) {
    mlir::memref::StoreOp::create(b, loc, value, memref, at);
  }
  void when(mlir::Value condition, Body body) {
    auto branch =
        mlir::scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    auto made = mlir::scf::ForOp::create(b, loc, lower, upper, index(step));
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }
  /// `body` for each number below `count`, by threads where there are several.
  void eachThread(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  mlir::SmallVector<mlir::Value> tileIds();

  /// Where update `number` goes: coordinates of the destination, null for those
  /// of the slice, and whether that is inside.
  mlir::Value findPlace(ScatterOp op, mlir::Value number,
                        mlir::SmallVectorImpl<mlir::Value> &place);
  void moveSlice(ScatterOp op, mlir::Value number,
                 mlir::ArrayRef<mlir::Value> place,
                 mlir::ArrayRef<mlir::Value> ids, mlir::Value lane,
                 int64_t lanes);

  /// `body` for each [outer, chunk, inner] of the block `ids`, whose threads share them
  /// out, and whether that is inside of `input` and `chunks`.
  void eachChunk(mlir::ArrayRef<mlir::Value> ids, mlir::Value input, mlir::Value chunks,
                 llvm::function_ref<void(mlir::Value outer, mlir::Value chunk,
                                         mlir::Value inner, mlir::Value inside)>
                     body);
  /// Elements of a row that a thread computes: [first, end) at `outer` and `inner`.
  struct Chunk {
    mlir::Value outer, first, end, inner;
  };
  void insertRun(SortOp op, mlir::ValueRange from, mlir::ValueRange to, const Chunk &chunk);
  void mergeRuns(SortOp op, mlir::ValueRange from, mlir::ValueRange to, mlir::Value width,
                 const Chunk &chunk);
  mlir::SmallVector<mlir::Value> loadAll(mlir::ValueRange memrefs, mlir::ValueRange at);
  void storeAll(mlir::ValueRange values, mlir::ValueRange memrefs, mlir::ValueRange at);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::func::FuncOp kernel;
  const mlir::IRMapping &memory;
  LoweringConfigAttr config;
  LaunchAttr launch;
};

/// A scan in one pass, whose blocks look back (LookBack.cpp).
void writeLookBack(mlir::OpBuilder &b, mlir::func::FuncOp kernel, ScanOp op,
                   const mlir::IRMapping &memory, LoweringConfigAttr config, LaunchAttr launch);
} // namespace tilewright

#endif
