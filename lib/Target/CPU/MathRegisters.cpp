// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of f32 by registers, and polynomials whose coefficients are looked up.

#include "MathRegisters.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

void tilewright::cpu::replaceByRows(PatternRewriter &rewriter, Operation *op,
                                    llvm::function_ref<Value(ArrayRef<Value>)> make) {
  Location loc = op->getLoc();
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getRows(rewriter, loc, operand));
  SmallVector<Value> rows;
  for (size_t row = 0; row < operands.front().size(); ++row) {
    SmallVector<Value> own;
    for (ArrayRef<Value> operand : operands)
      own.push_back(operand[row]);
    rows.push_back(make(own));
  }
  rewriter.replaceOp(op, fromRows(rewriter, loc, cast<VectorType>(op->getResult(0).getType()),
                                  rows));
}

/// `make` of each register of a row; what fills the last one is undefined.
static Value mapRow(OpBuilder &builder, Location loc, Value row, int64_t ofRegister,
                    llvm::function_ref<Value(Value)> make) {
  auto type = cast<VectorType>(row.getType());
  int64_t lanes = type.getNumElements(), padded = llvm::alignTo(lanes, ofRegister);
  if (padded != lanes) {
    SmallVector<int64_t> order(padded, vector::ShuffleOp::kPoisonIndex);
    std::iota(order.begin(), order.begin() + lanes, 0);
    row = vector::ShuffleOp::create(builder, loc, row, row, order);
  }
  if (padded == ofRegister) {
    row = make(row);
  } else {
    Value result = ub::PoisonOp::create(builder, loc, row.getType());
    for (int64_t first = 0; first < padded; first += ofRegister) {
      Value part = vector::ExtractStridedSliceOp::create(builder, loc, row, first, ofRegister,
                                                         /*strides=*/1);
      result = vector::InsertStridedSliceOp::create(builder, loc, make(part), result, first,
                                                    /*strides=*/1);
    }
    row = result;
  }
  if (padded == lanes)
    return row;
  return vector::ExtractStridedSliceOp::create(builder, loc, row, /*offsets=*/0, lanes,
                                               /*strides=*/1);
}

void tilewright::cpu::replaceByRegisters(PatternRewriter &rewriter, Operation *op, Value operand,
                                         int64_t lanes,
                                         llvm::function_ref<Value(Value)> make) {
  Location loc = op->getLoc();
  SmallVector<Value> rows;
  for (Value row : getRows(rewriter, loc, operand))
    rows.push_back(mapRow(rewriter, loc, row, lanes, make));
  rewriter.replaceOp(op, fromRows(rewriter, loc, cast<VectorType>(op->getResult(0).getType()),
                                  rows));
}

tilewright::math::Float
tilewright::cpu::lookedUpSeries(ArrayRef<ArrayRef<float>> tables, tilewright::math::Float shifted,
                                tilewright::math::Float d, LookUp lookUp) {
  tilewright::math::MathBuilder &m = *d.builder;
  Value index = m.toBits(shifted).value;
  auto coefficients = [&](ArrayRef<float> table) {
    return m(lookUp(m.builder, m.loc, table, index));
  };
  tilewright::math::Float p = coefficients(tables.back());
  for (ArrayRef<float> table : llvm::reverse(tables.drop_back()))
    p = fma(p, d, coefficients(table));
  return p;
}
