// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of f32 by registers, and polynomials whose coefficients are looked up.

#include "MathRegisters.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"

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

/// Puts ops that compute the same of several registers side by side: those that a step of each
/// waits for are some steps back then.
static void interleave(ArrayRef<SmallVector<Operation *>> registers) {
  Operation *last = registers.back().back();
  for (size_t step = 0; step < registers.front().size(); ++step)
    for (const SmallVector<Operation *> &ops : registers)
      if (ops[step] != last)
        ops[step]->moveBefore(last);
}

/// `make` of some registers, step by step.
static SmallVector<Value> makeTogether(OpBuilder &builder, ArrayRef<Value> parts,
                                       llvm::function_ref<Value(Value)> make) {
  Operation *before = parts.back().getDefiningOp();
  SmallVector<Value> made;
  SmallVector<SmallVector<Operation *>> steps;
  for (Value part : parts) {
    made.push_back(make(part));
    SmallVector<Operation *> &own = steps.emplace_back();
    for (Operation *op = before->getNextNode(); op != builder.getInsertionPoint().operator->();
         op = op->getNextNode())
      own.push_back(op);
    before = own.back();
  }
  interleave(steps);
  return made;
}

/// `make` of each register of a row; what fills the last one is undefined.
static Value mapRow(OpBuilder &builder, Location loc, Value row, Registers registers,
                    llvm::function_ref<Value(Value)> make) {
  auto type = cast<VectorType>(row.getType());
  int64_t ofRegister = registers.lanes, together = registers.together * ofRegister;
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
    for (int64_t first = 0; first < padded; first += together) {
      SmallVector<Value> parts;
      for (int64_t at = first; at < std::min(padded, first + together); at += ofRegister)
        parts.push_back(vector::ExtractStridedSliceOp::create(builder, loc, row, at, ofRegister,
                                                              /*strides=*/1));
      for (auto [number, part] : llvm::enumerate(makeTogether(builder, parts, make)))
        result = vector::InsertStridedSliceOp::create(
            builder, loc, part, result, first + int64_t(number) * ofRegister, /*strides=*/1);
    }
    row = result;
  }
  if (padded == lanes)
    return row;
  return vector::ExtractStridedSliceOp::create(builder, loc, row, /*offsets=*/0, lanes,
                                               /*strides=*/1);
}

void tilewright::cpu::replaceByRegisters(PatternRewriter &rewriter, Operation *op, Value operand,
                                         Registers registers,
                                         llvm::function_ref<Value(Value)> make) {
  Location loc = op->getLoc();
  SmallVector<Value> rows;
  for (Value row : getRows(rewriter, loc, operand))
    rows.push_back(mapRow(rewriter, loc, row, registers, make));
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

LogicalResult tilewright::cpu::computeByRegisters(func::FuncOp func, const RegisterMath &math) {
  if (!isKernel(func) || func.isExternal())
    return success();
  if (failed(chooseExtrema(func)))
    return failure();
  MLIRContext *context = func.getContext();
  RewritePatternSet activations(context);
  populateGeluPatterns(activations, math.registers, math.gelu);
  if (failed(applyPatternsBounded(func, std::move(activations), "lower", "choice of GELU")))
    return failure();
  RewritePatternSet patterns(context);
  populateExtremaCalls(patterns);
  math.populate(patterns);
  patterns.add<WidenFunction<mlir::math::ExpOp>, WidenFunction<mlir::math::ErfOp>,
               WidenFunction<mlir::math::TanhOp>>(context);
  return applyPatternsBounded(func, std::move(patterns), "lower", "choice of native functions");
}
