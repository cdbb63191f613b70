// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for which AVX-512 has an instruction that computes the same values as their
// expansion does, of rows of f32:
//
//   %m = arith.maxnumf %x, %y : vector<2x64xf32>  ->  a call of llvm.maxnum for each row
//   %e = math.exp %x                              ->  e^r as ever; 2^n by llvm.ldexp, which
//                                                     is vscalefps, in place of two products

#include "../Math/MathBuilder.h"
#include "Unroll.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright {
#define GEN_PASS_DEF_AVX512MATHPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name, Type type,
                           ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name),
                                       arguments)
      .getResult(0);
}

static bool isSingle(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isF32() && !vector.isScalable() &&
         vector.getRank() >= 1;
}

/// `make` for each row of the operands.
static void replaceByRows(PatternRewriter &rewriter, Operation *op,
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

namespace {
template <typename Op> struct CallOfRows : OpRewritePattern<Op> {
  CallOfRows(MLIRContext *context, StringRef name)
      : OpRewritePattern<Op>(context), name(name) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    replaceByRows(rewriter, op, [&](ArrayRef<Value> rows) {
      return callIntrinsic(rewriter, op.getLoc(), name, rows.front().getType(), rows);
    });
    return success();
  }
  StringRef name;
};

struct ExpOfRows : OpRewritePattern<mlir::math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    replaceByRows(rewriter, op, [&](ArrayRef<Value> rows) {
      Type type = rows.front().getType();
      tilewright::math::MathBuilder builder(rewriter, op.getLoc(), type);
      tilewright::math::ScaledExp exp = tilewright::math::scaledExp(builder(rows.front()));
      return callIntrinsic(rewriter, op.getLoc(), "llvm.ldexp", type,
                           {exp.significand.value, exp.exponent.value});
    });
    return success();
  }
};

struct Avx512MathPass : tilewright::impl::Avx512MathPassBase<Avx512MathPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<CallOfRows<arith::MaxNumFOp>>(&getContext(), "llvm.maxnum");
    patterns.add<CallOfRows<arith::MinNumFOp>>(&getContext(), "llvm.minnum");
    patterns.add<ExpOfRows>(&getContext());
    if (failed(applyPatternsBounded(func, std::move(patterns), "lower",
                                    "choice of native functions")))
      signalPassFailure();
  }
};
} // namespace
