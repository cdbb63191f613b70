// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright.mma of packed panels by dot products of words:
//
//   %r = mma %a, %b, %c {instruction = "dot.m1n16k4.u8.s8.s32"}
//          : memref<2x8x4xi8>, memref<2x32x4xi8>, vector<8x32xi32>
// becomes, for each of the two words of the sum, each row and each vector of columns,
//   %word = broadcast of the row's word
//   %c = vpdpbusd %c, %word, %b[word, vector]
//
// VPDPBUSD multiplies unsigned by signed bytes; lib/Promote/TurnRows.cpp makes such operands
// of two signed or two unsigned ones.

#include "Instructions.h"
#include "Unroll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {
class DotProducts {
public:
  DotProducts(MmaOp op, const MatrixInstruction &instruction)
      : op(op), b(op), loc(op.getLoc()), instruction(instruction),
        lanes(instruction.n), perWord(instruction.perWord()) {
    std::tie(rows, columns) = getPanels(op);
  }
  LogicalResult run();

private:
  bool isFloat() const { return isa<FloatType>(instruction.accumulator); }
  VectorType sumType() const {
    return VectorType::get({lanes}, instruction.accumulator);
  }
  VectorType operandType() const {
    return VectorType::get({lanes * perWord}, instruction.operands[0]);
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// The panel with its words' elements beside each other.
  Value flatten(const PanelOperand &panel) {
    return memref::CollapseShapeOp::create(
        b, loc, panel.memory, SmallVector<ReassociationIndices>{{0}, {1, 2}});
  }
  Value readWord(int64_t word, int64_t row);
  Value readColumns(int64_t word, int64_t first) {
    return vector::LoadOp::create(b, loc, operandType(), flatColumns,
                                  ValueRange{index(word), index(first * perWord)});
  }
  Value multiply(Value sum, Value row, Value column);

  MmaOp op;
  OpBuilder b;
  Location loc;
  const MatrixInstruction &instruction;
  int64_t lanes, perWord;
  PanelOperand rows, columns;
  Value flatRows, flatColumns;
};
} // namespace

Value DotProducts::readWord(int64_t word, int64_t row) {
  auto narrow = VectorType::get({perWord}, instruction.operands[0]);
  auto wide = VectorType::get({1}, b.getI32Type());
  Value value = vector::LoadOp::create(b, loc, narrow, flatRows,
                                       ValueRange{index(word), index(row * perWord)});
  value = vector::BitCastOp::create(b, loc, wide, value);
  value = vector::ExtractOp::create(b, loc, value, 0);
  value = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()),
                                      value);
  return vector::BitCastOp::create(b, loc, operandType(), value);
}

Value DotProducts::multiply(Value sum, Value row, Value column) {
  StringRef name = isFloat()    ? "llvm.x86.avx512bf16.dpbf16ps.512"
                   : lanes == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                                : "llvm.x86.avx512.vpdpbusd.512";
  // The unsigned operand comes first.
  if (!isFloat() && columns.isUnsigned && !rows.isUnsigned)
    std::swap(row, column);
  return LLVM::CallIntrinsicOp::create(b, loc, sumType(), b.getStringAttr(name),
                                       ValueRange{sum, row, column})
      .getResult(0);
}

LogicalResult DotProducts::run() {
  auto type = cast<VectorType>(op.getAcc().getType());
  int64_t count = type.getDimSize(0), width = type.getDimSize(1);
  bool isMixed = isFloat() || rows.isUnsigned != columns.isUnsigned;
  if (!isMixed || width % lanes || columns.getType().getRank() != 3 ||
      rows.getType().getRank() != 3)
    return op.emitOpError() << "is no product of packed words by '"
                            << *op.getInstruction() << "'";
  flatRows = flatten(rows);
  flatColumns = flatten(columns);
  int64_t words = rows.sum / perWord, vectors = width / lanes;
  SmallVector<Value> sums;
  for (Value row : getRows(b, loc, op.getAcc()))
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(vector::ExtractStridedSliceOp::create(b, loc, row, v * lanes,
                                                           lanes, int64_t(1)));
  for (int64_t word = 0; word < words; ++word) {
    SmallVector<Value> operands;
    for (int64_t v = 0; v < vectors; ++v)
      operands.push_back(readColumns(word, v * lanes));
    for (int64_t row = 0; row < count; ++row) {
      Value operand = readWord(word, row);
      for (int64_t v = 0; v < vectors; ++v)
        sums[row * vectors + v] =
            multiply(sums[row * vectors + v], operand, operands[v]);
    }
  }
  SmallVector<Value> results;
  auto rowType = VectorType::get({width}, instruction.accumulator);
  for (int64_t row = 0; row < count; ++row) {
    Value result = arith::ConstantOp::create(b, loc, b.getZeroAttr(rowType));
    for (int64_t v = 0; v < vectors; ++v)
      result = vector::InsertStridedSliceOp::create(b, loc, sums[row * vectors + v], result,
                                                    v * lanes, int64_t(1));
    results.push_back(result);
  }
  op.replaceAllUsesWith(fromRows(b, loc, type, results));
  op.erase();
  return success();
}

LogicalResult cpu::lowerDotProducts(MmaOp op, const MatrixInstruction &instruction) {
  return DotProducts(op, instruction).run();
}
